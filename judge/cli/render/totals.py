"""The totals of a run, printed."""

import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from rich.console import Console
from rich.table import Table
from rich.text import Text

from judge.cli.render.cells import print_breakdown
from judge.cli.render.correctness import print_compared
from judge.cli.render.paint import look_of, mark, number, threshold
from judge.cli.render.scores import add_score, count_line, counts_from, failure_lines, score_table
from judge.cli.render.wording import meaning
from judge.cli.render.wrap import wrap
from judge.cli.terminal import print_table
from judge.messages import Lang
from judge.records import CorpusBounds, CorpusScore, Summary, UnscoredReason
from judge.reports.failures import Example
from judge.reports.gate import GateResult
from judge.reports.worst import WorstSentence
from judge.signature import Signature
from judge.text.visible import clip, flat, visible

_SCORES: Final = {
    "faithfulness": "faithfulness",
    "faithfulness_strict": "strict (full only)",
    "faithfulness_with_fallback": "with fallback",
    "contradiction_rate": "contradicted",
    "coverage": "citation coverage",
    "citation_validity": "citation validity",
    "citation_recall": "citation recall",
}
# A similarity judge says full or none and nothing between: these would repeat or mean nothing.
_LLM_ONLY: Final = ("faithfulness_strict", "contradiction_rate")
_CITING: Final = ("coverage", "citation_validity", "citation_recall")


class Ended(NamedTuple):
    """What a run left to tell, beside its totals."""

    worst: Sequence[WorstSentence]
    """Worst first."""
    failures: Mapping[UnscoredReason, Example]
    """The first of each reason."""
    gates: Sequence[GateResult] = ()
    """What was held against them."""
    cached: bool = False
    """Whether verdicts are kept, so that another run asks only for what failed."""
    lang: Lang = "en"
    """Of the table of cells."""


def print_totals(summary: Summary, ended: Ended, folder: Path, console: Console) -> None:
    """Print the tables, the counts, the worst sentences, the gates, and where to look next."""
    worst = ended.worst

    def say(text: Text, hang: int = 0) -> None:
        console.print(wrap(text, console.width, hang=hang), soft_wrap=True)

    offline = summary.by_similarity
    print_table(_scores(summary, offline=offline), console)
    for line in _counts(summary, ended.failures):
        say(line, counts_from())
    if summary.correctness is not None:
        print_compared(
            summary.correctness, _others(ended.failures, summary), console, offline=offline
        )
    print_breakdown(summary, folder, console, lang=ended.lang)
    if worst:
        console.print()
        title = Text(f"{_title(worst, offline=offline)}, worst first", style="bold")
        say(title.append(_full_from(summary), "not bold dim"))
        for item in worst:
            say(_sentence(item, console), hang=2)
    console.print()
    for gate in ended.gates:
        say(_gate(gate), hang=2)
    for line in _untrusted(summary, cached=ended.cached):
        say(line, hang=2)
    # Signatures and commands are copied: they are not broken into lines.
    for made in _made(summary):
        console.print(Text(visible(made), style="dim"), soft_wrap=True)
    for place in _places(summary, worst, folder):
        console.print(Text(visible(place)), soft_wrap=True)


def _made(summary: Summary) -> Iterator[str]:
    yield from (f"made by {signature}" for signature in summary.signatures)
    compared = summary.correctness.signatures if summary.correctness else {}
    yield from (f"correctness made by {signature}" for signature in compared)


def _places(summary: Summary, worst: Sequence[WorstSentence], folder: Path) -> Iterator[str]:
    yield f"written to {folder}"
    if worst or summary.claims:
        qid = f" {shlex.quote(worst[0].qid)}" if worst else ""
        yield f"look closer: judge show {shlex.quote(str(folder))}{qid}"


def _title(worst: Sequence[WorstSentence], *, offline: bool) -> str:
    flagged = any(item.flags for item in worst)
    if offline:
        return "Sentences that look unsupported" + (" or are flagged" if flagged else "")
    return "Unsupported or flagged sentences" if flagged else "Unsupported sentences"


def _is_similarity(signature: str) -> bool:
    return Signature.parse(signature).source == "similarity"


def _full_from(summary: Summary) -> str:
    """What the probabilities in the list are to be held against."""
    least = {
        threshold(signature) for signature in summary.signatures if _is_similarity(signature)
    } - {None}
    return f" (full from {', '.join(sorted(map(str, least)))})" if least else ""


