"""Read by hand: what names stand in a text, and whether another mentions them."""

from hypothesis import given
from hypothesis import strategies as st

from judge.checks.names import Mentions, amid, names

CERTAIN: dict[str, list[str]] = {
    "We met Ana Silva in Porto.": ["Ana Silva", "Porto"],
    "By law the Bank of England decides.": ["Bank of England"],
    "It is U.S. law.": ["U.S."],
    "In May I saw Dr. Okoye on Monday.": ["Okoye"],
    'He said: Nothing. "Nobody" left.': [],
    "How To Make Great Pizza At Home": [],
    "在清华大学读书": ["清华大学"],
    "他读《三体》": ["《三体》"],
    "他读《 》": [],
    "NASA发布了报告": ["NASA"],
    "Mary Smith won.": ["Mary Smith"],
    "However Smith won.": ["Smith"],
    "Recently Smith won.": ["Smith"],
    "At 5 PM, in 44 BC, or in Q3.": [],
    "In the Second Battle of Ypres.": ["Battle of Ypres"],
    "位于杭州市。超市和全市": ["杭州市"],
    # The first word may owe its capital to its place.
    "Paris is big.": [],
}


def test_names_of_which_there_is_no_doubt() -> None:
    assert {
        text: [name.written for name in names(text) if name.certain] for text in CERTAIN
    } == CERTAIN
    assert [name.written for name in names("Paris is big.")] == ["Paris"]


MENTIONED = [
    ("The United Nations met.", "the UN"),
    ("The UN met.", "the United Nations"),
    ("red blood cells carry oxygen", "so RBCs"),
    ("The ACS says so.", "as the American Cancer Society stated"),
    ("The NICs are low.", "so National Insurance Contributions fell."),
    ("A British firm.", "then the United Kingdom agreed."),
    ("Ana Silva spoke.", "then Silva"),
    ("You Tube shows it.", "on YouTube"),
    ("It is German.", "in Germany"),
    ("The United States voted.", "an American"),
    ("A Dutch firm.", "in Netherlands"),
    ("ANA SILVA SPOKE", "so Silva"),
    ("他在清华大学", "在清华大学"),
    ("读过三体", "看《三体》"),
    ("The U.S. voted.", "in America"),
    ("Now Paul Adams left.", "so Adams"),
    ("the united nations met.", "at the UN"),
    ("german officials met.", "in Germany"),
    ("the us voted.", "in America"),
    ("It is Austrian.", "in Austria"),
    ("It is Chinese.", "in China"),
    ("In Poland.", "so a Pole"),
]
MISSING = [
    ("Ana Silva spoke.", "then Jane Silva"),
    ("The UN met.", "the EU"),
    ("It is in Peru.", "in Chile"),
    ("他在北京大学", "在清华大学"),
    ("读过三体", "看《球状闪电》"),
    ("", "in Chile"),
    ("There is no comparison.", "in Paris"),
    ("They met there as friends.", "then Adam Smith"),
    ("Sold in Australia.", "in Austria"),
    ("They met while washing.", "in Washington"),
    ("They told us.", "in America"),
    ("They met at the pole.", "in Poland"),
]


def test_a_name_stands_in_a_text_in_whatever_form() -> None:
    def lacks(text: str, claim: str) -> bool:
        (name,) = names(claim)
        return bool(Mentions(text).missing(name))

    assert [row for row in MENTIONED + MISSING if lacks(*row)] == MISSING


def test_the_part_that_stands_nowhere_is_told() -> None:
    (name,) = names("then Jane Silva")
    assert Mentions("Ana Silva spoke.").missing(name) == {"jane"}


def test_lower_case_words_are_told_from_capitalised_ones() -> None:
    assert Mentions("Apply it, then Mary and it apply.").lower == {"it", "then", "and", "appli"}


def test_whether_a_word_may_stand_amid_a_sentence() -> None:
    texts = ("They bought Acme.", "Acme was bought. Acme", "\n Acme", "")
    assert [text for text in texts if amid("Acme", text)] == ["They bought Acme."]


@given(st.text(alphabet="ABCabc. '-\n《》北京市大学I", max_size=60))
def test_any_text_is_read_in_order(text: str) -> None:
    found = names(text)
    assert [name.start for name in found] == sorted(name.start for name in found)
    assert all(text[name.start : name.end] == name.written for name in found)
    assert all(name.parts for name in found)
