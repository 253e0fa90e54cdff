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


def cut(text: str, punkt: set[int]) -> list[str]:
    """The text cut where its candidates end sentences, each taken to be the first."""
    found = [c for c in candidates(text, spaced_marks=True) if c.end < len(text)]
    ends = [c.end for c in found if ends_sentence(Place(text, c, 0), lambda: punkt)]
    return [text[a:b] for a, b in pairwise([0, *ends, len(text)])]


# Punkt, which ends no sentence here, is asked about none of these.
CUT: list[list[str]] = [
    ["He asked!", " She left"],
    ["He asked!she left"],
    ["It is late.", "Then he left"],
    ["1. Wash it"],
    ["PS. Wash it"],
    ["**Note.** Wash it"],
    ["Dr. Smith"],
    ["See fig. 2"],
    ["They met in the U.S. in May"],
    ["They met in the U.S.", " He left"],
    ["We sell hats, etc.", " Orders arrive"],
    ["We sell hats, etc. to shops"],
    ["It was open until 9 p.m.", " Visitors left"],
    ["At 9 p.m. Mr"],
    ["It was 1999.", " Then"],
    # A name with a sign, where it is the subject; an outcry; a question.
    ["Jeopardy! is a game"],
    ["Yahoo! offered it"],
    ["Hello!", " how are you"],
    ["Wow!", " this is new"],
    ["Oslo?", " are you sure"],
    # Inches, feet and counts before what goes on with them.
    ["It is 3 in. tall"],
    ["It is 3 ft. 5 in. tall"],
    ["See fig. 2. for more"],
    ["Call 555-0100.", " we are in"],
    ["It was 1999.", " then it was over"],
    ["Well... it depends"],
    ["Well...", " It depends"],
    # CJK rules.
    ["“你好！”他说。"],
    ["“我走了。”", "她就走了。"],
    ["《好吗？》很好。"],
    ["第一；", "第二；", "第三。"],
    ["甲方付款；乙方交货。"],
    ["价格" * 31 + "；", "条件" * 31 + "。"],
    ["嗯……好。"],
]


def test_where_sentences_end() -> None:
    assert [parts for parts in CUT if cut("".join(parts), set()) != parts] == []


def test_punkt_is_asked_where_words_do_not_tell() -> None:
    assert cut("It was sold to Acme Inc. The price", {24}) == [
        "It was sold to Acme Inc.",
        " The price",
    ]
    assert cut("It was sold to Acme Inc. The price", set()) == [
        "It was sold to Acme Inc. The price"
    ]
    assert cut("It is 3 in. (4 cm)", {11}) == ["It is 3 in.", " (4 cm)"]


def test_a_plain_word_ends_a_sentence_before_another() -> None:
    assert cut("The dog ran. A cat slept", set()) == ["The dog ran.", " A cat slept"]
