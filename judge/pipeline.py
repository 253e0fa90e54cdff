"""The main path: one sample in, one result out."""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Final

from judge.answer.audit import audit
from judge.answer.citations import find, positions
from judge.answer.kinds import classify
from judge.answer.sentences import sentences_of
from judge.checks.chunks import flag_chunks, flag_gaps
from judge.checks.injection import flag_orders
from judge.checks.quotes import flag_quotes, verify
from judge.protocols import Judge
from judge.records import (
    MOST_SENTENCES,
    Citation,
    JudgeOutcome,
    JudgeRequest,
    Judgment,
    Rules,
    Sample,
    SampleResult,
    Sentence,
    SentenceKind,
    Unscored,
    UnscoredReason,
    Verdict,
)
from judge.scores.answer import aggregate
from judge.signature import Signature
from judge.turns import Turn
from judge.workers import HEAVY, weigh

_MISSING: Final = Unscored(reason=UnscoredReason.MISSING, detail="the judge gave no outcome")
_TOO_LONG: Final = Unscored(
    reason=UnscoredReason.BUDGET,
    detail=f"over {MOST_SENTENCES:,} sentences, or characters in one; shorten the answer",
)


async def evaluate_sample(
    sample: Sample, judge: Judge, rules: Rules, turn: Turn | None = None
) -> SampleResult:
    """Take one answer through the whole path.

    Once its turn is over no more is asked. Only JudgeUnavailable is raised: the world's other
    failures are outcomes.
    """
    turn = turn or Turn()
    # What takes long is computed apart from the event loop; a reader's own pattern may.
    heavy, compute = HEAVY if rules.citation_pattern else weigh(sample), turn.compute
    asked, citations = await compute(heavy, prepare, sample, rules)
    judgment = await ask(judge, asked, turn)
    signature = judge.signature
    return await compute(heavy, conclude, sample, asked, citations, judgment, signature, rules)


def prepare(sample: Sample, rules: Rules) -> tuple[JudgeRequest, tuple[Citation, ...]]:
    """What a judge is asked, and the citations that will be held against what it says."""
    cited = {n for n, each in enumerate(sample.sentences or ()) if each.citations}
    sentences = classify(sentences_of(sample), cited)
    citations = find(sample, sentences, rules)
    return request(sample, sentences, citations), citations


def conclude(
    sample: Sample,
    asked: JudgeRequest,
    citations: Sequence[Citation],
    judgment: Judgment,
    signature: str,
    rules: Rules,
) -> SampleResult:
    """The result: quotes looked up, flags raised, citations audited, scores counted."""
    outcomes = verify(judgment.outcomes, sample.chunks, rules)
    chunks = flag_chunks(sample, claims=bool(asked.ask))
    flags = (
        *chunks,
        *flag_gaps(sample),
        *flag_orders(sample),
        *flag_quotes(outcomes),
    )
    return aggregate(
        sample,
        asked.sentences,
        outcomes,
        audit(citations, outcomes, asked),
        flags=(*flags, *judgment.flags),
        calls=judgment.calls,
        signature=sign(signature, rules, outcomes.values(), given=sample.sentences is not None),
    )


def request(
    sample: Sample, sentences: Sequence[Sentence], citations: Sequence[Citation]
) -> JudgeRequest:
    """What a judge is asked about one sample: its claims."""
    return JudgeRequest(
        query=sample.query,
        answer=sample.answer,
        sentences=tuple(sentences),
        ask=tuple(each.index for each in sentences if each.kind is SentenceKind.CLAIM),
        chunks=sample.chunks,
        cites=positions(citations, sample.chunks),
        markers=tuple(sorted({(citation.start, citation.end) for citation in citations})),
    )


def asked(sample: Sample, rules: Rules) -> JudgeRequest:
    """What a judge would be asked about one sample, without asking it."""
    return prepare(sample, rules)[0]


async def ask(judge: Judge, request: JudgeRequest, turn: Turn) -> Judgment:
    """One outcome per asked sentence, whatever came back: a gap would leave the denominator.

    Of a claim that is too long nobody is asked.
    """
    asked = tuple(i for i in request.ask if len(request.sentences[i].text) <= MOST_SENTENCES)
    judgment = Judgment()
    if asked:
        async with turn.desk.places:
            now = {"ask": asked, "deadline": turn.begin()}
            judgment = await judge.judge(request.model_copy(update=now))
    lost = dict.fromkeys(request.ask, _TOO_LONG) | dict.fromkeys(asked, _MISSING)
    whole = {index: judgment.outcomes.get(index, lost[index]) for index in request.ask}
    return judgment.model_copy(update={"outcomes": whole})


def sign(
    judge: str, rules: Rules, outcomes: Iterable[JudgeOutcome] = (), *, given: bool = False
) -> str:
    """A judge's signature with the rules, and the model that gave the verdicts, kept ones too.

    Of an answer whose sentences were given it says so, for nobody cut it.
    """
    verdicts = (each for each in outcomes if isinstance(each, Verdict))
    made = {verdict.signature for verdict in verdicts if verdict.fallback_from is None}
    return _signed(judge, rules.parts, made.pop() if len(made) == 1 else None, given)


@lru_cache
def _signed(judge: str, rules: tuple[str, ...], made: str | None, given: bool) -> str:  # noqa: FBT001
    signature = Signature.parse(judge)
    if given:
        signature = signature.without("split").having("split:given")
    signature = signature.having(*rules)
    return str(signature if made is None else signature.served_by(Signature.parse(made)))
