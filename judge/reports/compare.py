"""Two or more runs over the same questions: what differs, answer by answer, and how surely."""

import hashlib
import json
import math
from array import array
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import Final, Literal, NamedTuple

from pydantic import JsonValue

from judge.errors import InputError
from judge.messages import Messages
from judge.records import Interval, SampleResult, Summary, Support
from judge.records.comparison import (
    AnswerChange,
    Differences,
    LabelChange,
    ScoreDifference,
    SentenceChange,
    Side,
)
from judge.records.summary import FIELDS, OFFLINE
from judge.scores.answer import public_scores, support_of
from judge.scores.differences import holm, paired, pairs_to_see, share_limits
from judge.signature import Signature, parts_apart

LISTED: Final = 20
"""Qids that are named of each kind."""
WITHOUT: Final = ""
"""The slice of answers whose sample has no such key."""
_EQUAL: Final = 1e-9
_SUPPORTED: Final = frozenset({None, Support.FULL.value, Support.NO_CLAIM.value})
_FOUND: Final = 0.05
_BARS: Final = "▁▂▃▄▅▆▇█"
_PLAIN: Final = "_.-=^"


class _Answer(NamedTuple):
    """The data kept of one answer: 24 bytes a score and a few hundred more."""

    values: "array[float]"
    """NaN where it has none."""
    low: "array[float]"
    high: "array[float]"
    text: bytes
    """A hash of its sentences."""
    labels: tuple[str | None, ...]
    slice: str


class Answers:
    """What is kept of a run while another is read.

    Args:
        scores: the names of what is compared; the first is the headline.
        by: the metadata key of the slices.
        asked: hashes of the questions by qid, as far as known.
    """

    def __init__(
        self,
        scores: Sequence[str],
        by: str | None = None,
        asked: Mapping[str, int] | None = None,
    ) -> None:
        self.scores = tuple(scores)
        self._by = by
        self.asked = asked or {}
        self.kept: dict[str, _Answer] = {}

    def add(self, result: SampleResult) -> None:
        """Take in an answer."""
        values, limits = public_scores(result)
        sentences = result.sentences
        digest = hashlib.blake2b(digest_size=8)
        for each in sentences:
            digest.update(b"%d " % each.start + each.text.encode("utf-8", "surrogatepass"))
        qid = result.qid
        if qid in self.kept:
            raise InputError(f"{qid!r} stands twice; make each qid unique in a run", field="qid")
        own = [values.get(name) for name in self.scores]
        pairs = [limits.get(name) or (math.nan, math.nan) for name in self.scores]
        self.kept[qid] = _Answer(
            array("d", [math.nan if each is None else each for each in own]),
            array("d", [low for low, _ in pairs]),
            array("d", [high for _, high in pairs]),
            digest.digest(),
            tuple(support_of(each) for each in sentences),
            WITHOUT if self._by is None else slice_name(result.metadata.get(self._by)),
        )


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


def findings(scores: Mapping[str, ScoreDifference | None]) -> Iterator[str]:
    """The scores that differ by more than chance may bring, p corrected under .05."""
    for name, found in scores.items():
        if found is not None and found.p_holm < _FOUND:
            yield name


def sparkline(values: Sequence[float | None], *, plain: bool = False) -> str:
    """Draw values as bars between their least and greatest; a missing value is a blank.

    >>> sparkline([0.5, None, 0.75, 1.0])
    '▁ ▅█'
    """
    bars = _PLAIN if plain else _BARS
    known = [value for value in values if value is not None]
    low, span = min(known, default=0.0), max(known, default=0.0) - min(known, default=0.0)
    steps = len(bars) - 1
    return "".join(
        " " if value is None else bars[round(steps * (value - low) / span) if span > _EQUAL else 0]
        for value in values
    )


def signatures_apart(summaries: Sequence[Summary]) -> tuple[str, ...]:
    """Return the parts in which runs were judged differently, such as `prior: 0.9, 0.8`.

    A run without correctness or relevance does not differ in these parts. Whether an answer came
    split depends on its sample, so runs that both have such answers do not differ in that.
    """
    made = [[Signature.parse(each) for each in summary.signatures] for summary in summaries]
    splits = {frozenset(each.part("split") for each in own) for own in made}
    left = ("split",) if len(splits) == 1 else ()
    kinds: dict[str, list[Iterable[str]]] = {
        "": [[str(each.without(*left)) for each in own] for own in made]
    }
    kinds["correctness "] = [s.correctness.signatures for s in summaries if s.correctness]
    kinds["relevance "] = [s.answer_relevance.signatures for s in summaries if s.answer_relevance]
    return tuple(
        f"{kind}{part}" for kind, found in kinds.items() for part in parts_apart(chain(*found))
    )


