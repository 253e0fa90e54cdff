"""The words of the page, English and Chinese, and figures as either language writes them."""

import tomllib
from functools import cache
from importlib.resources import files
from typing import Literal

from judge.review.records import CorrectedScore, Share

Lang = Literal["en", "zh"]
"""Language of a page."""

_NO_BREAK = "\u00a0"


class Words:
    """All that a page says in one language.

    >>> words = Words("en")
    >>> words("unmeasured.because", why="nothing labelled")
    'not measured: nothing labelled'
    """

    def __init__(self, lang: Lang) -> None:
        self.lang: Lang = lang
        """Which."""

    def __call__(self, key: str, **values: object) -> str:
        """The words under `group.name`, filled in; KeyError where there are none."""
        # A sign goes with its figure: lines do not break between them.
        return _table(self.lang)[key].format(**values).replace(" %", f"{_NO_BREAK}%")

    def counted(self, key: str, count: int) -> str:
        """The words under the key for so many, or under `key_one`."""
        return self(f"{key}_one") if count == 1 else self(key, count=count)

    def named(self, group: str, name: str) -> str:
        """The word for a name from outside; the name itself where there is none.

        >>> Words("zh").named("label", "partial"), Words("zh").named("label", "maybe")
        ('部分支持', 'maybe')
        """
        return _table(self.lang).get(f"{group}.{name}", name)

    def percent(self, share: float) -> str:
        """A share, 0 to 1, to a tenth of a percent.

        >>> Words("zh").percent(0.9166)
        '91.7%'
        """
        return self("figure.percent", value=_tenths(share))

    def span(self, low: float, high: float) -> str:
        """An interval of shares."""
        return self("figure.span", low=_tenths(low), high=_tenths(high))

    def reach(self, score: CorrectedScore, *, whole: bool) -> str:
        """How far a score may be off: its interval; none where all was labelled."""
        span = self.span(score.low, score.high)
        return self("reach.whole") if whole else self("reach.interval", span=span)

    def points(self, difference: float) -> str:
        """How large a difference of shares is, whichever way it goes, in percentage points."""
        return self("figure.points", value=_tenths(abs(difference)))

    def coefficient(self, value: float) -> str:
        """A figure that is no share, to three digits.

        >>> Words("en").coefficient(-0.0314)
        '−0.031'
        """
        return f"{value:z.3f}".replace("-", "\N{MINUS SIGN}")

    def share(self, share: Share) -> str:
        """A share with its interval."""
        span = self.span(share.low, share.high)
        return self("figure.share", value=self.percent(share.value), span=span)

    def unmeasured(self, why: str) -> str:
        """What stands where a figure is missing, given the key of why."""
        return self("unmeasured.because", why=self(f"unmeasured.{why}"))


def _tenths(share: float) -> str:
    return f"{100 * share:.1f}"


@cache
def _table(lang: Lang) -> dict[str, str]:
    source = files("judge").joinpath("data", "agreement.toml").read_text("utf-8")
    return {
        f"{group}.{name}": forms[lang]
        for group, entries in tomllib.loads(source).items()
        for name, forms in entries.items()
    }
