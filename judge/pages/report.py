"""A run as one page: its scores, charts of them, and the answers to search, worst first."""

import tempfile
from collections.abc import Iterator
from pathlib import Path, PurePath
from typing import Final, NamedTuple, get_args

from judge.errors import ConfigError
from judge.inputs.runs import Run, finished_run, pairs
from judge.messages import Lang, Messages
from judge.pages import agreement
from judge.pages.answers import LONGEST, LONGEST_CHUNK, MOST_SENTENCES, Answers
from judge.pages.html import pieces
from judge.records import GateResult, QuadrantTable, SampleResult, Status, Summary
from judge.reports.cells import CellTable, reading
from judge.reports.compare import slice_name
from judge.reports.filters import SUPPORTS
from judge.reports.gate import told
from judge.reports.headline import (
    Headline,
    correctness_headlines,
    headlines,
    relevance_headlines,
    support_headlines,
)
from judge.reports.worst import Failures, Worst
from judge.review.folder import read_findings
from judge.review.records import Target
from judge.scores.answer import support_of
from judge.scores.totals import Totals
from judge.text.visible import clip, flat

_WORST: Final = 100
"""Sentences that stand in the page itself, for who runs no scripts."""
_BINS: Final = 10
_MOST_SLICES: Final = 60
_LONGEST_NAME: Final = 80
"""Characters of a name from outside that is offered as a choice."""
_NAMED: Final = 12
_ABSENT: Final = "–"
_CORRECTED: Final[tuple[Target, ...]] = get_args(Target)


def report(folder: Path, lang: Lang, by: str | None = None) -> Iterator[str]:
    """The page of a finished run, piece by piece, to be written as UTF-8.

    Args:
        folder: of the run.
        lang: in which the page speaks; reasons keep the answer's.
        by: key of the samples' metadata that tells slices apart.

    Raises:
        RunError: there is no run, it is unfinished or damaged.
        ConfigError: no answer has that key, or it has too many values to tell slices apart.
    """
    run, summary = finished_run(folder)
    with tempfile.TemporaryFile() as file:
        gathered = _Gathered(Answers(file), by, Words(lang)("chart.absent"))
        for result, sample in pairs(folder):
            gathered.gone += sample is None
            gathered.add(result)
            gathered.answers.add(result, sample, gathered.slice_of(result))
        gathered.check()
        yield from _page(run, summary, gathered, lang)


class Words:
    """What the page says: its own texts, those of other rooms, and figures."""

    def __init__(self, lang: Lang) -> None:
        self._lang: Lang = lang
        self.figures = agreement.Words(lang)
        """Shares and spans."""

    def __call__(self, key: str, **values: object) -> str:
        """The words under `group.name`."""
        said = Messages.of("report")(key, self._lang, **values)
        return said.replace(" %", "\N{NO-BREAK SPACE}%")

    def looks(self, key: str) -> str:
        """The word for what a result holds; the last part of the key where there is none."""
        texts = Messages.of("looks")
        return texts(key, self._lang) if key in texts else key.partition(".")[2]

    def totals(self, key: str, **values: object) -> str:
        """The words for totals."""
        return Messages.of("totals")(key, self._lang, **values)

    def counted(self, noun: str, count: int) -> str:
        """So many of them."""
        return self.totals(f"counted.{noun}", count=count)

    def gate(self, result: GateResult) -> str:
        """A gate, and what became of it."""
        return told(result, self._lang)

    def pooled(self, row: Headline) -> str:
        """A score over all that it was measured on, and what that is."""
        if row.score is None or row.noun is None:
            return _ABSENT
        value, items = (
            self.figures.percent(row.score.micro),
            self.counted(row.noun, row.score.items),
        )
        return self("table.over", value=value, items=items)

    def script(self, *, offline: bool) -> dict[str, str]:
        """What the script says, and the words for what a result holds."""
        own, looks = Messages.of("report"), Messages.of("looks")
        said = {key: own.template(key, self._lang) for key in own if key.startswith("script.")}
        if offline:
            said["script.faithfulness"] = said["script.looks_supported"]
        # As in the tables above: a sign goes with its figure.
        said["script.percent"] = Messages.of("agreement").template("figure.percent", self._lang)
        groups = ("label.", "mark.", "status.", "citation.", "flag.", "unscored.", "kind.")
        return said | {
            key: looks.template(key, self._lang) for key in looks if key.startswith(groups)
        }


class Bar(NamedTuple):
    """One bar of a chart."""

    label: str
    """What it is of."""
    size: int
    """How many."""
    look: str = "plain"
    """How it is filled: a label of sentences, or plain."""


class Slice(NamedTuple):
    """The answers that have one value of a key."""

    name: str
    """The value, as text; empty for all answers."""
    summary: Summary
    """Their totals."""

    @property
    def bars(self) -> list[Bar]:
        """Their claims by label, those without one last."""
        found = {support.value: count for support, count in self.summary.supports.items()}
        found["unscored"] = sum(self.summary.unscored.values())
        return [Bar(name, found.get(name, 0), name) for name in SUPPORTS if name != "no_claim"]


