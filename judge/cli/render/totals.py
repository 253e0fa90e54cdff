"""The totals of a run, printed: scores, counts, the worst sentences, gates, where to look next."""

import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple, TypeVar

from rich.table import Table
from rich.text import Text

from judge.cli.render.looks import look_of, mark, meaning, threshold
from judge.cli.render.quadrants import print_quadrants
from judge.cli.terminal import Page, between, figures, number
from judge.messages import Lang
from judge.records import (
    CorpusBounds,
    CorpusScore,
    CorrectnessStatus,
    CorrectnessTotals,
    GateResult,
    Summary,
    UnscoredReason,
)
from judge.reports.worst import Example, WorstSentence
from judge.signature import Signature
from judge.text.visible import clip, counted, flat

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
_AGREEING: Final = {
    "f1": "correctness (F1)",
    "precision": "precision",
    "recall": "recall",
    "f1_with_fallback": "F1 with fallback",
}
_SHORT: Final = "similarity compares short references; long answers want a language model: --model"
_NO_REFERENCE: Final = (
    "correctness: no answer has a reference to be compared with; "
    "give the samples a gold_answer (or reference)"
)
_LONGEST: Final = 160
"""Characters of a sentence that is listed."""
_LONGEST_DETAIL: Final = 500


class Ended(NamedTuple):
    """What a run left to tell, beside its totals."""

    worst: Sequence[WorstSentence]
    """Worst first."""
    failures: Mapping[UnscoredReason, Example]
    """The first of each reason."""
    cached: bool = False
    """Whether verdicts are kept, so that another run asks only for what failed."""
    lang: Lang = "en"
    """Of the table of cells."""


def print_totals(summary: Summary, ended: Ended, folder: Path, page: Page) -> None:
    """Print the tables, the counts, the worst sentences, the gates, and where to look next."""
    compared, offline = summary.correctness, summary.by_similarity
    page.table(_scores(summary, offline=offline))
    own = {reason: each for reason, each in ended.failures.items() if reason in summary.unscored}
    _print_counts(_counts(summary, own), 11, page)
    if compared is not None:
        others = {reason: each for reason, each in ended.failures.items() if reason not in own}
        _print_correctness(compared, others, page, offline=offline)
    print_quadrants(summary, folder, page, lang=ended.lang)
    if ended.worst:
        page.blank()
        title = Text(f"{_title(ended.worst, offline=offline)}, worst first", style="bold")
        page.say(title.append(_full_from(summary), "not bold dim"))
        for item in ended.worst:
            page.say(_sentence(item, page), hang=2)
    page.blank()
    for gate in summary.gates:
        page.say(_gate(gate), hang=2)
    for line in _untrusted(summary, cached=ended.cached):
        page.say(line, hang=2, style="bold red")
    page.made_by(summary.signatures, compared.signatures if compared else ())
    page.copied(f"written to {folder}")
    if ended.worst or summary.claims:
        qid = f" {shlex.quote(ended.worst[0].qid)}" if ended.worst else ""
        page.copied(f"look closer: judge show {shlex.quote(str(folder))}{qid}")


def _print_correctness(
    totals: CorrectnessTotals,
    failures: Mapping[UnscoredReason, Example],
    page: Page,
    *,
    offline: bool,
) -> None:
    """How the answers agree with their references; by similarity, they only look correct."""
    page.blank()
    if sum(totals.statuses.values()) == totals.statuses[CorrectnessStatus.NO_REFERENCE]:
        page.say(_NO_REFERENCE, hang=2, style="yellow")
        return
    title, names = "Correctness against the reference", _AGREEING
    if offline:
        title = "How far answers look correct against the reference (similarity)"
        names = names | {"f1": "looks correct (F1)"}
    page.table(_score_table(title, totals, names))
    if offline:
        page.say(_SHORT, hang=2, style="dim")
    counts = [
        ("answers", _parts(totals.statuses)),
        ("claims", f"{totals.claims}, of answers and references"),
        ("verdicts on answers", _parts(totals.answer_supports)),
        ("verdicts on references", _parts(totals.reference_supports)),
        *_failures(totals, failures),
        *_flags(totals.flags),
    ]
    _print_counts(counts, len("verdicts on references"), page)


def _scores(summary: Summary, *, offline: bool) -> Table:
    left_out = () if any(summary.citations.values()) else _CITING
    title, names = "Faithfulness", _SCORES
    if offline:
        title = "Share of sentences that look supported (similarity)"
        names, left_out = names | {"faithfulness": "looks supported"}, (*left_out, *_LLM_ONLY)
    names = {name: label for name, label in names.items() if name not in left_out}
    return _score_table(title, summary, names)


def _score_table(
    title: str, totals: Summary | CorrectnessTotals, names: Mapping[str, str]
) -> Table:
    """A row for a score, a dash where there is none; and one where failures leave it open."""
    table = figures("", "mean", "95 % interval", "pooled", "answers", "of", title=title)
    table.columns[2].justify = "left"
    for name, label in names.items():
        score: CorpusScore | None = getattr(totals, name)
        bounds: CorpusBounds | None = getattr(totals, f"{name}_bounds", None)
        answers = score.answers if score else 0
        if score is not None:
            noun = "citation" if name == "citation_validity" else "sentence"
            items = f"{score.items} {noun}{'' if score.items == 1 else 's'}"
            interval = between(score.interval.low, score.interval.high)
            pooled = number(score.micro)
            table.add_row(label, number(score.macro), interval, pooled, str(answers), items)
        elif not name.endswith("_with_fallback"):
            table.add_row(label, number(None), "", "", "0", "")
        if bounds is not None and (bounds.low < bounds.high or bounds.answers != answers):
            limits = between(bounds.low, bounds.high)
            table.add_row("  failures 0, then 1", "", limits, "", str(bounds.answers), "")
    return table


