"""Print the totals of a run: findings, scores, gates, counts, and commands that show more."""

import shlex
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final, TypeVar, get_args

from rich.cells import cell_len
from rich.table import Table

from judge.cli.render.answers import gate_line, print_entry
from judge.cli.terminal import Page, between, lang_option, number
from judge.inputs.runs import SUMMARY
from judge.messages import Messages
from judge.records import (
    ContextTotals,
    CorrectnessTotals,
    FlagName,
    QuadrantTable,
    RelevanceTotals,
    Summary,
    UnscoredReason,
)
from judge.records.run import RunRecord
from judge.reports.totals import (
    TRIAD,
    Headline,
    quadrant_lines,
    quadrant_notes,
    score_tables,
    spent_lines,
)
from judge.reports.worst import BAD_CITATIONS, Finding, FindingName, Highlights
from judge.text.visible import clip, flat, short

_Part = TypeVar("_Part", bound=str)
_Totals = Summary | CorrectnessTotals | RelevanceTotals | ContextTotals

_ADDED: Final = {
    "correctness": ({"correctness", "looks_correct"}, "no_reference"),
    "relevance": ({"relevance", TRIAD}, "no_query"),
    "context": ({"context", "looks_recalled", TRIAD}, "no_context"),
}
"""The titles of the table of each added score, and the note for a run without that table."""
_COUNTS: Final = {
    "statuses": "status",
    "supports": "label",
    "answer_supports": "label",
    "reference_supports": "label",
    "kinds": "kind",
    "citations": "citation",
    "models": "",
}
"""The counts of totals, and the group of words for their parts."""
_MAX_DETAIL: Final = 500


def print_totals(
    summary: Summary,
    record: RunRecord,
    highlights: Highlights,
    folder: Path,
    page: Page,
    *,
    details: bool,
) -> None:
    """Print findings, scores, gates, and commands that show more; with `details` counts too."""
    say, tables = Messages.of("totals", "note"), dict(score_tables(summary))
    _print_findings(summary, highlights, page)
    page.blank()
    for title, rows in tables.items():
        if details or title != "support":
            _print_table(title, rows, summary, page)
    if line := _decided(summary):
        page.say(line, hang=2)
    if summary.by_similarity:
        page.say(Messages.of("totals", "finding")("blind"), hang=2, style="dim")
    if "looks_recalled" in tables:
        page.say(Messages.of("totals", "finding")("blind_recalled"), hang=2, style="dim")
    if details:
        page.fields(_counts(summary))
    for setting, totals in summary.added.items():
        titles, missing = _ADDED[setting]
        if tables.keys().isdisjoint(titles):
            page.say(say(missing), hang=2, style="yellow")
        counts = list(_counts(totals)) if details else []
        if counts := [*counts, *_failures(totals, highlights, exclude=summary)]:
            page.blank()
            page.say(say(f"of_{setting}"), style="bold")
            page.fields(counts)
    if details and summary.breakdown is not None:
        _print_cells(summary, summary.breakdown, page)
    page.blank()
    if (whole := summary.drawn_from) is not None:
        page.say(say("drawn", answers=f"{summary.answers:,}", whole=f"{whole:,}"), hang=2)
    for gate in summary.gates:
        page.say(gate_line(gate), hang=2)
    for line in _untrusted(summary, is_cached=bool(record.config.get("cache"))):
        page.say(line, hang=2, style="bold red")
    for line in spent_lines(summary, record):
        page.say(line, hang=2)
    page.made_by(summary.signatures, {key: own.signatures for key, own in summary.added.items()})
    page.copied(say("written", folder=folder))
    if summary.claims:
        show = f"judge show {shlex.quote(str(folder))}"
        page.copied(say("closer", command=f"{show}{lang_option()}"))
        page.copied(say("list", command=f"{show} --worst 20{lang_option()}"))
    if not details:
        page.copied(say("details", path=folder / SUMMARY))


