import pytest

from judge.checks.mentions import Mentions
from judge.checks.names import names


def lacks(text: str, claim: str) -> bool:
    (name,) = names(claim)
    return bool(Mentions(text).missing(name))


@pytest.mark.parametrize(
    ("text", "claim"),
    [
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
        ("The Second World War", "since World War II"),
        ("In Poland.", "so a Pole"),
    ],
)
def test_a_name_in_another_form(text: str, claim: str) -> None:
    assert not lacks(text, claim)


@pytest.mark.parametrize(
    ("text", "claim"),
    [
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
    ],
)
def test_a_name_that_stands_nowhere(text: str, claim: str) -> None:
    assert lacks(text, claim)


def test_lower_case_words_are_told_from_capitalised_ones() -> None:
    assert Mentions("Apply it, then Mary and it apply.").lower == {"it", "then", "and", "appli"}
