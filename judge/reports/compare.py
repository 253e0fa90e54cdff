"""Two or more runs over the same questions: how they differ, answer by answer, and how surely."""

import json
import math
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Final, Literal, NamedTuple

from pydantic import JsonValue

from judge.errors import ConfigError, InputError, RunError
from judge.inputs.runs import Run, questions
from judge.messages import Messages
from judge.records import CorpusScore, Interval, Summary
from judge.records.comparison import (
    AnswerChange,
    Differences,
    LabelChange,
    RunComparison,
    RunLine,
    ScoreDifference,
    Side,
)
from judge.records.result import ADDED
from judge.records.summary import FIELDS, OFFLINE
from judge.reports.gate import (
    GATED,
    LOWER_LOSS,
    LossGate,
    doubted,
    hold_loss,
    loss_of,
    measured,
)
from judge.scores.answer import SUPPORTING, Limits, Measure, public_measures, support_of
from judge.scores.intervals import holm, paired, share_limits
from judge.signature import Signature, parts_apart

WITHOUT: Final = ""
"""The slice of answers whose sample has no such key."""
_MAX_LISTED: Final = 20
_SIGNIFICANT: Final = 0.05


class _Answer(NamedTuple):
    """The data kept of one answer."""

    values: tuple[float | None, ...]
    """The compared scores, the headline first."""
    limits: tuple[Limits | None, ...]
    """The bounds of these scores."""
    text: int
    """A hash of the places and texts of its sentences."""
    labels: tuple[str | None, ...]
    slice: str


_Answers = dict[str, _Answer]
"""Answers by qid."""


def compare_runs(
    runs: Sequence[tuple[Run, Summary]],
    *,
    names: Sequence[str],
    by: str | None,
    scores: Sequence[str],
    losses: Sequence[LossGate],
    across: bool,
    worst: int,
) -> RunComparison:
    """Compare finished runs, which have these names, with the first one.

    Answers are grouped into slices by the key `by` of their metadata. The first of the scores is
    the headline; without any, all that were measured are compared. `losses` are gates on the last
    run. With `across`, runs may be judged in different ways. `worst` limits the changed answers.
    """
    summaries = [summary for _, summary in runs]
    apart = signatures_apart(summaries)
    if apart and not across:
        pairs = zip(names, summaries, strict=True)
        others = (name for name, own in pairs if signatures_apart((summaries[0], own)))
        raise RunError(
            f"{names[0]} and {next(others, names[-1])} were not judged alike: {'; '.join(apart)}; "
            "score with the same settings, or add --across-signatures"
        )
    scored = [measured(summary) for summary in summaries]
    offline = all(summary.by_similarity for summary in summaries)
    compared = [*(scores or _measured(scored, offline=offline)), *(gate.name for gate in losses)]
    sides = {name: GATED[name] for name in compared}
    first = _read(runs[0][0], sides, by)
    # Runs of one input have the same questions.
    same_input = len({run.record.input.sha256 for run, _ in runs}) == 1
    asked = {} if same_input else questions(runs[0][0].folder)
    found = []
    for name, (run, _) in zip(names[1:], runs[1:], strict=True):
        own = first if run.folder == runs[0][0].folder else _read(run, sides, by)
        asked_here = questions(run.folder) if asked else {}
        reworded = [q for q in asked if q in asked_here and asked[q] != asked_here[q]]
        found.append(_differences(name, own, first, sides, reworded, by, worst))
    last = found[-1]
    if by is not None and not any(each.slices.keys() - {WITHOUT} for each in found):
        raise ConfigError(f"--by {by!r}: no answer of {names[0]} has such metadata")
    gates = [hold_loss(gate, loss_of(last.scores[gate.name], sides[gate.name])) for gate in losses]
    return RunComparison(
        runs=tuple(
            RunLine(
                name=name,
                started=run.record.started,
                answers=summary.answers,
                signatures=summary.signatures,
                untrusted=bool(doubted(summary)),
                mean={key: each.macro if (each := own[key]) else None for key in sides},
                interval={key: each.interval if (each := own[key]) else None for key in sides},
            )
            for name, (run, summary), own in zip(names, runs, scored, strict=True)
        ),
        sides=sides,
        across=apart,
        by=by,
        offline=offline,
        differences=tuple(found),
        gates=tuple(gates),
    )


