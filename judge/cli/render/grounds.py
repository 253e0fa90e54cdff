"""What a verdict rests on, printed: its label, its reason, its quotes where they stand."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from rich.console import Console
from rich.text import Text

from judge.cli.render.paint import look_of, mark, number, quoted, threshold
from judge.records import Evidence, Outcome, Support, Unscored, Verdict
from judge.text.fold import CJK
from judge.text.visible import flat

INDENT: Final = 5
"""Columns that stand free before what is said under a heading."""
_AROUND: Final = 80
"""Characters of a chunk shown on either side of a quote."""
_LETTER: Final = re.compile(rf"(?![{CJK}])\w")
_TORN_START: Final = re.compile(rf"^(?:(?![{CJK}])\w)+")
_TORN_END: Final = re.compile(rf"(?:(?![{CJK}])\w)+$")


def heading(index: int, outcome: Outcome, console: Console) -> Text:
    """The line above what is known of a sentence: its mark, number, label, and who gave that.

    Args:
        index: of the sentence, from 0; it is shown from 1.
        outcome: what became of it.
        console: where it will be shown.
    """
    look = look_of(outcome)
    line = Text(f"{mark(look, console)}{index + 1:<3} {look.word}", style=look.style)
    if isinstance(outcome, Verdict):
        if outcome.score is not None:
            line.append(f", P(supported) {number(outcome.score)}")
            if (least := threshold(outcome.signature)) and outcome.support is Support.NONE:
                line.append(f"; full from {least}")
        if outcome.fallback_from is not None:
            line.append(f", by {outcome.source}: {_failure(outcome.fallback_from)}", "cyan")
    if isinstance(outcome, Unscored):
        line.append(f": {_failure(outcome)}")
    return line


def _failure(failure: Unscored) -> str:
    name, detail = failure.reason.value.replace("_", " "), flat(failure.detail)
    # A detail may begin with the name: "connection: no route".
    return detail if detail.startswith(name) else f"{name}: {detail}" if detail else name


def grounds(
    outcome: Outcome, texts: Mapping[str, Sequence[str]], console: Console
) -> Iterator[Text]:
    """What the verdict on a sentence rests on: its reason, and its quotes in their surroundings.

    Args:
        outcome: of the sentence; what is no verdict rests on nothing.
        texts: by name, the texts that bear it, where quotes are found.
        console: where it will be shown.
    """
    if not isinstance(outcome, Verdict):
        return
    if outcome.reason:
        yield Text(flat(outcome.reason))
    for evidence in outcome.evidence:
        yield _quote(evidence, texts.get(evidence.chunk_id, []), console)


def _quote(evidence: Evidence, texts: Sequence[str], console: Console) -> Text:
    line = Text(f"{flat(evidence.chunk_id)}  ", style="bold")
    quote = Text(quoted(_spaced(evidence.quote), console), style="not bold")
    start, end = evidence.start, evidence.end
    if not evidence.verified or start is None or end is None:
        return line.append("not found there: ", "not bold yellow").append_text(quote)
    text = next((text for text in texts if text[start:end] == evidence.quote), None)
    if text is None:
        return line.append_text(quote)
    before, after = _before(text, start), _after(text, end)
    line.append(_spaced(before), "not bold dim").append_text(quote)
    return line.append(_spaced(after), "not bold dim")


def _before(text: str, position: int) -> str:
    """What stands before a position; an ellipsis and no torn word where it is cut."""
    cut = position - _AROUND
    if cut <= 0:
        return text[:position]
    kept = text[cut:position]
    return "…" + (_TORN_START.sub("", kept) if _LETTER.match(text[cut - 1]) else kept).lstrip()


def _after(text: str, position: int) -> str:
    cut = position + _AROUND
    if cut >= len(text):
        return text[position:]
    kept = text[position:cut]
    return (_TORN_END.sub("", kept) if _LETTER.match(text[cut]) else kept).rstrip() + "…"


def _spaced(text: str) -> str:
    """One line, the space at its ends kept as one space."""
    return (" " if text[:1].isspace() else "") + flat(text) + (" " if text[-1:].isspace() else "")
