import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.review.cells import cell, fit, legible, neutralise, restore
from judge.review.delimited import csv_row
from judge.review.words import LANGS, Lang

# Every code point, lone surrogates too, and often what starts a formula.
ANY_TEXT = st.text(st.characters(codec=None, exclude_categories=()))
TRICKY = st.text(st.sampled_from("' =+-@＝＋－＠\t\r\na中;,\"\u200c"))
SIGNS = ("=", "+", "-", "@", "＝", "＋", "－", "＠")
LANG = st.sampled_from(LANGS)


def utf16_units(text: str) -> int:
    return sum(2 if ord(character) > 0xFFFF else 1 for character in text)


@pytest.mark.parametrize(
    ("text", "stands"),
    [
        ("=1+1", "'=1+1"),
        ("+86 10", "'+86 10"),
        ("-3 °C", "'-3 °C"),
        ("@SUM(A1)", "'@SUM(A1)"),
        ("\tx", "'\tx"),
        ("\rx", "'\rx"),
        ("\nx", "'\nx"),
        ("  =1", "'  =1"),
        ("\u3000＝1", "'\u3000＝1"),
        ("＋5", "'＋5"),
        ("－5", "'－5"),
        ("＠a", "'＠a"),
        ("'=1", "''=1"),
        ("'''=1", "''''=1"),
        ("'\tx", "''\tx"),
        ("1=1", "1=1"),
        ("'tis", "'tis"),
        ("—dash", "—dash"),
        (" text", " text"),
        ("'", "'"),
        ("", ""),
    ],
)
def test_an_apostrophe_stands_before_what_could_be_a_formula(text: str, stands: str) -> None:
    assert neutralise(text) == stands
    assert restore(stands) == text


@pytest.mark.parametrize(
    ("text", "stands"),
    [
        ("see;=1+1;end", "see;|=1+1;end"),
        ("a;  @b", "a;  |@b"),
        ("a\tb\t+1", "a\tb\t|+1"),
        ("\t=1", "'\t|=1"),
        ("list:\n- one\n\n- two", "list:\n|- one\n\n|- two"),
        ('a;"=1"', 'a;"|=1"'),
        ('a" ; "" ＝1', 'a" ; "" |＝1'),
        ("a;|=1", "a;||=1"),
        ("a;'=1", "a;'=1"),
        ("a;b=1", "a;b=1"),
        ('a "=1" b', 'a "=1" b'),
        ("a, =1", "a, =1"),
        ("plain; text", "plain; text"),
        ("a;|b", "a;|b"),
    ],
)
def test_nothing_seen_stands_before_what_a_split_would_make_a_formula(
    text: str, stands: str
) -> None:
    text, stands = text.replace("|", "\u200c"), stands.replace("|", "\u200c")
    assert neutralise(text) == stands
    assert restore(stands) == text


@given(st.lists(ANY_TEXT | TRICKY, max_size=4), st.sampled_from(",;\t"))
def test_no_part_of_a_row_begins_as_a_formula_does(texts: list[str], delimiter: str) -> None:
    line = csv_row(["r_1", *(cell(text, "en") for text in texts), ""])
    # As Excel and LibreOffice read it: what follows a closing quotation mark belongs to the cell.
    parts = csv.reader(io.StringIO(line, newline=""), delimiter=delimiter)
    assert not [part for row in parts for part in row if part.strip().startswith(SIGNS)]


def test_a_cell_whose_apostrophe_was_swallowed_is_itself() -> None:
    assert restore("=1+1") == "=1+1"


@given(ANY_TEXT | TRICKY)
def test_every_text_comes_back(text: str) -> None:
    assert restore(neutralise(text)) == text


@given(ANY_TEXT | TRICKY)
def test_no_cell_begins_as_a_formula_does(text: str) -> None:
    stands = neutralise(text)
    assert not stands.startswith(("\t", "\r", "\n"))
    assert not stands.strip().startswith(SIGNS)


