"""Expected labels are worked by hand: what follows from a short reference and its question."""

import asyncio
from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judge.answer.sentences import split
from judge.backends.fake import FakeJudge
from judge.errors import JudgeUnavailable
from judge.judges.questioned import QuestionedJudge
from judge.judges.similarity import SimilarityJudge
from judge.judges.similarity.embedding import LexicalEmbedder
from judge.records import (
    Call,
    Chunk,
    Flag,
    FlagName,
    JudgeRequest,
    Judgment,
    Reply,
    Sentence,
    Support,
    Unscored,
    UnscoredReason,
    Verdict,
)

OFFICE = "How many people work in the Lisbon office?"
OFFICE_ZH = "里斯本办事处有多少名员工？"
WRITER = "Who wrote the report on water quality?"
WRITER_ZH = "水质报告是谁写的？"
DRUG = "Which drug should not be given to children?"
DRUG_ZH = "哪种药不能给儿童服用？"


def asked(query: str, said: str, reference: str) -> JudgeRequest:
    sentences = split(said)
    return JudgeRequest(
        query=query,
        answer=said,
        sentences=sentences,
        ask=tuple(range(len(sentences))),
        chunks=(Chunk(chunk_id="reference", text=reference),),
    )


async def shown(request: JudgeRequest) -> JudgeRequest:
    inner = FakeJudge({})
    await QuestionedJudge(inner).judge(request)
    return inner.requests[0]


def left(request: JudgeRequest) -> str:
    """What is not marked, with single blanks."""
    kept, last = [], 0
    for start, end in request.markers:
        kept += [request.answer[last:start], " "]
        last = end
    return " ".join("".join([*kept, request.answer[last:]]).split())


async def share(query: str, said: str, reference: str) -> float:
    """The share of sentences that is full, by similarity."""
    judge = QuestionedJudge(SimilarityJudge(LexicalEmbedder()))
    outcomes = (await judge.judge(asked(query, said, reference))).outcomes.values()
    full = [isinstance(each, Verdict) and each.support is Support.FULL for each in outcomes]
    return sum(full) / len(full)


@pytest.mark.parametrize(
    ("query", "reference", "answer", "precision", "recall"),
    [
        (OFFICE, "214", "In the Lisbon office work 214 people.", 1, 1),
        (OFFICE, "214", "In the Lisbon office work 241 people.", 0, 0),
        (OFFICE_ZH, "214", "里斯本办事处有214名员工。", 1, 1),
        (OFFICE_ZH, "214", "里斯本办事处有241名员工。", 0, 0),
        (OFFICE_ZH, "里斯本办事处有二百一十四名员工。", "241名。", 0, 0),
        (WRITER, "Maria Keller", "Maria Keller wrote the report on water quality.", 1, 1),
        (WRITER, "Maria Keller", "Tom Brandt wrote the report on water quality.", 0, 0),
        (
            WRITER,
            "Maria Keller wrote the report on water quality.",
            "Tom Brandt wrote the report on water quality.",
            0,
            0,
        ),
        (WRITER, "Maria Keller wrote the report on water quality.", "Maria Keller.", 1, 1),
        (WRITER, "Maria Keller", "Maria Keller wrote the report. Rents rose in June.", 0.5, 1),
        (WRITER_ZH, "陈晓梅", "水质报告是陈晓梅写的。", 1, 1),
        (WRITER_ZH, "陈晓梅", "水质报告是王建国写的。", 0, 0),
        (WRITER_ZH, "水质报告是陈晓梅写的。", "水质报告是王建国写的。", 0, 0),
        (WRITER_ZH, "水质报告是陈晓梅写的。", "陈晓梅。", 1, 1),
        (WRITER_ZH, "陈晓梅", "水质报告是陈晓梅写的。食堂星期五关门。", 0.5, 1),
        (WRITER_ZH, "水质报告是陈晓梅写的。食堂星期五关门。", "陈晓梅。", 1, 0.5),
        (DRUG, "Aspirin", "Aspirin should not be given to children.", 1, 1),
        (DRUG, "Aspirin", "Paracetamol should not be given to children.", 0, 0),
        (DRUG_ZH, "阿司匹林", "不能给儿童服用阿司匹林。", 1, 1),
        (DRUG_ZH, "阿司匹林", "不能给儿童服用布洛芬。", 0, 0),
    ],
)
async def test_a_short_reference_is_read_with_its_question(
    query: str, reference: str, answer: str, precision: float, recall: float
) -> None:
    assert await share(query, answer, reference) == precision
    assert await share(query, reference, answer) == recall


