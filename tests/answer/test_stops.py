from itertools import pairwise

from judge.answer.stops import Place, candidates, enclosed, ends_sentence

# What each stop takes with it: closing signs, markers, the number of a footnote.
TAKEN: list[list[str]] = [
    ["你好。", "再见。"],
    ["真的吗？！", "是。"],
    ["他说“好。”", "她走了。"],
    ["见[1]。[2]", "对。"],
    ["a.)", " b"],
    ["so . . .", " Next"],
    ["x [...] y"],
    ["It is. [1]", " "],
    ["It rose. 4", " Even so"],
    ["It rose (again). 12", " The"],
    # No date, no item of a list, no word that begins a sentence, no numbered abbreviation; and
    # none where numbers stand before the sentences.
    ["It rose.", " 5 May 2008"],
    ["It rose.", " 4  The next"],
    ["It rose.", " 4 Swiss left"],
    ["See Vol.", " 2 The Growth"],
    ["Arsenal F.", "C.", " 20 The"],
    ["1 It rose.", " 2 The"],
]


def test_a_candidate_takes_what_belongs_to_its_stop() -> None:
    for parts in TAKEN:
        text = "".join(parts)
        ends = [candidate.end for candidate in candidates(text, spaced_marks=True)]
        cuts = sorted({0, *ends, len(text)})
        assert [text[a:b] for a, b in pairwise(cuts)] == parts


def test_a_marker_across_white_space_belongs_to_the_stop_only_where_asked() -> None:
    (apart,) = candidates("It is. [1] ", spaced_marks=False)
    assert apart.end == 6


def test_enclosed_matter() -> None:
    text = "看《你好！李焕英》（好。）"
    assert [text[start:end] for start, end in enclosed(text)] == ["《你好！李焕英》", "（好。）"]


def test_a_quotation_that_is_the_whole_text_encloses_nothing() -> None:
    assert list(enclosed("“好。很好。”")) == list(enclosed("“Good. Very good.”")) == []
    assert list(enclosed("(Good. Very good.)")) == [(0, 18)]


def test_punkt_is_asked_only_where_words_do_not_tell() -> None:
    def ends(text: str, *punkt: int) -> bool:
        (found,) = (c for c in candidates(text, spaced_marks=True) if c.end < len(text))
        return ends_sentence(Place(text, found, 0), lambda: set(punkt))

    assert ends("It was sold to Acme Inc. The price", 24)
    assert not ends("It was sold to Acme Inc. The price")
    assert ends("It is 3 in. (4 cm)", 11)
    assert ends("The dog ran. A cat slept")
