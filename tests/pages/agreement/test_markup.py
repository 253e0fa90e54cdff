import html
import re
from xml.etree import ElementTree as ET

from hypothesis import given
from hypothesis import strategies as st

from judge.pages.agreement.markup import (
    definitions,
    figure,
    outside,
    passage,
    table,
    tag,
    text,
    void,
)


def test_text_and_attributes_cannot_be_broken_out_of() -> None:
    assert tag("p", text("a < b & c"), class_="x") == '<p class="x">a &lt; b &amp; c</p>'
    assert tag("td", data_label='"><script>') == '<td data-label="&quot;&gt;&lt;script&gt;"></td>'
    assert void("meta", charset="utf-8") == '<meta charset="utf-8">'
    assert figure("1 %") == '<span class="figure">1 %</span>'


def test_words_from_outside_are_one_line_that_steers_nothing() -> None:
    assert outside("a\r\n b\u202ec") == '<bdi lang="">a b\ufffdc</bdi>'
    long = outside("长" * 10_000)
    assert long.count("长") == 599
    assert "长…</bdi>" in long


@given(st.text(st.characters(exclude_categories=[])))
def test_nothing_from_outside_is_markup(words: str) -> None:
    shown = outside(words).removeprefix('<bdi lang="">').removesuffix("</bdi>")
    assert not re.search("[<>\"']", shown)
    shown.encode("utf-8")
    assert len(html.unescape(shown)) <= len(words)


def test_each_cell_says_what_it_is_for_a_narrow_window() -> None:
    made = table("Scores", ["Score", "Judge"], [[text("strict"), text("0.5")]])
    assert '>strict</th><td role="cell" data-label="Judge">0.5</td>' in made
    assert ">Scores</caption>" in made


def test_a_table_shown_as_blocks_is_a_table_to_a_screen_reader() -> None:
    made = table("Scores", ["Score", "Judge"], [[text("strict"), text("0.5")]])
    elements = [(e.tag, e.get("role")) for e in ET.fromstring(made).iter()]  # noqa: S314  our own
    assert elements == [
        ("table", "table"),
        ("caption", "caption"),
        ("thead", "rowgroup"),
        ("tr", "row"),
        ("th", "columnheader"),
        ("th", "columnheader"),
        ("tbody", "rowgroup"),
        ("tr", "row"),
        ("th", "rowheader"),
        ("td", "cell"),
    ]


def test_a_passage_runs_the_way_of_its_script() -> None:
    # `auto` looks at the text itself, and not at what lies in elements with a direction.
    assert passage("يفتح <b> المقصف") == (
        '<blockquote dir="auto" lang="">يفتح &lt;b&gt; المقصف</blockquote>'
    )
    assert passage("长" * 10_000).count("长") == 599


def test_definitions_stand_in_pairs() -> None:
    made = definitions([("Row", text("7"))], "said")
    assert made == '<dl class="said"><div><dt>Row</dt><dd>7</dd></div></dl>'
