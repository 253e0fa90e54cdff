"""How support looks: a mark, a tint and a word, so that any of them tells it; flags in words."""

from typing import Final, NamedTuple

from rich.text import Text

from judge.cli.terminal import Page
from judge.messages import LANGUAGE, Messages
from judge.records import (
    Citation,
    CitationStatus,
    Excluded,
    Flag,
    GateResult,
    Outcome,
    Support,
    Unscored,
    Verdict,
)
from judge.reports.gate import told
from judge.signature import Signature
from judge.text.visible import flat


class Look(NamedTuple):
    """What stands for its mark where the terminal has no such character, a tint, a word."""

    plain: str
    style: str
    name: str
    """Of its word and its mark among the messages."""


SUPPORT_LOOKS: Final = {
    Support.FULL: Look("+", "green", "full"),
    Support.PARTIAL: Look("~", "yellow", "partial"),
    Support.NONE: Look("x", "red", "none"),
    Support.CONTRADICTED: Look("!", "bold magenta", "contradicted"),
    Support.NO_CLAIM: Look(".", "dim", "no_claim"),
}
UNSCORED_LOOK: Final = Look("?", "cyan", "unscored")
EXCLUDED_LOOK: Final = Look(".", "dim", "excluded")

_CITATION_STYLES: Final = {
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


def mark(look: Look, page: Page) -> str:
    """Its mark, or the plain stand-in on a terminal that is not UTF."""
    return Messages.of("looks", "mark")(look.name) if page.speaks_utf else look.plain


def word(look: Look) -> str:
    """Its word."""
    return Messages.of("looks", "label")(look.name)


def quoted(text: str, page: Page) -> str:
    """A passage in quotation marks; the angled ones are in no Chinese code page but GB 18030."""
    return f"«{text}»" if page.speaks_utf else f'"{text}"'


def legend(page: Page) -> Text:
    """One line that explains the marks."""
    looks = (*SUPPORT_LOOKS.values(), UNSCORED_LOOK, EXCLUDED_LOOK)
    shown = [look for look in looks if look.name != "no_claim"]
    return Text("  ").join(Text(f"{mark(k, page)} {word(k)}", style=k.style) for k in shown)


def threshold(signature: str) -> str | None:
    """The least probability that counts as `full`, where a signature states one.

    >>> threshold("similarity:lexical|t:0.8716"), threshold("llm:m@h|t:0")
    ('0.872', None)
    """
    least = Signature.parse(signature).threshold
    return None if least is None else f"{least:.3f}"


def meaning(flag: Flag) -> str:
    """What a flag says, with what is missing where it is known: `9.9 billion: not in …`."""
    means = Messages.of("looks", "flag")(flag.name.value)
    return f"{flat(flag.detail)}: {means}" if flag.detail else means


def askings_line(verdict: Verdict) -> str:
    """What each asking of a verdict said: `asked 3 times: partial, full, timeout`."""
    labels, reasons = Messages.of("looks", "label"), Messages.of("looks", "unscored")
    told = [
        (labels if isinstance(each, Support) else reasons)(each.value) for each in verdict.askings
    ]
    joint = Messages.of("looks", "gate")("joint")
    say = Messages.of("answer", "claim")
    return say("askings", count=len(told), told=joint.join(told))


def failure_line(failure: Unscored) -> str:
    """Why there is no verdict."""
    reason, detail = failure.reason.value, flat(failure.detail)
    # A detail may begin with the name: "connection: no route".
    if detail.startswith(reason.replace("_", " ")):
        return detail
    name = Messages.of("looks", "unscored")(reason)
    return f"{name}: {detail}" if detail else name


def citation_line(citation: Citation) -> Text:
    """A citation, and what became of it."""
    say = Messages.of("looks", "citation")
    line = Text(f"{say('cites', marker=flat(citation.marker))} ")
    if citation.chunk_id is not None and citation.chunk_id not in citation.marker:
        line.append(f"= {flat(citation.chunk_id)} ")
    if citation.status is None:
        return line.append(say("uncounted"), style="dim")
    line.append(say(citation.status.value), style=_CITATION_STYLES[citation.status])
    if citation.reason:
        line.append(say("why", reason=flat(citation.reason)))
    if citation.suggested is not None:
        line.append(say("would_hold", chunk=flat(citation.suggested)))
    return line


def gate_line(result: GateResult) -> Text:
    """A gate, what was held against it, and whether it passed."""
    text = told(result, LANGUAGE.get())
    return Text(text, style="green" if result.passed else "bold red")
