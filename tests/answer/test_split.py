import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.answer.split import split
from judge.records import Sentence, SentenceKind


def texts(answer: str) -> list[str]:
    return [sentence.text for sentence in split(answer)]


def check(answer: str, sentences: tuple[Sentence, ...]) -> None:
    place = 0
    for index, sentence in enumerate(sentences):
        assert sentence.index == index
        assert answer[sentence.start : sentence.end] == sentence.text
        assert sentence.text.strip() == sentence.text != ""
        assert not answer[place : sentence.start].strip()
        assert sentence.kind is SentenceKind.CLAIM
        place = sentence.end
    assert not answer[place:].strip()


@pytest.mark.parametrize(
    "sentence",
    [
        # Numbers, versions, references, names of files and places on the net.
        "It fell by 3.5 percent to $1,200.50 in v2.10.1.",
        "See No. 5 and p. 55 of vol. 3 for Fig. 2 and sec. 4.2.",
        "Write to jane.doe@example.com or read https://example.com/a.b?c=d.e today.",
        "Open report.final.pdf with Node.js and run setup.py again.",
        # Names, titles, acronyms, hours.
        "J. K. Rowling met Dr. Smith, Mr. Jones Jr. and St. John there.",
        "The U.S. Government and the E.U. agreed with Pitt & Co. at noon.",
        "It opens at 9 a.m. on weekdays, e.g. Monday, i.e. before work, etc. and so on.",
        "He moved to the U.S. in 1990.",
        "She works at Yahoo! in the accounting department.",
        "Jeopardy! is an American game show.",
        "It is 5 ft. 3 in. tall, see Fig. 2. for more.",
        "The book by P.S. Arun, Dear Ann, The Musical, sold well.",
        "Write to us by Email: a@b.com, Phone: 555-1234, or fax.",
        "They came in this order: 1. Ann, 2. Bo, 3. Cy.",
        # Quotations and brackets that the sentence goes on behind.
        '"This is great." she said.',
        "“This is great. I know.” she said.",
        "He teaches (He worked for 5 years as an engineer.) at the university.",
        "Well ... it depends... on the case.",
        # Bold words.
        "**Note.** The limit is 500 yuan.",
        "**Title:** the text follows.",
        # Chinese.
        "“你好！”他说。",
        "“你好。我是小明。”他说。",
        "我们明天一起去看《摔跤吧！爸爸》好吗？",
        "按照3.2节和第3.2条（见附件。）的规定，版本v2.10.1可用。",
        "约翰.史密斯于1990年出生。",
        "甲方负责付款；乙方负责交货。",
        "他把“真的吗？”说了三遍。",
    ],
)
def test_one_sentence(sentence: str) -> None:
    assert texts(sentence) == [sentence]


@pytest.mark.parametrize(
    "parts",
    [
        ["I agree.", "You agree?", "They do!", "Good."],
        ["Really?!", "Yes.", "No.", "That is wrong."],
        ["I live in the U.S.", "How about you?"],
        ["They sold it to Acme Inc.", "The price was low."],
        ["The museum opens at 9 a.m.", "Tickets are sold there."],
        ["She turned to him, “Great.”", "She held it out."],
        ["(It was late.)", "They left."],
        ["I never meant that....", "She left."],
        ["The phone sold well.", "iPhone sales rose."],
        ["It began in 1999.", "Then it ended."],
        ["Are you and I.", "Did you see Albert I. Jones?"],
        ["Thanks for asking! 😀", "The limit is 500 yuan."],
        ["Paris is big.[1]", "It is old [2].", "It is dear. [3][4]", "It is wet.【5†source】"],
        ["Apply at once. [docA#sec3#chunk12]", "Pay later (docA#chunk4).", "Go.[^2]", "End."],
        ["The rest is sand. (Passage 1)", "It moves."],
        ["[1] Paris is big.", "[2] It is old."],
        ["30 ships sank.[1]", "They were old. [2]", "It rained."],
        # "etc." before a capital, the number of a footnote, a quotation that is the whole text.
        ["We sell ties, hats, etc.", "Orders arrive on Monday."],
        ["The river rose. 4", "Even so, they stayed (all of them). 12", "It fell."],
        ["“The shop is good.", "I like it there!”"],
        ["The steps are:", "1. Preheat the oven.", "2. Mix."],
        ["Steps:", "1. **Preheat** the oven", "2. **Mix**", "3. Bake"],
        ["It is 5 in. wide.", "It is 6 in.", "It is old."],
        # Letters that lost their line breaks.
        ["Ann Lee", "08/16/2000 12:05 PM", "Dear Bo,", "Can you come?", "PS. Bring Al."],
        ["Email: ann@example.org", "The plan is at http://example.org/a", "It is new."],
    ],
)
def test_english_sentences(parts: list[str]) -> None:
    assert texts(" ".join(parts)) == parts


