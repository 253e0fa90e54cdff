from collections.abc import Callable, Sequence

from judge.judges.nli import NliJudge
from judge.records import (
    Evidence,
    Flag,
    FlagName,
    JudgeRequest,
    Judgment,
    Relation,
    Support,
    Unscored,
    UnscoredReason,
    Verdict,
)
from tests.requests import request

YES = Relation(entailed=0.9, contradicted=0.05)
NO = Relation(entailed=0.1, contradicted=0.8)
NOTHING = Relation(entailed=0.2, contradicted=0.3)
LONG = 200
"""Characters: with more, premise and hypothesis are too long for `short_sighted`."""


Says = Callable[[str, str], Relation | None]


class FakePairScorer:
    """Relates each pair by a function, or fails."""

    signature = "fake"

    def __init__(self, says: Says | Unscored) -> None:
        self._says = says
        self.pairs: list[tuple[str, str]] = []

    async def score(self, pairs: Sequence[tuple[str, str]]) -> list[Relation | None] | Unscored:
        self.pairs += pairs
        if isinstance(self._says, Unscored):
            return self._says
        return [self._says(*pair) for pair in pairs]


def by_word(premise: str, _: str) -> Relation:
    """A premise with "yes" or 是 entails everything, one with "no" or 否 denies it."""
    if {"yes", "是"} & {*premise.split(), *premise}:
        return YES
    return NO if {"no", "否"} & {*premise.split(), *premise} else NOTHING


def short_sighted(premise: str, hypothesis: str) -> Relation | None:
    return None if len(premise + hypothesis) > LONG else by_word(premise, hypothesis)


async def judged(asked: JudgeRequest, says: Says = by_word, window: int = 300) -> Judgment:
    return await NliJudge(FakePairScorer(says), window=window).judge(asked)


async def verdict(chunks: Sequence[str], *cited: int, text: str = "It is so.") -> Verdict:
    outcome = (await judged(request([text], chunks, {0: cited} if cited else {}))).outcomes[0]
    assert isinstance(outcome, Verdict)
    return outcome


async def test_a_passage_that_entails_makes_it_full() -> None:
    assert await verdict(["maybe", " yes it is\n"]) == Verdict(
        support=Support.FULL,
        evidence=(Evidence(chunk_id="c1", quote="yes it is", start=1, end=10, verified=True),),
        supporting=("c1",),
        score=0.9,
        source="nli",
        signature="nli:fake|t:0.5|w:300",
    )


async def test_else_one_that_contradicts_makes_it_contradicted_and_else_it_is_none() -> None:
    # The evidence is the passage that contradicts, or the nearest; the score is that of the best.
    wanted = {
        ("maybe", "no"): (Support.CONTRADICTED, "c1: no", "a passage says otherwise"),
        ("", "maybe"): (Support.NONE, "c1: maybe", "follows from no passage"),
    }
    for chunks, told in wanted.items():
        found = await verdict(chunks)
        (shown,) = found.evidence
        assert (found.support, f"{shown.chunk_id}: {shown.quote}", found.reason) == told
        assert (found.supporting, found.score) == ((), 0.2)


async def test_without_a_passage_nothing_is_supported() -> None:
    for chunks in ([], [""], [" \n", "\t"]):
        found = await verdict(chunks, *range(len(chunks)))
        assert (found.support, found.score, found.evidence) == (Support.NONE, 0.0, ())
        assert found.reason == "no chunks"
        assert found.cited_support == (Support.NONE if chunks else None)


async def test_cited_support_is_that_of_the_cited_chunks() -> None:
    chunks = ["yes", "no", "maybe"]
    assert (await verdict(["yes", "no", "maybe", "yes"])).supporting == ("c0", "c3")
    assert (await verdict(chunks)).cited_support is None
    assert (await verdict(chunks, 0)).cited_support is Support.FULL
    assert (await verdict(chunks, 1)).cited_support is Support.CONTRADICTED
    assert (await verdict(chunks, 2)).cited_support is Support.NONE
    assert (await verdict(chunks, 1, 2)).cited_support is Support.CONTRADICTED


async def test_full_beside_contradicted_is_flagged() -> None:
    judgment = await judged(request(["A.", "B."], ["no", "yes"]))
    supports = [getattr(outcome, "support", None) for outcome in judgment.outcomes.values()]
    assert supports == [Support.FULL, Support.FULL]
    assert judgment.flags == tuple(
        Flag(name=FlagName.CONFLICTING_EVIDENCE, sentence=index) for index in (0, 1)
    )
    assert (await judged(request(["A."], ["no", "maybe"]))).flags == ()
    assert (await judged(request(["A."], ["yes", "maybe"]))).flags == ()


async def test_a_citation_is_no_part_of_what_is_asked_and_a_passage_is_read_once() -> None:
    scorer = FakePairScorer(by_word)
    asked = request(["1. It  is so [b].", "[1]", "No."], ["x", "y", "x"])
    asked = asked.model_copy(update={"markers": ((13, 16),), "ask": (0, 1)})
    assert (await NliJudge(scorer).judge(asked)).outcomes.keys() == {0, 1}
    # What is nothing but a marker is asked about as it stands.
    assert scorer.pairs == [(x, text) for text in ("It is so .", "[1]") for x in ("x", "y")]


async def test_the_models_failure_is_that_of_every_sentence() -> None:
    lost = Unscored(reason=UnscoredReason.SERVER_ERROR, detail="out of memory")
    for texts in (["A.", "B."], ["A.", "B" * 500]):
        judgment = await NliJudge(FakePairScorer(lost)).judge(request(texts, ["x"]))
        assert judgment.outcomes == {0: lost, 1: lost}


DAZED = "下" * 185
"""Beside it a passage of 15 characters is read, and the one below is not."""
UNREAD = "雨" * 25


async def test_what_entails_it_counts_though_another_passage_does_not_fit() -> None:
    full = Support.FULL
    rows: list[tuple[list[str], tuple[int, ...], tuple[Support, Support | None] | None]] = [
        (["是", UNREAD], (), (full, None)),
        ([UNREAD, "是"], (1,), (full, full)),
        (["是", UNREAD], (0, 1), (full, full)),
        # Whether the cited chunk entails it nobody knows; nor whether another than these does.
        (["是", UNREAD], (1,), None),
        (["是", "否", UNREAD], (1, 2), None),
        (["否", UNREAD], (), None),
        (["否", UNREAD], (0,), None),
    ]
    for chunks, cited, expected in rows:
        asked = request([DAZED], chunks, {0: cited} if cited else {})
        judgment = await judged(asked, short_sighted)
        outcome = judgment.outcomes[0]
        if isinstance(outcome, Verdict):
            assert (outcome.support, outcome.cited_support) == expected, (chunks, cited)
            assert judgment.flags == (Flag(name=FlagName.UNJUDGED_EVIDENCE, sentence=0),)
        else:
            assert (outcome.reason, expected) == (UnscoredReason.TRUNCATED, None), (chunks, cited)
            assert outcome.detail.startswith("some passages do not fit beside the sentence")
