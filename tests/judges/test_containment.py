"""Expected labels are worked by hand: what follows from a short reference and its question."""

import pytest

from judge.answer.sentences import split
from judge.backends.fake import FakeJudge
from judge.errors import JudgeUnavailable
from judge.judges.containment import ContainmentJudge
from judge.judges.similarity import LexicalEmbedder, SimilarityJudge
from judge.protocols import Judge
from judge.records import (
    Evidence,
    JudgeOutcome,
    JudgeRequest,
    Judgment,
    Support,
    Verdict,
)
from tests.requests import request

OFFICE = "How many people work in the Lisbon office?"
OFFICE_ZH = "里斯本办事处有多少名员工？"
WRITER = "Who wrote the report on water quality?"
WRITER_ZH = "水质报告是谁写的？"
DRUG = "Which drug should not be given to children?"
PERMIT = "Do students need a permit to park?"
PERMIT_ZH = "学生停车需要许可证吗？"
ROOMS = "Which rooms are not heated?"
DOME = "When was the dome built?"
HEAD_ZH = "航天馆的馆长是谁？"

BOTH_WAYS = [
    # A query, an answer and a reference; whether each sentence of each is full by the other.
    (OFFICE, "In the Lisbon office work 214 people.", "214", "f", "f"),
    (OFFICE_ZH, "里斯本办事处有214名员工。", "214", "f", "f"),
    (WRITER, "Maria Keller wrote the report on water quality.", "maria keller", "f", "f"),
    (WRITER, "Tom Brandt wrote the report on water quality.", "Maria Keller", "n", "n"),
    (WRITER, "Maria Keller.", "Maria Keller wrote the report. Rents rose in June.", "f", "fn"),
    (WRITER_ZH, "水质报告是陈晓梅写的。", "陈晓梅", "f", "f"),
    (WRITER_ZH, "水质报告是王建国写的。", "陈晓梅", "n", "n"),
    (WRITER_ZH, "陈晓梅。", "水质报告是陈晓梅写的。食堂星期五关门。", "f", "fn"),
    # Of a Chinese name one character may stand there all the same, and of a word: a name that
    # differs in its last character alone is another's in its place.
    (HEAD_ZH, "林若梅", "林若兰", "n", "n"),
    ("航天馆在哪座城市？", "南宁市", "南宁", "f", "f"),
    # Case, width, punctuation and articles do not count; other figures and signs do.
    ("Which floors are open?", "1, 2", "Floors 1, 2 and 3.", "f", "f"),
    ("What is the deposit?", "The deposit is １,２５０ euros.", "1250", "f", "f"),
    ("What is the deposit?", "The deposit is 1’250 euros.", "1250", "f", "f"),
    ("How cold was it?", "It was -5 degrees.", "5", "n", "n"),
    ("第几届？", "第十三届", "三", "n", "n"),
    # What is denied is not said.
    (DOME, "The dome was not built in 1931.", "1931", "n", "n"),
    (DOME, "It was built in 1931, not moved in 1931.", "1931", "f", "f"),
    (ROOMS, "Cellars are not heated.", "Cellars.", "f", "f"),
    (DRUG, "Aspirin should not be given to children.", "Aspirin", "f", "f"),
    # Yes and no: the first word of both.
    (PERMIT, "Yes, students need a permit to park on weekdays.", "Yes", "f", "f"),
    (PERMIT, "Yes, students need a permit to park on weekdays.", "No", "c", "c"),
    (PERMIT, "No. Guests do.", "No, they do not.", "fn", "f"),
    (PERMIT, "The library is closed on Sundays.", "Yes", "n", "n"),
    ("Are rooms heated?", "Yes, rooms are heated. No, pets are not.", "Yes", "fn", "f"),
    ("Which pets may come?", "No dogs are allowed.", "Yes, cats.", "n", "n"),
    (PERMIT_ZH, "需要，学生停车需要许可证。", "不需要", "c", "c"),
    (PERMIT_ZH, "是的，需要许可证。", "是", "f", "f"),
    # Equal texts, however little they say.
    ("Which answer?", "A", "A", "f", "f"),
    ("Which answer?", "A", "It is a cat.", "n", "n"),
    ("", ".", ".", "f", "f"),
]


