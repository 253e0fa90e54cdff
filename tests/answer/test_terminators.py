import pytest

from judge.answer.terminators import MARKER, candidates, enclosed, ends_sentence, full_width


@pytest.mark.parametrize(
    ("text", "ends"),
    [
        ("你好。再见。", ["你好。", "再见。"]),
        ("真的吗？！是。", ["真的吗？！", "是。"]),
        ("他说“好。”她走了。", ["他说“好。”", "她走了。"]),
        ("见[1]。[2]对。", ["见[1]。[2]", "对。"]),
        ("a.) b", ["a.)"]),
        ("so . . . Next", ["so . . ."]),
        ("x [...] y", []),
    ],
)
def test_a_candidate_takes_what_belongs_to_its_stop(text: str, ends: list[str]) -> None:
    found = [candidate.end for candidate in candidates(text, spaced_marks=True)]
    assert len(found) == len(ends)
    assert all(text[:end].endswith(part) for end, part in zip(found, ends, strict=True))


def test_a_marker_across_white_space_belongs_to_the_stop_only_where_asked() -> None:
    (near,) = candidates("It is. [1] ", spaced_marks=True)
    (apart,) = candidates("It is. [1] ", spaced_marks=False)
    assert (near.end, apart.end) == (10, 6)


@pytest.mark.parametrize(
    "text",
    [
        *[
            "[1]",
            "[1,2]",
            "[1-3]",
            "【2】",
            "【2†source】",
            "［1］",
            "[^2]",
            "[docA#sec3#chunk12]",
            "(docA#chunk4)",
        ],
        "[1, 2]",
        "(Passage 3)",
        "（文档1）",
    ],
)
def test_markers(text: str) -> None:
    assert MARKER.fullmatch(text)


@pytest.mark.parametrize("text", ["[sic]", "【注意】", "[text1](url)", "(see above)", "（注）"])
def test_not_markers(text: str) -> None:
    assert not MARKER.match(text)


@pytest.mark.parametrize(
    ("text", "end"),
    [
        ("It rose. 4 Even so", 10),
        ("It rose (again). 12 The", 19),
        # A date, an item of a list, no word that begins a sentence, numbered abbreviations.
        ("It rose. 5 May 2008", 8),
        ("It rose. 4  The next", 8),
        ("It rose. 4 Swiss left", 8),
        ("See Vol. 2 The Growth", 8),
        ("Arsenal F.C. 20 The", 12),
        ("1 It rose. 2 The", 10),
    ],
)
def test_the_number_of_a_footnote_belongs_to_the_stop_before_it(text: str, end: int) -> None:
    *_, last = candidates(text, spaced_marks=True)
    assert last.end == end


def test_enclosed_matter() -> None:
    text = "看《你好！李焕英》（好。）"
    assert [text[start:end] for start, end in enclosed(text)] == ["《你好！李焕英》", "（好。）"]


def test_a_quotation_that_is_the_whole_text_encloses_nothing() -> None:
    assert list(enclosed("“好。很好。”")) == list(enclosed("“Good. Very good.”")) == []
    assert list(enclosed("(Good. Very good.)")) == [(0, 18)]


def decided(text: str) -> list[bool]:
    return [
        ends_sentence(text, candidate, 0)
        for candidate in candidates(text, spaced_marks=True)
        if full_width(text, candidate)
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("“你好！”他说。", [False, True]),
        ("“我走了。”她就走了。", [True, True]),
        ("《好吗？》很好。", [False, True]),
        ("第一；第二；第三。", [True, True, True]),
        ("甲方付款；乙方交货。", [False, True]),
        ("价格" * 31 + "；" + "条件" * 31 + "。", [True, True]),
        ("嗯……好。", [False, True]),
    ],
)
def test_ends_of_chinese_sentences(text: str, expected: list[bool]) -> None:
    assert decided(text) == expected
