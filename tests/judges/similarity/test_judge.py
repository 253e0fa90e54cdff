import asyncio
import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.judges.similarity import LexicalEmbedder, SimilarityJudge, shipped_model
from judge.judges.similarity.align import SENTENCE_FEATURES, TERM_FEATURES
from judge.judges.similarity.model import ConjunctionModel, Vectors
from judge.records import (
    JudgeRequest,
    Support,
    Unscored,
    UnscoredReason,
    Verdict,
)
from tests.requests import request

TRAVEL = (
    "Travel must be booked ten days ahead. Hotels cost at most 120 euros a night in Berlin. "
    "Receipts are due within 45 days."
)
CANTEEN = "Lunch is served at noon. The canteen closes on Friday."
TRAVEL_ZH = "差旅费须在返回后四十五天内报销。住宿标准为每晚六百元。"
CANTEEN_ZH = "食堂每周五关闭。员工可享受十五天年假。"


async def verdicts(
    asked: JudgeRequest, prior: float = 0.9, model: ConjunctionModel | None = None
) -> dict[int, Verdict]:
    judgment = await SimilarityJudge(LexicalEmbedder(), prior=prior, model=model).judge(asked)
    assert judgment.calls == ()
    found = {i: each for i, each in judgment.outcomes.items() if isinstance(each, Verdict)}
    assert sorted(found) == sorted(asked.ask)
    return found


async def verdict(sentence: str, chunks: Sequence[str]) -> Verdict:
    """Of a sentence that is the whole answer."""
    return (await verdicts(request([sentence], chunks)))[0]


def score(verdict: Verdict) -> float:
    assert verdict.score is not None
    return verdict.score


def odds(verdict: Verdict) -> float:
    return math.log(score(verdict) / (1 - score(verdict)))


def made(neighbours: float = 0.0, centre: float = 0.0, intercept: float = 1.0) -> ConjunctionModel:
    """Every item holds with odds of e : 1, or e² : 1 against where it is gone; even prior odds."""
    coefficients = {"one": -1.0, "gone": 3.0}
    own = len(SENTENCE_FEATURES)
    return ConjunctionModel(
        name="made",
        terms=np.asarray([coefficients.get(name, 0.0) for name in TERM_FEATURES]),
        usual=4.0,
        damping=0.0,
        mean=np.zeros(own),
        scale=np.ones(own),
        coefficients=np.zeros(own),
        intercept=intercept,
        neighbours=neighbours,
        centre=centre,
        base_rate=0.5,
        threshold=0.5,
    )


LN_HELD, LN_GONE = -math.log1p(math.exp(-1)), -math.log1p(math.exp(2))


async def test_a_verbatim_sentence_is_full_and_a_strange_one_none() -> None:
    for sentence, chunks, start, end in (
        ("Hotels cost at most 120 euros a night in Berlin.", [CANTEEN, TRAVEL], 38, 86),
        ("住宿标准为每晚六百元。", [CANTEEN_ZH, TRAVEL_ZH], 16, 27),
    ):
        found = await verdict(sentence, chunks)
        assert (found.support, found.reason, found.source) == (Support.FULL, "", "similarity")
        assert found.supporting == ("c1",)
        (evidence,) = found.evidence
        assert (evidence.chunk_id, evidence.start, evidence.end) == ("c1", start, end)
        assert evidence.quote == chunks[1][start:end] == sentence
        assert evidence.verified
    for sentence in ("Zebras danced under purple moons of Saturn.", "火星上的企鹅喜欢吃巧克力。"):
        found = await verdict(sentence, [TRAVEL, TRAVEL_ZH])
        assert found.support is Support.NONE
        assert found.supporting == ()
        assert found.reason


async def test_one_thing_changed_scores_lower() -> None:
    rows = [
        ("Receipts are due within 45 days.", "Receipts are due within 30 days.", TRAVEL),
        ("报销须在返回后45天内。", "报销须在返回后30天内。", TRAVEL_ZH),
        ("Booked ten days ahead.", "Booked 20 days ahead.", TRAVEL),
        ("A man slept in Hamburg.", "A woman slept in Hamburg.", "A man slept in Hamburg."),
        ("一个男孩在睡觉。", "一个女孩在睡觉。", "一个男孩在睡觉。"),
        ("Lunch is served in Berlin.", "Lunch is served in Kowalski.", "Lunch is in Berlin."),
        ("The canteen closes on Friday.", "The canteen is not closed on Friday.", CANTEEN),
        ("食堂每周五关闭。", "食堂每周五不关闭。", CANTEEN_ZH),
    ]
    scores = [[score(await verdict(text, [row[2]])) for text in row[:2]] for row in rows]
    assert [row for row, (right, wrong) in zip(rows, scores, strict=True) if right <= wrong] == []


