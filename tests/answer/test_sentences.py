from collections.abc import Callable, Iterable
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.answer.sentences import split
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


# A sentence a row: numbers, versions, names, titles, hours, quotations and brackets that go on.
WHOLE = r"""
It fell by 3.5 percent to $1,200.50 in v2.10.1.
See No. 5 and p. 55 of vol. 3 for Fig. 2 and sec. 4.2.
Write to jane.doe@example.com or read https://example.com/a.b?c=d.e today.
Open report.final.pdf with Node.js and run setup.py again.
J. K. Rowling met Dr. Smith, Mr. Jones Jr. and St. John there.
The U.S. Government and the E.U. agreed with Pitt & Co. at noon.
It opens at 9 a.m. on weekdays, e.g. Monday, i.e. before work, etc. and so on.
She works at Yahoo! in the accounting department.
The book by P.S. Arun, Dear Ann, The Musical, sold well.
It takes 1) a form, 2) a stamp and 3) a fee.
顺序：1. 甲，2. 乙。
"This is great." she said.
“This is great. I know.” she said.
He teaches (He worked for 5 years as an engineer.) at the university.
We sell hats, etc. to shops.
PS. Wash it.
Well ... it depends... on the case.
**Note.** The limit is 500 yuan.
**Title:** the text follows.
“你好！”他说。
我们明天一起去看《摔跤吧！爸爸》好吗？
按照3.2节和第3.2条（见附件。）的规定，版本v2.10.1可用。
约翰.史密斯于1990年出生。
《好吗？》很好。
嗯……好。
甲方负责付款；乙方负责交货。
他把“真的吗？”说了三遍。
"""

# Several, cut at the bars.
CUT = r"""
I agree. |You agree? |They do! |Good.
I live in the U.S. |How about you?
The museum opens at 9 a.m. |Tickets are sold there.
(It was late.) |They left.
I never meant that.... |She left.
It began in 1999. |Then it ended.
Thanks for asking! 😀 |The limit is 500 yuan.
Hello! |how are you?
It was 1999. |then it was over.
Paris is big.[1] |It is old [2]. |It is dear. [3][4] |It is wet.【5†source】
Apply at once. [docA#sec3#chunk12] |Pay later (docA#chunk4). |Go.[^2] |End.
The rest is sand. (Passage 1) |It moves.
[1] Paris is big. |[2] It is old.
The river rose. 4 |Even so, they stayed (all of them). 12 |It fell.
“The shop is good. |I like it there!”
The steps are: |1. Preheat the oven. |2. Mix.
Steps: |1. **Preheat** the oven |2. **Mix** |3. Bake
1) one |2) two |3) three
• 9. one |• 10. two
Above |***** |below
https://a.org/1 |https://b.org/2
步骤：|1. 洗手。|2. 吃饭。
It rose. |5 May 2008 was dry.
It rose. |4 Swiss left.
报销上限为500元。|超出部分自理！|可以吗？|可以。
住宿费500元[1]。|餐费100元。[2]|交通费【3】。|其他［4］。
他一连加了三个晚上的班……|后来睡着了。
他……没有来。
你好!|我是小明?|是的。
流程：①提交申请；|②部门审批；|③财务打款。
第一；|第二；|第三。
“我走了。”|她就走了。
使用Python 3.10版本。|The limit is 500.| 上限是500元。
第一句.| 第二句.
“店很好。|我喜欢那里！”
住宿不超过600元。（doc#4）|交通费另计。（docA#sec3#chunk12；doc#5） |其他自理。
他说“好。”（doc#4）|然后走了！ （docs/a.md#2）|下一步。
（doc#4）说明一。|（doc#5）说明二。|（doc#6）说明三。
运行`git push。`|然后等待。|`ls`显示目录。|``b``也行。
请运行 `ls`。|`pwd` 显示目录。|使用`第一步。第二步`完成。（doc#4）|下一步。
第一句。|**重点**是第二句。**|第三句。
**注意。**|`b`不可用。|_第四_步。
最低气温较低。|-10℃以下停工。|–20℃时停机！|-3.5%的增速。
He left early.|然后他回家了。
Run `make test`. |`pytest` too. |-10 °C is the limit.
"""


