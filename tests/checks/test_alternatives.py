import time

from judge.checks.alternatives import among, listed, offered

CAPITAL = "What is the capital of France?"
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
    rows = [
        ("It might be Paris.", "It might also be London.", True),
        ("Paris.", "Or London.", True),
        ("可能是北京。", "也可能是上海。", True),
        ("It is Paris.", "It might also be called Lutetia.", False),
        ("是北京。", "或许人口会增加。", False),
    ]
    assert [row for row in rows if offered(*row[:2]) is not row[2]] == []


# Answer, question, reference.
LISTED = [
    ("Paris, London, Berlin, Madrid.", CAPITAL, "Paris."),
    ("It could be Paris, London, Berlin.", CAPITAL, "Paris."),
    ("Austen, Dickens, Eliot, Hardy", "Who wrote it?", "Jane Austen"),
    ("1914, 1915, 1916, 1917.", "When did the war begin?", "1914"),
    ("Michelle, Yesterday, Help, Girl.", "Which of the songs is best?", "Girl"),
    ("可能是北京、上海、广州。", "中国的首都是哪里？", "北京"),
    ("北京、上海、广州", "首都在哪个城市？", "北京。"),
    ("李白、杜甫。", "这首诗是谁写的？", "李白"),
]
NOT_LISTED = [
    ("Paris, London, Berlin, Madrid.", "Which cities did he visit?", "Paris"),
    ("Paris, London, Berlin, Madrid.", "What are the big cities?", "Paris"),
    ("Paris, London, Berlin, Madrid.", "Where did they play?", "Paris, London"),
    ("Paris, London, Berlin, Madrid.", "Name the capitals.", "Paris"),
    ("Lennon, McCartney, Harrison, Starr.", "Who were the Beatles?", "Lennon"),
    ("DiCaprio, Winslet, Zane, Bates.", "Who starred in Titanic?", "Kate Winslet"),
    ("Paris, France.", CAPITAL, "Paris"),
    ("Springfield, Illinois, USA.", "Where is it?", "Springfield"),
    ("Soldier Field, Chicago, Illinois, USA.", "Where is it?", "Chicago"),
    ("On the Seine, in Paris, near the bank, by train.", "Where is it?", "Paris"),
    ("Monday, 3 May, 2021.", "When was it?", "2021"),
    ("Paris is the capital, and London is not.", CAPITAL, "Paris"),
    ("北京、上海、广州", "有哪些城市？", "北京"),
    ("北京、上海", "哪几个城市入选？", "北京"),
    ("北京、上海", "哪里举办？", "北京和上海"),
    ("北京。", "首都是哪里？", "北京"),
]


def test_a_list_where_one_is_asked_for() -> None:
    assert [row for row in LISTED if not listed(*row)] == []
    assert [row for row in NOT_LISTED if listed(*row)] == []


def test_what_stands_among_them() -> None:
    for text, part, one in ONE_OF_SEVERAL:
        start = text.index(part)
        assert among(text, start, start + len(part)) is one, (text, part)


def test_long_texts_are_no_burden() -> None:
    began = time.process_time()
    for text in (
        "or ",
        "maybe a, ",
        "可能",
        "是a还是",
        "not or ",
        "either ",
        "a or b, ",
        "a, ",
        "A, ",
    ):
        long = text * 50_000
        offered(long, long)
        among(long, 100, 105)
        short = long[:2000]
        listed(short, CAPITAL, "Paris")
        listed("Paris, London, Berlin, Madrid.", short, "Paris")
    assert time.process_time() - began < 1
