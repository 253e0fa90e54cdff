from collections.abc import Sequence

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from judge.judges.similarity.index import RUN, Passages, locate
from judge.judges.similarity.terms import Terms, terms, tokens
from judge.text.pieces import segments
from tests.growth import LINEAR, growth
from tests.judges.similarity.rows import names

TEXT = st.text(alphabet="雨雪 ab1.。\n", max_size=40) | st.text(max_size=40)


def posted(passages: Passages, said: Terms) -> list[tuple[str, int]]:
    """Key and window of all that was found."""
    number = np.repeat(np.arange(len(passages.counts) - 1), passages.counts[:-1])
    assert (number * len(passages.legal) + passages.window).tolist() == passages.postings.tolist()
    keys = map(names(said).__getitem__, number.tolist())
    return list(zip(keys, passages.window.tolist(), strict=True))


def postings(passages: Passages, said: Terms) -> set[tuple[str, tuple[int, int, int]]]:
    """Key and place of all words, pairs and skips that were found."""
    found = {(key, passages.span(window)) for key, window in posted(passages, said)}
    return {(key, span) for key, span in found if key[0] not in "@≠"}


def found(sentence: str, chunks: Sequence[str]) -> set[tuple[str, int]]:
    """What a sentence says, and the segment it stands in, all chunks' segments counted on."""
    said = terms([sentence])
    whole = posted(locate(chunks, said), said)
    return {(key, window // RUN) for key, window in whole if window % RUN == 0}


def worded(sentence: str, chunks: Sequence[str]) -> set[tuple[str, int]]:
    """The same without meanings."""
    return {(key, at) for key, at in found(sentence, chunks) if key[0] not in "@≠"}


def test_words_pairs_skips_and_numbers_stand_in_their_segments() -> None:
    chunks = ["Rain fell. It fell for 45 days.", "Rain!"]
    assert worded("Rain fell on 45 days.", chunks) == {
        ("rain", 0), ("fell", 0), ("rain fell", 0), ("rain…fell", 0),
        ("fell", 1), ("day", 1), ("45", 1), ("45 day", 1),
        ("fell…45", 1), ("45…day", 1), ("fell…day", 1),
        ("rain", 2),
    }  # fmt: skip
    assert worded("雨四十五天", ["雪。雨下了45天。"]) == {
        ("雨", 1), ("天", 1), ("45", 1), ("45 天", 1), ("雨…45", 1), ("45…天", 1), ("雨…天", 1),
    }  # fmt: skip


def test_a_pair_stands_side_by_side_in_its_order_and_in_one_text() -> None:
    texts: dict[tuple[str, ...], bool] = {
        ("zebra canteen",): True,
        ("Zebras, canteens",): True,
        ("canteen zebra",): False,
        ("zebra of canteen",): False,
        ("zebra", "canteen"): False,
        ("zebra — — canteen",): False,
    }
    told = {text: "zebra canteen" in dict(found("Zebra canteen.", text)) for text in texts}
    assert told == texts


WORDS = st.sampled_from(["zebra", "canteen", "walrus", "of"])


@given(st.lists(st.lists(st.lists(WORDS, min_size=1, max_size=14), min_size=1, max_size=3)))
def test_skips_are_what_comparing_every_two_words_finds(texts: list[list[list[str]]]) -> None:
    asked = {("zebra", "canteen"), ("canteen", "walrus"), ("zebra", "walrus")}
    expected = {
        (f"{first}…{second}", at)
        for at, segment in enumerate(segment for text in texts for segment in text)
        for i, first in enumerate(segment)
        for j, second in enumerate(segment)
        if (first, second) in asked and -3 <= j - i <= 8
    }
    chunks = ["".join(" ".join(segment) + "。" for segment in text) for text in texts]
    said = found("Zebra canteen walrus.", chunks)
    assert {(key, at) for key, at in said if "…" in key} == expected


def test_meanings_said_in_other_words_and_those_they_exclude() -> None:
    told = {
        ("Man.", "A gentleman. A woman. A zebra."): {("@man", 0), ("≠man", 1)},
        ("男人", "一位男士。一位女士。斑马。"): {("男", 0), ("@man", 0), ("≠man", 1)},
        # A narrower word says the broader, and not the reverse.
        ("Person.", "A boy."): {("@person", 0)},
        ("Boy.", "A person."): set(),
        ("人", "男孩。"): {("@person", 0)},
        ("男孩", "人。"): set(),
        ("Woman.", "A woman."): {("woman", 0), ("@woman", 0)},
        ("Boy.", "男孩。"): {("@boy", 0)},
        ("America.", "Rain. The United States."): {("@america", 1)},
    }
    assert {(said, text): found(said, [text]) for said, text in told} == told


def test_windows_are_runs_of_up_to_three_segments_within_a_chunk() -> None:
    said = terms(["Rain.", "Snow."])
    assert postings(locate(["Rain. Snow.", "Rain."], said), said) == {
        ("rain", (0, 0, 5)), ("rain", (0, 0, 11)), ("rain", (1, 0, 5)),
        ("snow", (0, 6, 11)), ("snow", (0, 0, 11)),
    }  # fmt: skip
    only = terms(["Snow."])
    spans = {span for _, span in postings(locate(["Rain. Rain. Rain. Snow. Rain."], only), only)}
    # Segments begin at 0, 6, 12, 18 (snow) and 24.
    assert spans == {(0, 18, 23), (0, 12, 23), (0, 6, 23), (0, 18, 29), (0, 12, 29)}


def test_blank_chunks_have_no_windows() -> None:
    for chunks in (["", "Rain."], ["Rain.", ""], [" ", "\n"], [""], []):
        passages = locate(chunks, terms(["Rain falls. 男孩"]))
        assert passages.first[-1] == len(passages.edges) == sum(bool(c.strip()) for c in chunks)
        assert len(passages.first) == len(chunks) + 1
    assert not len(locate(["Rain."], terms([])).postings)


@given(TEXT, st.lists(TEXT, max_size=4))
def test_what_is_posted_stands_in_the_window(sentence: str, chunks: list[str]) -> None:
    said = terms([sentence])
    passages = locate(chunks, said)
    keys = said.words.keys()
    found = postings(passages, said)
    for key, (chunk, start, end) in found:
        places = zip(*tokens(chunks[chunk]), strict=True)
        assert key not in keys or key in {k for k, at, _ in places if start <= at < end}
    # And what begins in a segment is posted for it.
    for chunk, text in enumerate(chunks):
        read = list(zip(*tokens(text), strict=True))
        for start, end in segments(text):
            inside = {key for key, at, _ in read if start <= at < end}
            assert {(key, (chunk, start, end)) for key in inside & keys} <= found
    assert (np.diff(passages.postings) > 0).all()


def test_time_is_linear() -> None:
    # Of texts so long that none is kept as it was read.
    said = terms(["The man saw zebras in 45 canteens. 男孩看斑马。"])
    for phrase in ("Zebras saw 45 men. ", "斑马看男孩。"):
        assert growth(lambda text: locate([text], said), phrase.__mul__, 1000) < LINEAR
