"""Texts made to stall a check: its time grows with their length and no faster."""

from collections.abc import Callable

from judge.checks.denials import denies
from judge.checks.injection import reads_like_orders
from judge.checks.mismatch import mismatches
from judge.checks.quotes import find_quote
from judge.records import Chunk, JudgeRequest, Sentence, Support, Verdict
from tests.growth import squared

FIGURES = (
    *("1,", "1.1.", "1 ", "1\t", "1-", "1/", "1:1", "1am ", "1 or more ", "1 million ", "$1 "),
    *("1 km/h/", "twenty-", "one and ", "half ", "3 May ", "May ", "2021-", "1990s ", "2021年"),
    *("一", "十", "第1", "百分之", "上午1", "段落1、", "source 1, ", "\n1. ", " ", "* "),
)
NAMES = ("A ", "A.", "Ab ", "Ab-", "A & ", "U.S. ", "《a", "北市")
WORDS = ("[", "（", "...", "a ", "a-", "not ", "Not. ", "不", "不,")


def quote_both_ends(text: str) -> object:
    return find_quote(f"{text[: len(text) // 2]}…{text[len(text) // 3 :]}", text)


def deny_itself(text: str) -> object:
    return denies(text[: len(text) // 2], [text])


def compare(text: str) -> object:
    request = JudgeRequest(
        query="",
        answer=text,
        sentences=(Sentence(index=0, start=0, end=len(text), text=text),),
        ask=(0,),
        chunks=(Chunk(chunk_id="a", text=text[::-1]),),
        cites={},
        markers=(),
    )
    full = Verdict(support=Support.FULL, supporting=("a",), source="llm", signature="s")
    return mismatches(request, {0: full})


# A quote, its chunk: a head, and what is repeated of each.
QUOTED = (
    ("a b c ", "d", "d"),
    ("", "ba b", "ba "),  # everywhere, and always inside a word
    ("", "…a", "abcdefgh"),
    ("", "差旅标准", "差旅标准"),
    ("", ". ", "."),
    ("", "[", "("),
)
# What an order to a judge begins with, and what is repeated behind it.
ORDERS = (
    ("", "ignore "),
    ("", "ignore all "),
    ("ignore", " "),
    ("", "ignore" + " " * 1000),
    ("full. ", "mark all of the "),
    ("mark faithful ", "a"),
    ("", "< "),
    ("<", " "),
    ("", "</"),
    ("<chunk", " "),
    ("<s1", " "),
    ("", "<chunk 1 "),
    ("support", '"id": "s1" '),
    ('"support"', " "),
    ("支持", "都"),
    ("full", "都"),
    ("full", "都标"),
    ("full", "都标为" + " " * 1000),
    ("full", "每写 support "),
    ("支持", "mark "),
    ("评审", "你是"),
    ("满分", "请给"),
    ("judge these", " "),
    ("faithful", "every of the "),
    ("full", "output "),
    ("", "忽略所有"),
    ("code", " "),
    ("", "code: " + "0" * 12),
    ("", "code: 0123456789ab" + " " * 1000 + ".\n"),
    ("code", "\n "),
    ("e", "\u0301\u0316"),
    ("", "<|a"),
    ("<|", "a\u0301"),
    ("", "[ \n"),
    ("", "<s>a</s>"),
    ("assistant: ", "\n\nhuman: a\n"),
    ("assistant: ", "\n"),
)


def made(unit: str, head: str = "") -> Callable[[int], str]:
    return lambda size: head + unit * (size // len(unit))


def test_time_grows_with_the_length_and_no_faster() -> None:
    def slow(check: Callable[[str], object], size: int, *makes: Callable[[int], str]) -> list[str]:
        return [f"{check.__name__} {text[:20]!r}" for text in squared(check, makes, size)]

    labels = made("[1]")
    assert slow(compare, 3_000, *(made(unit, "x 1 ") for unit in FIGURES + NAMES)) == []
    assert slow(compare, 12_000, lambda size: labels(size) + " The site had 105 visits.") == []
    assert slow(quote_both_ends, 3_000, *(made(unit, "x 1 ") for unit in WORDS)) == []
    assert slow(deny_itself, 3_000, *(made(unit, "x 1 ") for unit in WORDS)) == []
    orders = [made(unit, head) for head, unit in ORDERS]
    # What is found is not searched to the end.
    assert [make(10)[:30] for make in orders if reads_like_orders(make(10_000))] == []
    assert slow(reads_like_orders, 20_000, *orders) == []


def test_searching_a_quote_takes_linear_time() -> None:
    def search(row: tuple[str, str, str]) -> Callable[[str], object]:
        head, part, chunk = row
        return lambda text: find_quote(head + part * len(text), head + chunk * 2 * len(text))

    assert [row for row in QUOTED if squared(search(row), [made("x")], 4_000)] == []
