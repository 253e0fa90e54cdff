"""A run as one page: its scores, charts of them, and the answers to search, worst first."""

import tempfile
from collections.abc import Iterator
from pathlib import Path, PurePath
from typing import Final, NamedTuple

from judge.errors import ConfigError
from judge.inputs.runs import Run, finished_run, pairs
from judge.messages import Messages
from judge.pages.agreement import Findings
from judge.pages.answers import LONGEST, LONGEST_CHUNK, MOST_SENTENCES, Answers
from judge.pages.html import pieces
from judge.pages.words import ABSENT, Words
from judge.records import GateResult, QuadrantTable, SampleResult, Status, Summary, UnscoredReason
from judge.reports.compare import score_name, slice_name
from judge.reports.gate import describe
from judge.reports.totals import CellTable, Headline, reading, score_tables, spent_lines
from judge.reports.worst import SUPPORTS, Failures, Worst
from judge.review.folder import read_findings
from judge.scores.answer import support_of
from judge.scores.totals import Totals
from judge.signature import Signature
from judge.text.visible import clip, flat

_MAX_WORST: Final = 100
_MAX_DOUBTFUL: Final = 10
_BINS: Final = 10
_MAX_SLICES: Final = 60
_NAME_CHARACTERS: Final = 80
_MAX_KEYS_NAMED: Final = 12
_LOOKS: Final = ("label", "mark", "status", "citation", "flag", "unscored", "kind")


def report(folder: Path, by: str | None = None) -> Iterator[str]:
    """Yield the page of a finished run piece by piece, to be written as UTF-8.

    Args:
        folder: the run folder.
        by: a key of the samples' metadata by whose values the answers are grouped into slices.

    Raises:
        RunError: there is no run, or it is unfinished or damaged.
        ConfigError: no answer has that key, or it has too many values.
    """
    run, summary = finished_run(folder)
    with tempfile.TemporaryFile() as file:
        gathered = _Gathered(Answers(file), by)
        for result, sample in pairs(folder):
            gathered.gone += sample is None
            gathered.add(result)
            gathered.answers.add(result, sample, gathered.slice_of(result))
        gathered.check()
        yield from _page(run, summary, gathered)


class ReportWords(Words):
    """The texts of a report and of a notebook."""

    def __init__(self) -> None:
        super().__init__("report")

    def score(self, row: Headline) -> str:
        """Return the name of a score, complete without the row above it."""
        return score_name(row.label, offline=False)

    def gate(self, result: GateResult) -> str:
        """Return a gate, and whether it passed."""
        return describe(result)

    def in_total(self, row: Headline) -> str:
        """Return a score over all sentences or citations of the run, with their number."""
        if row.score is None or row.noun is None:
            return ABSENT
        items = self.counted(row.noun, row.score.items)
        return self.totals("column", "of_total", value=self.percent(row.score.micro), items=items)

    def script(self, *, offline: bool) -> dict[str, str]:
        """Return the texts of the page's script by key, and the words for labels and statuses."""
        own, looks = Messages.of("report"), Messages.of("looks")
        texts = {key: own.template(key) for key in own if key.startswith("script.")}
        if offline:
            texts["script.faithfulness"] = texts["script.looks_supported"]
        texts["script.percent"] = Messages.of("agreement").template("figure.percent")
        return texts | {
            key: looks.template(key) for key in looks if key.partition(".")[0] in _LOOKS
        }


class Bar(NamedTuple):
    """One bar of a chart."""

    label: str
    size: int
    look: str = "plain"
    """The fill of the bar: a label of sentences, or `plain`."""


class Slice(NamedTuple):
    """The answers that have one value of a key."""

    name: str
    """The value as text; empty for all answers."""
    summary: Summary
    """The totals of the answers in the slice."""

    @property
    def bars(self) -> list[Bar]:
        """The claims by label, those without a label last."""
        found: dict[str, int] = {each.value: n for each, n in self.summary.supports.items()}
        undecided = self.summary.unscored.get(UnscoredReason.UNDECIDED, 0)
        found["undecided"] = undecided
        found["unscored"] = sum(self.summary.unscored.values()) - undecided
        return [Bar(name, found.get(name, 0), name) for name in SUPPORTS if name != "no_claim"]


class Choice(NamedTuple):
    """A value by which answers can be filtered."""

    facet: int
    """The number of this value in the script."""
    name: str
    """The word for it."""
    answers: int
    """The number of answers that have it."""


