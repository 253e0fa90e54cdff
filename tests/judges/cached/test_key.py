from collections.abc import Sequence

import pytest

from judge.judges.cached.key import AnswerKey, brief, digest
from judge.records import Chunk, JudgeRequest, Sentence

URL = "https://api.example.com/v1"
SIGNATURE = "llm:m@host|prompt:faithfulness-v1@a77cf08f|t:0"


def request(
    query: str = "q",
    answer: str = "One. Two.",
    chunks: Sequence[str] = ("甲", "b"),
    cites: tuple[int, ...] = (0, 1),
    ids: Sequence[str] = ("x", "y"),
    second: str = "Two.",
) -> JudgeRequest:
    return JudgeRequest(
        query=query,
        answer=answer,
        sentences=(
            Sentence(index=0, start=0, end=4, text="One."),
            Sentence(index=1, start=5, end=9, text=second),
        ),
        ask=(0, 1),
        chunks=tuple(Chunk(chunk_id=i, text=t) for i, t in zip(ids, chunks, strict=False)),
        cites={1: cites},
    )


def key(
    asked: JudgeRequest, signature: str = SIGNATURE, url: str = URL, repeat: int = 0, index: int = 1
) -> str:
    return AnswerKey(asked, signature, url, repeat).verdict(index)


KEY = key(request())

OTHERS = {
    "model": key(request(), signature=SIGNATURE.replace("m@host", "m2@host")),
    "prompt": key(request(), signature=SIGNATURE.replace("-v1@a77cf08f", "-v2@a77cf08f")),
    "server": key(request(), url="https://other.example.com/v1"),
    "port": key(request(), url="https://api.example.com:8443/v1"),
    "scheme": key(request(), url="http://api.example.com/v1"),
    "path": key(request(), url="https://api.example.com/v2"),
    "query": key(request(query="q?")),
    "answer": key(request(answer="One.  Two.")),
    "chunk text": key(request(chunks=("甲", "b."))),
    "chunk order": key(request(chunks=("b", "甲"))),
    "chunk count": key(request(chunks=("甲",))),
    "empty chunk": key(request(chunks=("甲", "b", ""), ids="xyz")),
    "index": key(request(), index=0),
    "sentence": key(request(second="Three.")),
    "cites": key(request(cites=(1,))),
    "cites nothing": key(request(cites=())),
    "repeat": key(request(), repeat=1),
    "a character from query to answer": key(request(query="qO", answer="ne. Two.")),
    "a character from chunk to chunk": key(request(chunks=("甲b", ""))),
    "a chunk joined to the answer": key(request(answer="One. Two.甲", chunks=("b",))),
    "a field joined to the next": key(request(query="", answer="qOne. Two.")),
}


def test_every_part_of_what_is_asked_makes_another_key() -> None:
    assert len({KEY, *OTHERS.values()}) == 1 + len(OTHERS)


@pytest.mark.parametrize(
    "asked",
    [
        request(ids=("renamed", "renamed")),
        request().model_copy(update={"ask": (1,)}),
        request().model_copy(update={"deadline": 5.0}),
    ],
)
def test_what_the_judge_does_not_see_is_no_part_of_it(asked: JudgeRequest) -> None:
    assert key(asked) == KEY


def test_the_model_that_the_server_named_is_no_part_of_it() -> None:
    head, rest = SIGNATURE.split("|", 1)
    named = f"{head}|served:m-2026-05|{rest}"
    assert key(request(), signature=named) == KEY
    assert AnswerKey(request(), named, URL, 0).asked_row().signature == SIGNATURE


def test_a_sentence_said_twice_has_two_keys() -> None:
    assert key(request(second="One.", cites=()), index=0) != key(request(second="One.", cites=()))


def test_the_asked_row_tells_the_parts_and_no_text() -> None:
    asked = AnswerKey(request(), SIGNATURE, URL, 2)
    row = asked.asked_row()
    assert (row.signature, row.url, row.repeat) == (SIGNATURE, URL, 2)
    assert (row.query, row.answer) == (brief("q"), brief("One. Two."))
    assert row.chunks == (brief("甲"), brief("b"))
    assert not any(text in row.write() for text in ("Two", "甲"))
    assert asked.asked.startswith("asked:")
    assert asked.asked == AnswerKey(request(cites=()), SIGNATURE, URL, 2).asked
    assert asked.asked != AnswerKey(request(), SIGNATURE, URL, 1).asked


def test_a_brief_hash_is_the_beginning_of_the_texts_sha256() -> None:
    # From `printf 二 | sha256sum` and `printf '' | sha256sum`.
    assert brief("") == "e3b0c44298fc1c14"
    assert brief("二") == "084b42f6e95e4e65"


def test_half_a_surrogate_pair_has_a_hash_of_its_own() -> None:
    assert len({brief("\ud800"), brief("\udc00"), brief("?")}) == 3
    assert len({key(request(chunks=("\ud800",))), key(request(chunks=("?",)))}) == 2


def test_fields_do_not_flow_together() -> None:
    assert (
        len({digest(("ab", "c")), digest(("a", "bc")), digest(("abc",)), digest(("abc", ""))}) == 4
    )