class Choice(NamedTuple):
    """One thing that answers can be found by."""

    facet: int
    """The number by which the script knows it."""
    name: str
    """What it is called."""
    answers: int
    """How many have it."""


class _Gathered:
    """What a page says of all answers, gathered one by one."""

    def __init__(self, answers: Answers, by: str | None, absent: str) -> None:
        self.answers, self.by, self._absent = answers, by, absent
        self.worst, self.failures = Worst(_WORST), Failures()
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
            if name not in self._slices and len(self._slices) == _MOST_SLICES:
                raise ConfigError(
                    f"{self._named()}: has over {_MOST_SLICES} values; name a key that tells few "
                    "slices apart"
                )
            self._slices.setdefault(name, Totals()).add(result)

    def slice_of(self, result: SampleResult) -> str | None:
        """The slice an answer stands in; None where nobody asked."""
        if self.by is None:
            return None
        return flat(slice_name(result.metadata.get(self.by))) or self._absent

    def check(self) -> None:
        """Raise ConfigError where no answer has the key that was asked for."""
        if self.by is not None and self.by not in self._keys:
            named = (clip(flat(key), _LONGEST_NAME) for key in sorted(self._keys)[:_NAMED])
            there = f"there are: {', '.join(named)}" if self._keys else "the samples have none"
            raise ConfigError(f"{self._named()}: no answer has this metadata; {there}")

    def _named(self) -> str:
        return f"--by {clip(self.by or '', _LONGEST_NAME)!r}"

    def slices(self, summary: Summary) -> list[Slice]:
        """The slices by size, or all answers as one."""
        made = [Slice(name, totals.summary()) for name, totals in self._slices.items()]
        return sorted(made, key=lambda one: -one.summary.answers) or [Slice("", summary)]

    def bins(self, summary: Summary) -> list[Bar]:
        """Answers by faithfulness in tenths, the last all of it; then what is on no scale."""
        bars = [Bar(str(10 * low), count) for low, count in enumerate(self._bins)]
        unscored = summary.statuses[Status.UNSCORED]
        rest = summary.answers - sum(self._bins) - unscored
        return [*bars, Bar("?", unscored, "unscored"), Bar("·", rest, "excluded")]

    def choices(self, cells: QuadrantTable | None, lang: Lang) -> dict[str, list[Choice]]:
        """What answers can be found by, each kind with its names, the most frequent first."""
        made: dict[str, list[Choice]] = {}
        words = Words(lang)
        readings = {
            ",".join(cell.words): reading(cell.words, lang)
            for cell in (cells.cells if cells else ())
        }
        for (kind, name), count in self.answers.counts.most_common():
            called = words.looks(f"{'label' if kind == 'support' else kind}.{name}")
            called = readings.get(name, name) if kind in {"cell", "flag"} else called
            called = _name(name) if kind == "slice" else called
            facet = self.answers.facet(kind, name)
            choice = Choice(facet, called, count)
            made.setdefault(kind, []).append(choice)
        return made


def _name(text: str) -> str:
    """It, or what it begins and ends with: addresses and paths differ at their ends."""
    half = _LONGEST_NAME // 2
    return text if len(text) <= _LONGEST_NAME else f"{text[: half - 1]}…{text[-half:]}"


def _page(run: Run, summary: Summary, gathered: _Gathered, lang: Lang) -> Iterator[str]:
    words = Words(lang)
    labels = [read_findings(run.folder, target) for target in _CORRECTED]
    found = summary.breakdown
    return pieces(
        "report.html",
        lang,
        run=run,
        summary=summary,
        words=words,
        # Their own names alone: a page is sent round, and where files lie is nobody's business.
        title=words("title.page", run=clip(flat(run.folder.resolve().name), _LONGEST_NAME)),
        file=PurePath(run.record.input.path).name,
        tables=tables(summary),
        corrected=[(x, agreement.Findings(x, summary, words.figures)) for x in labels if x],
        cells=CellTable(summary, found, lang) if found and found.counted else None,
        bins=gathered.bins(summary),
        slices=gathered.slices(summary),
        by=gathered.by,
        failures=gathered.failures.first,
        worst=gathered.worst.sentences(),
        gone=gathered.gone,
        choices=gathered.choices(found, lang),
        answers=gathered.answers,
        label_of=support_of,
        limits={"chunk": LONGEST_CHUNK, "text": LONGEST, "sentences": MOST_SENTENCES},
    )


def tables(summary: Summary) -> list[tuple[str, list[Headline]]]:
    """Tables of scores: the title of each, and its rows."""
    compared, related, offline = (
        summary.correctness,
        summary.answer_relevance,
        summary.by_similarity,
    )
    tables = [("similarity" if offline else "faithfulness", headlines(summary))]
    if summary.citation_support:
        tables.append(("support", support_headlines(summary)))
    if compared is not None and (compared.f1 or compared.f1_overall):
        name = "looks_correct" if offline else "correctness"
        tables.append((name, correctness_headlines(compared, offline=offline)))
    if related is not None and (related.relevance or related.relevance_overall):
        tables.append(("relevance", relevance_headlines(related)))
    return tables
