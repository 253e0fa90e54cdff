"""Print the totals of a run: findings, scores, gates, counts, and commands that show more."""

import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import Final, NamedTuple, TypeVar, get_args

from rich.cells import cell_len
from rich.table import Table
from rich.text import Text

from judge.cli.render.answers import (
    citations,
    gate_line,
    grounds,
    print_entry,
    reasons,
)
from judge.cli.terminal import Page, between, figures, lang_option, number
from judge.inputs.runs import SUMMARY
from judge.jobs.forecast import SECONDS_PER_CALL, Forecast
from judge.messages import Messages
from judge.records import (
    CitationStatus,
    ContextStatus,
    ContextTotals,
    CorrectnessTotals,
    FlagName,
    RelevanceStatus,
    RelevanceTotals,
    SampleResult,
    Summary,
    UnscoredReason,
)
from judge.records.result import Half
from judge.records.run import RunRecord
from judge.reports.totals import TRIAD, CellTable, is_apart, score_tables, spent_lines
from judge.reports.worst import (
    BAD_CITATIONS,
    Entry,
    Example,
    Failures,
    Finding,
    FindingName,
    Findings,
    Worst,
)
from judge.text.visible import clip, flat, plural

_Part = TypeVar("_Part", bound=str)
_Scored = Summary | CorrectnessTotals | RelevanceTotals | ContextTotals

_LISTS: Final = {
    (True, True): "looks_flagged",
    (True, False): "looks",
    (False, True): "flagged",
    (False, False): "unsupported",
}
"""The titles of the list of worst sentences: by similarity or not, with flags or not."""
_HALF_STYLES: Final[dict[Half, str]] = {
    "neither": "green",
    "retrieval": "red",
    "generation": "magenta",
    "unknown": "dim",
}
_NOTE_STYLES: Final = {"total": "bold", "aside": "dim", "plain": "", "caution": "yellow"}
_SAMPLES: Final = (
    FlagName.NO_CHUNKS,
    FlagName.AMBIGUOUS_CHUNK_ID,
    FlagName.CONFLICTING_CHUNKS,
    FlagName.UNJUDGED_TEXT,
    FlagName.CITATIONS_CUT,
)
_MAX_DETAIL: Final = 500
_DEFAULT_WORST: Final = 5


class Highlights:
    """The findings, the worst sentences and the first failures of a run."""

    def __init__(self, worst: int) -> None:
        self.findings = Findings()
        self.worst = Worst(worst)
        self.failures = Failures()
        self.unmatched = ""
        """The first marker that matches no chunk id."""

    def add(self, result: SampleResult) -> None:
        """Add one answer."""
        for each in (self.findings, self.worst, self.failures):
            each.add(result)
        markers = (f.detail for f in result.flags if f.name is FlagName.UNMATCHED_MARKER)
        self.unmatched = self.unmatched or next(markers, "")


class Wanted(NamedTuple):
    """The parts of a run that are printed."""

    worst: int | None = None
    """The number of worst sentences that are listed. With 0, no text of an answer is printed."""
    details: bool = False
    """Whether counts, flags and cells are printed."""
    cached: bool = False
    """Whether verdicts are kept, so that another run asks only for what failed."""

    @property
    def kept(self) -> int:
        """The number of worst sentences that are collected: at least one to look at closer."""
        return _DEFAULT_WORST if self.worst is None else self.worst

    @property
    def listed(self) -> int:
        """The number of worst sentences that are listed."""
        return (_DEFAULT_WORST if self.details else 0) if self.worst is None else self.worst


def print_totals(
    summary: Summary,
    record: RunRecord,
    highlights: Highlights,
    folder: Path,
    page: Page,
    wanted: Wanted,
) -> None:
    """Print findings, scores, gates, and commands that show more; counts if wanted."""
    _Totals(summary, record, highlights, folder, page, wanted).print()


