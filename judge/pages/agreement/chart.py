"""The judge's score beside the people's, on one scale."""

from typing import Final

from judge.pages.agreement.markup import Html, tag, text
from judge.pages.agreement.words import Words
from judge.review.records import CorrectedScore

_TOP: Final = 26
_BOTTOM: Final = 50
_MIDDLE: Final = (_TOP + _BOTTOM) // 2
_HEIGHT: Final = 92
_TICKS: Final = (0.0, 0.25, 0.5, 0.75, 1.0)
_EDGE: Final = 0.25
"""Nearer to an end than this, words grow away from it."""


def chart(score: CorrectedScore, words: Words, *, whole: bool = False) -> Html:
    """A bar from 0 to 1: a line for the judge, a dot in a band for the people.

    Places are in percent and letters in pixels, so that it fits any width and stays readable.

    Args:
        score: beside what the judge said.
        words: of the page.
        whole: whether all was labelled, so that there is no interval.
    """
    value = words.percent(score.corrected)
    raw = words("unmeasured.plain") if score.raw is None else words.percent(score.raw)
    band = _percent(max(score.high - score.low, 0.0))
    parts = [
        _box("track", 0.0, "100%"),
        *(_line("tick", at, _BOTTOM, _BOTTOM + 5) for at in _TICKS),
        *(_words("scale", at, _HEIGHT - 26, f"{100 * at:.0f}%") for at in (0.0, 0.5, 1.0)),
        _box("band", score.low, band),
        tag("circle", class_="people", cx=_percent(score.corrected), cy=str(_MIDDLE), r="6"),
        _words("people", score.corrected, _HEIGHT - 6, words("chart.people", value=value)),
    ]
    if score.raw is not None:
        parts.append(_line("judge", score.raw, _TOP - 6, _BOTTOM + 2))
        parts.append(_words("judge", score.raw, _TOP - 12, words("chart.judge", raw=raw)))
    label = words("chart.label", raw=raw, value=value, reach=words.reach(score, whole=whole))
    drawn = tag("svg", *parts, role="img", aria_label=label, width="100%", height=str(_HEIGHT))
    key = "chart.key_whole" if whole else "chart.key_interval"
    return tag("figure", drawn, tag("figcaption", text(words(key))))


def _box(class_: str, start: float, width: str) -> Html:
    height = str(_BOTTOM - _TOP)
    return tag("rect", class_=class_, x=_percent(start), y=str(_TOP), width=width, height=height)


def _line(class_: str, at: float, top: int, bottom: int) -> Html:
    place = _percent(at)
    return tag("line", class_=class_, x1=place, x2=place, y1=str(top), y2=str(bottom))


def _words(class_: str, at: float, bottom: int, said: str) -> Html:
    anchor = "start" if at < _EDGE else "end" if at > 1 - _EDGE else "middle"
    return tag("text", text(said), class_=class_, x=_percent(at), y=str(bottom), text_anchor=anchor)


def _percent(share: float) -> str:
    return f"{100 * share:.2f}%"
