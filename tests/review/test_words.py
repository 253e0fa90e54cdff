import re
import tomllib
from importlib.resources import files
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.records.verdict import Support
from judge.review.words import (
    LANGS,
    Lang,
    Reading,
    choices,
    column_of,
    cut_mark,
    header,
    read_label,
)

COLUMNS = [
    "review_id",
    "query",
    "answer",
    "sentence",
    "chunks",
    "human_support",
    "human_note",
    "reviewer",
    "judge_support",
    "judge_quote",
]
FULL = Reading(Support.FULL, supported=True)
PARTIAL = Reading(Support.PARTIAL, supported=False)
NONE = Reading(Support.NONE, supported=False)
CONTRADICTED = Reading(Support.CONTRADICTED, supported=False)
NO_CLAIM = Reading(Support.NO_CLAIM, supported=False)
NO = Reading(None, supported=False)

WORDS = {
    FULL: "是 yes Y true TRUE 1 1.0 ✓ ✔️ √ 支持 完全支持 full Supported fully_supported",
    PARTIAL: "部分 部分支持 partial PARTIALLY partially_supported Ｐａｒｔｉａｌ",
    NONE: "不支持 none not_supported unsupported 无依据",
    CONTRADICTED: "矛盾 相矛盾 contradicted contradiction refuted",
    NO_CLAIM: "no_claim no-claim No_Claim 无论断 非论断",
    NO: "否 no N false FALSE 0 ０ 0.0 ✗ ×",
}


@pytest.mark.parametrize(
    ("word", "reading"),
    [(word, reading) for reading, all_ in WORDS.items() for word in all_.split()],
)
def test_a_label_in_either_language(word: str, reading: Reading) -> None:
    assert read_label(word) == reading


@pytest.mark.parametrize(
    ("text", "reading"),
    [
        (" 部分。\n", PARTIAL),
        ("“支持”", FULL),
        ("'full'", FULL),
        ("Not  Supported.", NONE),
        ("no\u3000claim！", NO_CLAIM),
        ("\ufeffyes", FULL),
        ("\u200bno", NO),
    ],
)
def test_what_stands_around_a_label_does_not_matter(text: str, reading: Reading) -> None:
    assert read_label(text) == reading


TYPED = {
    FULL: "full support, fully support, Support, supports, completely supported, 有依据, 全部支持,"
    "充分支持, 是的。, 有依據",
    PARTIAL: "part, 部分有依据, 部分有依據",
    NONE: "Not Support, no evidence, not found, not mentioned, 未支持, 没有支持, 沒有支持,"
    "沒有依據, 未提及, 未提到",
    CONTRADICTED: "contradict, conflict, Conflicts, conflicting, refutes, 互相矛盾, 有矛盾, 冲突,"
    "衝突, 与原文矛盾, 與原文矛盾",
    NO_CLAIM: "not a claim, no claim, 没有论断, 沒有論斷, 不是论断, 不是論斷, 非陈述, 非陳述",
    NO: "not fully supported, Not full., 非完全支持, 不完全支持, ☒, ╳",
}


@pytest.mark.parametrize(
    ("text", "reading"),
    [(text, reading) for reading, all_ in TYPED.items() for text in all_.split(",")],
)
def test_what_people_type_for_a_label(text: str, reading: Reading) -> None:
    assert read_label(text) == reading


def test_no_word_stands_for_two_labels() -> None:
    data = tomllib.loads(files("judge").joinpath("data", "review.toml").read_text("utf-8"))
    entries = [[word for lang in LANGS for word in entry[lang]] for entry in data["labels"]]
    readings = [{read_label(word) for word in words} for words in entries]
    assert [len(found) for found in readings] == [1] * 6
    assert len(set().union(*readings)) == 6


@pytest.mark.parametrize("text", ["", "  ", "\n\t", "\u3000", "\u200b"])
def test_a_blank_cell_is_no_label_yet(text: str) -> None:
    assert read_label(text) is None


@pytest.mark.parametrize(
    "text",
    [
        *["?", "yes?", "no?", "-1", "-", "_", ".", "0.5", "2", "x", "X", "o", "ok", "mostly"],
        *["maybe", "n/a", "无", "没有", "未", "不", "对", "错", "正确", "相反", "大概", "基本支持"],
    ],
)
def test_any_other_word_is_refused_by_name(text: str) -> None:
    with pytest.raises(ValueError, match=re.escape(repr(text))) as error:
        read_label(text)
    assert "no_claim" in str(error.value)
    assert "部分支持" in str(error.value)


def test_a_long_word_is_refused_in_short() -> None:
    with pytest.raises(ValueError, match="no label") as error:
        read_label("長" * 100_000)
    assert len(str(error.value)) < 250


@given(st.text())
def test_any_text_is_a_reading_blank_or_refused(text: str) -> None:
    try:
        reading = read_label(text)
    except ValueError:
        return
    assert reading is None or reading.supported is (reading.support is Support.FULL)


@pytest.mark.parametrize("lang", get_args(Lang))
def test_the_words_offered_are_the_judges_scale(lang: Lang) -> None:
    readings = [read_label(word) for word in choices(lang)]
    assert [reading and reading.support for reading in readings] == list(Support)


@pytest.mark.parametrize("column", COLUMNS)
def test_a_header_is_recognised_in_both_languages(column: str) -> None:
    for lang in LANGS:
        assert column_of(header(column, lang)) == column


def test_english_headers_are_the_canonical_names() -> None:
    assert [header(column, "en") for column in COLUMNS] == COLUMNS
    assert len({header(column, "zh") for column in COLUMNS}) == len(COLUMNS)


@pytest.mark.parametrize(
    "text",
    [
        "Human Support",
        "HUMAN_SUPPORT",
        "\ufeffhuman_support",
        "ｈｕｍａｎ＿ｓｕｐｐｏｒｔ",
        " 人工 判断 ",
    ],
)
def test_a_header_however_it_is_spelled(text: str) -> None:
    assert column_of(text) == "human_support"


@pytest.mark.parametrize("text", ["", " ", "_", "support", "id", "价格"])
def test_other_headers_are_not_ours(text: str) -> None:
    assert column_of(text) is None


def test_the_mark_of_a_cut() -> None:
    assert cut_mark(7, "en") == "… [cut: 7 characters more]"
    assert cut_mark(41_234, "zh") == "…［已截断，另有 41 234 字］"
