import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.checks.mismatch import mismatches
from judge.records import (
    Chunk,
    Evidence,
    JudgeOutcome,
    JudgeRequest,
    Sentence,
    Support,
    Unscored,
    UnscoredReason,
    Verdict,
)
from tests.growth import LINEAR, growth

CHUNK = (
    "Acme Corp was founded on 3 May 1990 by Ana Silva. The company sold 3,512,000 pumps in 2021, "
    "12 % more than planned, along 5 km of coast. 公司总部设在杭州市，员工1200人。"
)


def quoted(quote: str, *, supporting: tuple[str, ...] = (), support: str = "full") -> Verdict:
    start = CHUNK.find(quote)
    found = start >= 0 and bool(quote)
    place = (start, start + len(quote)) if found else (None, None)
    evidence = Evidence(chunk_id="a", quote=quote, start=place[0], end=place[1], verified=found)
    return Verdict(
        support=Support(support),
        evidence=(evidence,),
        supporting=supporting,
        source="llm",
        signature="s",
    )


def flags(
    text: str, outcome: JudgeOutcome, *, query: str = "", markers: tuple[tuple[int, int], ...] = ()
) -> list[tuple[str, str]]:
    request = JudgeRequest(
        query=query,
        answer=text,
        sentences=(Sentence(index=0, start=0, end=len(text), text=text),),
        ask=(0,),
        chunks=(Chunk(chunk_id="a", text=CHUNK),),
        cites={},
        markers=markers,
    )
    return [(flag.name.value, flag.detail) for flag in mismatches(request, {0: outcome})]


SOLD = quoted("sold 3,512,000 pumps")


@pytest.mark.parametrize(
    "text",
    [
        "It sold 3.5 million pumps.",
        "It sold about 3,510,000 pumps in 2021.",
        "它在2021年卖出351.2万台泵，比计划多百分之12。",
        "The coast is 5 kilometres long, or 5公里.",
        "Ana Silva's company sold pumps.",
        "There are three reasons for it.",
        "1. It sold 3,512,000 pumps.",
    ],
)
def test_what_the_sentence_of_the_quote_holds_is_not_flagged(text: str) -> None:
    assert flags(text, SOLD) == []


@pytest.mark.parametrize(
    ("text", "flag"),
    [
        ("It sold 9.9 billion pumps.", ("mismatch:number", "9.9 billion")),
        ("It sold 3,512,999 pumps.", ("mismatch:number", "3,512,999")),
        ("它卖出500万台泵。", ("mismatch:number", "500万")),
        ("It sold them in 2022.", ("mismatch:date", "2022")),
        ("It sold them in June 2021.", ("mismatch:date", "June 2021")),
        ("它在2022年卖出。", ("mismatch:date", "2022年")),
        ("It is 5 miles of coast.", ("mismatch:unit", "5 miles")),
        ("It was founded by Jane Okoye.", ("mismatch:name", "Jane Okoye")),
        ("它设在宁波市。", ("mismatch:name", "宁波市")),
    ],
)
def test_what_it_lacks_is_flagged_in_the_sentence_s_own_characters(
    text: str, flag: tuple[str, str]
) -> None:
    assert flags(text, SOLD) == [flag]


def test_several_of_a_kind_make_one_flag() -> None:
    text = "It sold 17 pumps and 19 taps in Chile."
    assert flags(text, SOLD) == [("mismatch:number", "17; 19"), ("mismatch:name", "Chile")]


def test_a_figure_must_stand_near_the_quote_and_a_name_anywhere_in_its_chunk() -> None:
    founded = quoted("founded on 3 May 1990")
    assert flags("Founded on 3 May 1990 near 杭州市.", founded) == []
    assert flags("Founded in 2021.", founded) == [("mismatch:date", "2021")]


def test_what_the_question_says_needs_no_evidence() -> None:
    text = "In 2022 Jane Okoye sold 77 pumps."
    assert flags(text, SOLD, query="What did Jane Okoye do with 77 pumps in 2022?") == []


def test_a_name_may_stand_half_in_the_question_and_half_in_the_chunk() -> None:
    text = "It was run by Jane Silva."
    assert flags(text, SOLD, query="What did Jane do?") == []
    assert flags(text, SOLD) == [("mismatch:name", "Jane Silva")]


def test_markers_are_no_figures() -> None:
    text = "It sold pumps [Doc-77 of Jane]."
    assert flags(text, SOLD, markers=((14, 30),)) == []


@pytest.mark.parametrize("support", ["partial", "none", "contradicted", "no_claim"])
def test_only_full_is_compared(support: str) -> None:
    verdict = SOLD.model_copy(update={"support": Support(support)})
    assert flags("It sold 99 pumps.", verdict) == []


def test_a_failure_is_not_compared() -> None:
    assert flags("It sold 99 pumps.", Unscored(reason=UnscoredReason.TIMEOUT)) == []


def test_without_a_found_quote_the_supporting_chunks_stand_in() -> None:
    text = "Founded in 1990, it sold 99 pumps."
    assert flags(text, quoted("not in it", supporting=("a",))) == [("mismatch:number", "99")]
    assert flags(text, quoted("not in it")) == []


def told(answer: str, chunk: str, *, other: str = "") -> list[tuple[str, str]]:
    """What is flagged where the whole chunk is the evidence."""
    request = JudgeRequest(
        query="",
        answer=answer,
        sentences=(Sentence(index=0, start=0, end=len(answer), text=answer),),
        ask=(0,),
        chunks=(Chunk(chunk_id="a", text=chunk), Chunk(chunk_id="b", text=other)),
        cites={},
        markers=(),
    )
    evidence = Evidence(chunk_id="a", quote=chunk, start=0, end=len(chunk), verified=True)
    verdict = Verdict(support=Support.FULL, evidence=(evidence,), source="llm", signature="s")
    return [(flag.name.value, flag.detail) for flag in mismatches(request, {0: verdict})]


