"""How support looks: a mark and a tint, so that either alone tells it."""

import re
from dataclasses import dataclass
from typing import Final

from rich.console import Console
from rich.text import Text

from judge.records import CitationStatus, Excluded, Outcome, Support, Unscored


@dataclass(frozen=True, slots=True)
class Look:
    """A mark, its plain stand-in where the terminal has no such character, a tint, a word."""

    mark: str
    plain: str
    style: str
    word: str


_THRESHOLD: Final = re.compile(r"(?:^|\|)t:(0?\.\d+|1)(?:\||$)")

SUPPORT_LOOKS: Final = {
    Support.FULL: Look("✓", "+", "green", "full"),
    Support.PARTIAL: Look("◐", "~", "yellow", "partial"),
    Support.NONE: Look("✗", "x", "red", "none"),
    Support.CONTRADICTED: Look("≠", "!", "bold magenta", "contradicted"),
    Support.NO_CLAIM: Look("·", ".", "dim", "no claim"),
}
UNSCORED_LOOK: Final = Look("?", "?", "cyan", "unscored")
EXCLUDED_LOOK: Final = Look("·", ".", "dim", "not a claim")

CITATION_STYLES: Final = {
    CitationStatus.VALID: "green",
    CitationStatus.UNSUPPORTED: "red",
    CitationStatus.DANGLING: "bold red",
    CitationStatus.UNJUDGED: "cyan",
}


def look_of(outcome: Outcome) -> Look:
    """The look of an outcome."""
    if isinstance(outcome, Excluded):
        return EXCLUDED_LOOK
    if isinstance(outcome, Unscored):
        return UNSCORED_LOOK
    return SUPPORT_LOOKS[outcome.support]


def mark(look: Look, console: Console) -> str:
    """Its mark, or the plain stand-in on a terminal that is not UTF."""
    return look.mark if _speaks_utf(console) else look.plain


def quoted(text: str, console: Console) -> str:
    """A passage in quotation marks; the angled ones are in no Chinese code page but GB 18030."""
    return f"«{text}»" if _speaks_utf(console) else f'"{text}"'


def legend(console: Console) -> Text:
    """One line that explains the marks."""
    looks = (*SUPPORT_LOOKS.values(), UNSCORED_LOOK, EXCLUDED_LOOK)
    shown = [look for look in looks if look.word != "no claim"]
    return Text("  ").join(Text(f"{mark(k, console)} {k.word}", style=k.style) for k in shown)


def threshold(signature: str) -> str | None:
    """The least probability that counts as `full`, as a similarity signature states it."""
    found = _THRESHOLD.search(signature)
    return f"{float(found[1]):.3f}" if found else None


def number(value: float | None) -> str:
    """A score to three digits; a dash where there is none, for none is not zero."""
    return "–" if value is None else f"{value:.3f}"


def _speaks_utf(console: Console) -> bool:
    return console.encoding.lower().startswith("utf")
