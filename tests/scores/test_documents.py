import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.scores.documents import Documents


@pytest.mark.parametrize(
    ("chunk", "document"),
    [
        ("docA", "docA"),
        ("docA#1", "docA"),
        ("docA_1", "docA"),
        ("docA 1", "docA"),
        ("docA-2", "docA-2"),
        ("docA-2#7", "docA-2"),
        ("docA-27", "docA"),
        ("docAB", "docAB"),
        ("docA1", "docA1"),
        ("docA文", "docA"),
        ("docA第三章", "docA"),
        ("docA文2", "docA"),
        ("DOCA#1", "DOCA#1"),
        ("doc", "doc"),
        ("", ""),
        ("报销制度#第三章", "报销制度"),
        ("报销制度（2024）", "报销制度"),
        ("报销制度补充", "报销制度补充"),
        ("报销制度2", "报销制度"),
        ("报销制度A", "报销制度"),
        ("报销制度２", "报销制度"),
        ("手册.pdf第1页", "手册.pdf"),
        ("手册.pdfx", "手册.pdfx"),
        ("ガイド第1章", "ガイド第1章"),
        ("ガイドv2", "ガイド"),
        ("kb#7", "kb#"),
        ("kb#", "kb#"),
        ("kb", "kb"),
    ],
)
def test_whose_chunk_it_is(chunk: str, document: str) -> None:
    names = ["docA", "", "docA-2", "报销制度", "kb#", "手册.pdf", "ガイド", "docA"]
    for order in (names, names[::-1]):
        assert Documents(order).of(chunk) == document


def test_an_accent_is_part_of_its_letter() -> None:
    # Letters written with marks: an e and its accent, a Devanagari syllable, a voiced kana.
    for chunk, name in (("cafe\u0301", "cafe"), ("\u0915\u093e", "\u0915"), ("か\u3099", "か")):
        assert Documents([name]).of(chunk) == chunk


NAMES = st.text(alphabet="aB1#_文章。", max_size=6)


def kind(character: str) -> str:
    return "other" if character in "aB1" else "chinese" if character in "文章" else ""


@given(st.lists(NAMES, max_size=6), NAMES)
def test_it_is_the_longest_that_it_begins_with(names: list[str], chunk: str) -> None:
    found = Documents(names).of(chunk)
    assert chunk.startswith(found)
    if found not in names:
        assert found == chunk
    ends = [end for end in range(1, len(chunk) + 1) if chunk[:end] in names]
    parted = [
        end
        for end in ends
        if end == len(chunk) or kind(chunk[end]) != kind(chunk[end - 1]) or not kind(chunk[end])
    ]
    assert found == (chunk[: max(parted)] if parted else chunk)


def test_many_documents_cost_no_more_for_each_chunk() -> None:
    documents = Documents(f"document{number}" for number in range(100_000))
    began = time.thread_time()
    for number in range(5000):
        assert documents.of(f"document{number}#3") == f"document{number}"
    # Looked at one by one the names would take minutes.
    assert time.thread_time() - began < 1
