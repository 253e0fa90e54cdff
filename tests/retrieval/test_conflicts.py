import pytest

from judge.retrieval.conflicts import differ
from judge.retrieval.statements import state


def _differ(one: str, other: str) -> tuple[str, str] | None:
    found = differ(state(one), state(other))
    back = differ(state(other), state(one))
    assert back == (None if found is None else found[::-1])
    return found


@pytest.mark.parametrize(
    ("one", "other", "first", "second"),
    [
        ("The fee is 20 dollars.", "The fee is 30 dollars.", "20 dollars", "30 dollars"),
        ("报销须在30天内提交。", "报销须在60天内提交。", "30天", "60天"),
        ("共有三十人参加会议。", "共有四十人参加会议。", "三十", "四十"),
        ("The trip takes 10-20 days.", "The trip takes 15-25 days.", "10-20 days", "15-25 days"),
        ("The office opened on 3 May 2021.", "The office opened on 4 May 2021.", *"34"),
        ("展览于2019年2月5日开幕。", "展览于2018年6月6日开幕。", "2019年2月5日", "2018年6月6日"),
        ("The room is 500 m long.", "The room is 500 km long.", "500 m", "500 km"),
        # Two limits, though what keeps the lower keeps the higher.
        ("住宿每晚不超过600元。", "住宿每晚不超过500元。", "600元", "500元"),
        ("Guests stay at most 6 nights.", "Guests stay at most 5 nights.", *"65"),
    ],
)
def test_one_figure_date_or_unit_differs(one: str, other: str, first: str, second: str) -> None:
    found = _differ(one, other)

    assert found is not None
    assert found[0].startswith(first)
    assert found[1].startswith(second)


@pytest.mark.parametrize(
    ("one", "other", "found"),
    [
        ("He lives in Paris.", "He does not live in Paris.", ("lives", "not live")),
        ("The bill was paid in full.", "The bill was never paid in full.", ("paid", "never paid")),
        ("Staff should fly.", "Staff should not fly.", ("fly", "not fly")),
        ("差旅费可以报销。", "差旅费不可以报销。", ("报销", "不可以报销")),
    ],
)
def test_one_side_denies(one: str, other: str, found: tuple[str, str]) -> None:
    assert _differ(one, other) == found


def test_a_name_differs_amid_a_long_sentence() -> None:
    one = "The prize for physics in 2018 went to the Canadian professor {} of Waterloo."
    han = "此文集作为回忆的记事，多侧面地反映了作者{}青少年时期的生活。"

    assert _differ(one.format("Ada Stone"), one.format("Max Reed")) == ("Ada Stone", "Max Reed")
    assert _differ(han.format("王小明"), han.format("李建国")) == ("王小明", "李建国")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        # Other things.
        ("Model A costs 5 dollars.", "Model B costs 6 dollars."),
        ("北京的差旅标准为500元。", "上海的差旅标准为600元。"),
        ("The Model 3 comes with heated seats.", "The Model 4 comes with heated seats."),
        ("Paris opened three new lines of its metro last year.",) * 2,
        (
            "Paris built the first deep line of a metro there.",
            "Rome built the first deep line of a metro there.",
        ),
        (
            "Paris built the first deep underground railway line under a large European river.",
            "Rome built the first deep underground railway line under a large European river.",
        ),
        # One of the two denies, and another figure.
        ("The fee for parking is 20 dollars.", "The fee for parking is not 30 dollars."),
        ("停车费用标准为20元。", "停车费用标准不为30元。"),
        # Other years, conditions or places in a list.
        ("In 2020 revenue was 5 million dollars.", "In 2021 revenue was 6 million dollars."),
        ("2020年营收为500万元。", "2021年营收为600万元。"),
        ("In 2020 the club won the cup.", "In 2021 the club won the cup."),
        ("The 2020 Games cost a lot of money.", "The 2021 Games cost a lot of money."),
        ("The fee is 20 yuan for 3 days.", "The fee is 30 yuan for 5 days."),
        ("Tax is 5 % before the deduction.", "Tax is 6 % after the deduction."),
        ("1. Open the main valve slowly.", "2. Open the main valve slowly."),
        ("3 Press the red button.", "4 Press the red button."),
        ("Cambridge University Press, p. 22.", "Cambridge University Press, p. 4."),
        ("City Transport Office, 5 May 2023", "City Transport Office, 6 May 2023"),
        # The same, said otherwise.
        ("The trip takes about 500 days.", "The trip takes 497 days."),
        ("The office opened on 3 May 2021.", "The office opened in May 2021."),
        ("The law took 3 months to pass.", "The law took three months to pass."),
        ("会议于2021年5月3日召开。", "会议于5月3日召开。"),
        # Nothing is said, or only supposed.
        ("Is dental care covered?", "Is dental care not covered?"),
        ("If the claim is covered, call us.", "If the claim is not covered, call us."),
        ("如果费用可以报销，请联系我们。", "如果费用不可以报销，请联系我们。"),
        ("5", "6"),
        ("支持", "不支持"),
        ("", ""),
        # What cannot be compared.
        ("The flight is 5 hours long.", "The flight is 700 km long."),
    ],
)
def test_these_are_no_conflict(one: str, other: str) -> None:
    assert _differ(one, other) is None
