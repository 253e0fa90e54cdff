import pytest

from judge.text.mentions import Mentions
from judge.text.names import names


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
    ],
)
def test_a_name_that_stands_nowhere(text: str, claim: str) -> None:
    assert lacks(text, claim)
