import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.judges.similarity.index import RIVAL, SAID, Passages, Vocabulary, locate
from judge.judges.similarity.terms import Kind, terms
from judge.text.words import words
from tests.growth import LINEAR, growth


def vocabulary(*sentences: str) -> Vocabulary:
    return Vocabulary.of([terms(sentence) for sentence in sentences])


def postings(passages: Passages, said: Vocabulary) -> set[tuple[str, tuple[int, int, int]]]:
    """Key and place of all that was found, without meanings."""
    names = {number: key for key, number in said.number.items()}
    pairs = zip(passages.term.tolist(), passages.window.tolist(), strict=True)
    found = {(names[term], passages.span(window)) for term, window in pairs}
    return {(key, span) for key, span in found if key[0] not in (SAID, RIVAL)}


def test_postings_of_runs_within_a_chunk() -> None:
    said = vocabulary("Rain.", "Snow.", "Hail.")
    assert postings(locate(["Rain. Snow.", "Rain."], said), said) == {
        ("rain", (0, 0, 5)),
        ("rain", (0, 0, 11)),
        ("rain", (1, 0, 5)),
        ("snow", (0, 6, 11)),
        ("snow", (0, 0, 11)),
    }


def test_a_window_has_at_most_three_segments() -> None:
    said = vocabulary("Snow.")
    spans = {span for _, span in postings(locate(["Rain. Rain. Rain. Snow. Rain."], said), said)}
    # Segments begin at 0, 6, 12, 18 (snow) and 24.
    assert spans == {
        (0, 18, 23), (0, 12, 23), (0, 6, 23), (0, 18, 29), (0, 12, 29),
    }  # fmt: skip


def test_pairs_skips_and_numbers_are_located() -> None:
    said = vocabulary("下雨四十五天", "雨下")
    found = {key for key, _ in postings(locate(["下雨五十天。"], said), said)}
    assert {"下", "雨", "下 雨", "下…雨", "雨…下"} <= found
    assert not {"雨 下", "#45"} & found
    assert "#45" in {key for key, _ in postings(locate(["45 days"], said), said)}


def test_meanings_are_located() -> None:
    said = vocabulary("A man.", "男人")
    passages = locate(["A gentleman.", "A woman.", "Hail."], said)
    at = {
        key: passages.chunk_of[passages.window[passages.term == said.number[key]] // 3].tolist()
        for key in (SAID + "man", RIVAL + "man")
    }
    assert at == {"@man": [0], "≠man": [1]}


@pytest.mark.parametrize("chunks", [["", "Rain."], ["Rain.", ""], [" ", "\n"], [""], []])
def test_empty_chunks_have_no_windows(chunks: list[str]) -> None:
    passages = locate(chunks, vocabulary("Rain falls."))
    assert passages.first[-1] == len(passages.chunk_of) == sum(bool(c.strip()) for c in chunks)
    assert len(passages.first) == len(chunks) + 1


@given(
    st.text(alphabet="雨雪 ab.。\n", max_size=20),
    st.lists(st.text(alphabet="雨雪 ab.。\n", max_size=40), max_size=4),
)
def test_what_is_posted_stands_in_the_window(sentence: str, chunks: list[str]) -> None:
    said = vocabulary(sentence)
    passages = locate(chunks, said)
    keys = {term.key for term in terms(sentence) if term.kind is Kind.WORD}
    found = postings(passages, said)
    for key, (chunk, start, end) in found:
        assert key not in keys or key in words(chunks[chunk][start:end]).stems
    # And what stands in a segment is posted for it.
    segment = zip(
        passages.chunk_of.tolist(), passages.starts.tolist(), passages.ends.tolist(), strict=True
    )
    for chunk, start, end in segment:
        for stem in words(chunks[chunk][start:end]).stems:
            assert stem not in keys or (stem, (chunk, start, end)) in found


@pytest.mark.parametrize("phrase", ["Zebras saw 45 men. ", "斑马看男孩。"])
def test_time_is_linear(phrase: str) -> None:
    said = vocabulary("The man saw zebras in 45 canteens. 男孩看斑马。")
    assert growth(lambda text: locate([text], said), lambda size: phrase * size, 500) < LINEAR
