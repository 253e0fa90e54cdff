"""The totals of a run, printed."""

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, TypeVar

from rich.console import Console
from rich.table import Table
from rich.text import Text

from judge.cli.paint import look_of, mark, number, threshold
from judge.cli.terminal import print_table, titled_table
from judge.cli.wording import meaning
from judge.cli.wrap import wrap
from judge.records import CorpusBounds, CorpusScore, Summary, UnscoredReason
from judge.reports.failures import Example
from judge.reports.gate import GateResult
from judge.reports.worst import WorstSentence
from judge.text.clip import clip
from judge.text.visible import flat, visible

_Part = TypeVar("_Part", bound=str)

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
_WIDEST: Final = 500
_COUNTS: Final = 14
"""Column at which the counts begin."""


def print_totals(
    summary: Summary,
    worst: Sequence[WorstSentence],
    gates: Sequence[GateResult],
    folder: Path,
    console: Console,
    failures: Mapping[UnscoredReason, Example],
    *,
    cached: bool = False,
) -> None:
    """Print the table, the counts, the worst sentences, the gates, and where to look next."""

    def say(text: Text, hang: int = 0) -> None:
        console.print(wrap(text, console.width, hang=hang), soft_wrap=True)

    offline = summary.by_similarity
    print_table(_scores(summary, offline=offline), console)
    for line in _counts(summary, failures):
        say(line, _COUNTS)
    if worst:
        console.print()
        title = Text(f"{_title(worst, offline=offline)}, worst first", style="bold")
        say(title.append(_full_from(summary), "not bold dim"))
        for item in worst:
            say(_sentence(item, console), hang=2)
    console.print()
    for gate in gates:
        say(_gate(gate), hang=2)
    if summary.untrusted:
        say(_untrusted(summary, cached=cached), hang=2)
    # Signatures and commands are copied: they are not broken into lines.
    for signature in summary.signatures:
        console.print(Text(f"made by {visible(signature)}", style="dim"), soft_wrap=True)
    console.print(Text(f"written to {visible(str(folder))}"), soft_wrap=True)
    if worst or summary.claims:
        qid = f" {shlex.quote(worst[0].qid)}" if worst else ""
        command = f"judge show {shlex.quote(str(folder))}{qid}"
        console.print(Text(f"look closer: {visible(command)}"), soft_wrap=True)


def _title(worst: Sequence[WorstSentence], *, offline: bool) -> str:
    flagged = any(item.flags for item in worst)
    if offline:
        return "Sentences that look unsupported" + (" or are flagged" if flagged else "")
    return "Unsupported or flagged sentences" if flagged else "Unsupported sentences"


def _is_similarity(signature: str) -> bool:
    return signature.startswith("similarity:")


def _full_from(summary: Summary) -> str:
    """What the probabilities in the list are to be held against."""
    least = {
        threshold(signature) for signature in summary.signatures if _is_similarity(signature)
    } - {None}
    return f" (full from {', '.join(sorted(map(str, least)))})" if least else ""


def _scores(summary: Summary, *, offline: bool) -> Table:
    title = "Share of sentences that look supported (similarity)" if offline else "Faithfulness"
    table = titled_table(title)
    table.add_column("mean", justify="right")
    table.add_column("95 % interval", no_wrap=True)
    table.add_column("pooled", justify="right")
    table.add_column("answers", justify="right")
    table.add_column("of", justify="right", no_wrap=True)
    cited = any(summary.citations.values())
    for name, words in _SCORES.items():
        score: CorpusScore | None = getattr(summary, name)
        if name == "faithfulness_with_fallback" and score is None:
            continue
        if (offline and name in _LLM_ONLY) or (name in _CITING and not cited):
            continue
        label = "looks supported" if offline and name == "faithfulness" else words
        table.add_row(label, *_score(name, score))
        bounds: CorpusBounds | None = getattr(summary, f"{name}_bounds", None)
        if bounds is not None and bounds.low < bounds.high:
            limits = f"{number(bounds.low)}–{number(bounds.high)}"
            table.add_row("  failures 0, then 1", "", limits, "", str(bounds.answers), "")
    return table


def _score(name: str, score: CorpusScore | None) -> tuple[str, ...]:
    if score is None:
        return number(None), "", "", "0", ""
    items = "citation" if name == "citation_validity" else "sentence"
    items += "" if score.items == 1 else "s"
    interval = f"{number(score.interval.low)}–{number(score.interval.high)}"
    pooled = number(score.micro)
    return number(score.macro), interval, pooled, str(score.answers), f"{score.items} {items}"


def _counts(summary: Summary, failures: Mapping[UnscoredReason, Example]) -> list[Text]:
    kinds = {kind: count for kind, count in summary.kinds.items() if kind.value != "claim"}
    lines = [
        _line("answers", summary.answers, summary.statuses),
        _line("claims", summary.claims, summary.supports),
        _line("not claims", sum(kinds.values()), kinds),
        _line("citations", sum(summary.citations.values()), summary.citations),
    ]
    if summary.unscored:
        unscored = _line("unscored", sum(summary.unscored.values()), summary.unscored)
        if summary.fallen_back:
            unscored.append(f"; {summary.fallen_back} of them answered by the fallback")
        such_as = [_example(reason, example) for reason, example in failures.items()]
        lines[2:2] = [unscored, *such_as]
    if any(summary.flags.values()):
        lines.append(_line("flags", sum(summary.flags.values()), summary.flags))
    if summary.calls or summary.cache_hits:
        lines.extend(_calls(summary))
    return lines


def _example(reason: UnscoredReason, example: Example) -> Text:
    text = f"{reason.value.replace('_', ' ')}, {flat(example.qid)}: {flat(example.failure.detail)}"
    return Text(f"  {'such as':<11} {clip(text, _WIDEST)}")


def _calls(summary: Summary) -> list[Text]:
    sent = f"{summary.calls} sent"
    if summary.retries:
        sent += f" (and {summary.retries} {'retry' if summary.retries == 1 else 'retries'})"
    tokens = f"{summary.prompt_tokens:,} tokens in, {summary.reply_tokens:,} out"
    lines = [Text(f"  calls       {sent}, {summary.cache_hits} from cache; {tokens}")]
    if len(summary.models) > 1:  # an alias that moved, or a gateway that picks
        lines.append(_line("models", len(summary.models), summary.models))
    return lines


def _line(name: str, total: int, parts: Mapping[_Part, int]) -> Text:
    listed = ", ".join(
        f"{count} {part.replace('_', ' ')}" for part, count in parts.items() if count
    )
    return Text(f"  {name:<11} {total}" + (f": {listed}" if listed else ""))


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


def _untrusted(summary: Summary, *, cached: bool) -> Text:
    share = f"{100 * (summary.unscored_share or 0):.1f} %"
    text = (
        f"untrusted: {share} of the claims have no verdict of the run's judge; do not report this"
    )
    if cached:
        text += ". With --force the same command asks again only for what failed"
    return Text(text, style="bold red")
