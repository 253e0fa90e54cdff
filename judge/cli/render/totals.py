"""Print the totals of a run: findings, scores, gates, counts, and commands that show more."""

import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import Final, Literal, NamedTuple, TypeVar, get_args

from rich.cells import cell_len
from rich.table import Table
from rich.text import Text

from judge.cli.render.answers import (
    BAD_CITATIONS,
    citations,
    gate_line,
    grounds,
    print_entry,
    reasons,
    threshold,
)
from judge.cli.terminal import Page, between, figures, lang_option, number
from judge.inputs.runs import SUMMARY
from judge.jobs.forecast import SECONDS_PER_CALL, Forecast
from judge.messages import Messages
from judge.records import (
    CitationStatus,
    CorrectnessStatus,
    CorrectnessTotals,
    FlagName,
    QuadrantTable,
    RelevanceStatus,
    RelevanceTotals,
    RepeatTotals,
    SampleResult,
    Summary,
    UnscoredReason,
)
from judge.records.result import Half
from judge.reports.cells import NOT_ASKED, CellTable
from judge.reports.headline import (
    Headline,
    correctness_headlines,
    headlines,
    is_apart,
    relevance_headlines,
    support_headlines,
)
from judge.reports.worst import Entry, Example, Failures, Finding, FindingName, Findings, Worst
from judge.signature import Signature
from judge.text.visible import clip, flat, plural

_Part = TypeVar("_Part", bound=str)
_Scored = Summary | CorrectnessTotals | RelevanceTotals

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
_SAMPLES: Final = (FlagName.NO_CHUNKS, FlagName.AMBIGUOUS_CHUNK_ID, FlagName.UNJUDGED_TEXT)
_LONGEST_DETAIL: Final = 500
_WORST: Final = 5


class Highlights:
    """The findings, the worst sentences and the first failures of a run."""

    def __init__(self, worst: int) -> None:
        self.findings = Findings()
        self.worst = Worst(worst)
        self.failures = Failures()

    def add(self, result: SampleResult) -> None:
        """Add one answer."""
        for each in (self.findings, self.worst, self.failures):
            each.add(result)


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
        return _WORST if self.worst is None else self.worst

    @property
    def listed(self) -> int:
        """The number of worst sentences that are listed."""
        return (_WORST if self.details else 0) if self.worst is None else self.worst


def print_totals(
    summary: Summary, highlights: Highlights, folder: Path, page: Page, wanted: Wanted
) -> None:
    """Print findings, scores, gates, and commands that show more; counts if wanted."""
    _Totals(summary, highlights, folder, page, wanted).print()


