import re
from random import Random

from judge.counterfactual import Counterfactual, counterfactual, says

KEPT = {
    "nothing_to_change": ("Colour?", "It is red.", "It is red."),
    "in_question": ("What came in 2019?", "A flood, in 2019.", "In 2019 came a flood."),
    "not_in_gold": ("How many?", "70", "There are many."),
    # What is rounded elsewhere would stay as it is.
    "inconsistent": ("Revenue?", "$6.04 billion", "It made $6.04 billion, about $6 billion."),
}


def tried(query: str, answer: str, *chunks: str, seed: int = 0) -> Counterfactual | str:
    return counterfactual(query, answer, chunks, [0], Random(seed))  # noqa: S311  it hides nothing


def made(query: str, answer: str, *chunks: str, seed: int = 0) -> Counterfactual:
    found = tried(query, answer, *chunks, seed=seed)
    assert isinstance(found, Counterfactual), found
    return found


def test_a_figure_changes_in_each_form_and_others_stay() -> None:
    for seed in range(20):
        found = made("How long?", "30 days", "within 30 days (thirty days), or 14 days", seed=seed)
        new = {"20": "twenty", "40": "forty", "50": "fifty", "60": "sixty"}
        assert found.change.after in new
        word = new[found.change.after]
        assert found.answer == f"{found.change.after} days"
        assert found.chunks == (f"within {found.change.after} days ({word} days), or 14 days",)
        han = made("几天？", "三十天", "期限为30天，即三十日", seed=seed)
        digits = {"二十": "20", "四十": "40", "五十": "50", "六十": "60"}[han.change.after]
        assert han.chunks == (f"期限为{digits}天，即{han.change.after}日",)


def test_forms_are_kept() -> None:
    rows = {
        ("$1.2 million", "It cost US$1,200,000."): r"It cost US\$\d,\d00,000\.",
        ("百分之五", "占5%。"): r"占\d%。",
        ("3.5 million", "3.5 million (3,500,000)"): r"\d\.\d million \(\d,\d00,000\)",
        ("161万人", "新增161万人，1361万"): r"新增\d{2,3}万人，1361万",
        ("2019", "on 3 May 2019; 2019-05-03; FY2019"): r"on 3 May 20\d\d; 20\d\d-05-03; FY20\d\d",
        ("2019年", "成立于二〇一九年"): r"成立于二〇[一二].年",
        ("May 3rd", "The fair is on 3 May."): r"The fair is on \d{1,2} May\.",
        ("the 32nd floor", "on the 32nd floor"): r"on the (?!32)\d\d(?:st|nd|rd|th) floor",
        ("8月10日", "8月10日，2022-08-10"): r"8月\d{1,2}日，2022-08-\d\d",
        ("on Monday", "closed on Mondays"): r"closed on [A-Z][a-z]+days",
        ("星期一", "周一闭馆"): r"周[二三四五六日]闭馆",
    }
    for (answer, chunk), expected in rows.items():
        for seed in range(5):
            found = made("?", answer, chunk, seed=seed)
            assert re.fullmatch(expected, found.chunks[0]), found
            assert found.chunks[0] != chunk
            assert found.answer != answer
            assert says(found.answer, found.change._asdict(), "after")
            assert not says(found.answer, found.change._asdict(), "before")


def test_why_not() -> None:
    for reason, (query, answer, chunk) in KEPT.items():
        assert tried(query, answer, chunk) == reason


def test_names_of_a_known_kind_change_in_each_form() -> None:
    for seed in range(10):
        person = made(
            "Who ran it?", "Anna Novak ran it.", "Anna Novak (born Novak). Anna's", seed=seed
        )
        first, last = person.change.after.split()
        assert person.chunks == (f"{first} {last} (born {last}). {first}'s",)
        country = made("Who won?", "Italy", "Italy won; the Italian team, ITALY", seed=seed)
        new = country.change.after
        assert country.chunks[0].startswith(f"{new} won; the ")
        assert country.chunks[0].endswith(f" team, {new.upper()}")
        assert not re.search("ital", country.chunks[0], re.IGNORECASE)
        zh = made("作者是谁？", "沈明月", "沈明月著。沈明月生于杭州。", seed=seed)
        assert zh.chunks == (f"{zh.answer}著。{zh.answer}生于杭州。",)
        city = made("在哪举行？", "在杭州举行。", "大会在杭州举行，杭州市民参加。", seed=seed)
        new = city.change.after
        assert city.chunks == (f"大会在{new}举行，{new}市民参加。",)
        for found in (person, country, zh, city):
            assert says(found.answer, found.change._asdict(), "after")
            assert not says(found.answer, found.change._asdict(), "before")