def _measured(scored: Sequence[Mapping[str, CorpusScore | None]], *, offline: bool) -> list[str]:
    """Return the scores that any run has, but for TREC RAG's, and repetitions by similarity."""
    names = [name for name in scored[0] if any(each[name] is not None for each in scored)]
    repeated = [name for name in names if offline and name.endswith("_strict")]
    return [name for name in names if name not in SUPPORTING and name not in repeated]


def signatures_apart(summaries: Sequence[Summary]) -> tuple[str, ...]:
    """Return the parts in which runs were judged differently, such as `prior: 0.9, 0.8`.

    Whether an answer came split depends on its sample, so that difference alone does not count.
    """
    made = [[Signature.parse(each) for each in summary.signatures] for summary in summaries]
    splits = {frozenset(each.part("split") for each in own) for own in made}
    left = ("split",) if len(splits) == 1 else ()
    kinds = {"": [str(each.without(*left)) for own in made for each in own]}
    for setting in ADDED:
        totals = [s.added[setting] for s in summaries if setting in s.added]
        kinds[f"{setting} "] = [each for own in totals for each in own.signatures]
    return tuple(f"{kind}{part}" for kind, found in kinds.items() for part in parts_apart(found))


def slice_name(value: JsonValue) -> str:
    """Return the slice of a metadata value."""
    if value is None:
        return WITHOUT
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def score_name(name: str, *, offline: bool) -> str:
    """Return the name of a score for people, complete where a run's table shortens it."""
    field = FIELDS.get(name, name)
    own, totals = Messages.of("compare", "score"), Messages.of("totals", "score")
    if name in own:
        return own(name)
    key = OFFLINE.get(field, field) if offline else field
    return totals(key).strip() if key in totals else name


def doubt_lines(report: RunComparison) -> Iterator[str]:
    """Yield why no difference of the last run is a finding; nothing if one is."""
    say, last = Messages.of("compare", "say"), report.differences[-1]
    if not last.common or any(findings(last.scores)):
        return
    yield say("none")
    differing = [each for each in last.scores.values() if each and each.better + each.worse]
    if any(not each.interval.low <= 0 <= each.interval.high for each in differing):
        yield say("holm", count=len(differing))


def label_line(found: Differences) -> str:
    """Return how labels changed in answers with the same text; empty without such answers."""
    if not found.same_text:
        return ""
    say, names = Messages.of("compare", "say"), Messages.of("looks", "label")
    changes = say("joint").join(
        say("label", first=names(each.first), then=names(each.then), count=each.sentences)
        for each in found.labels
    )
    return say("labels", count=found.same_text, changes=changes or say("no_label"))


def loss_lines(report: RunComparison) -> Iterator[str]:
    """Yield each loss that has a gate, with both limits, and the loss that would still pass."""
    say, last = Messages.of("compare", "say"), report.differences[-1]
    for name in dict.fromkeys(gate.name for gate in report.gates):
        found = last.scores[name]
        loss = loss_of(found, report.sides[name])
        if loss is None or found is None:
            continue
        values = {key: f"{value:+.3f}" for key, value in loss._asdict().items()}
        shown = score_name(name, offline=report.offline)
        yield say("loss", score=shown, count=found.pairs, **values)
        for gate in report.gates:
            if gate.name == name and gate.what == LOWER_LOSS:
                # As many questions would have this distance of the mean from its limit again.
                passes = f"{gate.bound + loss.mean - loss.low:.3f}"
                yield say("passes", name=name, bound=f"{gate.bound:g}", passes=passes)


def findings(scores: Mapping[str, ScoreDifference | None]) -> Iterator[str]:
    """Yield the scores whose differences are findings: p corrected by Holm is under .05."""
    for name, found in scores.items():
        if found is not None and found.p_holm < _SIGNIFICANT:
            yield name


def _read(run: Run, scores: Collection[str], by: str | None) -> _Answers:
    """Read a run, and keep the data for a comparison of these scores."""
    kept: _Answers = {}
    for result in run.results:
        if result.qid in kept:
            what = f"{result.qid!r} occurs twice; make each qid unique in a run"
            raise InputError(what, path=str(run.folder), field="qid")
        found = public_measures(result)
        measures = [found.get(name, Measure()) for name in scores]
        kept[result.qid] = _Answer(
            values=tuple(each.value for each in measures),
            limits=tuple(each.limits for each in measures),
            text=hash(tuple((each.start, each.text) for each in result.sentences)),
            labels=tuple(map(support_of, result.sentences)),
            slice=WITHOUT if by is None else slice_name(result.metadata.get(by)),
        )
    return kept