MANY = "Zebras, giraffes, penguins, elephants, walruses sang."


async def test_reasons_name_what_is_missing_or_not_in_one_place() -> None:
    wanted = {
        (MANY, (TRAVEL,)): "not in the passage: “Zebras”, “giraffes”, “walruses sang”",
        (
            "Mr Kowalski flies to Hamburg within 30 days.",
            (TRAVEL,),
        ): "not in the passage: “Mr Kowalski flies to Hamburg within 30”",
        (
            "经理须在30天内签字盖章并寄往汉堡。",
            (TRAVEL_ZH,),
        ): "段落中没有：“经理”、“30”、“签字盖章并寄往汉堡”",
        ("Prague, 45.", ("Vienna.", "Prague.", "45")): "not in one place: “Prague”",
        ("Vienna.", ("Vienna.",)): "too little in common with the passages",
        ("企鹅。", ("企鹅。",)): "与段落相似度低",
        ("企鹅，45天。", ("企鹅。", "海象。", "45天。")): "不在同一处：“企鹅”",
        ("下周六企鹅放假。", ("下周企鹅。",)): "段落中没有：“周六”、“放假”",
        ("须在45天内报销。", ("须在内报销。",)): "段落中没有：“45天”",
        (
            "员工可以把宠物带到办公室。",
            ("云帆公司员工的年假为5天。",),
        ): "段落中没有：“宠物带到办公室”",
    }
    # No sentence reaches a threshold of practically 1, so that the reason must be told.
    strict = replace(shipped_model(), threshold=1 - 1e-12)
    told = {
        (sentence, chunks): (await verdicts(request([sentence], chunks), model=strict))[0].reason
        for sentence, chunks in wanted
    }
    assert told == wanted


async def test_scores_by_hand() -> None:
    # Words of grammar are no items: "receipt", "due", 45 and "day", of which 45 is gone once.
    sentences = ["Receipts are due within 45 days.", "Receipts are due within 30 days."]
    found = await verdicts(request(sentences, [TRAVEL]), prior=0.5, model=made())
    assert odds(found[0]) == pytest.approx(1 + 4 * LN_HELD, abs=1e-4)
    assert odds(found[1]) == pytest.approx(1 + 3 * LN_HELD + LN_GONE, abs=1e-4)
    # The prior is added to the log odds, and one sentence has no neighbours.
    found = await verdicts(request(["Berlin hotels."], [TRAVEL]), prior=0.9, model=made(0.5, -2.0))
    assert odds(found[0]) == pytest.approx(1 + 2 * LN_HELD + math.log(9), abs=1e-4)


async def test_neighbours_pull_by_hand() -> None:
    # A half of what the mean of the neighbours' own log odds lies over -2; across blocks of 64.
    sentences = ["Berlin hotels. ", "Berlin zebras. ", "Lunch in Kowalski. "] * 50
    held, half = 1 + 2 * LN_HELD, 1 + LN_HELD + LN_GONE
    own = [held, half, 1 + 2 * LN_GONE] * 50
    found = await verdicts(request(sentences, [TRAVEL]), prior=0.5, model=made(0.5, -2.0))
    for index in range(150):
        beside = [own[i] for i in (index - 1, index + 1) if 0 <= i < 150]
        expected = own[index] + (sum(beside) / len(beside) + 2) / 2
        assert odds(found[index]) == pytest.approx(expected, abs=1e-4)


async def test_cited_support_judges_the_cited_chunks_alone() -> None:
    sentence = "The canteen closes on Friday."
    expected = {(1,): Support.FULL, (0,): Support.NONE, (0, 1): Support.FULL, (): None}
    for cited, support in expected.items():
        found = (await verdicts(request([sentence], [TRAVEL, CANTEEN], {0: cited})))[0]
        assert found.cited_support is support
        assert found.support is Support.FULL
        assert found.supporting == ("c1",)