class _Totals:
    def __init__(
        self,
        summary: Summary,
        highlights: Highlights,
        folder: Path,
        page: Page,
        wanted: Wanted,
    ) -> None:
        self._summary, self._folder, self._page, self._wanted = summary, folder, page, wanted
        self._findings, self._worst = highlights.findings.found, highlights.worst.sentences()
        self._offline = summary.by_similarity
        self._say = Messages.of("totals", "note")
        failures = highlights.failures.first.items()
        self._own = {reason: each for reason, each in failures if reason in summary.unscored}
        self._others = {reason: each for reason, each in failures if reason not in self._own}

    def print(self) -> None:
        """Print all parts in their order."""
        wanted = self._wanted
        page, summary, compared = self._page, self._summary, self._summary.correctness
        related = summary.answer_relevance
        _print_findings(summary, self._findings, page, examples=wanted.worst != 0)
        page.fields(self._named(self._failures(summary, self._own)), _findings_width())
        self._print_samples()
        if not wanted.details:
            self._print_flagged()
        page.blank()
        title = "similarity" if self._offline else "faithfulness"
        page.table(self._score_table(title, headlines(summary)))
        if self._offline:
            page.say(Messages.of("totals", "finding")("blind"), hang=2, style="dim")
        if wanted.details:
            page.fields(self._named(self._counts()))
        if wanted.details and summary.citation_support:
            page.blank()
            page.table(self._score_table("support", support_headlines(summary)))
        if compared is not None:
            self._print_correctness(compared, details=wanted.details)
        if related is not None:
            self._print_relevance(related, details=wanted.details)
        if wanted.details:
            _print_cells(summary, self._folder, page)
        if worst := self._worst[: wanted.listed]:
            self._print_worst(worst)
        page.blank()
        self._print_gates()
        for line in self._untrusted():
            page.say(line, hang=2, style="bold red")
        page.made_by(
            summary.signatures,
            compared.signatures if compared else (),
            related.signatures if related else (),
        )
        self._print_next(details=wanted.details)

    def _print_gates(self) -> None:
        """Print the size of the draw, and the gates."""
        page, summary = self._page, self._summary
        if (whole := summary.drawn_from) is not None:
            page.say(self._say("drawn", answers=f"{summary.answers:,}", whole=f"{whole:,}"), hang=2)
        for gate in summary.gates:
            page.say(gate_line(gate), hang=2)

    def _print_samples(self) -> None:
        """Print the numbers of answers whose samples cannot be judged fairly."""
        say = Messages.of("totals", "finding")
        for name in _SAMPLES:
            if answers := self._summary.flags.get(name):
                said = say(name.value, answers=_counted("answer", answers))
                self._page.say(said, 2, hang=2)

    def _print_flagged(self) -> None:
        """Print the other flags, and the command that lists them."""
        say = Messages.of("totals", "finding")
        flags = {name.value: n for name, n in self._summary.flags.items() if name not in _SAMPLES}
        if any(flags.values()):
            self._page.say(say("flagged", flags=_listed(flags)), 2, hang=2)

    def _print_next(self, *, details: bool) -> None:
        page, folder = self._page, shlex.quote(str(self._folder))
        page.copied(self._say("written", folder=self._folder))
        lang = lang_option()
        if worst := self._worst:
            qid = f" {shlex.quote(worst[0].qid)}"
            page.copied(self._say("closer", command=f"judge show {folder}{qid}{lang}"))
            page.copied(self._say("list", command=f"judge show {folder} --worst 20{lang}"))
        elif self._summary.claims:
            page.copied(self._say("closer", command=f"judge show {folder}{lang}"))
        if not details:
            page.copied(self._say("details", path=self._folder / SUMMARY))

    def _print_worst(self, worst: Sequence[Entry]) -> None:
        say, page = Messages.of("totals", "worst"), self._page
        flagged = any(item.flags for item in worst)
        page.blank()
        title = Text(say(_LISTS[self._offline, flagged]), "bold")
        made = [name for name in self._summary.signatures if _by_similarity(name)]
        limits = sorted({least for name in made if (least := threshold(name)) is not None})
        if limits:
            title.append(say("full_from", least=", ".join(limits)), "not bold dim")
        page.say(title)
        for item in worst:
            print_entry(item, page, grounds(item, page))

    def _print_correctness(self, totals: CorrectnessTotals, *, details: bool) -> None:
        """Print how far answers agree with their references."""
        page = self._page
        page.blank()
        if sum(totals.statuses.values()) == totals.statuses[CorrectnessStatus.NO_REFERENCE]:
            page.say(self._say("no_reference"), hang=2, style="yellow")
            return
        title = "looks_correct" if self._offline else "correctness"
        rows = correctness_headlines(totals, offline=self._offline)
        page.table(self._score_table(title, rows))
        if is_apart(totals.f1_overall, totals.f1):
            page.say(self._say("overall"), hang=2, style="dim")
        if self._offline:
            page.say(self._say("short"), hang=2, style="dim")
        failures = self._failures(totals, self._others)
        counts = self._counts_compared(totals, failures) if details else failures
        page.fields(self._named(counts))

    def _print_relevance(self, totals: RelevanceTotals, *, details: bool) -> None:
        """Print how far answers answer their questions."""
        page = self._page
        page.blank()
        without = totals.statuses[RelevanceStatus.NO_QUERY]
        if sum(totals.statuses.values()) == without:
            page.say(self._say("no_query"), hang=2, style="yellow")
            return
        page.table(self._score_table("relevance", relevance_headlines(totals)))
        if is_apart(totals.relevance_overall, totals.relevance):
            page.say(self._say("overall_relevance"), hang=2, style="dim")
        if without:
            said = self._say("without_query", answers=_counted("answer", without))
            page.say(said, hang=2, style="dim")
        failures = list(self._failures(totals, self._others))
        told = [("answers", self._parts(totals.statuses, "related"))] if details else []
        told += [("of_parts", self._parts(totals.supports, "answered"))] if details else []
        flags = [("flags", self._parts(totals.flags))] if any(totals.flags.values()) else []
        page.fields(self._named([*told, *failures, *(flags if details else [])]))

    def _score_table(self, title: str, rows: Iterable[Headline]) -> Table:
        """Return a table with a row for each score, and one for bounds if there are failures."""
        named, heads = Messages.of("totals", "score"), Messages.of("totals", "column")
        columns = map(heads, ("mean", "interval", "pooled", "answers", "of"))
        table = figures("", *columns, title=Messages.of("totals", "title")(title))
        table.columns[2].justify = "left"
        for label, score, bounds, noun in rows:
            if score is not None:
                interval = between(score.interval.low, score.interval.high)
                items = _counted(noun, score.items) if noun else ""
                pooled = number(score.micro) if noun else ""
                answers = str(score.answers)
                table.add_row(named(label), number(score.macro), interval, pooled, answers, items)
            else:
                table.add_row(named(label), number(None), "", "", "0")
            if bounds is not None:
                limits = between(bounds.low, bounds.high)
                open_by = "unknown" if title == "support" else "failures"
                table.add_row(named(open_by), "", limits, "", str(bounds.answers))
        return table

    def _named(self, counts: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
        say = Messages.of("totals", "count")
        return [(say(name), text) for name, text in counts]

    def _counts(self) -> Iterator[tuple[str, str]]:
        summary = self._summary
        yield "answers", self._parts(summary.statuses, "status", summary.answers)
        yield "claims", self._parts(summary.supports, "label", summary.claims)
        kinds = {kind: count for kind, count in summary.kinds.items() if kind.value != "claim"}
        yield "kinds", self._parts(kinds, "kind")
        yield "citations", self._parts(summary.citations, "citation")
        if any(summary.flags.values()):
            yield "flags", self._parts(summary.flags)
        if summary.repeats is not None:
            yield "repeats", self._repeats(summary.repeats)
        if summary.calls or summary.cache_hits:
            spent = {"prompt": f"{summary.prompt_tokens:,}", "reply": f"{summary.reply_tokens:,}"}
            key = "sent_again" if summary.retries else "sent"
            retries = _counted("retry", summary.retries)
            counts = {"calls": summary.calls, "cached": summary.cache_hits, "retries": retries}
            say = Messages.of("totals", "count")
            yield "calls", say(key, **counts, **spent)
            if summary.cost is not None:
                yield "cost", f"{summary.cost:.4g}"
            if len(summary.models) > 1:  # an alias that moved, or a gateway that picks
                yield "models", self._parts(summary.models, "", len(summary.models))

    def _repeats(self, found: RepeatTotals) -> str:
        """Return how many repeated requests had another outcome, and how many failed."""
        say = Messages.of("totals", "count")
        told = say("flips", **found.model_dump(), rate=number(found.flip_rate))
        if not found.failed:
            return told
        return say("flips_failed", told=told, failed=self._parts(found.failed, "unscored"))

    def _counts_compared(
        self, totals: CorrectnessTotals, failures: Iterable[tuple[str, str]]
    ) -> Iterator[tuple[str, str]]:
        say = Messages.of("totals", "count")
        yield "answers", self._parts(totals.statuses, "compared")
        yield "claims", say("of_both", count=totals.claims)
        yield "of_answers", self._parts(totals.answer_supports, "label")
        yield "of_references", self._parts(totals.reference_supports, "label")
        yield from failures
        if any(totals.flags.values()):
            yield "flags", self._parts(totals.flags)

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
        if not totals.unscored:
            return
        told = self._parts(totals.unscored, "unscored")
        if not isinstance(totals, RelevanceTotals) and totals.fallen_back:
            say = Messages.of("totals", "count")
            told = say("instead", parts=told, count=totals.fallen_back)
        yield "unscored", told
        for reason, example in examples.items():
            if reason not in totals.unscored:
                continue
            detail = f"{flat(example.qid)}: {flat(example.failure.detail)}"
            named = Messages.of("looks", "unscored")(reason.value)
            yield "such_as", clip(f"{named}, {detail}", _LONGEST_DETAIL)

    def _untrusted(self) -> Iterator[str]:
        """Yield the scores that cannot be trusted, and how to mend that."""
        summary, compared, say = self._summary, self._summary.correctness, self._say
        related = summary.answer_relevance
        if summary.over_budget:
            line = self._unasked()
            yield say("go_on", line=line) if self._wanted.cached else line
        doubts = []
        if summary.untrusted:
            what = "what_looks_supported" if self._offline else "what_faithfulness"
            what = what if compared or related else "this"
            doubts.append((summary.unscored_share, "claims", what))
        if compared is not None and compared.untrusted:
            what = "what_looks_correct" if self._offline else "what_correctness"
            doubts.append((compared.unscored_share, "claims_compared", what))
        if related is not None and related.untrusted:
            doubts.append((related.unscored_share, "answers_asked", "what_relevance"))
        for position, (unscored, claims, what) in enumerate(doubts, 1):
            share = f"{100 * (unscored or 0):.1f}"
            line = say("untrusted", share=share, claims=say(claims), what=say(what))
            last = self._wanted.cached and position == len(doubts)
            yield say("again", line=line) if last else line

    def _unasked(self) -> str:
        """Return how many claims, or else repeats, were not judged because of the budget."""
        summary, say = self._summary, self._say
        repeats = summary.repeats.failed.get(UnscoredReason.BUDGET, 0) if summary.repeats else 0
        unasked = summary.unscored.get(UnscoredReason.BUDGET, 0)
        if repeats and not unasked:
            return say("budget_repeats", repeats=repeats)
        share = f"{100 * unasked / (summary.claims or 1):.1f}"
        return say("budget", share=share, claims=say("claims"))


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


def _print_findings(
    summary: Summary, found: Mapping[FindingName, Finding], page: Page, *, examples: bool
) -> None:
    """Print how often each thing is wrong, with one example."""
    say = Messages.of("totals", "finding")
    counts = {
        "claims": _counted("claim", summary.judged),
        "answers": _counted("answer", summary.answers),
    }
    title = "title_similarity" if summary.by_similarity else "title"
    page.say(say(title, **counts), style="bold")
    if not summary.judged:
        page.say(say("nothing_judged"), 2)
    width = _findings_width()
    for name, each in found.items():
        if name == "citations":
            is_shown = any(summary.citations.values())
        else:
            is_shown = bool(each.count if name == "partial" else summary.judged)
        if not is_shown:
            continue
        text = _finding(name, each, summary) if each.count else Text(say("none"), style="dim")
        page.fields([(say(name), text)], width, style="bold")
        if not examples or each.example is None:
            continue
        if name == "citations":
            dangling = citations(each.example, [CitationStatus.DANGLING])
            lines = islice(chain(dangling, citations(each.example, BAD_CITATIONS)), 1)
            print_entry(each.example, page, lines, indent=4)
        else:
            print_entry(each.example, page, reasons(each.example, page), indent=4)


def _findings_width() -> int:
    say = Messages.of("totals", "finding")
    return max(cell_len(say(name)) for name in get_args(FindingName))


def _finding(name: FindingName, found: Finding, summary: Summary) -> str:
    say, answers = Messages.of("totals", "finding"), _counted("answer", found.answers)
    if name == "citations":
        parts = {status: summary.citations[status] for status in BAD_CITATIONS}
        total = _counted("citation", sum(summary.citations.values()))
        values = {"count": f"{found.count:,}", "total": total, "answers": answers}
        return say("bad", parts=_listed(parts, "citation"), **values)
    means = Messages.of("totals", "means")(name)
    return say("where", count=_counted("claim", found.count), answers=answers, means=means)


def _print_cells(summary: Summary, folder: Path, page: Page) -> None:
    """Print the table of quadrants, and the command that shows the largest broken cell."""
    found = summary.breakdown
    if found is None:
        return
    page.blank()
    table = CellTable(summary, found)
    if found.counted:
        _print_cell_table(table, found, page)
    for note in table.left_out():
        page.say(note.text, hang=2, style=_NOTE_STYLES[note.weight])
    if broken := [cell for cell in found.cells if cell.half in {"retrieval", "generation"}]:
        largest = max(broken, key=lambda cell: cell.answers)
        command = f"judge show {shlex.quote(str(folder))} --cell {table.asked(largest.words)}"
        page.copied(table.words("walk", command=command + lang_option()))


def _print_cell_table(table: CellTable, found: QuadrantTable, page: Page) -> None:
    """Print a row for each quadrant, and below it its meaning and its answers."""
    rows = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for name in (*table.columns, "answers", "share", "half"):
        justify: Literal["left", "right"] = "right" if name in {"answers", "share"} else "left"
        rows.add_column(table.words(name), justify=justify)
    dash = Messages.of("looks", "mark")(NOT_ASKED) if page.speaks_utf else "-"
    for cell in found.cells:
        half = Text(table.words(cell.half), style=_HALF_STYLES[cell.half])
        signs = (
            dash if sign == NOT_ASKED else sign and table.words(sign) for sign in table.signs(cell)
        )
        rows.add_row(*signs, f"{cell.answers:,}", table.share(cell), half)
    page.say(table.title, style="bold")
    head, *lines = page.rows(rows)
    page.whole(head)
    for line, cell in zip(lines, found.cells, strict=True):
        page.whole(line)
        page.say(table.means(cell), 4, style="dim")
    if text := table.legend(dash):
        page.say(text, hang=2, style="dim")
    for note in table.notes():
        page.say(note.text, hang=2, style=_NOTE_STYLES[note.weight])


def _by_similarity(signature: str) -> bool:
    return Signature.parse(signature).source == "similarity"


def print_forecast(made: "Forecast", page: Page, *, repeat: int) -> None:
    """Print the calls, tokens and cost of a run."""
    claims = f"{made.claims:,} {plural(made.claims, 'claim')}"
    kept = f"{made.kept:,} of them {'has' if made.kept == 1 else 'have'} a verdict in the cache"
    page.say(f"answers  {made.answers:,}, with {claims}; {kept}")
    page.say(f"calls    {made.calls:,}")
    page.say(f"tokens   about {made.prompt_tokens:,} in, {made.reply_tokens:,} out")
    if made.cost is None:
        page.say(
            "cost     not known: set --input-price and --output-price, each for a million tokens"
        )
    else:
        page.say(f"cost     about {made.cost:,.4g}")
    pace = f"at {SECONDS_PER_CALL:g} seconds a call and {made.at_once:,} at once"
    page.say(f"minutes  about {made.minutes:,.1f}, {pace}")
    if (more := made.again) is not None:
        calls = f"{more.calls:,} more {plural(more.calls, 'call')} at most (--repeat {repeat})"
        tokens = f"about {more.prompt_tokens:,} tokens in, {more.reply_tokens:,} out"
        cost = "" if more.cost is None else f", cost about {more.cost:,.4g}"
        page.say(f"again    {calls}, {tokens}{cost}")
    page.say("nothing was sent; what a reply leaves open is asked again, and comes on top")
