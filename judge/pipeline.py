"""The main path: one sample in, one result out."""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Final

from judge.answer.citations import Found, audit, find, positions
from judge.answer.kinds import classify
from judge.answer.sentences import sentences_of
from judge.checks.chunks import flag_chunks, flag_conflicts, flag_gaps
from judge.checks.injection import flag_orders
from judge.checks.quotes import flag_quotes, verify
from judge.judges import MISSING
from judge.pool import HEAVY, apart, weigh
from judge.protocols import Judge
from judge.records import (
    MOST_CLAIM_CHARACTERS,
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

# Validators take a while to build, and a command that starts needs none.
_TOO_LONG: Final = Unscored.model_construct(
    reason=UnscoredReason.BUDGET,
    detail=(
        f"over {MOST_SENTENCES:,} sentences, or a claim of over {MOST_CLAIM_CHARACTERS:,} "
        "characters; shorten the answer"
    ),
)


async def evaluate_sample(sample: Sample, judge: Judge, rules: Rules) -> SampleResult:
    """Return the result of one answer.

    Failures of the world are outcomes in it.

    Raises:
        JudgeUnavailable: the judge cannot be asked at all.
    """
    # A pattern of the user's own may be slow.
    weight = HEAVY if rules.citation_pattern else weigh(sample)
    request, found = await apart(weight, prepare, sample, rules)
    judgment = await ask(judge, request)
    signature = judge.signature
    return await apart(weight, conclude, sample, request, found, judgment, signature, rules)


def prepare(sample: Sample, rules: Rules) -> tuple[JudgeRequest, Found]:
    """Return the request for a judge, and the citations of the answer with their flags."""
    cited = {n for n, each in enumerate(sample.sentences or ()) if each.citations}
    sentences = classify(sentences_of(sample), cited)
    found = find(sample, sentences, rules)
    return make_request(sample, sentences, found.citations), found


def conclude(
    sample: Sample,
    request: JudgeRequest,
    found: Found,
    judgment: Judgment,
    signature: str,
    rules: Rules,
) -> SampleResult:
    """Return the result: quotes are looked up, citations audited, flags raised, scores counted."""
    outcomes = verify(judgment.outcomes, sample.chunks, rules)
    flags = (
        *flag_chunks(sample, claims=bool(request.ask)),
        *flag_conflicts(sample.chunks),
        *flag_gaps(sample),
        *flag_orders(sample),
        *found.flags,
        *flag_quotes(outcomes),
        *judgment.flags,
    )
    return aggregate(
        sample,
        request.sentences,
        outcomes,
        audit(found.citations, outcomes, request),
        flags=flags,
        calls=judgment.calls,
        signature=sign(signature, rules, outcomes.values(), presplit=sample.sentences is not None),
    )


def make_request(
    sample: Sample, sentences: Sequence[Sentence], citations: Sequence[Citation]
) -> JudgeRequest:
    """Return the request that asks about the claims of a sample."""
    return JudgeRequest(
        query=sample.query,
        answer=sample.answer,
        sentences=tuple(sentences),
        ask=tuple(each.index for each in sentences if each.kind is SentenceKind.CLAIM),
        chunks=sample.chunks,
        cites=positions(citations, sample.chunks),
        markers=tuple(sorted({(citation.start, citation.end) for citation in citations})),
    )


async def ask(judge: Judge, request: JudgeRequest) -> Judgment:
    """Return one outcome per asked sentence, whatever the judge returned.

    A sentence without an outcome would be missing in the denominator: it is `Unscored`. So is a
    claim that is too long; the judge is not asked about it.
    """
    ids = tuple(i for i in request.ask if len(request.sentences[i].text) <= MOST_CLAIM_CHARACTERS)
    judgment = Judgment()
    if ids:
        short = request if ids == request.ask else request.model_copy(update={"ask": ids})
        judgment = await judge.judge(short)
    lost = dict.fromkeys(request.ask, _TOO_LONG) | dict.fromkeys(ids, MISSING)
    whole = {index: judgment.outcomes.get(index, lost[index]) for index in request.ask}
    return judgment.model_copy(update={"outcomes": whole})


def sign(
    judge: str, rules: Rules, outcomes: Iterable[JudgeOutcome] = (), *, presplit: bool = False
) -> str:
    """Return the signature of a result: a judge's, the rules, and the model that gave the verdicts.

    Args:
        judge: the judge's signature.
        rules: the rules of citations and quotes.
        outcomes: cached verdicts among them may be by another model.
        presplit: whether the sample lists its sentences, so that the answer was not split.
    """
    verdicts = (each for each in outcomes if isinstance(each, Verdict))
    made = {verdict.signature for verdict in verdicts if verdict.fallback_from is None}
    return _signature_of(judge, rules.parts, made.pop() if len(made) == 1 else None, presplit)


@lru_cache
def _signature_of(judge: str, rules: tuple[str, ...], made: str | None, presplit: bool) -> str:  # noqa: FBT001
    signature = Signature.parse(judge)
    if presplit:
        signature = signature.without("split").having("split:given")
    signature = signature.having(*rules)
    return str(signature if made is None else signature.served_by(Signature.parse(made)))
