"""Worked by hand: which values and names of a `full` claim the chunks lack."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.checks.mismatch import Mismatch, mismatches
from judge.records import JudgeRequest, Support, Verdict
from tests.requests import request

FULL = Verdict(support=Support.FULL, source="similarity", score=0.9, signature="s")


def asked(text: str, *chunks: str, query: str = "") -> JudgeRequest:
    return request([text], list(chunks), query=query, answer=text)


def told(text: str, *chunks: str, query: str = "", verdict: Verdict = FULL) -> Mismatch | None:
    return mismatches(asked(text, *chunks, query=query), {0: verdict}).get(0)


SAME = [
    ("They held two men.", "Police say that two men were held."),
    ("There are 2 reasons it rained.", "It rained."),
    ("三个受害者受伤。", "共有两次受理，受害的人受伤。"),
    ("It is 5 km.", "It is 5000 m."),
    ("Clouds form at 3,000 m in the air.", "Clouds form at 3,000 m (9,800 ft) in the air."),
    ("It costs 5 U.S. dollars.", "It costs $5."),
    ("It is about 2000 km away.", "It is 1,987 km away."),
    # Numbers that name a source.
    ("It rained (Source 33).", "It rained."),
    # Times of day and weekdays in other hands, and what lies in a range.
    ("It starts at 7:30 PM.", "It starts at 19:30."),
    ("晚上11点半开始。", "23:30开始。"),
    ("It is on Sat between 8 a.m. and 1 p.m.", "It is held every Saturday from 8:00 to 13:00."),
    ("It is open on Wednesday.", "It is open Mon to Fri."),
    # What is another unit or writing of the same.
    ("The port runs at 3000 Mbps.", "The port runs at 3 Gbps."),
    ("The limit defaults to 1000.", "The limit is 1,000 by default."),
    ("The annual fee is 1'000 CHF.", "The annual fee is 1000 CHF."),
    ("会员年费为1’000元。", "会员年费为1000元。"),
    ("三分之一的人同意。", "33.3%的人同意。"),
    ("It was -5 °C.", "It was 5 degrees below zero."),
    ("气温为零下五度。", "气温为-5℃。"),
    ("It was between -5 °C and 3 °C.", "It was -5 to 3 °C."),
    ("It was -5 °C.", "It was 5 to 10 degrees below zero."),
    ("气温为零下10度。", "气温为零下5到10度。"),
    ("试用期为半年。", "试用期为6个月。"),
    # Never looked at: decades, ordinals in words.
    ("Built in the 1990s.", "Built in 1995."),
    ("The fifteenth floor.", "The 14th floor."),
]
OTHER = [
    ("They held three men.", "Police held two men.", "three"),
    ("三名工人受伤。", "两名工人受伤。", "三"),
    ("It takes 30 minutes.", "It takes 30 hours.", "30 minutes"),
    ("Dose: 5 mg.", "Dose: 5 g.", "5 mg"),
    ("It costs $1 here.", "It costs $3 here.", "$1"),
    ("It is 1500 metres long.", "It is 1500 feet.", "1500 metres"),
    ("They met on Sunday.", "They met on Monday.", "Sunday"),
    ("It is kept for 15 days.", "It is kept for at least 10 days.", "15 days"),
    ("It starts at 17:45.", "It starts at 18:00.", "17:45"),
    ("It starts at 7 pm.", "It starts at 7 am.", "7 pm"),
    ("寺庙建于15世纪。", "寺庙建于12世纪。", "15"),
    ("三分之一的人同意。", "四分之一的人同意。", "三分之一"),
    ("试用期为半年。", "试用期为3个月。", "半年"),
    ("Membership grew by 35 percent.", "Membership went from 120 to 150.", "35 percent"),
    ("sources say 30 % of it", "sources say 40 % of it", "30 %"),
    ("第14名", "第15名", "14"),
    ("It was -5 °C.", "It was 5 °C.", "-5 °C"),
    ("It was 5 degrees.", "It was minus 5 degrees.", "5 degrees"),
    ("气温为零下5度。", "气温为5度。", "零下5度"),
    ("气温为5度。", "气温为零下5度。", "5度"),
]


def test_what_says_the_same_in_other_words_is_no_mismatch() -> None:
    assert [(*row, told(*row)) for row in SAME if told(*row)] == []


def test_what_the_chunks_lack_is_told_in_the_claims_own_characters() -> None:
    found = [(claim, chunk, told(claim, chunk)) for claim, chunk, _ in OTHER]
    assert [(*row, each and each.words) for *row, each in found] == OTHER


SHOP = (
    "Goods go back within 30 days. Faults are reported in 72 hours. They open on Monday. "
    "运费为18元。投诉须在15天内提出。"
)
IN_PLACE = [
    # The claim is a near-copy of a sentence, which has another value in that place.
    ("Faults are reported in 90 hours.", ("90 hours", "72 hours")),
    ("Faults are reported in 30 hours.", ("30 hours", "72 hours")),
    ("They open on Friday.", ("Friday", "Monday")),
    ("运费为25元。", ("25元", "18元")),
    # No near-copy, another unit, or a sentence that has the value, too.
    ("Any broken lamp is fetched in 90 hours by the shop.", ("90 hours", None)),
    ("Faults are reported in 72 days.", ("72 days", None)),
]


def test_a_value_that_the_claim_has_too_replaces_none() -> None:
    rain = (
        "The highest monthly average rainfall in Palmer for July is 58 mm. "
        "The lowest monthly average rainfall in Palmer for March is 50 mm."
    )
    highest = "The highest monthly average rainfall in Palmer is 58 mm in July"
    assert told(f"{highest} and the lowest is 50 mm in March.", rain) is None


def test_another_value_in_the_place_of_one_is_told() -> None:
    assert [(claim, told(claim, SHOP)) for claim, _ in IN_PLACE] == IN_PLACE


PLANS = "| Plan | Storage | Price |\n|---|---|---|\n| Pro | 2 TB | $19 |\n| Max | 5 TB | $49 |"
TABLES = [
    # The column is found by its name in the header, else by its position.
    ("| Plan | Storage |\n|---|---|\n| Pro | 5 TB |", ("5 TB", "2 TB")),
    ("| Plan | Storage |\n|---|---|\n| **Pro** | 5 TB |", ("5 TB", "2 TB")),
    ("| Plan | Price | Storage |\n|---|---|---|\n| Pro | $19 | 5 TB |", ("5 TB", "2 TB")),
    ("| Plan | Price | Storage |\n|---|---|---|\n| Pro | $19 | 2 TB |", None),
    ("| Plan | Storage |\n|---|---|\n| pro | 2 TB |", None),
    ("| Pro | 5 TB | $19 |", ("5 TB", "2 TB")),
    ("| Pro | 2 TB | $19 |", None),
    # No such row, no such column, and a row that no position tells.
    ("| Plan | Storage |\n|---|---|\n| Team | 5 TB |", None),
    ("| Plan | Backup |\n|---|---|\n| Pro | 5 TB |", None),
    ("| Pro | 5 TB |", None),
]


@pytest.mark.parametrize(("answer", "wanted"), TABLES)
def test_a_column_of_a_table_is_found_by_its_name(
    answer: str, wanted: tuple[str, str] | None
) -> None:
    lines = answer.splitlines()
    asked = request(lines, [PLANS], ask=[len(lines) - 1])
    found = mismatches(asked, {len(lines) - 1: FULL})
    assert list(found.values()) == ([] if wanted is None else [Mismatch(*wanted)])


FOUND = [
    ("3.5 million", "3,512,000"),
    ("3,500", "3,512"),
    ("约2000人", "1987人"),
    ("4 %", "3.6 %"),
    ("3.5 %", "百分之3.5"),
    ("5 kilometres", "5000 m"),
    ("90 minutes", "1.5 hours"),
    ("50 %", "一半的人"),
    ("twelve months", "a year"),
    ("$5 million", "500万美元"),
    ("25 basis points", "0.25 percentage points"),
]
MISSING = [
    ("3,512,000", "3.5 million"),
    ("3.6 million", "3,512,000"),
    ("15", "115 or 1.5 or 15,000"),
    ("500", "1'500 or 2’500 or 3\u00a0500"),
    ("9.9 billion", "9.9 million"),
    ("5 miles", "5 km"),
    ("3美元", "3 euros"),
]


def test_a_value_is_found_in_other_forms_and_rounded() -> None:
    assert [row for row in FOUND if told(*row)] == []
    assert [row for row in MISSING if not told(*row)] == []


def test_what_the_question_says_needs_no_evidence() -> None:
    text = "In 2022 Jane Okoye sold 77 pumps."
    assert told(text, "It sold.", query="What did Jane Okoye do with 77 pumps in 2022?") is None


def test_only_a_full_is_compared() -> None:
    text = "It sold 99 pumps."
    others = [FULL.model_copy(update={"support": each}) for each in Support if each != "full"]
    assert [each for each in others if told(text, SHOP, verdict=each)] == []
    assert told(text, SHOP) == ("99", None)


@given(st.text(max_size=80) | st.text("0123456789.,年月日 %kmAbPM半第-/:'s", max_size=80))
def test_a_sentence_that_is_its_own_evidence_has_no_mismatch(text: str) -> None:
    assert told(text, text) is None