class _Totals:
    def __init__(
        self,
        summary: Summary,
        record: RunRecord,
        highlights: Highlights,
        folder: Path,
        page: Page,
        wanted: Wanted,
    ) -> None:
        self._summary, self._record, self._folder = summary, record, folder
        self._page, self._wanted = page, wanted
        self._findings, self._worst = highlights.findings.found, highlights.worst.sentences()
        self._offline = summary.by_similarity
        self._say = Messages.of("totals", "note")
        self._count = Messages.of("totals", "count")
        self._finding = Messages.of("totals", "finding")
        self._tables = dict(score_tables(summary))
        self._failed, self._unmatched = highlights.failures, highlights.unmatched
        failures = self._failed.first.items()
        self._own = {reason: each for reason, each in failures if reason in summary.unscored}
        self._others = {reason: each for reason, each in failures if reason not in self._own}
        reasons = set(summary.unscored).union(*(each.unscored for each in summary.added.values()))
        only_undecided = reasons == {UnscoredReason.UNDECIDED}
        self._open_by = "undecided" if only_undecided else "failures"
        self._width = max(cell_len(self._finding(name)) for name in get_args(FindingName))

    def print(self) -> None:
        """Print all parts in their order."""
        page, summary, details = self._page, self._summary, self._wanted.details
        compared, related = summary.correctness, summary.answer_relevance
        self._print_findings()
        page.fields(self._named(self._failures(summary, self._own)), self._width)
        self._print_flags()
        page.blank()
        self._print_table(next(iter(self._tables)))
        if self._offline:
            self._print_decided()
            page.say(self._finding("blind"), hang=2, style="dim")
        if details:
            page.fields(self._named(self._counts()))
        if details and "support" in self._tables:
            page.blank()
            self._print_table("support")
        if compared is not None:
            self._print_correctness(compared)
        if related is not None:
            self._print_relevance(related)
        if summary.context is not None:
            self._print_context(summary.context)
        if details:
            self._print_cells()
        if worst := self._worst[: self._wanted.listed]:
            self._print_worst(worst)
        page.blank()
        if (whole := summary.drawn_from) is not None:
            page.say(self._say("drawn", answers=f"{summary.answers:,}", whole=f"{whole:,}"), hang=2)
        for gate in summary.gates:
            page.say(gate_line(gate), hang=2)
        for line in self._untrusted():
            page.say(line, hang=2, style="bold red")
        for line in spent_lines(summary, self._record):
            page.say(line, hang=2)
        page.made_by(
            summary.signatures, {name: each.signatures for name, each in summary.added.items()}
        )
        self._print_next()

    def _print_findings(self) -> None:
        """Print how often each thing is wrong, with one example."""
        page, say, summary = self._page, self._finding, self._summary
        undecided = summary.unscored.get(UnscoredReason.UNDECIDED, 0)
        claims = _counted("claim", summary.judged + undecided)
        answers = _counted("answer", summary.answers)
        title = "title_similarity" if self._offline else "title"
        page.say(say(title, claims=claims, answers=answers), style="bold")
        if not summary.judged:
            page.say(say("nothing_judged"), 2)
        self._print_finding("contradicted")
        self._print_finding("unsupported")
        self._print_finding("partial")
        self._print_undecided(undecided)
        self._print_finding("citations")

    def _print_finding(self, name: FindingName) -> None:
        """Print how often one thing is wrong, with an example."""
        page, found, summary = self._page, self._findings[name], self._summary
        if name == "citations":
            is_shown = any(summary.citations.values())
        else:
            is_shown = bool(found.count if name == "partial" else summary.judged)
        if not is_shown:
            return
        none = Text(self._finding("none"), style="dim")
        text = self._found(name, found) if found.count else none
        page.fields([(self._finding(name), text)], self._width, style="bold")
        if self._wanted.worst == 0 or (example := found.example) is None:
            return
        lines = reasons(example, page)
        if name == "citations":
            dangling = citations(example, [CitationStatus.DANGLING])
            lines = islice(chain(dangling, citations(example, BAD_CITATIONS)), 1)
        print_entry(example, page, lines, indent=4)

    def _print_undecided(self, count: int) -> None:
        """Print the number of undecided claims, what to do, and the most doubtful ones."""
        if not count:
            return
        page, say = self._page, self._finding
        answers = _counted("answer", self._failed.undecided_answers)
        text = say("open", count=_counted("claim", count), answers=answers)
        page.fields([(say("undecided"), text)], self._width, style="bold")
        for each in self._failed.doubtful if self._wanted.worst != 0 else ():
            print_entry(each, page, reasons(each, page), indent=4)

    def _found(self, name: FindingName, found: Finding) -> str:
        say, answers = self._finding, _counted("answer", found.answers)
        if name == "citations":
            counts = self._summary.citations
            parts = _listed(
                {status: counts[status] for status in reversed(BAD_CITATIONS)}, "citation"
            )
            total = _counted("citation", sum(counts.values()))
            return say("bad", parts=parts, count=f"{found.count:,}", total=total, answers=answers)
        means = Messages.of("totals", "means")(name)
        return say("where", count=_counted("claim", found.count), answers=answers, means=means)

    def _print_flags(self) -> None:
        """Print the numbers of unfair samples, and without details those of other flags."""
        page, flags = self._page, self._summary.flags
        for name in _SAMPLES:
            if answers := flags.get(name):
                page.say(self._finding(name.value, answers=_counted("answer", answers)), 2, hang=2)
        if markers := flags.get(FlagName.UNMATCHED_MARKER):
            such_as = self._finding("such_as", marker=clip(flat(self._unmatched), _MAX_DETAIL))
            example = "" if self._wanted.worst == 0 else such_as
            page.say(self._finding("unmatched_marker", count=markers, example=example), 2, hang=2)
        own = (*_SAMPLES, FlagName.UNMATCHED_MARKER)
        others = _listed({name.value: n for name, n in flags.items() if name not in own})
        if others and not self._wanted.details:
            page.say(self._finding("flagged", flags=others), 2, hang=2)

    def _print_next(self) -> None:
        """Print where the run is, and commands that show more of it."""
        page, folder = self._page, shlex.quote(str(self._folder))
        page.copied(self._say("written", folder=self._folder))
        lang = lang_option()
        if worst := self._worst:
            qid = f" {shlex.quote(worst[0].qid)}"
            page.copied(self._say("closer", command=f"judge show {folder}{qid}{lang}"))
            page.copied(self._say("list", command=f"judge show {folder} --worst 20{lang}"))
        elif self._summary.claims:
            page.copied(self._say("closer", command=f"judge show {folder}{lang}"))
        if not self._wanted.details:
            page.copied(self._say("details", path=self._folder / SUMMARY))

    def _print_worst(self, worst: Sequence[Entry]) -> None:
        say, page = Messages.of("totals", "worst"), self._page
        flagged = any(item.flags for item in worst)
        page.blank()
        page.say(say(_LISTS[self._offline, flagged]), style="bold")
        for item in worst:
            print_entry(item, page, grounds(item, page))

    def _print_correctness(self, totals: CorrectnessTotals) -> None:
        """Print how far answers agree with their references."""
        notes = [self._say("overall")] if is_apart(totals.f1_overall, totals.f1) else []
        notes += [self._say("short")] if self._offline else []
        counts = [
            ("answers", self._parts(totals.statuses, "compared")),
            ("claims", self._count("of_both", count=totals.claims)),
            ("of_answers", self._parts(totals.answer_supports, "label")),
            ("of_references", self._parts(totals.reference_supports, "label")),
        ]
        title = "looks_correct" if self._offline else "correctness"
        self._print_other(totals, title, "no_reference", notes, counts)

    def _print_relevance(self, totals: RelevanceTotals) -> None:
        """Print how far answers answer their questions."""
        apart = is_apart(totals.relevance_overall, totals.relevance)
        notes = [self._say("overall_relevance")] if apart else []
        if without := totals.statuses[RelevanceStatus.NO_QUERY]:
            notes.append(self._say("without_query", answers=_counted("answer", without)))
        counts = [
            ("answers", self._parts(totals.statuses, "related")),
            ("of_parts", self._parts(totals.supports, "answered")),
        ]
        self._print_other(totals, "relevance", "no_query", notes, counts)

    def _print_context(self, totals: ContextTotals) -> None:
        """Print how well the chunks support the references."""
        notes = [self._say("recalled_blind")] if self._offline else []
        if without := totals.statuses[ContextStatus.NO_REFERENCE]:
            notes.append(self._say("without_reference", answers=_counted("answer", without)))
        counts = [
            ("answers", self._parts(totals.statuses, "compared")),
            ("of_references", self._parts(totals.supports, "label", totals.claims)),
        ]
        title = "looks_recalled" if self._offline else "context"
        self._print_other(totals, title, "no_context", notes, counts)

    def _print_other(
        self,
        totals: CorrectnessTotals | RelevanceTotals | ContextTotals,
        title: str,
        missing: str,
        notes: Iterable[str],
        counts: Iterable[tuple[str, str]],
    ) -> None:
        """Print the scores that a setting adds, or the note that they are missing."""
        page = self._page
        page.blank()
        if title in self._tables:
            self._print_table(title)
        elif TRIAD not in self._tables:
            page.say(self._say(missing), hang=2, style="yellow")
            return
        for note in notes:
            page.say(note, hang=2, style="dim")
        rows = list(self._failures(totals, self._others))
        if self._wanted.details:
            flags = [("flags", self._parts(totals.flags))] if any(totals.flags.values()) else []
            rows = [*counts, *rows, *flags]
        page.fields(self._named(rows))

    def _print_table(self, title: str) -> None:
        """Print a row for each score, and one for its bounds if there are failures."""
        named, heads = Messages.of("totals", "score"), Messages.of("totals", "column")
        columns = map(heads, ("mean", "interval", "answers", "in_total"))
        table = figures("", *columns, title=Messages.of("totals", "title")(title))
        table.columns[2].justify = table.columns[4].justify = "left"
        for label, score, bounds, noun in self._tables[title]:
            if score is None:
                table.add_row(named(label), number(None), "", "0")
            else:
                interval = between(score.interval)
                items = _counted(noun, score.items) if noun else ""
                total = heads("of_total", value=number(score.micro), items=items) if noun else ""
                answers = f"{score.answers:,}"
                table.add_row(named(label), number(score.macro), interval, answers, total)
            if bounds is not None:
                limits = between(bounds)
                open_by = "unknown" if title == "support" else self._open_by
                table.add_row(named(open_by), "", limits, f"{bounds.answers:,}")
        self._page.table(table)

    def _print_decided(self) -> None:
        """Print the share of claims that similarity decided, and what the others could change."""
        summary = self._summary
        score, limits = summary.faithfulness, summary.faithfulness_bounds
        if not summary.unscored.get(UnscoredReason.UNDECIDED) or score is None or limits is None:
            return
        share = f"{100 * summary.judged / summary.claims:.0f}"
        low, high = number(limits.low), number(limits.high)
        shown = {"mean": number(score.macro), "share": share, "low": low, "high": high}
        self._page.say(self._finding("decided", **shown), hang=2)

    def _named(self, counts: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
        return [(self._count(name), text) for name, text in counts]

    def _counts(self) -> Iterator[tuple[str, str]]:
        summary = self._summary
        yield "answers", self._parts(summary.statuses, "status", summary.answers)
        claims = self._parts(summary.supports, "label", summary.claims)
        if undecided := summary.unscored.get(UnscoredReason.UNDECIDED):
            joint = Messages.of("totals", "counted")("joint")
            claims += joint + _listed({UnscoredReason.UNDECIDED: undecided}, "unscored")
        yield "claims", claims
        kinds = {kind: count for kind, count in summary.kinds.items() if kind.value != "claim"}
        yield "kinds", self._parts(kinds, "kind")
        yield "citations", self._parts(summary.citations, "citation")
        if any(summary.flags.values()):
            yield "flags", self._parts(summary.flags)
        if (repeats := summary.repeats) is not None:
            flips = self._count("flips", **repeats.model_dump(), rate=number(repeats.flip_rate))
            if repeats.failed:
                failed = self._parts(repeats.failed, "unscored")
                flips = self._count("flips_failed", told=flips, failed=failed)
            yield "repeats", flips
        if len(summary.models) > 1:  # an alias that moved, or a gateway that picks
            yield "models", self._parts(summary.models, "", len(summary.models))

    def _parts(self, parts: Mapping[_Part, int], group: str = "", total: int | None = None) -> str:
        """Return a total, by default the sum, and the parts that are not 0."""
        text = _listed(parts, group)
        whole = sum(parts.values()) if total is None else total
        say = Messages.of("totals", "counted")
        return say("parts", whole=whole, parts=text) if text else f"{whole}"

    def _failures(
        self, totals: _Scored, examples: Mapping[UnscoredReason, Example]
    ) -> Iterator[tuple[str, str]]:
        """Yield the number of failures by reason, and an example of each."""
        failed = {
            reason: count
            for reason, count in totals.unscored.items()
            if reason is not UnscoredReason.UNDECIDED
        }
        if not failed:
            return
        parts = self._parts(failed, "unscored")
        if not isinstance(totals, RelevanceTotals) and totals.fallen_back:
            parts = self._count("instead", parts=parts, count=totals.fallen_back)
        yield "unscored", parts
        for reason, example in examples.items():
            if reason in failed:
                detail = f"{flat(example.qid)}: {flat(example.failure.detail)}"
                named = Messages.of("looks", "unscored")(reason.value)
                yield "such_as", clip(f"{named}, {detail}", _MAX_DETAIL)

    def _untrusted(self) -> Iterator[str]:
        """Yield the scores that cannot be trusted, and how to mend that."""
        summary, compared, say = self._summary, self._summary.correctness, self._say
        related, context = summary.answer_relevance, summary.context
        if summary.over_budget:
            line = self._unasked()
            yield say("go_on", line=line) if self._wanted.cached else line
        own, other, third = ("looks_supported", "looks_correct", "looks_recalled")
        if not self._offline:
            own, other, third = ("faithfulness", "correctness", "context")
        doubts = [
            (summary, "claims", f"what_{own}" if summary.added else "this"),
            (compared, "claims_compared", f"what_{other}"),
            (related, "answers_asked", "what_relevance"),
            (context, "claims_of_references", f"what_{third}"),
        ]
        lines = []
        for totals, claims, what in doubts:
            if totals is not None and totals.untrusted:
                share = f"{100 * (totals.unscored_share or 0):.1f}"
                lines.append(say("untrusted", share=share, claims=say(claims), what=say(what)))
        if lines and self._wanted.cached:
            lines[-1] = say("again", line=lines[-1])
        yield from lines

    def _unasked(self) -> str:
        """Return how many claims, or else repeats, were not judged because of the budget."""
        summary, say = self._summary, self._say
        repeats = summary.repeats.failed.get(UnscoredReason.BUDGET, 0) if summary.repeats else 0
        unasked = summary.unscored.get(UnscoredReason.BUDGET, 0)
        if repeats and not unasked:
            return say("budget_repeats", repeats=repeats)
        share = f"{100 * unasked / (summary.claims or 1):.1f}"
        return say("budget", share=share, claims=say("claims"))

    def _print_cells(self) -> None:
        """Print the table of quadrants, and the command that shows the largest broken one."""
        page, found = self._page, self._summary.breakdown
        if found is None:
            return
        page.blank()
        table = CellTable(self._summary, found)
        if found.counted:
            page.say(table.title, style="bold")
            _print_quadrants(table, page)
        for note in table.notes():
            page.say(note.text, hang=2, style=_NOTE_STYLES[note.weight])
        if command := table.walk(shlex.quote(str(self._folder))):
            page.copied(f"{command}{lang_option()}")


def _print_quadrants(table: CellTable, page: Page) -> None:
    """Print a row for each quadrant, and below it its meaning."""
    rows = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for column, name in enumerate(table.heads):
        rows.add_column(name, justify="right" if column in {1, 2} else "left")
    lines = table.lines
    for line in lines:
        half = Text(table.half(line.half), style=_HALF_STYLES[line.half])
        rows.add_row(line.words, f"{line.answers:,}", line.share, half)
    head, *printed = page.rows(rows)
    page.whole(head)
    for row, line in zip(printed, lines, strict=True):
        page.whole(row)
        page.say(line.meaning, 4, style="dim")


def _counted(noun: str, count: int) -> str:
    """Return a count with its noun, such as `2 claims`."""
    return Messages.of("totals", "counted")(noun, count=count)


def _listed(parts: Mapping[_Part, int], group: str = "") -> str:
    """Return the counts that are not 0, each with its word in a group of `looks`, if it has one."""
    names = Messages.of("looks", group) if group else Messages({})
    say = Messages.of("totals", "counted")
    return say("joint").join(
        say("each", name=names(part) if part in names else part, count=count)
        for part, count in parts.items()
        if count
    )


def print_forecast(found: Forecast, page: Page, *, repeat: int) -> None:
    """Print the calls, tokens and cost of a run."""
    claims = f"{found.claims:,} {plural(found.claims, 'claim')}"
    kept = f"{found.kept:,} of them {'has' if found.kept == 1 else 'have'} a verdict in the cache"
    unknown = "not known: set --input-price and --output-price, each for a million tokens"
    pace = f"at {SECONDS_PER_CALL:g} seconds a call and {found.at_once:,} at once"
    rows = {
        "answers": f"{found.answers:,}, with {claims}; {kept}",
        "calls": f"{found.calls:,}",
        "tokens": f"about {found.prompt_tokens:,} in, {found.reply_tokens:,} out",
        "cost": unknown if found.cost is None else f"about {found.cost:,.4g}",
        "minutes": f"about {found.minutes:,.1f}, {pace}",
    }
    if (more := found.again) is not None:
        calls = f"{more.calls:,} more {plural(more.calls, 'call')} at most (--repeat {repeat})"
        tokens = f"about {more.prompt_tokens:,} tokens in, {more.reply_tokens:,} out"
        cost = "" if more.cost is None else f", cost about {more.cost:,.4g}"
        rows["again"] = f"{calls}, {tokens}{cost}"
    for name, text in rows.items():
        page.say(f"{name:9}{text}")
    page.say("nothing was sent; what a reply leaves open is asked again, and comes on top")