@pytest.mark.parametrize(
    "parts",
    [
        ["报销上限为500元。", "超出部分自理！", "可以吗？", "可以。"],
        ["他来了。”", "她走了。"],
        ["住宿费500元[1]。", "餐费100元。[2]", "交通费【3】。", "其他［4］。"],
        ["见第3.2条。", "另见《办法》。"],
        ["他一连加了三个晚上的班……", "后来睡着了。"],
        ["他……没有来。"],
        ["你好!", "我是小明?", "是的。"],
        ["流程：①提交申请；", "②部门审批；", "③财务打款。"],
        ["注意：", "A. 苹果。", "B. 梨。"],
        ["使用Python 3.10版本。", "The limit is 500.", " 上限是500元。"],
        ["这是第一句.", "这是第二句."],
        ["第一句.", " 第二句."],
        ["“店很好。", "我喜欢那里！”"],
        ["电话：010-5550100", " 传真：010-5550101", " 邮箱：ann@example.org"],
    ],
)
def test_chinese_sentences(parts: list[str]) -> None:
    assert texts("".join(parts)) == [part.strip() for part in parts]


@pytest.mark.parametrize(
    ("answer", "parts"),
    [
        ("1) The first item 2) The second item", ["1) The first item", "2) The second item"]),
        ("1. First item.\n2. Second. Third.", ["1. First item.", "2. Second.", "Third."]),
        ("Steps:\n- Wash it\n- Dry it", ["Steps:", "- Wash it", "- Dry it"]),
        ("| a. b. | c |\n|---|---|", ["| a. b. | c |", "|---|---|"]),
        ("# No. 1. Two\nText. More.", ["# No. 1. Two", "Text.", "More."]),
        (
            "Do:\n```\na. b\n\nc. d\n```\nEnd. Now.",
            ["Do:", "```\na. b\n\nc. d\n```", "End.", "Now."],
        ),
        (
            "The council met on Monday with Dr.\nSmith, who had come some way to\nsee it. It left.",
            None,
        ),
        ("", []),
        (" \n\u00a0\u2028", []),
        ("70", ["70"]),
    ],
)
def test_layout(answer: str, parts: list[str] | None) -> None:
    expected = parts
    if expected is None:
        expected = [answer[: answer.index(" It left")], "It left."]
    assert texts(answer) == expected


@pytest.mark.parametrize(
    "answer",
    [
        "a\x00b. \ud800 c. \udfff",
        "e\u0301te\u0301. \u200bNext. \ufeffLast.",
        "مرحبا بك. كيف حالك؟ شكرا.",
        "👩\u200d👩\u200d👧. 😀😀! Done.",
        "One.\r\n\r\nTwo.\x85Three.\x0bFour.\x1cFive.",
    ],
)
def test_no_character_is_lost(answer: str) -> None:
    check(answer, split(answer))


PIECES = (
    *("Paris", "the", "Dr.", "U.S.", "e.g.", "3.5", "No.", "I", "a.m.", "1.", "2)", "iPhone"),
    *("**b**", ".", ". ", "! ", "? ", "...", "…", "?!", ", ", "; ", " ", "  ", "\n", "\n\n"),
    *("\r\n", "\u2028", "。", "！", "？", "；", "；（2）", "……", "”", "“", "（", "）", "《"),
    *("》", "「", "」", '"', "'", "(", ")", "报销", "标准", "他说", "的", "[1]", "[1] "),
    *("【2†source】", "[docA#c1]", "(docA#c2)", "[^3]", "[", "]", "```\n", "~~~\n"),
    *("| a | b |\n", "|---|---|\n", "# ", "- ", "• ", "---\n", "https://a.b/c ", ":)", " :) A"),
    *("Regards, ", "*****", "\u00a0", "\ud800", "\x00", "😀", "e\u0301", "؟ "),
)


@given(st.lists(st.sampled_from(PIECES), max_size=40).map("".join))
def test_sentences_are_exact_ordered_and_hold_every_character(answer: str) -> None:
    check(answer, split(answer))


@given(st.text(max_size=60))
def test_any_text_is_held(answer: str) -> None:
    check(answer, split(answer))


@given(st.lists(st.sampled_from(PIECES), max_size=20).map("".join))
def test_the_same_answer_is_split_the_same_way(answer: str) -> None:
    assert split(answer) == split(answer)


@pytest.mark.parametrize("sign", ["a", ".", "(", " ", "\n", "`", "|", "[1]", "。", "“", "*", "《a"])
def test_a_long_row_of_one_sign_is_quick(sign: str) -> None:
    answer = sign * (100_000 // len(sign))
    begun = time.perf_counter()
    sentences = split(answer)
    assert time.perf_counter() - begun < 0.9
    check(answer, sentences)


def test_a_paragraph_beyond_one_piece_is_split_like_a_short_one() -> None:
    words = ["Dr. Smith saw it in the U.S. and left.", "It was 3.5 metres long, e.g. here."]
    parts = [words[number * number % 7 % 2] for number in range(1_500)]
    assert texts(" ".join(parts)) == parts


def test_a_long_text_without_a_stop_is_one_sentence() -> None:
    answer = "word " * 20_000
    assert texts(answer) == [answer.strip()]
