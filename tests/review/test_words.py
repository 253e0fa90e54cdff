import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judge.messages import LANGS
from judge.records import Support
from judge.review.sheet import BLIND, OPEN
from judge.review.words import Reading, choices, column_of, header, read_label

COLUMNS = [*BLIND, *(column for column in OPEN if column not in BLIND)]
FULL = Reading(Support.FULL, supported=True)
PARTIAL = Reading(Support.PARTIAL, supported=False)
NONE = Reading(Support.NONE, supported=False)
CONTRADICTED = Reading(Support.CONTRADICTED, supported=False)
NO_CLAIM = Reading(Support.NO_CLAIM, supported=False)
NO = Reading(None, supported=False)

TYPED = {
    FULL: "是,yes,Y,true,TRUE,1,1.0,✓,✔️,√,支持,完全支持,full,Supported,fully_supported,"
    "full support,"
    "fully support, Support, supports, completely supported, 有依据, 全部支持,充分支持, 是的。,"
    "有依據,“支持”,'full',\ufeffyes",
    PARTIAL: "部分,部分支持,partial,PARTIALLY,partially_supported,Ｐａｒｔｉａｌ,part, 部分有依据,"
    "部分有依據, 部分。\n",
    NONE: "不支持,none,not_supported,unsupported,无依据,Not Support, no evidence, not found,"
    "not mentioned, 未支持, 没有支持, 沒有支持,沒有依據, 未提及, 未提到,Not  Supported.",
    CONTRADICTED: "矛盾,相矛盾,contradicted,contradiction,refuted,contradict, conflict, Conflicts,"
    "conflicting, refutes, 互相矛盾, 有矛盾, 冲突,衝突, 与原文矛盾, 與原文矛盾",
    NO_CLAIM: "no_claim,no-claim,No_Claim,无论断,非论断,not a claim, no claim, 没有论断, 沒有論斷,"
    "不是论断, 不是論斷, 非陈述, 非陳述,no\u3000claim！",
    NO: "否,no,N,false,FALSE,0,０,0.0,✗,×,not fully supported, Not full., 非完全支持, 不完全支持,"
    "☒, ╳,\u200bno",
}


def test_what_people_write_for_a_label_in_either_language() -> None:
    table = {text: reading for reading, all_ in TYPED.items() for text in all_.split(",")}
    assert {text: read_label(text) for text in table} == table
    assert [read_label(blank) for blank in ("", "  ", "\n\t", "\u3000", "\u200b")] == [None] * 5


def test_the_words_offered_are_the_judges_scale() -> None:
    for lang in LANGS:
        readings = [read_label(word) for word in choices(lang)]
        assert [reading and reading.support for reading in readings] == list(Support)


def test_any_other_word_is_refused_by_name() -> None:
    others = "? yes? no? -1 - _ . 0.5 2 x X o ok mostly maybe n/a 无 没有 未 不 对 错"
    for text in (*others.split(), "正确", "相反", "大概", "基本支持"):
        with pytest.raises(ValueError, match=re.escape(repr(text))) as error:
            read_label(text)
        assert "no_claim" in str(error.value)
        assert "部分支持" in str(error.value)
    with pytest.raises(ValueError, match="no label") as error:
        read_label("長" * 100_000)
    assert len(str(error.value)) < 250


@settings(deadline=None)
@given(st.text())
def test_any_text_is_a_reading_blank_or_refused(text: str) -> None:
    try:
        reading = read_label(text)
    except ValueError:
        return
    assert reading is None or reading.supported is (reading.support is Support.FULL)


def test_headers_are_known_in_both_languages_however_they_are_spelled() -> None:
    assert [header(column, "en") for column in COLUMNS] == COLUMNS
    for lang in LANGS:
        assert [column_of(header(column, lang)) for column in COLUMNS] == COLUMNS
    spelled = [
        "Human Support",
        "HUMAN_SUPPORT",
        "\ufeffhuman_support",
        "ｈｕｍａｎ＿ｓｕｐｐｏｒｔ",
        " 人工 判断 ",
    ]
    assert {column_of(text) for text in spelled} == {"human_support"}
    assert {column_of(text) for text in ("", " ", "_", "support", "id", "价格")} == {None}