async def test_markup_and_the_markers_of_the_request_are_no_content() -> None:
    chunks = [TRAVEL, TRAVEL_ZH]
    for plain, marked in (
        ("Receipts are due within 45 days", "2. **Receipts** are due within 45 days [1][c0#2]"),
        ("差旅费须在返回后45天内报销", "3、差旅费须在返回后45天内报销【2】"),
    ):
        assert score(await verdict(plain, chunks)) == score(await verdict(marked, chunks))
    text = "Receipts are due (zebra)."
    spans = {"markers": ((text.index("("), len(text) - 1),)}
    found = (await verdicts(request([text], [TRAVEL]).model_copy(update=spans)))[0]
    assert found.score == (await verdict("Receipts are due.", [TRAVEL])).score


async def test_a_bare_number_must_be_found() -> None:
    wanted = {
        ("70", "第六届立法会共有70个议席。"): Support.FULL,
        ("71", "第六届立法会共有70个议席。"): Support.NONE,
        ("70.", "There were 70 seats."): Support.FULL,
        ("(25)", "The limit is 25 days."): Support.FULL,
        ("5.48‰", "人口出生率为5.48‰。"): Support.FULL,
        ("12.3%", "The economy grew by 2.3% over the year."): Support.NONE,
        ("1949", "The company was founded in 1949 in Lyon."): Support.FULL,
    }
    found = {(answer, chunk): await verdict(answer, [chunk]) for answer, chunk in wanted}
    assert {row: each.support for row, each in found.items()} == wanted
    assert all(bool(each.evidence) is (each.reason == "") for each in found.values())


PARTS = [
    "Receipts", "men", "boys", "not", "the", "45", " ", ". ", "[1]", "男孩", "没", "四十天", "。",
]  # fmt: skip
PROSE = st.text(max_size=40) | st.lists(st.sampled_from(PARTS), max_size=12).map(" ".join)


@given(st.lists(PROSE, min_size=1, max_size=3), st.lists(PROSE, max_size=3), st.booleans())
def test_any_text_gets_a_score(sentences: list[str], chunks: list[str], cite: bool) -> None:  # noqa: FBT001
    cites = {0: tuple(range(len(chunks)))} if cite else {}
    judge = SimilarityJudge(LexicalEmbedder())
    for found in asyncio.run(verdicts(request(sentences, chunks, cites))).values():
        assert 0 <= score(found) <= 1
        assert found.support is not Support.FULL or score(found) >= judge.threshold
        assert (found.support is Support.FULL) == (found.reason == "")
        for evidence in found.evidence:
            assert evidence.start is not None
            assert evidence.end is not None
            text = chunks[int(evidence.chunk_id[1:])]
            assert evidence.quote == text[evidence.start : evidence.end] != ""


class Failing:
    """Fails, and must be told the deadline."""

    signature = "failing"
    failure = Unscored(reason=UnscoredReason.CONNECTION, detail="no embedding server")

    async def embed(
        self,
        texts: Sequence[str],  # noqa: ARG002
        deadline: float | None = None,
    ) -> Vectors | Unscored:
        assert deadline == 1e9
        return self.failure


async def test_where_the_embedder_fails_every_asked_sentence_has_its_failure() -> None:
    asked = request(["Receipts are due.", "收据须交。"], [TRAVEL], ask=[1])
    asked = asked.model_copy(update={"deadline": 1e9})
    judgment = await SimilarityJudge(Failing()).judge(asked)
    assert judgment.outcomes == {1: Failing.failure}


async def test_an_answer_too_large_to_compare_is_unscored(monkeypatch: pytest.MonkeyPatch) -> None:
    # A sentence of ten characters against two segments of one chunk costs thirty.
    monkeypatch.setattr("judge.judges.similarity.judge.MOST_CELLS", 300)
    judge, chunk = SimilarityJudge(LexicalEmbedder()), "It rained. It snowed."
    for many, kind in ((10, Verdict), (11, Unscored)):
        found = await judge.judge(request(["It rained."] * many, [chunk]))
        assert {type(each) for each in found.outcomes.values()} == {kind}
        reasons = {each.reason for each in found.outcomes.values() if isinstance(each, Unscored)}
        assert reasons <= {UnscoredReason.BUDGET}