@pytest.mark.parametrize(
    ("query", "said", "new"),
    [
        (OFFICE, "The Lisbon office has 214 people.", "214 ."),
        (OFFICE, "In Lisbon work 214 engineers.", "214 engineers."),
        (OFFICE_ZH, "里斯本办事处有员工214名。", "214 。"),
        (WRITER, "The reports were written by Maria Keller.", "were written by Maria Keller."),
        (WRITER_ZH, "水质报告是王建国写的。", "王建国 。"),
        # One character that the question happens to hold is not its word.
        ("中国的首都是哪里？", "国王住在伦敦。", "国王住在伦敦。"),
        # One denies and the other does not: nothing is agreed on.
        (WRITER, "Tom Brandt never wrote the report.", "Tom Brandt never wrote the report."),
        (WRITER_ZH, "水质报告不是王建国写的。", "水质报告不是王建国写的。"),
        (DRUG, "Aspirin should not be given to children.", "Aspirin ."),
        (DRUG, "Aspirin should be given to children.", "Aspirin should be given to children."),
        (DRUG_ZH, "阿司匹林可以给儿童服用。", "阿司匹林可以给儿童服用。"),
        # Nothing new.
        (WRITER, "It is a report on water quality.", "It is a report on water quality."),
    ],
)
async def test_words_of_the_question_are_no_part_of_the_claim(
    query: str, said: str, new: str
) -> None:
    assert left(await shown(asked(query, said, "Paris"))) == new


@pytest.mark.parametrize(
    "query",
    [
        "",
        " \n",
        "Is smoking allowed in the courtyard?",
        "We moved in. Can't smoking be allowed in the courtyard?",
        "Where is smoking allowed, in the courtyard or on the roof?",
        "院子里可以吸烟吗？",
        "院子里可不可以吸烟？",
        "院子里有没有人吸烟？",
        "How does smoking in the courtyard differ from smoking on the roof?",
        "吸烟是在院子里还是在屋顶上？",
        "在院子里吸烟和在屋顶上吸烟有什么区别？",
        "Where is smoking allowed? " + "The courtyard is large. " * 20,
    ],
)
async def test_what_proposes_or_brings_a_text_along_gives_nothing(query: str) -> None:
    request = asked(
        query, "Smoking is allowed in the courtyard of house 7. 院子里可以吸烟。", "No."
    )
    assert await shown(request) == request


async def test_a_choice_is_not_taken_for_granted() -> None:
    assert await share("Is it Anna Berg or Tom Lund?", "It is Anna Berg.", "Tom Lund") == 0
    assert await share("是陈晓梅还是王建国？", "是王建国。", "陈晓梅") == 0


async def test_only_markers_differ_and_those_there_were_stay() -> None:
    request = asked(WRITER, "The report [water 1] is by Maria Keller [2].", "Maria Keller")
    request = request.model_copy(update={"markers": ((11, 20), (40, 43)), "deadline": 9.0})
    seen = await shown(request)
    assert left(seen) == "is by Maria Keller ."
    assert seen.model_copy(update={"markers": request.markers}) == request


async def test_the_judgment_passes_as_it_is() -> None:
    call = Call(model="m", prompt_tokens=1, reply_tokens=1, seconds=0.1)
    judgment = Judgment(
        outcomes={0: Unscored(reason=UnscoredReason.TIMEOUT)},
        calls=(call,),
        replies=(Reply(text="t", call=call, sentences=(0,)),),
        flags=(Flag(name=FlagName.CONFLICTING_EVIDENCE, sentence=0),),
    )

    class Fixed:
        signature = "fixed"

        async def judge(self, request: JudgeRequest) -> Judgment:
            if not request.markers:
                raise JudgeUnavailable("wrong key")
            return judgment

    assert (
        await QuestionedJudge(Fixed()).judge(asked(WRITER, "The report: A. Berg", "x")) == judgment
    )
    with pytest.raises(JudgeUnavailable, match="wrong key"):
        await QuestionedJudge(Fixed()).judge(asked("", "A. Berg", "x"))


def test_the_signature_says_that_the_question_is_given() -> None:
    assert QuestionedJudge(FakeJudge({}, "one|t:0.5")).signature == "one|t:0.5|question:given"


WORDS = [
    "Paris",
    "the report",
    "不",
    "not ",
    "2021",
    "年",
    "水质",
    "质水",
    " ",
    "。",
    "\n",
    "[1]",
    "三十六",
]
TEXTS = st.one_of(st.text(max_size=60), st.lists(st.sampled_from(WORDS)).map("".join))


@given(query=TEXTS, said=TEXTS, places=st.lists(st.tuples(st.integers(0, 60), st.integers(0, 60))))
@settings(deadline=None)
def test_markers_ascend_apart_and_hold_those_there_were(
    query: str, said: str, places: Sequence[tuple[int, int]]
) -> None:
    ends = sorted({min(place, len(said)) for pair in places for place in pair})
    before = tuple(zip(ends[::2], ends[1::2], strict=False))
    request = asked(query, said, "Paris").model_copy(update={"markers": before})
    markers = asyncio.run(shown(request)).markers
    assert all(0 <= start < end <= len(said) for start, end in markers)
    assert all(one[1] <= two[0] for one, two in pairwise(markers))
    covered = {place for span in markers for place in range(*span)}
    assert covered >= {place for span in before for place in range(*span)}


@pytest.mark.parametrize("text", ["水质报告", "report ", "2021年", "\n", "不", "A1,"])
async def test_a_long_answer_is_no_burden(text: str) -> None:
    long = Sentence(index=0, start=0, end=len(text) * 5000, text=text * 5000)
    request = asked(WRITER, "", "x").model_copy(
        update={"answer": long.text, "sentences": (long,), "ask": (0,)}
    )
    for query in (WRITER, WRITER_ZH, text * 40):
        await shown(request.model_copy(update={"query": query}))