def _print_findings(summary: Summary, highlights: Highlights, page: Page) -> None:
    """Print how often each thing is wrong, with one example, and the failures and flags."""
    say = Messages.of("totals", "finding")
    undecided = summary.unscored.get(UnscoredReason.UNDECIDED, 0)
    claims = _counted("claim", summary.judged + undecided)
    title = "title_similarity" if summary.by_similarity else "title"
    page.say(say(title, claims=claims, answers=_counted("answer", summary.answers)), style="bold")
    if not summary.judged:
        page.say(say("nothing_judged"), 2)
    width = max(cell_len(say(name)) for name in get_args(FindingName))
    for name, found in highlights.findings.items():
        is_shown = bool(found.count if name == "partial" else summary.judged)
        if name == "citations":
            if undecided:
                answers = _counted("answer", highlights.undecided_answers)
                text = say("open", count=_counted("claim", undecided), answers=answers)
                page.fields([(say("undecided"), text)], width, style="bold")
            for entry in highlights.doubtful:
                print_entry(entry, page, (), indent=4)
            is_shown = any(summary.citations.values())
        if is_shown:
            text = _finding(name, found, summary) if found.count else say("none")
            page.fields([(say(name), text)], width, style="bold")
        if found.example is not None:
            print_entry(found.example, page, BAD_CITATIONS, indent=4)
    rows = list(_failures(summary, highlights))
    meanings = Messages.of("looks", "flag")
    for flag, count in summary.flags.items():
        counted = f"{count:,} {flag.value}"
        if flag is FlagName.UNMATCHED_MARKER:
            counted = say("such_as", flag=counted, marker=short(highlights.marker, _MAX_DETAIL))
        if count:
            text = f"{counted}: {meanings(flag.value)}"
            rows.append((Messages.of("totals", "count")("flags"), text))
    page.fields(rows, width)


def _decided(summary: Summary) -> str:
    """Return the share of claims that similarity decided, and what the others could change."""
    score, limits = summary.faithfulness, summary.faithfulness_bounds
    if not summary.unscored.get(UnscoredReason.UNDECIDED) or score is None or limits is None:
        return ""
    share = f"{100 * summary.judged / summary.claims:.0f}"
    low, high = number(limits.low), number(limits.high)
    say = Messages.of("totals", "finding")
    return say("decided", mean=number(score.macro), share=share, low=low, high=high)


def _finding(name: FindingName, found: Finding, summary: Summary) -> str:
    say, answers = Messages.of("totals", "finding"), _counted("answer", found.answers)
    if name == "citations":
        counts = summary.citations
        parts = _listed({status: counts[status] for status in reversed(BAD_CITATIONS)}, "citation")
        total = _counted("citation", sum(counts.values()))
        return say("bad", parts=parts, count=f"{found.count:,}", total=total, answers=answers)
    means = Messages.of("totals", "means")(name)
    return say("where", count=_counted("claim", found.count), answers=answers, means=means)


def _print_table(title: str, headlines: Iterable[Headline], summary: Summary, page: Page) -> None:
    """Print a row for each score, and one for its bounds if there are failures."""
    names, heads = Messages.of("totals", "score"), Messages.of("totals", "column")
    reasons = {each for totals in (summary, *summary.added.values()) for each in totals.unscored}
    open_by = "undecided" if reasons == {UnscoredReason.UNDECIDED} else "failures"
    rows = list[tuple[str | int, ...]]()
    for label, score, bounds, noun in headlines:
        row: tuple[str | int, ...] = (names(label), number(None), "", 0)
        if score is not None:
            row = (names(label), number(score.macro), between(score.interval), score.answers)
            items = _counted(noun, score.items) if noun else ""
            total = heads("of_total", value=number(score.micro), items=items)
            row = (*row, total if noun else "")
        rows.append(row)
        if bounds is not None:
            name = names("unknown" if title == "support" else open_by)
            rows.append((name, "", between(bounds), bounds.answers))
    columns = ("", *map(heads, ("mean", "interval", "answers", "in_total")))
    page.table(columns, rows, Messages.of("totals", "title")(title), left=(0, 2, 4))


