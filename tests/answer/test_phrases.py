import pytest

from judge.answer.phrases import find_phrases


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("In Passage 2 it", [("Passage 2", ("2",))]),
        ("doc #3", [("doc #3", ("3",))]),
        ("source no. 4.", [("source no. 4", ("4",))]),
        ("passages 1, 2 and 5", [("passages 1, 2 and 5", ("1", "2", "5"))]),
        ("passages 1-3", [("passages 1-3", ("1", "2", "3"))]),
        ("文档1至3说", [("文档1至3", ("1", "2", "3"))]),
        ("资料 ２、４", [("资料 ２、４", ("2", "4"))]),
        ("根据文档1和3个人", [("文档1", ("1",))]),
        ("my_source 1, the-chunk 2", []),
        ("source 1st, doc 2.5, chunk 3%", []),
        ("passage two", []),
        ("```\npassage 1\n```\npassage 2", [("passage 2", ("2",))]),
        ("`passage 1`passage 2`passage 3`", [("passage 2", ("2",))]),
    ],
)
def test_find_phrases(text: str, expected: list[tuple[str, tuple[str, ...]]]) -> None:
    assert [(text[p.start : p.end], p.numbers) for p in find_phrases(text)] == expected
