from judge.checks.alternatives import among, offered

OFFERING = [
    "It could be Paris, London, Berlin or Madrid.",
    "Paris or London.",
    "It is either Paris or Lyon.",
    "Possibly Paris, possibly Lyon.",
    "It could be Paris, perhaps Lyon.",
    "It might be Paris, or it might be Lyon.",
    "I am not sure whether it is Paris or London.",
    "The dome was built in 1931 or 1932.",
    "Paris / London / Berlin",
    "可能是北京、上海、广州或者深圳。",
    "北京或上海。",
    "不是北京就是上海。",
    "可能是北京，也可能是上海。",
    "要么是北京，要么是上海。",
    "是北京还是上海，尚不确定。",
    "答案是3天或5天。",
]
SETTLED = [
    "Paris is the capital.",
    "It takes three days or more.",
    "It is about 5 kilometres or so.",
    "Do not use bleach or acid.",
    "No dogs or cats are allowed.",
    "If it rains or snows, the market closes.",
    "The fee is 5 euros and/or a stamp.",
    "Perhaps it is Paris.",
    "It could be Paris, perhaps.",
    "It is 3 km/h.",
    "Order forms are for Oregon.",
    "",
    "或许是北京。",
    "水是不可或缺的。",
    "费用为100元或以上。",
    "首都还是北京，人口或将超过两千万。",
    "无论刮风或下雨都开放。",
]
ONE_OF_SEVERAL = [
    # A sentence, what stands in it, and whether that is one of the alternatives it offers.
    ("It could be Paris, London, Berlin or Madrid.", "Paris", True),
    ("It could be Paris, London, Berlin or Madrid.", "Berlin", True),
    ("It could be Paris, London, Berlin or Madrid.", "Madrid", True),
    ("It could be Paris, London, Berlin or Madrid.", "Paris, London, Berlin or Madrid", False),
    ("The capital of France is Paris or Lyon.", "The capital of France is Paris", True),
    ("It was built in 1931 or in 1932.", "1932", True),
    ("It is either Paris or Lyon.", "Lyon", True),
    ("It is either Paris or Lyon.", "Paris or Lyon", False),
    ("Possibly Paris, possibly Lyon.", "Lyon", True),
    ("It could be 5.7 %, 1,050 or J. B. Priestley.", "5.7", True),
    ("5.7%或6.1%", "5.7", True),
    ("可能是5.7%，也可能是南希·佩洛西。", "南希·佩洛西", True),
    # What is left open is something else, or is another name.
    ("The fee is 5 euros, payable by card or cash.", "5 euros", False),
    ("The fee is 5 euros by card or cash.", "5 euros", False),
    ("Myocardial infarction, or heart attack, is an emergency.", "Myocardial infarction", False),
    ("It opens at 7 (or 8 on Sundays).", "7", False),
    ("可能是北京、上海、广州或者深圳。", "北京", True),
    ("可能是北京、上海、广州或者深圳。", "深圳", True),
    ("可能是北京，也可能是上海。", "上海", True),
    ("是北京还是上海，尚不确定。", "北京", True),
    ("北京或上海。", "北京或上海", False),
    ("首都是北京，邻近天津或河北。", "北京", False),
    ("费用是5元，可刷卡或付现金。", "5元", False),
    ("住宿费每晚600元或以上。", "600元", False),
]


def test_a_sentence_that_offers_alternatives() -> None:
    assert [text for text in OFFERING if not offered(text)] == []
    assert [text for text in SETTLED if offered(text)] == []
    for text, unsure in (
        ("It could be Paris, London, Berlin or Madrid.", True),
        ("Use a rag or a sponge.", False),
        ("可能是北京、上海或者深圳。", True),
        ("可以刷卡或付现金。", False),
    ):
        assert (offered(text), offered(text, alone=False)) == (True, unsure)


def test_what_stands_among_them() -> None:
    for text, part, one in ONE_OF_SEVERAL:
        start = text.index(part)
        assert among(text, start, start + len(part)) is one, (text, part)