@pytest.mark.parametrize(
    ("answer", "chunk"),
    [
        ("They held two men.", "Police say that two men were held."),
        ("There are 2 reasons it rained.", "It rained."),
        ("Here are 3 points:", "It rained."),
        ("三个受害者受伤。", "共有两次受理，受害的人受伤。"),
        ("It is 5 km.", "It is 5000 m."),
        ("It costs 5 U.S. dollars.", "It costs $5."),
        ("Over 60% agreed.", "In all 67% agreed."),
        ("It is about 2000 km away.", "It is 1,987 km away."),
        ("There were 2021 visitors.", "There were 2,021 visitors."),
        ("World War II ended.", "The Second World War ended."),
        ("It rained (Doc 33).", "It rained."),
        ("Dogs bark.", "It barks."),
        ("It starts at 7:30 PM.", "It starts at 19:30."),
    ],
)
def test_what_says_the_same_in_other_words_is_not_flagged(answer: str, chunk: str) -> None:
    assert told(answer, chunk) == []


@pytest.mark.parametrize(
    ("answer", "chunk", "flag"),
    [
        ("They held three men.", "Police held two men.", ("mismatch:number", "three")),
        ("They held 3 men.", "Police held 2 men.", ("mismatch:number", "3")),
        ("三名工人受伤。", "两名工人受伤。", ("mismatch:number", "三")),
        ("It takes 30 minutes.", "It takes 30 hours.", ("mismatch:unit", "30 minutes")),
        ("Dose: 5 mg.", "Dose: 5 g.", ("mismatch:unit", "5 mg")),
        ("It rose 1%.", "It rose 5%.", ("mismatch:number", "1%")),
        ("It costs $1 here.", "It costs $3 here.", ("mismatch:number", "$1")),
        ("共有1人参加。", "共有3人报名。", ("mismatch:number", "1")),
        ("It is 1500 metres long.", "It is 1500 feet.", ("mismatch:unit", "1500 metres")),
        ("It starts at 5 PM.", "It starts at 18:00.", ("mismatch:number", "5 PM")),
        ("Mary Smith won.", "John Smith won.", ("mismatch:name", "Mary Smith")),
        ("It is in Paris.", "There is no comparison.", ("mismatch:name", "Paris")),
    ],
)
def test_what_says_another_thing_is_flagged(answer: str, chunk: str, flag: tuple[str, str]) -> None:
    assert told(answer, chunk) == [flag]


def test_a_first_word_is_a_name_where_a_chunk_has_its_capital_amid_a_sentence() -> None:
    answer, chunk = "Okoye bought it.", "Silva bought it."
    assert told(answer, chunk) == []
    assert told(answer, chunk, other="Once Okoye left.") == [("mismatch:name", "Okoye")]
    assert told(answer, chunk, other="Once Okoye left an okoye.") == []


@pytest.mark.parametrize(
    ("claim", "fact"),
    [
        ("Then two men left home. ", "And five cats sat. "),
        ("It is 17 km long. ", "It was 19 miles long. "),
        ("It was on 3 May 2021. ", "It was on 4 June 2020. "),
        ("So Ana Silva left. ", "So Jane Okoye came. "),
    ],
)
def test_many_sentences_against_a_long_chunk_take_linear_time(claim: str, fact: str) -> None:
    def compare(text: str) -> object:
        size = len(text)
        spans = [(place * len(claim), (place + 1) * len(claim)) for place in range(size)]
        request = JudgeRequest(
            query="",
            answer=claim * size,
            sentences=tuple(
                Sentence(index=index, start=start, end=end, text=claim)
                for index, (start, end) in enumerate(spans)
            ),
            ask=tuple(range(size)),
            chunks=(Chunk(chunk_id="a", text=fact * size),),
            cites={},
            markers=(),
        )
        full = Verdict(support=Support.FULL, supporting=("a",), source="llm", signature="s")
        return mismatches(request, dict.fromkeys(range(size), full))

    assert growth(compare, lambda size: "x" * size, 30) < LINEAR


@given(st.text(max_size=80))
def test_a_sentence_that_is_its_own_evidence_is_never_flagged(text: str) -> None:
    request = JudgeRequest(
        query="",
        answer=text,
        sentences=(Sentence(index=0, start=0, end=len(text), text=text),),
        ask=(0,),
        chunks=(Chunk(chunk_id="a", text=text),),
        cites={},
        markers=(),
    )
    evidence = Evidence(chunk_id="a", quote=text, start=0, end=len(text), verified=True)
    verdict = Verdict(support=Support.FULL, evidence=(evidence,), source="llm", signature="s")
    assert mismatches(request, {0: verdict}) == ()


def test_of_similarity_all_chunks_are_the_evidence() -> None:
    window = SOLD.evidence[0]
    text = "It sold 3,512,000 pumps and employs 40 people."
    chunks = tuple(
        Chunk(chunk_id=name, text=chunk)
        for name, chunk in (("a", CHUNK), ("b", "The firm employs 40 people."))
    )
    request = JudgeRequest(
        query="",
        answer=text,
        sentences=(Sentence(index=0, start=0, end=len(text), text=text),),
        ask=(0,),
        chunks=chunks,
        cites={},
        markers=(),
    )
    flagged = {}
    for source in ("llm", "similarity"):
        verdict = Verdict(
            support=Support.FULL,
            evidence=(window,),
            source=source,
            score=None if source == "llm" else 0.9,
            signature="s",
        )
        flagged[source] = [flag.detail for flag in mismatches(request, {0: verdict})]
    assert flagged == {"llm": ["40"], "similarity": []}
