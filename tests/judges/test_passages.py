from hypothesis import given
from hypothesis import strategies as st

from judge.judges.passages import LEAST, Passage, halved, passages


def test_a_short_text_is_one_passage_without_its_blanks() -> None:
    assert passages(2, " It rained.\n", 300) == [Passage(2, 1, 11, "It rained.")]
    assert passages(2, " It rained.\n", 300, 40) == [Passage(2, 41, 51, "It rained.")]
    assert passages(2, " \n", 300) == []


LINES = st.lists(st.sampled_from(["It rained. ", "no rain\n", "也许。", "x" * 90, "  ", "雨" * 60]))


@given(LINES.map("".join), st.integers(2, 60))
def test_passages_stand_in_their_chunk_and_hold_every_word(chunk: str, limit: int) -> None:
    cut = passages(0, chunk, limit)
    assert all(chunk[each.start : each.end] == each.text for each in cut)
    held = {place for each in cut for place in range(each.start, each.end)}
    assert all(char.isspace() or place in held for place, char in enumerate(chunk))


@given(LINES.map("".join))
def test_halves_are_shorter_and_hold_the_whole(chunk: str) -> None:
    for whole in passages(0, chunk, 300):
        halves = halved(whole)
        assert all(len(half.text) < len(whole.text) for half in halves)
        held = {place for half in halves for place in range(half.start, half.end)}
        words = (n for n in range(whole.start, whole.end) if not chunk[n].isspace())
        assert not halves or held.issuperset(words)


def test_what_is_small_is_not_halved() -> None:
    (small,) = passages(0, "雨" * (LEAST - 1), 300)
    assert halved(small) == []