def _counts(totals: _Totals) -> Iterator[tuple[str, str]]:
    """Yield each count of a totals record: what it counts, and its parts."""
    say = Messages.of("totals", "count")
    for field, group in _COUNTS.items():
        if counts := getattr(totals, field, None):
            yield say(field), _parts(counts, group)
    repeats = totals.repeats if isinstance(totals, Summary) else None
    if repeats is not None:
        flips = say("flips", **repeats.model_dump(), rate=number(repeats.flip_rate))
        if repeats.failed:
            failed = _parts(repeats.failed, "unscored")
            flips = say("flips_failed", flips=flips, failed=failed)
        yield say("repeats"), flips


def _failures(
    totals: _Totals, highlights: Highlights, exclude: Summary | None = None
) -> Iterator[tuple[str, str]]:
    """Yield the number of failures by reason, and an example of each that `exclude` lacks."""
    say = Messages.of("totals", "count")
    failed = {
        reason: count
        for reason, count in totals.unscored.items()
        if reason is not UnscoredReason.UNDECIDED
    }
    if not failed:
        return
    parts = _parts(failed, "unscored")
    if not isinstance(totals, RelevanceTotals) and totals.fallen_back:
        parts = say("instead", parts=parts, count=totals.fallen_back)
    yield say("unscored"), parts
    for reason in failed:
        if exclude is not None and reason in exclude.unscored:
            continue
        if (example := highlights.failures.get(reason)) is not None:
            name = Messages.of("looks", "unscored")(reason.value)
            detail = f"{name}, {flat(example.qid)}: {flat(example.failure.detail)}"
            yield say("such_as"), clip(detail, _MAX_DETAIL)


def _untrusted(summary: Summary, *, is_cached: bool) -> Iterator[str]:
    """Yield what the budget left out, the scores that cannot be trusted, and how to mend that."""
    say = Messages.of("totals", "note")
    if summary.over_budget:
        unasked = summary.unscored.get(UnscoredReason.BUDGET, 0)
        line = say("budget", share=f"{100 * unasked / (summary.claims or 1):.1f}")
        yield say("go_on", line=line) if is_cached else line
    lines = [
        say("untrusted", share=f"{100 * (totals.unscored_share or 0):.1f}", what=say(f"of_{name}"))
        for name, totals in {"faithfulness": summary, **summary.added}.items()
        if totals.untrusted
    ]
    if lines and is_cached:
        lines[-1] = say("again", line=lines[-1])
    yield from lines


def _print_cells(summary: Summary, found: QuadrantTable, page: Page) -> None:
    """Print a row for each quadrant with its meaning."""
    say = Messages.of("quadrants", "say")
    page.blank()
    if found.counted:
        page.say(say("title", count=found.counted), style="bold")
        table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
        for name in ("cell", "answers", "share", "half"):
            table.add_column(say(name), justify="right" if name in {"answers", "share"} else "left")
        lines = quadrant_lines(summary, found)
        for line in lines:
            table.add_row(line.words, f"{line.answers:,}", line.share, line.half)
        head, *rows = page.rows(table)
        page.whole(head)
        for row, line in zip(rows, lines, strict=True):
            page.whole(row)
            page.say(line.meaning, 4, style="dim")
    for note in quadrant_notes(summary, found):
        page.say(note, hang=2)


def _parts(parts: Mapping[_Part, int], group: str) -> str:
    """Return a sum, and the parts that are not 0."""
    text, whole = _listed(parts, group), sum(parts.values())
    return Messages.of("totals", "counted")("parts", whole=whole, parts=text) if text else "0"


def _counted(noun: str, count: int) -> str:
    return Messages.of("totals", "counted")(noun, count=count)


def _listed(parts: Mapping[_Part, int], group: str) -> str:
    """Return the counts that are not 0, each with its word in a group of `looks`, if it has one."""
    names = Messages.of("looks", group) if group else Messages({})
    say = Messages.of("totals", "counted")
    return say("joint").join(
        say("each", name=names(part) if part in names else part, count=count)
        for part, count in parts.items()
        if count
    )
