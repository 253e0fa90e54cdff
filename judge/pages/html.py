"""HTML pages from templates: one file each, that needs no other and runs no script but its own."""

import gzip
import hashlib
from base64 import b64encode
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Final

from judge.messages import Lang
from judge.text.visible import clip, flat, visible

if TYPE_CHECKING:
    from jinja2 import Environment

_LONGEST: Final = 600
"""Characters of a text from outside that a page shows."""


def render(template: str, lang: Lang, **values: object) -> str:
    """A page of `judge/pages/templates` as text, to be written as UTF-8.

    All that a template is given is escaped where it is shown: text becomes no markup. The filter
    `shown` puts text from outside on one line, fit to be read, and cuts it where it runs on;
    `whole` cuts nothing and keeps lines; `place` makes a share, 0 to 1, a place along a scale.
    jinja2.UndefinedError where the template shows a name that is not given.
    """
    return "".join(pieces(template, lang, **values))


def pieces(template: str, lang: Lang, **values: object) -> Iterator[str]:
    """The same page piece by piece: what a template loops over need not be in memory at once."""
    return _environment().get_template(template).generate(values, lang=lang)


@cache
def _environment() -> "Environment":
    from jinja2 import Environment, PackageLoader, StrictUndefined  # noqa: PLC0415  slow to load

    made = Environment(
        autoescape=True,
        loader=PackageLoader("judge.pages"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    made.globals["source"] = _source
    made.filters["digest"] = _digest
    made.filters["shown"] = lambda text: clip(flat(text), _LONGEST)
    made.filters["whole"] = visible
    made.filters["place"] = lambda share: f"{100 * share:.2f}%"
    return made


def packed(data: bytes) -> str:
    """What a page carries much of: gzip, base64. A script unpacks it by `DecompressionStream`."""
    return b64encode(gzip.compress(data, compresslevel=6, mtime=0)).decode()


@cache
def _source(*names: str) -> str:
    """Style sheets or scripts of ours, one behind the other, as they stand."""
    folder = files("judge.pages") / "templates"
    return "".join((folder / name).read_text("utf-8") for name in names)


def _digest(text: str) -> str:
    """What a Content-Security-Policy calls a style sheet or a script by."""
    return f"sha256-{b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
