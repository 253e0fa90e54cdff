"""What `judge compare` found, printed."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from rich.text import Text

from judge.cli.render.answers import SUPPORT_LOOKS, UNSCORED_LOOK, gate_line, mark
from judge.cli.render.comparison import signed
from judge.cli.terminal import Page, figures, number
from judge.messages import LANGUAGE, Messages
from judge.records import Support
from judge.records.comparison import (
    Differences,
    RunComparison,
    ScoreDifference,
    SentenceChange,
    Side,
)
from judge.reports.compare import WITHOUT, findings, score_name, sparkline
from judge.text.visible import clip, flat

_LONGEST: Final = 60
_NAMED: Final = 5
_SLICES: Final = 20
_LONGEST_SENTENCE: Final = 300
_SUPPORTS: Final = frozenset(each.value for each in Support)
_LEVEL: Final = 0.05
_LEAST_P: Final = 0.0001


def print_differences(report: RunComparison, page: Page, *, most: int) -> None:
    """Print what is to be known first, then each run against the first, then the gates.

    Of the answers that changed `most` are listed.
    """
    _Comparison(report, page, most).print()


class _Comparison:
    def __init__(self, report: RunComparison, page: Page, most: int) -> None:
        self._report, self._page, self._most = report, page, most
        self._say = Messages.of("compare", "say")

    def print(self) -> None:
        """Everything in its order."""
        report, page, say = self._report, self._page, self._say
        if report.across:
            page.say(say("across", parts="; ".join(report.across)), hang=2, style="bold yellow")
        for run in report.runs:
            if run.untrusted:
                page.say(say("untrusted", run=_short(run.name)), hang=2, style="bold red")
        if len(report.runs) > 2:  # noqa: PLR2004
            self._print_course()
        shown = report.differences if len(report.runs) == 2 else report.differences[-1:]  # noqa: PLR2004
        for each in shown:
            self._print_run(each)
        for name, why in report.left_out.items():
            page.say(say("left_out", run=_short(name), why=why), hang=2)
        for gate in report.gates:
            page.say(gate_line(gate), hang=2)
        signatures = dict.fromkeys(made for run in report.runs for made in run.signatures)
        page.made_by(signatures)

    def _name(self, score: str) -> str:
        return score_name(score, LANGUAGE.get(), offline=self._report.offline)

    def _joined(self, parts: Sequence[str]) -> str:
        return self._say("joint").join(parts)

    def _print_course(self) -> None:
        """A score in all runs, in their order: the means over each run's own answers."""
        say, runs = self._say, self._report.runs
        table = figures(*map(say, ("score", "course", "first", "last")))
        table.columns[1].justify = "left"
        for name in self._report.sides:
            means = [run.mean[name] for run in runs]
            if len(set(means)) == 1:
                continue
            line = sparkline(means, plain=not self._page.speaks_utf)
            table.add_row(self._name(name), line, number(means[0]), number(means[-1]))
        self._page.table(table)
        headline = next(iter(self._report.sides))
        table = figures(
            *map(say, ("run", "started")),
            self._name(headline),
            *map(say, _TESTED[2:]),
        )
        for place, run in enumerate(runs):
            found = self._report.differences[place - 1].scores[headline] if place else None
            side = self._report.sides[headline]
            cells = self._cells(found, side)[2:] if place else ("",) * 5
            started = (run.started or "–")[:16].replace("T", " ")
            table.add_row(_short(run.name), started, number(run.mean[headline]), *cells)
        self._page.table(table)

    def _print_run(self, found: Differences) -> None:
        page, say, first = self._page, self._say, self._report.runs[0].name
        title = say("against", run=_short(found.run), first=_short(first), count=found.common)
        self._print_table(
            "score",
            title,
            {
                self._name(n): (s, self._report.sides[n])
                for n, s in found.scores.items()
                if s is not None and s.better + s.worse
            },
        )
        for line in self._notes(found):
            page.say(line, hang=2)
        if self._report.by is not None:
            self._print_slices(found)
        self._print_changes(found)
        page.blank()
        page.say(say("how"), hang=2, style="dim")

    def _print_table(
        self, head: str, title: str, rows: Mapping[str, tuple[ScoreDifference, Side]]
    ) -> None:
        self._page.say(title, hang=2, style="bold")
        table = figures(*map(self._say, (head, *_TESTED)))
        table.padding = (0, 1, 0, 0)
        for name, (score, side) in rows.items():
            table.add_row(name, *self._cells(score, side))
            if score.bounds is not None:
                low, high = score.bounds
                failures = self._say("failures", open=score.open)
                table.add_row(failures, "", "", "", f"{signed(low)} … {signed(high)}", "", "", "")
        if rows:
            self._page.table(table)

    def _cells(self, found: ScoreDifference | None, side: Side) -> tuple[str | Text, ...]:
        """The means, the difference, its interval, p, and the answers won, lost and tied."""
        if found is None:
            return ("–",) * 7
        span = f"{signed(found.interval.low)} … {signed(found.interval.high)}"
        style = ""
        if found.p_holm < _LEVEL:
            style = "green" if (found.difference > 0) is (side == "least") else "red"
        difference = Text(signed(found.difference), style=style)
        pairs = f"{found.better} / {found.worse} / {found.tied}"
        p, corrected = _p(found.p), _p(found.p_holm)
        return (number(found.first), number(found.value), difference, span, p, corrected, pairs)

    def _notes(self, found: Differences) -> Iterator[str]:
        say, report = self._say, self._report
        same = [self._name(n) for n, s in found.scores.items() if s and not s.better + s.worse]
        if same:
            yield say("equal", names=self._joined(same))
        missing = [self._name(name) for name, score in found.scores.items() if score is None]
        if missing:
            yield say("unpaired", names=self._joined(missing))
        for kind, qids in found.listed.items():
            count = getattr(found, kind)
            if count:
                some = ", ".join(_short(qid) for qid in qids[:_NAMED])
                some += say("more", count=count - _NAMED) if count > _NAMED else ""
                names = {"run": _short(found.run), "first": _short(report.runs[0].name)}
                yield say(kind, **names, count=count, qids=some)
        if found.common and not any(findings(found.scores)):
            headline = next(iter(report.sides))
            score = found.scores[headline]
            if score is None or score.to_see is None:
                yield say("none")
            else:
                values = {"detect": f"{report.detect:g}", "count": f"{score.to_see:,}"}
                yield say("nothing", score=self._name(headline), **values)

    def _print_slices(self, found: Differences) -> None:
        say, report = self._say, self._report
        headline = next(iter(report.sides))
        rows = {
            _short(value) if value != WITHOUT else say("without"): (score, report.sides[headline])
            for value, table in found.slices.items()
            if (score := table[headline]) is not None
        }
        self._page.blank()
        title = say("by", score=self._name(headline), of=flat(report.by or ""))
        self._print_table("slice", title, dict(list(rows.items())[:_SLICES]))
        if len(rows) > _SLICES:
            self._page.say(say("more_slices", count=len(rows) - _SLICES), hang=2)
        if found.moved:
            names = {"of": flat(report.by or ""), "run": _short(found.run)}
            first = _short(report.runs[0].name)
            self._page.say(say("moved", **names, first=first, count=found.moved), hang=2)

    def _print_changes(self, found: Differences) -> None:
        """What became of the sentences of equal answers, and the answers that lost most."""
        page, say, looks = self._page, self._say, Messages.of("looks")
        if found.same_text:
            told = [
                say(
                    "label",
                    first=looks(f"label.{each.first}"),
                    then=looks(f"label.{each.then}"),
                    count=each.sentences,
                )
                for each in found.labels
            ]
            changes = self._joined(told) if told else say("no_label")
            page.say(say("labels", count=found.same_text, changes=changes), hang=2)
        if not found.changed:
            if found.common:
                page.say(say("same"), hang=2)
            return
        headline = self._name(next(iter(self._report.sides)))
        lost = [each for each in found.worst if each.first != each.value or each.sentences]
        lost = lost[: self._most]
        if lost:
            page.blank()
            shown = {"shown": len(lost), "count": found.changed}
            page.say(say("worst", score=headline, **shown), style="bold")
        for each in lost:
            values = {"first": number(each.first), "value": number(each.value)}
            line = say("changed", **values, qid=_short(each.qid))
            if each.same_text:
                line += f"  ({say('same_text', count=each.sentences)})"
            page.say(line, 2, hang=2)
            for sentence in each.told[:_NAMED]:
                self._print_sentence(sentence)

    def _print_sentence(self, said: SentenceChange) -> None:
        page, looks = self._page, Messages.of("looks")
        look = SUPPORT_LOOKS.get(Support(said.label)) if said.label in _SUPPORTS else None
        labels = (looks(f"label.{each}") for each in (said.first, said.label) if each)
        told = Text(f"{mark(look or UNSCORED_LOOK, page)} {' → '.join(labels)}  ")
        told.stylize((look or UNSCORED_LOOK).style)
        page.say(told.append(clip(flat(said.text), _LONGEST_SENTENCE)), 4, hang=2)


_TESTED: Final = ("first", "value", "difference", "interval", "p", "p_holm", "pairs")


def _p(value: float) -> str:
    return "<.0001" if value < _LEAST_P else f"{value:.4f}"


def _short(name: str) -> str:
    """A name, or its end: that is where those of runs differ."""
    return clip(flat(name)[::-1], _LONGEST)[::-1]
