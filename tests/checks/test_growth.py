"""Texts made to stall a check: its time grows with their length and no faster."""

from collections.abc import Callable

from judge.checks.injection import reads_like_orders
from judge.checks.quotes import find_quote
from tests.growth import squared

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


def test_looking_for_orders_takes_linear_time() -> None:
    orders = [made(unit, head) for head, unit in ORDERS]
    # What is found is not searched to the end.
    assert [make(10)[:30] for make in orders if reads_like_orders(make(10_000))] == []
    assert squared(reads_like_orders, orders, 5_000) == []


def test_searching_a_quote_takes_linear_time() -> None:
    def search(row: tuple[str, str, str]) -> Callable[[str], object]:
        head, part, chunk = row
        return lambda text: find_quote(head + part * len(text), head + chunk * 2 * len(text))

    assert [row for row in QUOTED if squared(search(row), [made("x")], 4_000)] == []