def _differences(
    run: str,
    here: _Answers,
    there: _Answers,
    sides: Mapping[str, Side],
    reworded: Sequence[str],
    by: str | None,
    most: int,
) -> Differences:
    """Compare the answers `here` of a run with those `there`, of the first one."""
    both = [qid for qid in there if qid in here]
    apart: dict[Literal["only_here", "only_first", "reworded"], Sequence[str]] = {
        "only_here": [qid for qid in here if qid not in there],
        "only_first": [qid for qid in there if qid not in here],
        "reworded": [qid for qid in reworded if qid in there and qid in here],
    }
    pairs = {qid: (there[qid], here[qid]) for qid in both}
    slices = defaultdict[str, list[tuple[_Answer, _Answer]]](list)
    for one, two in pairs.values() if by is not None else ():
        slices[one.slice].append((one, two))
    values = sorted(slices, key=lambda value: (-len(slices[value]), value))
    columns = list(enumerate(sides.items()))
    by_score = {
        name: _corrected({value: _difference(column, slices[value], side) for value in values})
        for column, (name, side) in columns
    }
    answers = list(pairs.values())
    scores = {name: _difference(column, answers, side) for column, (name, side) in columns}
    changed = [
        AnswerChange(qid=qid, first=one.values[0], value=two.values[0])
        for qid, (one, two) in pairs.items()
        if one.values[0] != two.values[0]
    ]
    same = [(one, two) for one, two in answers if one.text == two.text]
    labels = Counter(
        (before, after)
        for one, two in same
        for before, after in zip(one.labels, two.labels, strict=True)
        if before != after and before is not None and after is not None
    )
    side = next(iter(sides.values()))
    changed.sort(key=lambda change: _gain(change, side))
    return Differences(
        run=run,
        common=len(both),
        only_here=len(apart["only_here"]),
        only_first=len(apart["only_first"]),
        reworded=len(apart["reworded"]),
        qids={kind: tuple(qids[:_MAX_LISTED]) for kind, qids in apart.items()},
        scores=_corrected(scores),
        slices={
            value: {name: found[value] for name, found in by_score.items()} for value in values
        },
        same_text=len(same),
        labels=tuple(
            LabelChange(first=before, then=after, sentences=count)
            for (before, after), count in labels.most_common()
        ),
        changed=len(changed),
        worst=tuple(changed[:most]),
    )


def _gain(change: AnswerChange, side: Side) -> float:
    """Return how much better an answer became; infinity if a score is missing."""
    if change.first is None or change.value is None:
        return math.inf
    gain = change.value - change.first
    return gain if side == "least" else -gain


def _difference(
    column: int, pairs: Sequence[tuple[_Answer, _Answer]], side: Side
) -> ScoreDifference | None:
    known = [
        (first, value)
        for one, two in pairs
        if (first := one.values[column]) is not None and (value := two.values[column]) is not None
    ]
    changes = [two - one for one, two in known]
    found, limits = paired(changes), share_limits(changes)
    if found is None or limits is None:
        return None
    limited = [
        (*first_limits, *own_limits)
        for one, two in pairs
        if (first_limits := one.limits[column]) and (own_limits := two.limits[column])
    ]
    failed = any(low < high or least < most for low, high, least, most in limited)
    return ScoreDifference(
        pairs=found.pairs,
        first=math.fsum(one for one, _ in known) / found.pairs,
        value=math.fsum(two for _, two in known) / found.pairs,
        difference=found.mean,
        interval=Interval(
            low=limits[0], high=limits[1], method="t" if found.limits else "wilson_effective"
        ),
        p=found.p,
        p_holm=found.p,
        better=found.higher if side == "least" else found.lower,
        worse=found.lower if side == "least" else found.higher,
        open=max(0, len(limited) - found.pairs) if limited else 0,
        bounds=(
            math.fsum(least - high for _, high, least, _ in limited) / len(limited),
            math.fsum(most - low for low, _, _, most in limited) / len(limited),
        )
        if failed
        else None,
    )


def _corrected(
    scores: Mapping[str, ScoreDifference | None],
) -> dict[str, ScoreDifference | None]:
    """Correct each p for the number of scores, or of slices, in which anything differs."""
    differing = {n: each.p for n, each in scores.items() if each and each.better + each.worse}
    corrected = dict(zip(differing, holm(list(differing.values())), strict=True))
    return {
        name: each and each.model_copy(update={"p_holm": corrected.get(name, each.p)})
        for name, each in scores.items()
    }
