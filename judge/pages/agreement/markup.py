"""HTML that cannot be broken out of: text becomes markup only by way of these functions."""

from html import escape
from typing import Final, NewType

from judge.text.visible import clip, flat

Html = NewType("Html", str)
"""Markup, as opposed to text."""

_LONGEST: Final = 600
"""Characters of a text from outside that a page shows."""


def tag(name: str, /, *inside: Html, **attributes: str) -> Html:
    """An element; a final `_` of an attribute's name is dropped, other `_` are hyphens.

    >>> tag("p", text("1 < 2"), class_="a")
    '<p class="a">1 &lt; 2</p>'
    """
    return Html(f"<{name}{_attributes(attributes)}>{''.join(inside)}</{name}>")


def void(name: str, /, **attributes: str) -> Html:
    """An element that holds nothing and has no end tag."""
    return Html(f"<{name}{_attributes(attributes)}>")


def text(words: str) -> Html:
    """Words of our own."""
    return Html(escape(words))


def figure(value: str) -> Html:
    """A figure of our own, which no line breaks."""
    return tag("span", text(value), class_="figure")


def outside(words: str) -> Html:
    """Words from outside, on one line, cut where they run on, in a direction of their own.

    >>> outside("<script>")
    '<bdi lang="">&lt;script&gt;</bdi>'
    """
    return tag("bdi", _shown(words), lang="")


def passage(words: str) -> Html:
    """A passage from outside, a paragraph that runs the way its own script does.

    >>> passage("a < b")
    '<blockquote dir="auto" lang="">a &lt; b</blockquote>'
    """
    return tag("blockquote", _shown(words), dir="auto", lang="")


def definitions(rows: list[tuple[str, Html]], class_: str) -> Html:
    """Names, and beside each what it stands for."""
    inside = (tag("div", tag("dt", text(name)), tag("dd", value)) for name, value in rows)
    return tag("dl", *inside, class_=class_)


def table(caption: str, heads: list[str], rows: list[list[Html]]) -> Html:
    """A table whose first column names the rows; narrow windows show each row as a list.

    The roles say what the elements say already, until a style sheet shows them as blocks.
    """
    columns = (tag("th", text(name), scope="col", role="columnheader") for name in heads)
    head = tag("tr", *columns, role="row")
    return tag(
        "table",
        tag("caption", text(caption), role="caption"),
        tag("thead", head, role="rowgroup"),
        tag("tbody", *(_row(heads, row) for row in rows), role="rowgroup"),
        role="table",
    )


def _row(heads: list[str], row: list[Html]) -> Html:
    cells = (
        tag("td", value, role="cell", data_label=name)
        for name, value in zip(heads[1:], row[1:], strict=True)
    )
    return tag("tr", tag("th", row[0], scope="row", role="rowheader"), *cells, role="row")


def _shown(words: str) -> Html:
    return Html(escape(clip(flat(words), _LONGEST)))


def _attributes(attributes: dict[str, str]) -> str:
    return "".join(
        f' {name.removesuffix("_").replace("_", "-")}="{escape(value)}"'
        for name, value in attributes.items()
    )