@pytest.mark.parametrize("sign", ["'", " ", "\n", ";", '"', "\u200c", "\n=", ";\u200c"])
def test_a_million_signs_take_no_time(sign: str) -> None:
    text = "a" + sign * 1_000_000 + "a"
    assert restore(neutralise(text)) == text


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("a\r\nb\rc\nd", "a\nb\nc\nd"),
        ("\x00\x07\x1b[31m\x7f", "␀␇␛[31m␡"),
        ("tab\tstays", "tab\tstays"),
        ("half \ud83d", "half \ufffd"),
        ("\ufffe\uffff\x85", "\ufffd\ufffd\ufffd"),
        ("no \u202eesrever", "no \ufffdesrever"),
        ("中文，👩‍👩‍👧 é", "中文，👩‍👩‍👧 é"),
    ],
)
def test_what_a_file_cannot_hold_is_shown(text: str, seen: str) -> None:
    assert legible(text) == seen


@given(ANY_TEXT)
def test_legible_text_is_legible_as_it_is(text: str) -> None:
    seen = legible(text)
    assert legible(seen) == seen
    seen.encode()
    assert "\r" not in seen


def test_a_text_that_fits_is_left_alone() -> None:
    assert fit("中" * 30_000, "zh") == "中" * 30_000
    # Apostrophe and all: 2 + 15 000 + 2 × 8 000 is under Excel's 32 767.
    mixed = "=" + "a" * 15_000 + "👍" * 8_000
    assert cell(mixed, "en") == "'" + mixed


# The marks have 31 and 18 characters: 41 000 - (30 000 - 31) and 41 000 - (30 000 - 18) are cut.
@pytest.mark.parametrize(
    ("lang", "mark"),
    [("en", "… [cut: 11 031 characters more]"), ("zh", "…［已截断，另有 11 018 字］")],
)
def test_what_is_cut_is_counted(lang: Lang, mark: str) -> None:
    kept = fit("a" * 41_000, lang)
    assert kept == "a" * (30_000 - len(mark)) + mark


UNITS = ["a", "中", "👍", "=👍a", "e\u0301", "👩‍👩‍👧", "\r\n", "\x00", "🇨🇳", "text\n- "]


@given(LANG, st.sampled_from(UNITS))
def test_every_cell_fits_excel(lang: Lang, unit: str) -> None:
    stands = cell(unit * 40_000, lang)
    assert utf16_units(stands) <= 32_767
    assert utf16_units(stands) > 29_900
    assert len(restore(stands)) <= 30_000
    assert cell(restore(stands), lang) == stands


def test_a_cell_of_nothing_but_formulas_fits_excel() -> None:
    for length in (10_000, 15_000, 40_000):
        stands = cell(";=" * length, "en")
        assert 20_000 < utf16_units(stands) <= 32_767
        assert cell(restore(stands), "en") == stands


@pytest.mark.parametrize("cluster", ["e\u0301\u0323", "👩‍👩‍👧", "👍🏽", "✔\ufe0f", "क\u094d"])
def test_a_cut_parts_no_letter_and_no_emoji(cluster: str) -> None:
    for before in range(10):
        kept = fit("." * before + cluster * 12_000, "en").partition("…")[0]
        assert kept == "." * before + cluster * ((len(kept) - before) // len(cluster))


def test_one_endless_letter_is_cut_where_the_room_ends() -> None:
    kept = fit("e" + "\u0301" * 50_000, "en")
    assert len(kept) > 29_990


@given(st.lists(ANY_TEXT | TRICKY, min_size=1, max_size=5), LANG)
def test_a_cell_survives_csv(texts: list[str], lang: Lang) -> None:
    out = io.StringIO()
    csv.writer(out).writerow([cell(text, lang) for text in texts])
    cells = next(csv.reader(io.StringIO(out.getvalue(), newline="")))
    assert [restore(text) for text in cells] == [legible(text) for text in texts]