def parted(rows: str, places: Callable[[str], Iterable[int]]) -> list[str]:
    """Return the rows whose text is not cut exactly at the bars; blanks do not count."""
    wrong = []
    for row in rows.strip("\n").splitlines():
        text = row.replace("|", "")
        cuts = pairwise([0, *sorted(places(text)), len(text)])
        parts = [part for a, b in cuts if (part := text[a:b].strip())]
        if parts != [part.strip() for part in row.split("|")]:
            wrong.append(row)
    return wrong


def test_where_sentences_begin() -> None:
    def begin(text: str) -> list[int]:
        return [sentence.start for sentence in split(text)]

    assert parted(WHOLE, begin) == []
    assert parted(CUT, begin) == []


LAYOUT: list[list[str]] = [
    ["One.\n\n", "Two."],
    ["One.\r\n", "Two.\r", "Three.\u2028", "Four."],
    ["Eligibility\n", "Employees may apply."],
    ["报销标准\n", "住宿费不超过500元。"],
    ["**Title**\n", "Text."],
    # List items.
    ["Steps:\n", "- one\n", "* two\n", "• three\n", "1. four\n", "2) five. ", "Six."],
    ["(1) one\n", "① two\n", "a. three\n", "b) four"],
    ["一、申请\n", "二、审批\n", "（三）打款\n", "4、归档"],
    # Headings, rules.
    ["# No. 1. Two\n", "Text. ", "More."],
    ["It ends here.\n", "---\n", "Next."],
    # Tables, with and without outer bars.
    ["| a. b. | c |\n", "|---|---|\n", "| 1 | 2 |"],
    ["a | b\n", "--- | ---\n", "1 | 2\n\n", "Text"],
    # Fences, closed and not; a fence is closed by its own sign only.
    ["Do:\n", "```\na. b\n\nc. d\n```\n", "End. ", "Now."],
    ["~~~\n```\n~~~\n", "B"],
    ["A\n", "```\nx\n\ny. z"],
    # Wrapped lines are joined; one item a line is not.
    ["This paragraph was cut by a machine, and\nDr. Smith begins a line although\nit goes on."],
    ["出差期间的住宿费用应当按照所在城市的标准执行，\n超出部分由个人承担。"],
    ["apples\n", "pears\n", "plums"],
    ["一线城市住宿费上限为五百元\n", "其他城市住宿费上限为三百元"],
]


@pytest.mark.parametrize("parts", LAYOUT)
def test_layout(parts: list[str]) -> None:
    assert texts("".join(parts)) == [part.strip() for part in parts]


PIECES = (
    *("Paris", "the", "Dr.", "U.S.", "e.g.", "3.5", "No.", "I", "a.m.", "1.", "2)", "iPhone"),
    *("**b**", ".", ". ", "! ", "? ", "...", "…", "?!", ", ", "; ", " ", "  ", "\n", "\n\n"),
    *("\r\n", "\u2028", "。", "！", "？", "；", "；（2）", "……", "”", "“", "（", "）", "《"),
    *("》", "「", "」", '"', "'", "(", ")", "报销", "标准", "他说", "的", "[1]", "[1] "),
    *("【2†source】", "[docA#c1]", "(docA#c2)", "[^3]", "[", "]", "```\n", "~~~\n"),
    *("| a | b |\n", "|---|---|\n", "# ", "- ", "• ", "---\n", "https://a.b/c ", ":)", " :) A"),
    *("*****", "\u00a0", "\ud800", "\x00", "😀", "e\u0301", "؟ "),
)


@given(st.lists(st.sampled_from(PIECES), max_size=40).map("".join) | st.text(max_size=60))
def test_sentences_are_exact_ordered_and_hold_every_character(answer: str) -> None:
    check(answer, split(answer))


def test_a_paragraph_beyond_one_piece_is_split_like_a_short_one() -> None:
    words = ["Dr. Smith saw it in the U.S. and left.", "It was 3.5 metres long, e.g. here."]
    parts = [words[number * number % 7 % 2] for number in range(1_500)]
    assert texts(" ".join(parts)) == parts


def test_an_answer_of_too_many_sentences_is_one() -> None:
    answer = " \n```\na\n```\nb\nIt is so. It was.\n"
    assert len(split(answer, 4)) == 4
    assert [each.text for each in split(answer, 3)] == [answer.strip()]
    assert split(" \n ", 0) == ()
