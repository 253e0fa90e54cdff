import asyncio
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from judge.backends.lexical import LexicalEmbedder
from judge.errors import ConfigError
from judge.judges.similarity import SimilarityJudge, shipped_model
from judge.records import (
    Chunk,
    JudgeRequest,
    Sentence,
    Support,
    Unscored,
    UnscoredReason,
    Verdict,
)

TRAVEL = (
    "Travel must be booked ten days ahead. Hotels cost at most 120 euros a night in Berlin. "
    "Receipts are due within 45 days."
)
CANTEEN = "Lunch is served at noon. The canteen closes on Friday."
TRAVEL_ZH = "差旅费须在返回后四十五天内报销。住宿标准为每晚六百元。"
CANTEEN_ZH = "食堂每周五关闭。员工可享受十五天年假。"


def asked(
    sentences: Sequence[str],
    chunks: Sequence[str],
    cites: Mapping[int, tuple[int, ...]] | None = None,
    ask: Sequence[int] | None = None,
) -> JudgeRequest:
    return JudgeRequest(
        query="",
        answer="".join(sentences),
        sentences=tuple(
            Sentence(index=i, start=0, end=len(text), text=text) for i, text in enumerate(sentences)
        ),
        ask=tuple(range(len(sentences)) if ask is None else ask),
        chunks=tuple(Chunk(chunk_id=f"c{i}", text=text) for i, text in enumerate(chunks)),
        cites=cites or {},
    )


async def verdicts(request: JudgeRequest, prior: float = 0.9) -> dict[int, Verdict]:
    judgment = await SimilarityJudge(LexicalEmbedder(), prior=prior).judge(request)
    assert judgment.calls == ()
    found = {i: each for i, each in judgment.outcomes.items() if isinstance(each, Verdict)}
    assert sorted(found) == sorted(request.ask)
    return found


def score(verdict: Verdict) -> float:
    assert verdict.score is not None
    return verdict.score


@pytest.mark.parametrize(
    ("sentence", "chunks", "start", "end"),
    [
        ("Hotels cost at most 120 euros a night in Berlin.", [CANTEEN, TRAVEL], 38, 86),
        ("住宿标准为每晚六百元。", [CANTEEN_ZH, TRAVEL_ZH], 16, 27),
    ],
)
async def test_a_verbatim_sentence_is_full(
    sentence: str, chunks: list[str], start: int, end: int
) -> None:
    verdict = (await verdicts(asked([sentence], chunks)))[0]
    assert verdict.support is Support.FULL
    assert score(verdict) > 0.98
    assert verdict.reason == ""
    assert verdict.source == "similarity"
    assert verdict.supporting == ("c1",)
    (evidence,) = verdict.evidence
    assert (evidence.chunk_id, evidence.start, evidence.end) == ("c1", start, end)
    assert evidence.quote == chunks[1][start:end] == sentence
    assert evidence.verified


@pytest.mark.parametrize(
    ("sentence", "chunks"),
    [
        ("Zebras danced under purple moons of Saturn.", [TRAVEL, CANTEEN]),
        ("火星上的企鹅喜欢吃巧克力。", [TRAVEL_ZH, CANTEEN_ZH]),
    ],
)
async def test_an_unrelated_sentence_is_none(sentence: str, chunks: list[str]) -> None:
    verdict = (await verdicts(asked([sentence], chunks)))[0]
    assert verdict.support is Support.NONE
    assert score(verdict) < 0.5
    assert verdict.supporting == ()
    assert verdict.reason


@pytest.mark.parametrize(
    ("right", "wrong", "chunk"),
    [
        ("Receipts are due within 45 days.", "Receipts are due within 30 days.", TRAVEL),
        ("报销须在返回后45天内。", "报销须在返回后30天内。", TRAVEL_ZH),
        ("Booked ten days ahead.", "Booked 20 days ahead.", TRAVEL),
    ],
)
async def test_a_changed_number_scores_lower(right: str, wrong: str, chunk: str) -> None:
    found = await verdicts(asked([right, wrong], [chunk]))
    assert score(found[0]) > score(found[1]) + 0.02


async def test_reasons_name_what_is_missing() -> None:
    found = await verdicts(
        asked(
            [
                "Mr Kowalski flies to Hamburg within 30 days.",
                "经理须在30天内签字盖章并寄往汉堡。",
                "Zebras, giraffes, penguins, elephants, walruses sang.",
            ],
            [TRAVEL, TRAVEL_ZH],
        )
    )
    english = found[0].reason.removeprefix("not in the passage: ").split(", ")
    assert {"30", "Kowalski", "Hamburg"} < set(english)
    assert found[1].reason.startswith("段落中没有：")
    assert "30天" in found[1].reason
    assert found[2].reason.count(",") == 3
    assert all(len(each.reason.split()) <= 12 for each in found.values())