class _Gathered:
    """The content of the page about all answers, gathered one answer at a time."""

    def __init__(self, answers: Answers, by: str | None) -> None:
        self.answers, self.by = answers, by
        self._without_key = Messages.of("report")("chart.absent")
        self.worst, self.failures = Worst(_MAX_WORST), Failures(_MAX_DOUBTFUL)
        self.gone = 0
        """Answers whose samples are gone or have changed."""
        self._bins = [0] * (_BINS + 1)
        self._slices: dict[str, Totals] = {}
        self._keys: set[str] = set()

    def add(self, result: SampleResult) -> None:
        """Take in one answer."""
        self.worst.add(result)
        self.failures.add(result)
        self._keys |= result.metadata.keys()
        if (score := result.scores.faithfulness) is not None:
            self._bins[int(score * _BINS)] += 1
        if (name := self.slice_of(result)) is not None:
            if name not in self._slices and len(self._slices) == _MAX_SLICES:
                raise ConfigError(
                    f"{self._option()}: has over {_MAX_SLICES} values; name a key that tells few "
                    "slices apart"
                )
            self._slices.setdefault(name, Totals()).add(result)

    def slice_of(self, result: SampleResult) -> str | None:
        """Return the name of an answer's slice; None without slices."""
        if self.by is None:
            return None
        return flat(slice_name(result.metadata.get(self.by))) or self._without_key

    def check(self) -> None:
        """Raise ConfigError if no answer has the key of the slices."""
        if self.by is not None and self.by not in self._keys:
            keys = sorted(self._keys)[:_MAX_KEYS_NAMED]
            named = ", ".join(clip(flat(key), _NAME_CHARACTERS) for key in keys)
            there = f"there are: {named}" if keys else "the samples have none"
            raise ConfigError(f"{self._option()}: no answer has this metadata; {there}")

    def _option(self) -> str:
        return f"--by {clip(self.by or '', _NAME_CHARACTERS)!r}"

    def slices(self, summary: Summary) -> list[Slice]:
        """Return the slices by size, or all answers as one slice."""
        made = [Slice(name, totals.summary()) for name, totals in self._slices.items()]
        return sorted(made, key=lambda one: -one.summary.answers) or [Slice("", summary)]

    def bins(self, summary: Summary) -> list[Bar]:
        """Return the answers by faithfulness in tenths, then those without faithfulness."""
        bars = [Bar(str(10 * low), count) for low, count in enumerate(self._bins)]
        unscored = summary.statuses[Status.UNSCORED]
        rest = summary.answers - sum(self._bins) - unscored
        return [*bars, Bar("◌", unscored, "unscored"), Bar("·", rest, "excluded")]

    def choices(self, cells: QuadrantTable | None, words: Words) -> dict[str, list[Choice]]:
        """Return the values of each filter, the most frequent first."""
        made: dict[str, list[Choice]] = {}
        names = {
            ",".join(cell.words): reading(cell.words) for cell in (cells.cells if cells else ())
        }
        for (kind, name), count in self.answers.counts.most_common():
            if kind == "slice":
                shown = _shortened(name)
            elif kind in {"cell", "flag"}:
                shown = names.get(name, name)
            else:
                shown = words.looks("label" if kind == "support" else kind, name)
            choice = Choice(self.answers.facet(kind, name), shown, count)
            made.setdefault(kind, []).append(choice)
        return made


def _shortened(text: str) -> str:
    """Return the text, or its beginning and end: addresses and paths differ at their ends."""
    half = _NAME_CHARACTERS // 2
    return text if len(text) <= _NAME_CHARACTERS else f"{text[: half - 1]}…{text[-half:]}"


def _page(run: Run, summary: Summary, gathered: _Gathered) -> Iterator[str]:
    words = ReportWords()
    agreement = read_findings(run.folder)
    found = summary.breakdown
    tables = dict(score_tables(summary))
    trec = [("support", tables.pop("support"))] if "support" in tables else []
    return pieces(
        "report.html",
        run=run,
        summary=summary,
        words=words,
        # No path of this machine, because pages are sent to others.
        title=words("title.page", run=clip(flat(run.folder.resolve().name), _NAME_CHARACTERS)),
        file=PurePath(run.record.input.path).name,
        makers=dict.fromkeys(Signature.parse(made).maker for made in summary.signatures),
        spent=list(spent_lines(summary, run.record)),
        tables=tables.items(),
        trec=trec,
        agreement=agreement,
        findings=Findings(agreement, summary) if agreement else None,
        cells=CellTable(summary, found) if found and found.counted else None,
        bins=gathered.bins(summary),
        slices=gathered.slices(summary),
        by=gathered.by,
        failures=gathered.failures.first,
        failed_by_reason={
            reason: count
            for reason, count in summary.unscored.items()
            if reason is not UnscoredReason.UNDECIDED
        },
        doubtful=gathered.failures.doubtful,
        worst=gathered.worst.sentences(),
        gone=gathered.gone,
        choices=gathered.choices(found, words),
        answers=gathered.answers,
        label_of=support_of,
        limits={"chunk": LONGEST_CHUNK, "text": LONGEST, "sentences": MOST_SENTENCES},
    )