def _print_counts(counts: Iterable[tuple[str, str]], wide: int, page: Page) -> None:
    """Lines of counts, their names in a column of that width."""
    for name, said in counts:
        page.say(f"  {name:<{wide}} {said}", hang=wide + 3)


def _counts(
    summary: Summary, failures: Mapping[UnscoredReason, Example]
) -> Iterator[tuple[str, str]]:
    yield "answers", _parts(summary.statuses, summary.answers)
    yield "claims", _parts(summary.supports, summary.claims)
    yield from _failures(summary, failures)
    kinds = {kind: count for kind, count in summary.kinds.items() if kind.value != "claim"}
    yield "not claims", _parts(kinds)
    yield "citations", _parts(summary.citations)
    yield from _flags(summary.flags)
    if summary.calls or summary.cache_hits:
        retries = f" (and {counted(summary.retries, 'retry')})" if summary.retries else ""
        tokens = f"{summary.prompt_tokens:,} tokens in, {summary.reply_tokens:,} out"
        yield "calls", f"{summary.calls} sent{retries}, {summary.cache_hits} from cache; {tokens}"
        if len(summary.models) > 1:  # an alias that moved, or a gateway that picks
            yield "models", _parts(summary.models, len(summary.models))


def _parts(parts: Mapping[_Part, int], total: int | None = None) -> str:
    """A total, their sum unless given, and its parts but those of nothing."""
    listed = ", ".join(f"{n} {part.replace('_', ' ')}" for part, n in parts.items() if n)
    whole = sum(parts.values()) if total is None else total
    return f"{whole}: {listed}" if listed else f"{whole}"


def _failures(
    totals: Summary | CorrectnessTotals, examples: Mapping[UnscoredReason, Example]
) -> Iterator[tuple[str, str]]:
    """What went wrong, by reason, with an example of each; nothing where nothing did."""
    if not totals.unscored:
        return
    fallen = totals.fallen_back
    instead = f"; {fallen} of them answered by the fallback" if fallen else ""
    yield "unscored", _parts(totals.unscored) + instead
    for reason, example in examples.items():
        detail = f"{flat(example.qid)}: {flat(example.failure.detail)}"
        text = f"{reason.value.replace('_', ' ')}, {detail}"
        yield "such as", clip(text, _LONGEST_DETAIL)


def _flags(flags: Mapping[_Part, int]) -> Iterator[tuple[str, str]]:
    if any(flags.values()):
        yield "flags", _parts(flags)


def _title(worst: Sequence[WorstSentence], *, offline: bool) -> str:
    flagged = any(item.flags for item in worst)
    if offline:
        return "Sentences that look unsupported" + (" or are flagged" if flagged else "")
    return "Unsupported or flagged sentences" if flagged else "Unsupported sentences"


def _full_from(summary: Summary) -> str:
    """What the probabilities in the list are to be held against."""
    made = [name for name in summary.signatures if Signature.parse(name).source == "similarity"]
    least = sorted({least for name in made if (least := threshold(name)) is not None})
    return f" (full from {', '.join(least)})" if least else ""


def _sentence(item: WorstSentence, page: Page) -> Text:
    look = look_of(item.sentence.outcome)
    score = "" if item.verdict.score is None else f" {number(item.verdict.score)}"
    stand_in = f" (fallback: {item.verdict.source})" if item.verdict.fallback_from else ""
    line = Text(f"{mark(look, page)} {look.word}{score}{stand_in}", style=look.style)
    line.append(f"  {flat(item.qid)} ", style="bold")
    line.append(clip(flat(item.sentence.text), _LONGEST), style="default")
    for flag in item.flags:
        said = clip(meaning(flag), _LONGEST_DETAIL)
        line.append(f"  ({flag.name.value}: {said})", style="yellow")
    if item.verdict.reason:
        line.append(f"  ({clip(flat(item.verdict.reason), _LONGEST_DETAIL)})", style="dim")
    return line


def _gate(result: GateResult) -> Text:
    verdict = "passed" if result.passed else "failed" if result.value is not None else "unmeasured"
    bound = f"{'>=' if result.side == 'least' else '<='} {result.bound:g}"
    text = f"gate {result.name} {bound}: {number(result.value)} ({result.what}), {verdict}"
    return Text(text, style="green" if result.passed else "bold red")


def _untrusted(summary: Summary, *, cached: bool) -> Iterator[str]:
    """What is not to be trusted, and how to mend it; nothing where all is."""
    compared, offline = summary.correctness, summary.by_similarity
    doubts = []
    if summary.untrusted:
        what = "what looks supported" if offline else "faithfulness"
        doubts.append((summary.unscored_share, "claims", what if compared else "this"))
    if compared is not None and compared.untrusted:
        what = "what looks correct" if offline else "correctness"
        doubts.append((compared.unscored_share, "claims compared with the reference", what))
    for position, (unscored, claims, what) in enumerate(doubts, 1):
        again = ". With --force the same command asks again only for what failed"
        yield (
            f"untrusted: {100 * (unscored or 0):.1f} % of the {claims} have no verdict of the "
            f"run's judge; do not report {what}"
            + (again if cached and position == len(doubts) else "")
        )