@pytest.mark.parametrize(
    ("sentence", "chunks", "reason"),
    [
        ("Prague, 45.", ["Vienna.", "Prague.", "45"], "not in one place: 45"),
        ("Vienna.", ["Vienna."], "too little in common with the passages"),
        ("企鹅。", ["企鹅。"], "与段落相似度低"),
        ("企鹅，45天。", ["企鹅。", "海象。", "45天。"], "不在同一处：45天"),
        ("下周六企鹅放假。", ["下周企鹅。"], "段落中没有：周六、放假"),
    ],
)
async def test_reasons_beyond_missing_words(sentence: str, chunks: list[str], reason: str) -> None:
    # No sentence reaches a threshold of practically 1, so that the reason must be told.
    strict = replace(shipped_model(), threshold=1 - 1e-12)
    judge = SimilarityJudge(LexicalEmbedder(), model=strict)
    outcome = (await judge.judge(asked([sentence], chunks))).outcomes[0]
    assert isinstance(outcome, Verdict)
    assert outcome.support is Support.NONE
    assert outcome.reason == reason


async def test_one_verdict_for_each_asked_index_and_no_other() -> None:
    request = asked(["Rain.", "Receipts are due.", "Lunch."], [TRAVEL], ask=[0, 2])
    assert set(await verdicts(request)) == {0, 2}
    assert await verdicts(asked(["Rain."], [TRAVEL], ask=[])) == {}


async def test_cited_support_judges_the_cited_chunks_alone() -> None:
    sentence = "The canteen closes on Friday."
    cites = {0: (1,), 1: (0,), 2: (0, 1), 3: ()}
    found = await verdicts(asked([sentence] * 4, [TRAVEL, CANTEEN], cites))
    assert [found[i].cited_support for i in range(4)] == [
        Support.FULL,
        Support.NONE,
        Support.FULL,
        None,
    ]
    assert {found[i].score for i in range(4)} == {found[0].score}
    assert {found[i].supporting for i in range(4)} == {("c1",)}


async def test_every_chunk_that_suffices_supports_once() -> None:
    request = asked(["Lunch is served at noon."], [CANTEEN, TRAVEL, CANTEEN])
    twice = request.model_copy(update={"chunks": (request.chunks[0],) * 2})
    assert (await verdicts(request))[0].supporting == ("c0", "c2")
    assert (await verdicts(twice))[0].supporting == ("c0",)


async def test_without_chunks_nothing_is_supported() -> None:
    found = await verdicts(asked(["It rained.", "下雨了。"], []))
    assert [each.support for each in found.values()] == [Support.NONE] * 2
    assert [each.score for each in found.values()] == [0.0, 0.0]
    assert [each.reason for each in found.values()] == ["no chunks", "没有段落"]
    assert all(each.evidence == () for each in found.values())


async def test_blank_chunks_hold_nothing() -> None:
    verdict = (await verdicts(asked(["Receipts are due."], ["", " \n"])))[0]
    assert verdict.support is Support.NONE
    assert verdict.evidence == ()


async def test_markup_is_no_content() -> None:
    plain = "Receipts are due within 45 days"
    marked = "2. **Receipts** are due within 45 days [1][c0#2]"
    found = await verdicts(asked([plain, marked], [TRAVEL]))
    assert found[0].score == found[1].score


async def test_a_moved_prior_moves_the_score_by_the_log_odds_and_no_label() -> None:
    sentences = [
        "Receipts are due within 45 days.",
        "Receipts go to Hamburg within 30 days.",
        "Zebras danced.",
        "A night in Berlin costs money.",
    ]
    even = await verdicts(asked(sentences, [TRAVEL]), prior=0.5)
    likely = await verdicts(asked(sentences, [TRAVEL]), prior=0.9)
    assert [v.support for v in even.values()] == [v.support for v in likely.values()]
    for low, high in zip(even.values(), likely.values(), strict=True):
        # Odds of 9 : 1 rather than 1 : 1 multiply the odds of the score by 9.
        odds = [score(v) / (1 - score(v)) for v in (low, high)]
        assert odds[1] / odds[0] == pytest.approx(9, rel=0.01)


async def test_full_means_at_or_above_the_threshold() -> None:
    judge = SimilarityJudge(LexicalEmbedder())
    for verdict in (await verdicts(asked([TRAVEL, CANTEEN, "Zebras."], [TRAVEL]))).values():
        assert (verdict.support is Support.FULL) == (score(verdict) >= judge.threshold)


def test_the_signature_says_how_the_number_was_made() -> None:
    judge = SimilarityJudge(LexicalEmbedder(), prior=0.8, edition="judge:1")
    parts = judge.signature.split("|")
    assert [part.split(":")[0] for part in parts] == ["similarity", "model", "prior", "t", "judge"]
    assert parts[0] == "similarity:lexical-v1"
    assert parts[2] == "prior:0.8"
    assert parts[3] == f"t:{judge.threshold:.4g}"


@pytest.mark.parametrize("prior", [0.0, 1.0, -0.1, math.nan])
def test_an_impossible_prior_is_refused(prior: float) -> None:
    with pytest.raises(ConfigError, match="prior"):
        SimilarityJudge(LexicalEmbedder(), prior=prior)


