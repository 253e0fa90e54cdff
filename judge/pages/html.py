"""HTML pages from templates, and their texts and figures.

A page is one file, which needs no other and runs only its own script.
"""

import gzip
import hashlib
from base64 import b64encode
from collections.abc import Iterator
from contextvars import copy_context
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Final

from judge.messages import LANGUAGE, Messages
from judge.records.comparison import ScoreDifference
from judge.reports.compare import score_name
from judge.review.records import Share
from judge.text.visible import clip, flat, visible

if TYPE_CHECKING:
    from jinja2 import Environment

ABSENT: Final = "–"
"""The sign for a missing figure, which is not zero."""
_SHOWN_CHARACTERS: Final = 600


def render(template: str, **values: object) -> str:
    """Return a page made from `judge/pages/templates`, as text to be written as UTF-8.

    All values are escaped where they are shown: text becomes no markup. The filter `shown` puts
    text from outside on one line, makes it legible and shortens it; `whole` makes it legible only;
    `place` turns a share, 0 to 1, into a place along a scale.
    """
    return "".join(pieces(template, **values))


def pieces(template: str, **values: object) -> Iterator[str]:
    """Yield the same page in pieces, so that lists in it need not be in memory as a whole."""
    stream = _environment().get_template(template).generate(values, lang=LANGUAGE.get())
    # Another thread, which knows no language, may ask for the next piece.
    context = copy_context()
    while (piece := context.run(next, stream, None)) is not None:
        yield piece


@cache
def _environment() -> "Environment":
    from jinja2 import Environment, PackageLoader, StrictUndefined  # noqa: PLC0415  slow to load

    environment = Environment(
        autoescape=True,
        loader=PackageLoader("judge.pages"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.globals["source"] = _source
    environment.filters["digest"] = _digest
    environment.filters["shown"] = lambda text: clip(flat(text), _SHOWN_CHARACTERS)
    environment.filters["whole"] = visible
    environment.filters["place"] = lambda share: f"{100 * share:.2f}%"
    return environment


def packed(data: bytes) -> str:
    """Return data as base64 of gzip, which a script unpacks with `DecompressionStream`."""
    return b64encode(gzip.compress(data, compresslevel=6, mtime=0)).decode()


@cache
def _source(*names: str) -> str:
    """Return the text of style sheets or scripts, one after another."""
    folder = files("judge.pages") / "templates"
    return "".join((folder / name).read_text("utf-8") for name in names)


def _digest(text: str) -> str:
    """Return the hash by which a Content-Security-Policy names a style sheet or a script."""
    return f"sha256-{b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


class PageWords:
    """The texts and figures of a page, in the language in use when a method is called.

    `room` is the file in `judge/data/messages` that holds the page's own texts.
    """

    def __init__(self, room: str) -> None:
        self._room = room

    def __call__(self, key: str, **values: object) -> str:
        """Return the text under `group.name`, filled in. KeyError: the text is missing."""
        return _unbroken(Messages.of(self._room)(key, **values))

    def of(self, group: str, name: str, **values: object) -> str:
        """Return the text called `name` in a group, filled in. KeyError: the text is missing."""
        return _unbroken(Messages.of(self._room, group)(name, **values))

    def word(self, group: str, name: str) -> str:
        """Return the word for a name from outside, or the name where there is no word for it."""
        words = Messages.of(self._room, group)
        return words(name) if name in words else name

    def heads(self, group: str, *names: str) -> list[str]:
        """Return several texts of one group."""
        return [self.of(group, name) for name in names]

    def looks(self, group: str, name: str) -> str:
        """Return the word for a label, status or flag, or its name where there is no word."""
        words = Messages.of("looks", group)
        return words(name) if name in words else name

    def score(self, label: str) -> str:
        """Return the name of a score, complete without the row above it."""
        return score_name(label, offline=False)

    def totals(self, group: str, name: str, **values: object) -> str:
        """Return a text about totals."""
        return Messages.of("totals", group)(name, **values)

    def counted(self, noun: str, count: int) -> str:
        """Return a count with its noun, such as `3 answers`."""
        return self.totals("counted", noun, count=count)

    def percent(self, share: float) -> str:
        """Return a share, 0 to 1, to a tenth of a percent."""
        return _figure("percent", value=_tenths(share))

    def span(self, low: float, high: float) -> str:
        """Return an interval of shares."""
        return _figure("span", low=_tenths(low), high=_tenths(high))

    def points(self, difference: float) -> str:
        """Return the size of a difference of shares in percentage points, without its sign."""
        return _figure("points", value=_tenths(abs(difference)))

    def share(self, share: Share) -> str:
        """Return a share with its interval."""
        span = self.span(share.low, share.high)
        return _figure("share", value=self.percent(share.value), span=span)

    def unmeasured(self, why: str) -> str:
        """Return the words for a missing figure; `why` is a name in `unmeasured`."""
        texts = Messages.of("agreement", "unmeasured")
        return texts("because", why=texts(why))

    def coefficient(self, value: float) -> str:
        """Return a figure that is no share, to three digits."""
        return f"{value:z.3f}".replace("-", "\N{MINUS SIGN}")

    def value(self, value: float | None) -> str:
        """Return a score to three digits, or `ABSENT`."""
        return ABSENT if value is None else f"{value:.3f}"

    def signed(self, value: float) -> str:
        """Return a difference with its sign."""
        return f"{value:+.3f}".replace("-", "\N{MINUS SIGN}")

    def interval(self, score: ScoreDifference) -> str:
        """Return the interval of a difference."""
        return f"{self.signed(score.interval.low)} … {self.signed(score.interval.high)}"


def _figure(name: str, **values: str) -> str:
    return _unbroken(Messages.of("agreement", "figure")(name, **values))


def _tenths(share: float) -> str:
    return f"{100 * share:.1f}"


def _unbroken(text: str) -> str:
    """Return the text with percent signs that no line break parts from their figures."""
    return text.replace(" %", "\N{NO-BREAK SPACE}%")
