import tracemalloc

import numpy as np
import pytest

from judge.judges.similarity.align import Held, Laid, search
from judge.judges.similarity.index import Passages, Vocabulary, locate
from judge.judges.similarity.terms import Kind, terms


def laid(sentences: list[str], chunks: list[str]) -> tuple[Laid, Passages]:
    broken = [terms(sentence) for sentence in sentences]
    vocabulary = Vocabulary.of(broken)
    return Laid.lay(broken, vocabulary), locate(chunks, vocabulary)


def test_windows_are_worth_what_of_a_sentence_stands_in_them() -> None:
    said, passages = laid(["Rain fell.", "A man slept."], ["Rain. It fell.", "A gentleman slept."])
    word = said.shares(Kind.WORD)
    worth, _, _ = search(said, passages, word, word / 2)
    share = {term.key: float(w) for term, w in zip(said.rows, word, strict=True)}
    # Windows of each segment: alone, with the next, with the next two; some run over their chunk.
    assert worth[0].tolist() == pytest.approx([share["rain"], 1, 0, share["fell"], 0, 0, 0, 0, 0])
    assert worth[1, 6] == pytest.approx(share["a"] + share["slept"] + share["man"] / 2)


def test_what_is_held_where() -> None:
    said, passages = laid(["Rain fell.", "Rain."], ["Rain.", "Hail fell.", ""])
    cited = np.asarray([[False, True, False], [False, False, False]])
    _, own, _ = search(said, passages, said.weight, said.weight)
    held = Held.of(own, said.owner, cited)
    rows = {(int(o), t.key): i for i, (o, t) in enumerate(zip(said.owner, said.rows, strict=True))}
    whole = held.within(slice(None)).astype(int)
    assert whole[rows[0, "rain"]].tolist() == [1, 0, 1, 0, 0]
    assert whole[rows[0, "fell"]].tolist() == [1, 1, 0, 1, 0]
    assert whole[rows[1, "rain"]].tolist() == [1, 0, 1, 0, 0]
    for low in range(5):
        assert np.array_equal(held.within(slice(low, low + 2)), whole[:, low : low + 2])


def test_memory_does_not_grow_with_what_is_found() -> None:
    def peak(sentences: int) -> int:
        said, passages = laid(["Rain fell."] * sentences, ["Rain fell. " * 8_000])
        value = said.shares(Kind.WORD)
        tracemalloc.start()
        worth, *_ = search(said, passages, value, value)
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return most - 2 * worth.nbytes

    # A million hits are looked at together; ten sentences have as many, and forty four times that.
    assert peak(40) < 1.5 * peak(10)