async def test_the_same_request_gets_the_same_judgment() -> None:
    request = asked([TRAVEL, "Zebras.", TRAVEL_ZH], [TRAVEL, CANTEEN_ZH], {0: (0,)})
    assert await verdicts(request) == await verdicts(request)


async def test_a_verdict_does_not_depend_on_the_sentences_beside_it() -> None:
    many = ["Receipts are due within 45 days.", *(f"Zebra {i}." for i in range(100)), "Lunch."]
    together = await verdicts(asked(many, [TRAVEL, CANTEEN]))
    alone = await verdicts(asked(many[-1:], [TRAVEL, CANTEEN]))
    assert together[101].score == pytest.approx(score(alone[0]), abs=1e-6)


async def test_others_get_their_turn_while_a_long_answer_is_judged() -> None:
    turns = 0

    async def others() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    task = asyncio.create_task(others())
    await verdicts(asked(["Receipts are due."] * 640, [TRAVEL]))
    task.cancel()
    assert turns >= 10


def real_answers() -> list[tuple[JudgeRequest, list[bool]]]:
    shared = Path(__file__).resolve().parents[2].parent / "shared" / "data"
    path = shared / "faithfulness" / "ragtruth_qa_dev.jsonl"
    if not path.exists():
        pytest.skip("no shared data beside this checkout")
    with path.open(encoding="utf-8") as lines:
        rows = [json.loads(line) for line in islice(lines, 0, None, 4)]
    return [
        (
            asked(
                [s["text"] for s in row["labels"]["sentences"]], [c["text"] for c in row["chunks"]]
            ),
            [s["supported"] for s in row["labels"]["sentences"]],
        )
        for row in rows
    ]


async def test_real_answers_are_told_apart() -> None:
    scores: dict[bool, list[float]] = {True: [], False: []}
    for request, labels in real_answers():
        for index, verdict in (await verdicts(request)).items():
            scores[labels[index]].append(score(verdict))
    above = np.asarray(scores[True])[:, None] - np.asarray(scores[False])[None, :]
    assert np.mean((above > 0) + 0.5 * (above == 0)) >= 0.8


@pytest.mark.parametrize(
    ("answer", "chunk", "support"),
    [
        ("70", "第六届立法会共有70个议席。", Support.FULL),
        ("71", "第六届立法会共有70个议席。", Support.NONE),
        ("70.", "There were 70 seats.", Support.FULL),
        ("70。", "第六届立法会共有70个议席。", Support.FULL),
        ("(25)", "The limit is 25 days.", Support.FULL),
        ("5.48‰", "人口出生率为5.48‰。", Support.FULL),
        ("12.3%", "The economy grew by 2.3% over the year.", Support.NONE),
        ("1949", "The company was founded in 1949 in Lyon.", Support.FULL),
    ],
)
async def test_a_bare_number_must_be_found(answer: str, chunk: str, support: Support) -> None:
    found = (await verdicts(asked([answer], [chunk])))[0]
    assert found.support is support
    assert [e.chunk_id for e in found.evidence] == (["c0"] if support is Support.FULL else [])


@pytest.mark.parametrize(
    "chunk", ["Wien liegt an der Donau.", "It is so that 这是的 annual leave is 25."]
)
@pytest.mark.parametrize("sentence", ["中", "这是一个。", "Sure!", "It was so, and so it is.", "…"])
async def test_nothing_found_is_never_full(sentence: str, chunk: str) -> None:
    verdict = (await verdicts(asked([sentence], [chunk], {0: (0,)})))[0]
    assert (verdict.support, verdict.cited_support) == (Support.NONE, Support.NONE)
    assert verdict.supporting == ()
    assert verdict.reason


LATE = 1e9


class Failing:
    """Fails after so many calls, each of which must be told the deadline."""

    signature = "failing"
    failure = Unscored(reason=UnscoredReason.CONNECTION, detail="no embedding server")

    def __init__(self, calls: int) -> None:
        self.calls = calls

    async def embed(
        self, texts: Sequence[str], deadline: float | None = None
    ) -> npt.NDArray[np.float32] | Unscored:
        assert deadline == LATE
        self.calls -= 1
        return await LexicalEmbedder().embed(texts) if self.calls >= 0 else self.failure


@pytest.mark.parametrize("calls", [0, 1, 2])
async def test_where_the_embedder_fails_every_asked_sentence_has_its_failure(calls: int) -> None:
    # One call for the chunks, then one for each 64 sentences.
    request = asked(
        ["Receipts are due.", "收据须交。"] * 50, [TRAVEL, TRAVEL_ZH], ask=range(1, 100)
    )
    request = request.model_copy(update={"deadline": LATE})
    judgment = await SimilarityJudge(Failing(calls)).judge(request)
    assert judgment.outcomes == dict.fromkeys(range(1, 100), Failing.failure)
    assert sorted(await verdicts(request)) == list(range(1, 100))