def test_order_among_the_others_is_kept() -> None:
    for seed in range(20):
        share = made("?", "40 %", "It rose from 35 % to 40 %, not to 46 %.", seed=seed)
        assert 35 < int(share.change.after) < 46
        year = made("?", "in 2012", "It opened in 2008, moved in 2012, closed in 2015.", seed=seed)
        assert 2008 < int(year.change.after) < 2015


def test_what_is_asked_for_is_changed_first() -> None:
    chunk = "Anna Novak opened 2 halls for 300 guests on 4 May 2011 in Oslo."
    rows = {
        "when did it open": "year",
        "How many guests?": "figure",
        "who opened it": "name",
        "Tell me.": "name",
    }
    for query, kind in rows.items():
        found = made(query, chunk, chunk)
        assert found.change.kind == kind, found
    # The count is grammar unless it is asked for, and a question needs no capitals.
    assert made("How many halls?", "2 halls", chunk).change.before == "2"
    assert tried("What?", "the 2 halls", chunk) == "nothing_to_change"
    assert tried("what did anna novak do in oslo?", "Anna Novak, Oslo", chunk) == "in_question"


def test_a_name_within_other_words_or_names_is_left_alone() -> None:
    chinese = {
        "大连": "是全国最大连锁超市",
        "成都": "那里已变成都市",
        "济南": "讨论经济南北差距",
        "河内": "黄河流域与运河内部",
        "上海": "丝绸之路海上海盗很多",
        "南京": "他爱看江南京剧",
        "合肥": "仓库里有复合肥",
        "厦门": "他站在大厦门口",
        "兰州": "他来自马里兰州",
        "日本": "3日本馆开放",
        "俄罗斯": "来自白俄罗斯",
    }
    for place, text in chinese.items():
        assert tried("在哪里？", place, f"总部在{place}，{text}。") == "inconsistent", place
        assert made("在哪里？", place, f"总部在{place}。").change.before == place
    for answer, text in {
        "Anna Smith": "Anna Smith made it, not Adam Smith.",
        "Anna Novak": "Anna Novak made it. She liked Anna Karenina.",
        "Mary Smith": "Mary Smith left Smith & Wesson.",
        "Jane Smith": "Jane Smith, or Adam J. Smith.",
        "Paris": "It was given in Paris by Paris Hilton.",
    }.items():
        assert tried("?", answer, text) == "inconsistent", text
    for text in ("In Paris it was.", "It was Paris. The rain fell.", "Paris, Texas's Mr Smith"):
        assert made("?", "Paris", text).chunks[0].count("Paris") == 0
    assert "Mr " in made("?", "Adam Smith", "Adam Smith came. Mr Smith left.").chunks[0]


def test_chinese_numerals_are_written_as_one_writes_them() -> None:
    # 2 before a measure word is 两, and 二 in ordinals, dates and floors.
    made_of = {
        made("有多少？", "三个", "三个省，第三，三楼", seed=seed).chunks[0] for seed in range(30)
    }
    assert made_of >= {"两个省，第二，二楼", "四个省，第四，四楼"}
    # After 百 the 十 has its 一.
    found = made("有多少？", "一百一十五人", "共有一百一十人，一百一十五人，一百一十七人")
    assert found.chunks[0].split("，")[1] in {
        "一百一十一人",
        "一百一十二人",
        "一百一十三人",
        "一百一十四人",
        "一百一十六人",
    }
    assert made("有多少？", "十五人", "共有十五人，十三人，十七人").answer in {"十四人", "十六人"}