def differences(
    run: str,
    own: Answers,
    first: Answers,
    sides: Mapping[str, Side],
    *,
    detect: float,
    most: int,
    sliced: bool = False,
) -> Differences:
    """Compare a run with the first one.

    Args:
        run: its name.
        own: its answers.
        first: those of the first run, of the same scores.
        sides: of these scores.
        detect: the difference that `to_see` is about, above 0.
        most: how many changed answers to list.
        sliced: whether slices are asked for.
    """
    here, there = own.kept, first.kept
    both = [qid for qid in there if qid in here]
    asked, told = own.asked, first.asked
    apart: dict[Literal["only_here", "only_first", "reworded"], list[str]] = {
        "only_here": [qid for qid in here if qid not in there],
        "only_first": [qid for qid in there if qid not in here],
        "reworded": [q for q in both if q in asked and q in told and asked[q] != told[q]],
    }
    slices: defaultdict[str, list[str]] = defaultdict(list)
    if sliced:
        for qid in both:
            slices[there[qid].slice].append(qid)
    tables = {
        value: _scores([(there[qid], here[qid]) for qid in qids], sides, detect)
        for value, qids in sorted(slices.items(), key=lambda item: (-len(item[1]), item[0]))
    }
    same = [qid for qid in both if there[qid].text == here[qid].text]
    labels: Counter[tuple[str, str]] = Counter()
    for qid in same:
        labels.update(_relabelled(there[qid], here[qid]))
    changed = sorted(_changes(both, there, here), key=_gain(next(iter(sides.values()))))
    return Differences(
        run=run,
        common=len(both),
        only_here=len(apart["only_here"]),
        only_first=len(apart["only_first"]),
        reworded=len(apart["reworded"]),
        listed={kind: tuple(qids[:LISTED]) for kind, qids in apart.items()},
        scores=_corrected(_scores([(there[qid], here[qid]) for qid in both], sides, detect)),
        slices=_corrected_down(tables, sides),
        moved=sum(there[qid].slice != here[qid].slice for qid in both) if sliced else 0,
        same_text=len(same),
        labels=tuple(
            LabelChange(first=one, then=two, sentences=count)
            for (one, two), count in labels.most_common()
        ),
        changed=len(changed),
        worst=tuple(changed[:most]),
    )


def with_sentences(
    found: Differences, results: Iterable[SampleResult], first: Answers
) -> Differences:
    """The same with sentences of the listed answers that tell what changed.

    Args:
        found: how a run differs from the first.
        results: its own; no more of them are read than it takes.
        first: what is kept of the first run.
    """
    wanted = {each.qid: each for each in found.worst}
    told: dict[str, AnswerChange] = {}
    for result in results if wanted else ():
        if (change := wanted.get(result.qid)) is not None:
            before = first.kept[result.qid].labels if change.same_text else None
            lines = tuple(islice(_sentences(result, before), LISTED))
            told[result.qid] = change.model_copy(update={"told": lines})
            if len(told) == len(wanted):
                break
    return found.model_copy(update={"worst": tuple(told[each.qid] for each in found.worst)})


def _sentences(
    result: SampleResult, before: tuple[str | None, ...] | None
) -> Iterator[SentenceChange]:
    for place, sentence in enumerate(result.sentences):
        label = support_of(sentence)
        first = before[place] if before else None
        changed = label != first if before else label not in _SUPPORTED
        if label is not None and changed:
            yield SentenceChange(first=first, label=label, text=sentence.text)


def _relabelled(one: _Answer, two: _Answer) -> Iterator[tuple[str, str]]:
    for before, after in zip(one.labels, two.labels, strict=False):
        if before != after and before is not None and after is not None:
            yield before, after


def _changes(
    qids: Iterable[str], there: Mapping[str, _Answer], here: Mapping[str, _Answer]
) -> Iterator[AnswerChange]:
    for qid in qids:
        one, two = there[qid], here[qid]
        same = one.text == two.text
        if same and one.labels == two.labels and _known(one.values[0]) == _known(two.values[0]):
            continue
        yield AnswerChange(
            qid=qid,
            first=_known(one.values[0]),
            value=_known(two.values[0]),
            same_text=same,
            sentences=sum(1 for _ in _relabelled(one, two)) if same else 0,
        )


def _known(value: float) -> float | None:
    return None if math.isnan(value) else value


def _gain(side: Side) -> Callable[[AnswerChange], float]:
    """What changes are ordered by: how much better the answer became, the unscored last."""

    def key(change: AnswerChange) -> float:
        if change.first is None or change.value is None:
            return math.inf
        gained = change.value - change.first
        return gained if side == "least" else -gained

    return key


def _scores(
    pairs: Sequence[tuple[_Answer, _Answer]], sides: Mapping[str, Side], detect: float
) -> dict[str, ScoreDifference | None]:
    return {
        name: _difference(column, pairs, side, detect)
        for column, (name, side) in enumerate(sides.items())
    }


def _difference(
    column: int, pairs: Sequence[tuple[_Answer, _Answer]], side: Side, detect: float
) -> ScoreDifference | None:
    known = [
        (one.values[column], two.values[column])
        for one, two in pairs
        if not (math.isnan(one.values[column]) or math.isnan(two.values[column]))
    ]
    changes = [two - one for one, two in known]
    found, limits = paired(changes), share_limits(changes)
    if found is None or limits is None:
        return None
    limited = [
        (one.low[column], one.high[column], two.low[column], two.high[column])
        for one, two in pairs
        if not (math.isnan(one.low[column]) or math.isnan(two.low[column]))
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
        to_see=pairs_to_see(detect, changes),
    )


def _corrected(
    scores: Mapping[str, ScoreDifference | None],
) -> dict[str, ScoreDifference | None]:
    """Correct each p for the number of scores in which anything differs."""
    told = [name for name, each in scores.items() if each is not None and each.better + each.worse]
    corrected = dict(zip(told, holm([each.p for n in told if (each := scores[n])]), strict=True))
    return {
        name: each and each.model_copy(update={"p_holm": corrected.get(name, each.p)})
        for name, each in scores.items()
    }


def _corrected_down(
    tables: Mapping[str, Mapping[str, ScoreDifference | None]], names: Iterable[str]
) -> dict[str, dict[str, ScoreDifference | None]]:
    """Correct the p of each score for the number of slices."""
    columns = {
        name: _corrected({value: table[name] for value, table in tables.items()}) for name in names
    }
    return {value: {name: columns[name][value] for name in columns} for value in tables}
