"""The judge that repeats doubtful requests with another seed and chunk order."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Final

from judge.checks.quotes import flag_quotes, verify
from judge.judges import MISSING, join
from judge.pool import apart, weigh
from judge.protocols import Judge
from judge.records import (
    Flag,
    FlagName,
    JudgeOutcome,
    JudgeRequest,
    Judgment,
    Rules,
    Support,
    Unscored,
    Verdict,
)
from judge.signature import Signature

_DOUBTFUL: Final = frozenset({Support.PARTIAL, Support.CONTRADICTED})


@lru_cache
def _signature_of(first: str, verdict: str, askings: int) -> str:
    """Return the first judge's signature, with the model that served this verdict."""
    made = Signature.parse(first).served_by(Signature.parse(verdict))
    return str(made.having(f"repeat:{askings}"))


class RepeatedJudge:
    """Repeats the request about doubtful sentences of an answer, and takes the majority.

    A verdict is doubtful if it is `partial`, `contradicted`, or support without a quote that is in
    its chunk. Each of `others` judges these sentences once. An `Unscored` is no vote. The label
    with most votes wins; in a tie, the first label. The result is the first verdict with that
    label, preferably one with a verified quote. It is flagged if the labels differ.
    """

    def __init__(self, first: Judge, *others: Judge) -> None:
        self._first = first
        self._others = others

    @property
    def signature(self) -> str:
        """The first judge's signature, and the most requests about a sentence."""
        first = self._first.signature
        return _signature_of(first, first, 1 + len(self._others))

    async def judge(self, request: JudgeRequest) -> Judgment:
        """Return one outcome per asked sentence, by majority if it was asked again."""
        judgments = [await self._verified(self._first, request)]
        if again := tuple(sorted(self._doubtful_sentences(judgments[0].outcomes))):
            asked = request.model_copy(update={"ask": again})
            judgments += [await self._verified(other, asked) for other in self._others]
        outcomes = dict(judgments[0].outcomes)
        flags = [flag for flag in judgments[0].flags if flag.sentence not in again]
        for index in again:
            askings = [each.outcomes.get(index, MISSING) for each in judgments]
            kept, outcomes[index] = _majority(askings)
            flags += (flag for flag in judgments[kept].flags if flag.sentence == index)
            if len(_votes(askings)) > 1:
                flags.append(Flag(name=FlagName.FLIPPED, sentence=index))
        signed = {index: self._sign(outcome) for index, outcome in outcomes.items()}
        return join(judgments, signed, flags)

    async def _verified(self, judge: Judge, request: JudgeRequest) -> Judgment:
        """Return a judge's judgment with its quotes verified."""
        judgment = await judge.judge(request)
        found = await apart(weigh(request), verify, judgment.outcomes, request.chunks, Rules())
        return judgment.model_copy(update={"outcomes": found})

    def _doubtful_sentences(self, outcomes: Mapping[int, JudgeOutcome]) -> Iterator[int]:
        unverified = {flag.sentence for flag in flag_quotes(outcomes)}
        for index, outcome in outcomes.items():
            if isinstance(outcome, Verdict) and (
                outcome.support in _DOUBTFUL or index in unverified
            ):
                yield index

    def _sign(self, outcome: JudgeOutcome) -> JudgeOutcome:
        if isinstance(outcome, Unscored):
            return outcome
        made = _signature_of(self._first.signature, outcome.signature, 1 + len(self._others))
        return outcome.model_copy(update={"signature": made})


def _votes(askings: Sequence[JudgeOutcome]) -> Counter[Support]:
    return Counter(each.support for each in askings if isinstance(each, Verdict))


def _majority(askings: Sequence[JudgeOutcome]) -> tuple[int, Verdict]:
    """Return the number of the request that gave the majority's verdict, and that verdict."""
    (label, most), *others = _votes(askings).most_common()
    verdicts = [(at, each) for at, each in enumerate(askings) if isinstance(each, Verdict)]
    if any(votes == most for _, votes in others):
        label = verdicts[0][1].support
    having = [each for each in verdicts if each[1].support is label]
    at, verdict = next((each for each in having if each[1].backed), having[0])
    labels = tuple(each.support if isinstance(each, Verdict) else each.reason for each in askings)
    return at, verdict.model_copy(update={"askings": labels})


class ReorderedJudge:
    """Shows another judge the chunks in the order of a repeat."""

    def __init__(self, inner: Judge, repeat: int) -> None:
        self._inner = inner
        self._repeat = repeat

    @property
    def signature(self) -> str:
        """The signature of the inner judge; the order is no part of it."""
        return self._inner.signature

    async def judge(self, request: JudgeRequest) -> Judgment:
        """Return the outcomes of the inner judge."""
        shown = chunk_order(len(request.chunks), self._repeat)
        place_of = {position: place for place, position in enumerate(shown)}
        cites = {
            index: tuple(sorted(place_of[position] for position in cited))
            for index, cited in request.cites.items()
        }
        chunks = tuple(request.chunks[position] for position in shown)
        update = {"chunks": chunks, "cites": cites}
        return await self._inner.judge(request.model_copy(update=update))


def chunk_order(chunks: int, repeat: int) -> tuple[int, ...]:
    """Return the order of the chunks in a repeat, as positions; repeat 0 keeps the given order.

    >>> [chunk_order(3, repeat) for repeat in range(4)]
    [(0, 1, 2), (1, 2, 0), (2, 0, 1), (0, 1, 2)]
    """
    return tuple((at + repeat) % chunks for at in range(chunks))
