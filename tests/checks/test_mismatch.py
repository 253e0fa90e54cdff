"""Read by hand: what is flagged of a `full`, and what is not."""

from typing import TypedDict, Unpack

from hypothesis import given
from hypothesis import strategies as st

from judge.checks.mismatch import differences
from judge.records import (
    Chunk,
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


class Asking(TypedDict, total=False):
    chunks: tuple[str, ...]
    query: str
    markers: tuple[tuple[int, int], ...]


def asked(
    text: str,
    chunks: tuple[str, ...] = (CHUNK,),
    query: str = "",
    markers: tuple[tuple[int, int], ...] = (),
) -> JudgeRequest:
    return JudgeRequest(
        query=query,
        answer=text,
        sentences=(Sentence(index=0, start=0, end=len(text), text=text),),
        ask=(0,),
        chunks=tuple(Chunk(chunk_id=name, text=chunk) for name, chunk in zip("abc", chunks)),  # noqa: B905
        cites={},
        markers=markers,
    )


def flags(text: str, outcome: JudgeOutcome, **asking: Unpack[Asking]) -> list[tuple[str, str]]:
    found: dict[str, dict[str, None]] = {}
    for each in differences(asked(text, **asking), {0: outcome}):
        found.setdefault(each.kind, {})[each.said] = None
    return [(name, "; ".join(said)) for name, said in found.items()]


def quoted(quote: str, chunk: str = CHUNK, **other: object) -> Verdict:
    start = chunk.find(quote)
    place = {"start": start, "end": start + len(quote), "verified": True} if start >= 0 else {}
    evidence = {"chunk_id": "a", "quote": quote, **place}
    fields = {"support": "full", "evidence": [evidence], "source": "llm", "signature": "s"}
    return Verdict.model_validate(fields | other)


def told(answer: str, chunk: str, other: str = "") -> list[tuple[str, str]]:
    """What is flagged where the whole chunk is the evidence."""
    return flags(answer, quoted(chunk, chunk), chunks=(chunk, other))


SOLD = quoted("sold 3,512,000 pumps")
# Of the sentence of the quote, or of the chunk where it is a name.
HELD: dict[str, list[tuple[str, str]]] = {
    "It sold 3.5 million pumps.": [],
    "It sold about 3,510,000 pumps in 2021.": [],
    "它在2021年卖出351.2万台泵，比计划多百分之12。": [],
    "The coast is 5 kilometres long, or 5公里.": [],
    "Ana Silva's company sold pumps.": [],
    "There are three reasons for it.": [],
    "1. It sold 3,512,000 pumps.": [],
    "It sold 9.9 billion pumps.": [("number", "9.9 billion")],
    "It sold 3,512,999 pumps.": [("number", "3,512,999")],
    "它卖出500万台泵。": [("number", "500万")],
    "It sold them in 2022.": [("date", "2022")],
    "It sold them in June 2021.": [("date", "June 2021")],
    "它在2022年卖出。": [("date", "2022年")],
    "It is 5 miles of coast.": [("unit", "5 miles")],
    "It was founded by Jane Okoye.": [("name", "Jane Okoye")],
    "它设在宁波市。": [("name", "宁波市")],
    # Several of a kind make one flag.
    "It sold 17 pumps and 19 taps in Chile.": [("number", "17; 19"), ("name", "Chile")],
    # Figures must stand near the quote, names anywhere in its chunk.
    "Founded in 1990 near 杭州市.": [("date", "1990")],
}
PLANS = "Plan A costs 9 euros a month, plan B 12 euros a month."
SAME = [
    ("Plan A costs 9 euros a month.", PLANS),
    ("Plan B costs 12 euros a month.", PLANS),
    ("They held two men.", "Police say that two men were held."),
    ("There are 2 reasons it rained.", "It rained."),
    ("Here are 3 points:", "It rained."),
    ("三个受害者受伤。", "共有两次受理，受害的人受伤。"),
    ("It is 5 km.", "It is 5000 m."),
    ("Clouds form at 3,000 m in the air.", "Clouds form at 3,000 m (9,800 ft) in the air."),
    ("It costs 5 U.S. dollars.", "It costs $5."),
    ("Over 60% agreed.", "In all 67% agreed."),
    ("It is about 2000 km away.", "It is 1,987 km away."),
    ("There were 2021 visitors.", "There were 2,021 visitors."),
    ("50 % left.", "Half of them left."),
    ("World War II ended.", "The Second World War ended."),
    ("Dogs bark.", "It barks."),
    # Numbers that name a source or a place in a list.
    ("It rained (Doc 33).", "It rained."),
    ("It rained (Sources: 22, 33).", "It rained."),
    ("See passages 14-22.", "It rained."),
    ("It rained (ref. 14).", "It rained."),
    ("根据第14段，下雨了。", "下雨了。"),
    ("根据第十四段，下雨了。", "下雨了。"),
    ("根据文档（14），下雨了。", "下雨了。"),
    ("Both passages (22 and 33) say so.", "It rained."),
    ("So Excerpt 14 says.", "It rained."),
    ("So Article 14 says.", "It rained."),
    ("**14. Rain**: it rained.", "It rained."),
    ("  2.13 It rained.", "It rained."),
    ("3\ufe0f\u20e3 It rained.", "It rained."),
    # Times of day and weekdays in other hands, and what lies in a range.
    ("It starts at 7:30 PM.", "It starts at 19:30."),
    ("晚上11点半开始。", "23:30开始。"),
    ("It is on Sat between 8 a.m. and 1 p.m.", "It is held every Saturday from 8 to 13 h."),
    ("集市在星期六8:00至13:00举行。", "集市每周六上午八点到下午一点举行。"),
    ("It opens at half past six.", "It opens at 6:30."),
    ("It is open on Wednesday.", "It is open Mon to Fri."),
    ("周三营业。", "工作日营业。"),
    ("They met on saturday.", "They met on Saturday."),
    ("They met on 30 May.", "they met on 30 may."),
    # What is another unit or writing of the same.
    ("The port runs at 3000 Mbps.", "The port runs at 3 Gbps."),
    ("The limit defaults to 1000.", "The limit is 1,000 by default."),
    ("It ran in 2007 -- 11.", "It ran from 2007 to 2011."),
    ("It ran in 2007-11.", "It ran from 2007 to 2011."),
    ("营收为12.5亿元。", "年度 | 营收（亿元）\n2021 | 12.5"),
    ("Sales came to 12.5 million.", "Year | Sales (in millions)\n2021 | 12.5"),
    ("三分之一的人同意。", "33.3%的人同意。"),
    ("试用期为半年。", "试用期为6个月。"),
    ("It dates from the 12th century.", "It dates from 1150."),
    ("寺庙建于十五世纪。", "The temple is of the fifteenth century."),
    # What may be reckoned, and what names a source.
    ("Membership grew by 25 percent.", "Membership went from 120 to 150."),
    ("会员增加了25%。", "会员由120人增至150人。"),
    ("It rained (Smith, 2019).", "It rained."),
    ("It rained, see https://x.org/2019/12.html.", "It rained."),
    # An instance of what is said of all beyond a bound; words before a name.
    ("A request for fifteen days needs a form.", "Requests for more than ten days need a form."),
    ("45天的申请须审批。", "超过30天的申请须审批。"),
    ("Unlike India, it rained.", "It rained, as it did not in India."),
    ("Open Print Manager first.", "It is done in the Print Manager."),
    # Never looked at: decades, ordinals in words.
    ("Built in the 1990s.", "Built in 1995."),
    ("建于90年代。", "建于1995年。"),
    ("The fifteenth floor.", "The 14th floor."),
]
OTHER = [
    ("They held three men.", "Police held two men.", ("number", "three")),
    ("They held 3 men.", "Police held 2 men.", ("number", "3")),
    ("三名工人受伤。", "两名工人受伤。", ("number", "三")),
    ("It takes 30 minutes.", "It takes 30 hours.", ("unit", "30 minutes")),
    ("Dose: 5 mg.", "Dose: 5 g.", ("unit", "5 mg")),
    ("It rose 1%.", "It rose 5%.", ("number", "1%")),
    ("It costs $1 here.", "It costs $3 here.", ("number", "$1")),
    ("共有1人参加。", "共有3人报名。", ("number", "1")),
    ("It is 1500 metres long.", "It is 1500 feet.", ("unit", "1500 metres")),
    ("They met on Sunday.", "They met on Monday.", ("date", "Sunday")),
    ("It is kept for 15 days.", "It is kept for at least 10 days.", ("number", "15 days")),
    ("They meet on sundays.", "They meet on Mondays.", ("date", "sundays")),
    ("They meet on Sun.", "They meet from Mon to Fri.", ("date", "Sun")),
    ("周日营业。", "周一至周五营业。", ("date", "周日")),
    ("It starts at 17:45.", "It starts at 18:00.", ("number", "17:45")),
    ("It starts at 7 pm.", "It starts at 7 am.", ("number", "7 pm")),
    ("早餐七点半开始。", "早餐六点半开始。", ("number", "七点半")),
    (
        "It is of the fifteenth century.",
        "It is of the 12th century.",
        ("number", "fifteenth century"),
    ),
    ("寺庙建于15世纪。", "寺庙建于12世纪。", ("number", "15世纪")),
    ("It was said in 44 AD.", "It was said in 44 BC.", ("date", "44 AD")),
    ("三分之一的人同意。", "四分之一的人同意。", ("number", "三分之一")),
    ("试用期为半年。", "试用期为3个月。", ("number", "半年")),
    (
        "Membership grew by 35 percent.",
        "Membership went from 120 to 150.",
        ("number", "35 percent"),
    ),
    ("营收为12.7亿元。", "年度 | 营收（亿元）\n2021 | 12.5", ("number", "12.7亿元")),
    ("Mary Smith won.", "John Smith won.", ("name", "Mary Smith")),
    ("It is in Paris.", "There is no comparison.", ("name", "Paris")),
    ("Article 14 of the treaty", "Article 15 of the treaty", ("number", "14")),
    ("sources say 30 % of it", "sources say 40 % of it", ("number", "30 %")),
    ("2.1 million people", "2.5 million people", ("number", "2.1 million")),
    ("See resource 33.", "See it.", ("number", "33")),
    ("第14名", "第15名", ("number", "14")),
    ("Plan A costs 12 euros a month.", PLANS, ("number", "12 euros")),
    ("甲方案每月12元。", "甲方案每月9元，乙方案每月12元。", ("number", "12元")),
    ("乙方案每月9元。", "甲方案每月9元，乙方案每月12元。", ("number", "9元")),
]


def test_what_the_sentence_of_the_quote_lacks_is_flagged_in_the_claims_own_characters() -> None:
    assert {text: flags(text, SOLD) for text in HELD} == HELD
    assert flags("Founded on 3 May 1990 near 杭州市.", quoted("founded on 3 May 1990")) == []


def test_what_says_the_same_in_other_words_is_not_flagged() -> None:
    assert [row for row in SAME if told(*row)] == []


def test_what_says_another_thing_is_flagged() -> None:
    assert [(*row, *told(*row)) for *row, _ in OTHER] == OTHER


# What stands in its place, where the evidence speaks of the same thing.
INSTEAD = [
    ("Faults are reported in 90 days.", ("number", "90 days", "72 hours")),
    ("They open on Friday.", ("date", "Friday", "Monday")),
    ("Jane Okoye runs the shop.", ("name", "Jane Okoye", "Ana Silva")),
    ("运费是25元。", ("number", "25元", "18元")),
    ("Faults are reported in 72 days.", ("unit", "72 days", "72 hours")),
    ("Every shop has 90 chairs.", ("number", "90", None)),
    ("The weather in Chile was fine.", ("name", "Chile", None)),
    ("Rain fell on Friday.", ("date", "Friday", None)),
]
SHOP = "Goods go back in 30 days. Faults are reported in 72 hours. They open on Monday. "
SHOP += "The shop is run by Ana Silva. 运费为18元。"


# A figure that the evidence has in another place, and what stands in this one.
RETURNS = "Goods go back within 30 days."
POOLS = "A small pool has 80 litres, a large pool 110 litres."
ELSEWHERE: list[tuple[str, str, str | None]] = [
    ("Faults go in within 30 days.", f"{RETURNS} Faults go in by 72 hours.", "72 hours"),
    ("A large pool has 80 litres.", POOLS, "110 litres"),
    ("A small pool has 80 litres.", POOLS, None),
    ("The north gate is 52 m wide.", "The south gate is 52 m wide and the north one 61 m.", "61 m"),
    ("It moved to Berlin in 2019.", "It left Bonn in 2019. It moved to Berlin in 2021.", "2021"),
    ("It moved to Berlin in 2021.", "It began in Bonn in 2019. It moved to Berlin in 2021.", None),
    ("They sold 400 pumps.", "They made 400 taps and sold 90 pumps.", "90"),
    ("Wages rose by 7 %.", "Rents rose by 7 % and wages by 2 % in all.", "2 %"),
    ("甲楼高52米。", "乙楼高52米，甲楼高61米。", "61米"),
    ("工资增长7%。", "房租增长7%，工资增长2%。", "2%"),
    ("投诉要在30天内提出。", "退货30天内办理；如需投诉，应在72小时内提出。", "72小时"),
    # A difference follows from two figures, and is none of them.
    ("Plan B costs 3 euros more than plan A.", "Plan A costs 9 euros, plan B 12 euros.", None),
    ("Plan B costs 9 euros more than plan A.", "Plan A costs 9 euros, plan B 12 euros.", "3"),
    ("Rents rose by 40 euros.", "Rents went from 600 euros to 640 euros.", None),
    ("Rents rose by 640 euros.", "Rents went from 600 euros to 640 euros.", "40"),
    ("房租上涨了40元。", "房租由600元涨到640元。", None),
    ("房租上涨了640元。", "房租由600元涨到640元。", "40"),
    # Whose it is cannot be told: of a list, of a range, of a pronoun, in the question.
    ("Oak is 5 m and elm 7 m.", "Oak and elm are 5 m and 7 m respectively.", None),
    ("Roast it for 20 minutes.", "Roast it for 20 to 30 minutes. Then cool it for 5 hours.", None),
    ("The pool costs 80 euros.", "The pool is new. It costs 80 euros. A tap costs 9 euros.", None),
]  # fmt: skip


def test_a_figure_of_another_thing_is_flagged_with_what_stands_in_its_place() -> None:
    found = []
    for text, chunk, _ in ELSEWHERE:
        differing = differences(asked(text, chunks=(chunk,)), {0: quoted(chunk, chunk)})
        found.append((text, chunk, differing[0].instead if differing else None))
    assert found == ELSEWHERE
    text, chunk, _ = ELSEWHERE[0]
    assert flags(text, quoted(chunk, chunk), chunks=(chunk,), query="What of 30 days?") == []


def test_a_difference_says_what_stands_in_its_place() -> None:
    found = {}
    for text, _ in INSTEAD:
        (each,) = differences(asked(text, chunks=(SHOP,)), {0: quoted(SHOP, SHOP)})
        found[text] = (each.kind, each.said, each.instead)
    assert found == dict(INSTEAD)


def test_what_the_question_says_needs_no_evidence() -> None:
    text = "In 2022 Jane Okoye sold 77 pumps."
    assert flags(text, SOLD, query="What did Jane Okoye do with 77 pumps in 2022?") == []
    text = "It was run by Jane Silva."
    assert flags(text, SOLD, query="What did Jane do?") == []
    assert flags(text, SOLD) == [("name", "Jane Silva")]


def test_markers_are_no_figures() -> None:
    assert flags("It sold pumps [Doc-77 of Jane].", SOLD, markers=((14, 30),)) == []


def test_only_a_full_is_compared() -> None:
    others: list[JudgeOutcome] = [quoted("pumps", support=each) for each in Support]
    assert flags("It sold 99 pumps.", others.pop(list(Support).index(Support.FULL))) != []
    others += [Unscored(reason=UnscoredReason.TIMEOUT)]
    assert [each for each in others if flags("It sold 99 pumps.", each)] == []


def test_without_a_found_quote_the_supporting_chunks_stand_in() -> None:
    text = "Founded in 1990, it sold 99 pumps."
    assert flags(text, quoted("not in it", supporting=("a",))) == [("number", "99")]
    assert flags(text, quoted("not in it")) == []


def test_of_similarity_all_chunks_are_the_evidence() -> None:
    text = "It sold 3,512,000 pumps and employs 40 people."
    chunks = (CHUNK, "The firm employs 40 people.")
    assert flags(text, SOLD, chunks=chunks) == [("number", "40")]
    similar = SOLD.model_copy(update={"source": "similarity", "score": 0.9})
    assert flags(text, similar, chunks=chunks) == []


def test_a_first_word_is_a_name_where_a_chunk_has_its_capital_amid_a_sentence() -> None:
    answer, chunk = "Okoye bought it.", "Silva bought it."
    assert told(answer, chunk) == []
    assert told(answer, chunk, "Once Okoye left.") == [("name", "Okoye")]
    assert told(answer, chunk, "Once Okoye left an okoye.") == []


@given(st.text(max_size=80) | st.text("0123456789.,年月日 %kmAbPM半第-/:'s", max_size=80))
def test_a_sentence_that_is_its_own_evidence_is_never_flagged(text: str) -> None:
    assert told(text, text) == []


def test_many_sentences_against_a_long_chunk_take_linear_time() -> None:
    claim = "Then two men left home for 17 km on 3 May 2021, so Ana Silva left. "
    fact = "And five cats sat for 19 miles on 4 June 2020, so Jane Okoye came. "

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
        return differences(request, dict.fromkeys(range(size), full))

    assert growth(compare, lambda size: "x" * size, 30) < LINEAR