def _scores(summary: Summary, *, offline: bool) -> Table:
    title = "Share of sentences that look supported (similarity)" if offline else "Faithfulness"
    table = score_table(title)
    cited = any(summary.citations.values())
    for name, words in _SCORES.items():
        score: CorpusScore | None = getattr(summary, name)
        if name == "faithfulness_with_fallback" and score is None:
            continue
        if (offline and name in _LLM_ONLY) or (name in _CITING and not cited):
            continue
        label = "looks supported" if offline and name == "faithfulness" else words
        bounds: CorpusBounds | None = getattr(summary, f"{name}_bounds", None)
        item = "citation" if name == "citation_validity" else "sentence"
        add_score(table, label, score, bounds, item)
    return table


def _counts(summary: Summary, failures: Mapping[UnscoredReason, Example]) -> list[Text]:
    kinds = {kind: count for kind, count in summary.kinds.items() if kind.value != "claim"}
    lines = [
        count_line("answers", summary.answers, summary.statuses),
        count_line("claims", summary.claims, summary.supports),
        count_line("not claims", sum(kinds.values()), kinds),
        count_line("citations", sum(summary.citations.values()), summary.citations),
    ]
    examples = {reason: each for reason, each in failures.items() if reason in summary.unscored}
    lines[2:2] = failure_lines(summary.unscored, summary.fallen_back, examples)
    if any(summary.flags.values()):
        lines.append(count_line("flags", sum(summary.flags.values()), summary.flags))
    if summary.calls or summary.cache_hits:
        lines.extend(_calls(summary))
    return lines


def _others(
    failures: Mapping[UnscoredReason, Example], summary: Summary
) -> dict[UnscoredReason, Example]:
    """Those that only the comparison with references met."""
    return {reason: each for reason, each in failures.items() if reason not in summary.unscored}


def _calls(summary: Summary) -> list[Text]:
    sent = f"{summary.calls} sent"
    if summary.retries:
        sent += f" (and {summary.retries} {'retry' if summary.retries == 1 else 'retries'})"
    tokens = f"{summary.prompt_tokens:,} tokens in, {summary.reply_tokens:,} out"
    lines = [Text(f"  calls       {sent}, {summary.cache_hits} from cache; {tokens}")]
    if len(summary.models) > 1:  # an alias that moved, or a gateway that picks
        lines.append(count_line("models", len(summary.models), summary.models))
    return lines


def _sentence(item: WorstSentence, console: Console) -> Text:
    look = look_of(item.sentence.outcome)
    score = "" if item.verdict.score is None else f" {number(item.verdict.score)}"
    stand_in = f" (fallback: {item.verdict.source})" if item.verdict.fallback_from else ""
    line = Text(f"{mark(look, console)} {look.word}{score}{stand_in}", style=look.style)
    line.append(f"  {flat(item.qid)} ", style="bold")
    text = flat(item.sentence.text)
    line.append(clip(text, 160), style="default")
    for flag in item.flags:
        line.append(f"  ({flag.name.value}: {meaning(flag)})", style="yellow")
    if item.verdict.reason:
        line.append(f"  ({flat(item.verdict.reason)})", style="dim")
    return line


def _gate(result: GateResult) -> Text:
    gate = result.gate
    verdict = "passed" if result.passed else "failed" if result.value is not None else "unmeasured"
    text = f"gate {gate.name} >= {gate.least:g}: {number(result.value)} ({result.what}), {verdict}"
    return Text(text, style="green" if result.passed else "bold red")


def _untrusted(summary: Summary, *, cached: bool) -> list[Text]:
    """What is not to be trusted, and how to mend it; nothing where all is."""
    compared, offline = summary.correctness, summary.by_similarity
    said = []
    if summary.untrusted:
        what = "what looks supported" if offline else "faithfulness"
        what = "this" if compared is None else what
        said.append(_doubt(summary.unscored_share, "claims", what))
    if compared is not None and compared.untrusted:
        what = "what looks correct" if offline else "correctness"
        said.append(_doubt(compared.unscored_share, "claims compared with the reference", what))
    if said and cached:
        said[-1] += ". With --force the same command asks again only for what failed"
    return [Text(text, style="bold red") for text in said]


def _doubt(unscored: float | None, claims: str, what: str) -> str:
    share = f"{100 * (unscored or 0):.1f} %"
    return (
        f"untrusted: {share} of the {claims} have no verdict of the run's judge; "
        f"do not report {what}"
    )
