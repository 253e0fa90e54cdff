"""Expected labels are worked by hand: what an answer and its reference say to the same question."""

import pytest

from judge.answer.sentences import split
from judge.backends.fake import FakeJudge
from judge.judges.questioned import QuestionedJudge
from judge.judges.similarity import SimilarityJudge
from judge.judges.similarity.embedding import LexicalEmbedder
from judge.records import Chunk, JudgeRequest, Unscored, UnscoredReason, Verdict

LOAD = "What is the maximum load of the freight lift?"
LOAD_ZH = "货梯的最大载重是多少？"
PERMIT = "Do students need a permit to park?"
PERMIT_ZH = "学生停车需要许可证吗？"


async def judged(query: str, said: str, reference: str) -> list[Verdict]:
    sentences = split(said)
    request = JudgeRequest(
        query=query,
        answer=said,
        sentences=sentences,
        ask=tuple(range(len(sentences))),
        chunks=(Chunk(chunk_id="reference", text=reference),),
    )
    judge = QuestionedJudge(SimilarityJudge(LexicalEmbedder()))
    outcomes = (await judge.judge(request)).outcomes
    return [each for each in outcomes.values() if isinstance(each, Verdict)]


@pytest.mark.parametrize(
    ("query", "said", "reference", "support"),
    [
        # One weight in two units, and two weights.
        (LOAD, "The maximum load is 2,500 kg.", "2.5 tonnes", "full"),
        (LOAD, "2.5 tonnes", "The maximum load is 2,500 kg.", "full"),
        (LOAD, "The maximum load is 2,600 kg.", "2.5 tonnes", "none"),
        (LOAD_ZH, "货梯的最大载重是2500公斤。", "2.5吨", "full"),
        (LOAD_ZH, "货梯的最大载重是2.5公斤。", "2.5吨", "none"),
        # A bare figure cannot speak to a verb; it does not speak to another subject, either.
        ("天文台建于哪一年？", "天文台是1931年建成的。", "1931年", "full"),
        ("天文台建于哪一年？", "天文台是1913年建成的。", "1931年", "none"),
        (LOAD, "2.5 tonnes were delivered by rail on Monday.", "2.5 tonnes", "none"),
        # One character in common is no word in common.
        ("云岭地区最大的湖是什么湖？", "镜湖", "碧波湖", "none"),
        ("渡轮为什么停运？", "渡轮因大风停运。", "渡轮每天两班往返于海岛与大陆之间。", "none"),
        ("渡轮为什么停运？", "渡轮因大风停运。", "由于大风，渡轮停运。", "full"),
        # Another character makes another name.
        ("航天馆的馆长是谁？", "林若梅", "林若兰", "none"),
        ("航天馆的馆长是谁？", "馆长是林若梅。", "林若兰", "none"),
        ("航天馆在哪座城市？", "南宁市", "南宁", "full"),
        # Of a list of numbers each is the answer.
        ("Which floors are open?", "1, 2", "Floors 1, 2 and 3.", "full"),
        # It denies what was asked, or says of it what the question denies.
        ("When was the dome built?", "1931", "The dome was not built in 1931.", "none"),
        ("When was the dome built?", "1931", "It was built in 1931, not moved in 1931.", "full"),
        ("Which rooms are not heated?", "Cellars.", "Cellars are heated.", "none"),
        ("Which rooms are not heated?", "Cellars.", "Cellars are not heated.", "full"),
        ("哪些费用不报销？", "打车费", "打车费报销。", "none"),
        ("哪些费用不报销？", "打车费", "打车费不报销。", "full"),
        # Yes and no.
        (PERMIT, "No", "Students do not need a permit to park.", "full"),
        (PERMIT, "Students do not need a permit to park.", "No.", "full"),
        (PERMIT, "Students need a permit to park.", "No.", "contradicted"),
        (PERMIT, "Yes, students need a permit to park on weekdays.", "Yes", "partial"),
        (PERMIT, "Yes, students need a permit to park on weekdays.", "No", "contradicted"),
        (PERMIT_ZH, "不需要", "学生停车不需要许可证。", "full"),
        (PERMIT_ZH, "学生停车不需要许可证。", "不需要", "full"),
        (PERMIT_ZH, "需要，学生停车需要许可证。", "不需要", "contradicted"),
        (PERMIT_ZH, "学生白天停车需要许可证。", "需要", "partial"),
        # Who says nothing of it is neither for nor against.
        (PERMIT, "The library is closed on Sundays.", "Yes", "none"),
        (PERMIT, "Yes", "The library is closed on Sundays.", "none"),
        ("院子里可以吸烟吗？", "可以。", "院子里禁止吸烟。", "contradicted"),
        ("狗会飞吗？", "狗不会飞。", "不会。", "full"),
        ("狗会飞吗？", "狗不会飞。", "会。", "contradicted"),
        ("可以退货吗？", "不能退货。", "不可以。", "full"),
        ("可以退货吗？", "能退货。", "不可以。", "contradicted"),
        ("能退货吗？", "允许退货。", "能。", "full"),
        ("院子里可以吸烟吗？", "不可以。", "院子里禁止吸烟。", "full"),
    ],
)
async def test_bare_answers(query: str, said: str, reference: str, support: str) -> None:
    (verdict,) = await judged(query, said, reference)
    assert verdict.support == support


async def test_what_it_rests_on_is_quoted() -> None:
    (verdict,) = await judged(LOAD, "2.5 tonnes", "The lift is new. Its load is 2,500 kg at most.")
    (evidence,) = verdict.evidence
    assert evidence.quote == "Its load is 2,500 kg at most."
    assert (evidence.start, evidence.end) == (17, 46)
    assert verdict.supporting == ("reference",)
    assert (verdict.score, verdict.reason) == (None, "")
    (verdict,) = await judged(PERMIT, "No.", "Hello there. No, they do not.")
    assert verdict.evidence[0].quote == "No, they do not."


async def test_a_reason_is_in_the_language_of_the_sentence() -> None:
    (english,) = await judged(PERMIT, "No", "Yes")
    (chinese,) = await judged(PERMIT_ZH, "不需要", "需要")
    assert english.reason == "one says yes, the other no"
    assert chinese.reason == "是与否相反"


async def test_a_failure_stays_a_failure() -> None:
    failed = Unscored(reason=UnscoredReason.TIMEOUT)
    sentences = split("No")
    request = JudgeRequest(
        query=PERMIT,
        answer="No",
        sentences=sentences,
        ask=(0,),
        chunks=(Chunk(chunk_id="reference", text="No"),),
    )
    judge = QuestionedJudge(FakeJudge({"No": failed}))
    assert (await judge.judge(request)).outcomes == {0: failed}