def asked(query: str, said: str, reference: str) -> JudgeRequest:
    texts = [sentence.text for sentence in split(said)]
    return request(texts, [reference], ids=["reference"], query=query, answer=said)


async def judged(judge: Judge, query: str, said: str, reference: str) -> list[JudgeOutcome]:
    return [*(await judge.judge(asked(query, said, reference))).outcomes.values()]


def letters(outcomes: list[JudgeOutcome]) -> str:
    return "".join(each.support.value[0] for each in outcomes if isinstance(each, Verdict))


async def test_short_references_by_similarity() -> None:
    judge = ContainmentJudge(SimilarityJudge(LexicalEmbedder()))
    wrong = []
    for query, answer, reference, forth, back in BOTH_WAYS:
        for said, other, expected in ((answer, reference, forth), (reference, answer, back)):
            found = letters(await judged(judge, query, said, other))
            if found != expected:
                wrong.append((said, other, expected, found))
    assert wrong == []


def verdict(support: Support, quote: str = "") -> Verdict:
    evidence = (Evidence(chunk_id="reference", quote=quote),) if quote else ()
    return Verdict(
        support=support,
        supporting=("reference",),
        evidence=evidence,
        source="similarity",
        score=0.9,
        signature="s",
    )


FULL = [
    # A claim that the inner judge finds full by a passage, and why it is not, or nothing.
    ("The fee is 24 euros.", "The fee is 25 euros.", "“24 euros”, but a passage says “25 euros”"),
    (
        "It opened in May 1990.",
        "It opened in June 1990.",
        "“May 1990”, but a passage says “June 1990”",
    ),
    ("Room 3 is free.", "Room 5 is free.", "“3”, but a passage says “5”"),
    ("The hall belongs to Berlin Zoo.", "The hall belongs to the city.", "Berlin Zoo"),
    (
        "The deposit is not refunded.",
        "The deposit is refunded.",
        "“not refunded”, but a passage says “refunded”",
    ),
    ("押金不退还。", "押金会退还。", "“不退还”，而段落说“退还”"),
    ("The fee rose lately.", "Fees have risen lately.", ""),
]


async def test_a_full_of_the_inner_judge_is_held_to_what_it_overlooks() -> None:
    found = []
    for claim, passage, _ in FULL:
        judge = ContainmentJudge(FakeJudge({claim: verdict(Support.FULL, passage)}))
        (outcome,) = await judged(judge, "How much?", claim, passage)
        assert isinstance(outcome, Verdict)
        found.append((outcome.support, outcome.reason))
    assert found == [
        (Support.CONTRADICTED if "“" in why else Support.NONE if why else Support.FULL, why)
        for *_, why in FULL
    ]


async def test_what_is_contained_is_quoted_and_bears_no_score() -> None:
    judge = ContainmentJudge(FakeJudge({"Maria Keller": verdict(Support.NONE)}))
    text = "It was written by Maria  Keller."
    (outcome,) = await judged(judge, WRITER, "Maria Keller", text)
    assert isinstance(outcome, Verdict)
    (quote,) = outcome.evidence
    assert (quote.quote, quote.start, quote.end) == ("Maria  Keller", 18, 31)
    assert (outcome.support, outcome.supporting) == (Support.FULL, ("reference",))
    assert (outcome.score, outcome.reason) == (None, "")


async def test_the_inner_judge_s_error_comes_as_it_is_and_its_signature_stands() -> None:
    class Broken(FakeJudge):
        async def judge(self, request: JudgeRequest) -> Judgment:
            raise JudgeUnavailable(request.query)

    judge = ContainmentJudge(Broken({}, signature="similarity:x|t:0.8"))
    assert judge.signature == "similarity:x|t:0.8|short:contained-v7"
    with pytest.raises(JudgeUnavailable, match="who"):
        await judged(judge, "who?", "It rained.", "It rained.")
