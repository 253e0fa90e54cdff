from judge.checks.chunks import flag_chunks, flag_gaps
from judge.records import Chunk, Flag, FlagName, Sample

BARE = Flag(name=FlagName.NO_CHUNKS)


def twice(*ids: str) -> Flag:
    return Flag(name=FlagName.AMBIGUOUS_CHUNK_ID, detail="; ".join(ids))


# Ids and texts, whether the answer claims anything, and what is flagged.
ROWS: list[tuple[list[tuple[str, str]], bool, list[Flag]]] = [
    ([], True, [BARE]),
    ([], False, []),
    ([("a", ""), ("b", " \n\u3000")], True, [BARE]),
    ([("a", ""), ("b", "x")], True, []),
    ([("a", "x"), ("b", "x")], True, []),
    ([("a", "x"), ("a", "x")], True, []),
    ([("a", "x"), ("a", "y")], True, [twice("a")]),
    ([("a", "x"), ("a", "y")], False, [twice("a")]),
    ([("段", "x"), ("a", ""), ("段", ""), ("a", "y"), ("a", "z")], True, [twice("a", "段")]),
    ([("a", ""), ("a", " ")], True, [BARE, twice("a")]),
]


def test_chunks_that_keep_a_verdict_from_being_fair() -> None:
    for listed, claims, flags in ROWS:
        chunks = tuple(Chunk(chunk_id=name, text=text) for name, text in listed)
        sample = Sample(qid="q", answer="It is.", chunks=chunks)
        assert list(flag_chunks(sample, claims=claims)) == flags, listed


# Sentences of one answer, and the characters of words outside them.
ANSWER = "Hi there. It opens at six [docA#1], and at 9. 周日不开门。 1. *"
GAPS: list[tuple[list[object] | None, str]] = [
    (None, ""),
    (["Hi there.", "It opens at six [docA#1], and at 9.", "周日不开门。"], ""),
    (["Hi there. It opens at six", ", and at 9. 周日不开门。"], ""),
    (["It opens at six", "周日不开门。"], "16"),
]


def test_words_outside_the_given_sentences_are_counted() -> None:
    for sentences, count in GAPS:
        flags = list(flag_gaps(Sample(qid="q", answer=ANSWER, sentences=sentences)))
        assert [each.detail for each in flags] == ([count] if count else []), sentences
