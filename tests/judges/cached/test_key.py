from collections.abc import Iterable, Mapping, Sequence

import pytest

from judge.judges.cached.key import AnswerKey, Difference, Explained, brief, explain
from judge.judges.cached.rows import Place, VerdictRow
from judge.records import Chunk, JudgeRequest, Sentence, Support, Verdict

URL = "https://api.example.com/v1"
SIGNATURE = "llm:m@host|served:m-1|prompt:faithfulness-v1@a77cf08f|json_schema|t:0|max_tokens"


def request(
    query: str = "问",
    answer: str = "One. Two.",
    chunks: Sequence[str] = ("甲", "b", "c"),
    cites: Mapping[int, tuple[int, ...]] | None = None,
    ask: tuple[int, ...] = (0, 1),
    ids: Sequence[str] = "xyzw",
    second: str = "Two.",
) -> JudgeRequest:
    return JudgeRequest(
        query=query,
        answer=answer,
        sentences=(
            Sentence(index=0, start=0, end=4, text="One."),
            Sentence(index=1, start=5, end=9, text=second),
        ),
        ask=ask,
        chunks=tuple(Chunk(chunk_id=i, text=t) for i, t in zip(ids, chunks, strict=False)),
        cites=cites or {},
    )


def its_key(
    asked: JudgeRequest, signature: str = SIGNATURE, url: str = URL, repeat: int = 0
) -> AnswerKey:
    return AnswerKey(asked, signature, url, repeat)


def key(
    asked: JudgeRequest, signature: str = SIGNATURE, url: str = URL, repeat: int = 0, index: int = 1
) -> str:
    return its_key(asked, signature, url, repeat).verdict(index)


KEY = key(request())

OTHERS = {
    "model": key(request(), signature=SIGNATURE.replace("m@host", "m2@host")),
    "prompt": key(request(), signature=SIGNATURE.replace("-v1@a", "-v2@a")),
    "server": key(request(), url="https://other.example.com/v1"),
    "port": key(request(), url="https://api.example.com:8443/v1"),
    "scheme": key(request(), url="http://api.example.com/v1"),
    "path": key(request(), url="https://api.example.com/v2"),
    "query": key(request(query="q?")),
    "answer": key(request(answer="One.  Two.")),
    "chunk text": key(request(chunks="甲Bc")),
    "chunk order": key(request(chunks="b甲c")),
    "chunk count": key(request(chunks="甲b")),
    "empty chunk": key(request(chunks=("甲", "b", "c", ""))),
    "index": key(request(), index=0),
    "sentence": key(request(second="Three.")),
    "cites": key(request(cites={1: (1,)})),
    "cites more": key(request(cites={1: (1, 2)})),
    "repeat": key(request(), repeat=1),
    "a character from query to answer": key(request(query="问O", answer="ne. Two.")),
    "a character from chunk to chunk": key(request(chunks=("甲b", "", "c"))),
    "a chunk joined to the answer": key(request(answer="One. Two.甲", chunks="bc")),
    "a field joined to the next": key(request(query="", answer="问One. Two.")),
}


def test_every_part_of_what_is_asked_makes_another_key() -> None:
    assert len({KEY, *OTHERS.values()}) == 1 + len(OTHERS)


@pytest.mark.parametrize(
    "asked",
    [
        request(ids=["renamed"] * 3),
        request().model_copy(update={"ask": (1,)}),
        request().model_copy(update={"deadline": 5.0}),
    ],
)
def test_what_the_judge_does_not_see_is_no_part_of_it(asked: JudgeRequest) -> None:
    assert key(asked) == KEY


def test_the_model_that_the_server_named_is_no_part_of_it() -> None:
    named = SIGNATURE.replace("m-1", "m-2026-05")
    assert key(request(), signature=named) == KEY
    assert "served" not in its_key(request(), named).asked_row().signature


def test_the_asked_row_tells_the_parts_and_no_text() -> None:
    asked = its_key(request(), repeat=2)
    row = asked.asked_row()
    assert (row.signature, row.url, row.repeat) == (SIGNATURE.replace("|served:m-1", ""), URL, 2)
    assert (row.query, row.answer) == (brief("问"), brief("One. Two."))
    assert row.chunks == tuple(map(brief, "甲bc"))
    assert not any(text in row.write() for text in ("Two", "甲"))
    assert asked.asked.startswith("asked:")
    assert asked.asked == its_key(request(cites={1: (0,)}), repeat=2).asked
    assert asked.asked != its_key(request(), repeat=1).asked


def test_a_brief_hash_is_the_beginning_of_the_texts_sha256() -> None:
    # From `printf 二 | sha256sum` and `printf '' | sha256sum`.
    assert brief("") == "e3b0c44298fc1c14"
    assert brief("二") == "084b42f6e95e4e65"


def test_half_a_surrogate_pair_has_a_hash_of_its_own() -> None:
    assert len({brief("\ud800"), brief("\udc00"), brief("?")}) == 3
    assert len({key(request(chunks=("\ud800",))), key(request(chunks=("?",)))}) == 2


# Why a sentence is asked again.


def rows(
    asked: JudgeRequest, its: AnswerKey | None = None, kept: Iterable[int] = (0, 1)
) -> dict[str, str]:
    its = its or its_key(asked)
    verdict = Verdict(support=Support.NONE, source="llm", signature=SIGNATURE)
    texts = {its.asked: its.asked_row().write()}
    for index in kept:
        cites = asked.cites.get(index, ())
        place = Place(sentence=index, cites=cites, flags=(), replies=(), asked=its.asked)
        row = VerdictRow.text(verdict, place, {str(n): n for n in range(len(asked.chunks))})
        assert row is not None
        texts[its.verdict(index)] = row
    return texts


class Kept:
    """What is stored."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self._texts = texts

    def get(self, keys: Sequence[str]) -> Mapping[str, str]:
        return {key: self._texts[key] for key in keys if key in self._texts}

    def rows(self) -> Iterable[tuple[str, str]]:
        return self._texts.items()


def why(
    asked: JudgeRequest, stored: dict[str, str], its: AnswerKey | None = None
) -> list[Explained]:
    its = its or its_key(asked)
    return explain(asked, its, Kept(stored))


def apart(part: str, stored: str, now: str) -> Difference:
    return Difference(part=part, stored=stored, now=now)


def test_a_stored_sentence_is_a_hit_and_another_was_not_kept() -> None:
    assert [each.found for each in why(request(), rows(request()))] == ["hit", "hit"]
    half = why(request(), rows(request(), kept=[1]))
    assert half == [Explained(sentence=0, found="not kept"), Explained(sentence=1, found="hit")]
    assert why(request(ask=()), {}) == []


@pytest.mark.parametrize(
    ("signature", "difference"),
    [
        (SIGNATURE.replace("m@host", "m2@host"), apart("model", "m@host", "m2@host")),
        (
            SIGNATURE.replace("v1@a77cf08f", "v2@00000000"),
            apart("prompt", "faithfulness-v1@a77cf08f", "faithfulness-v2@00000000"),
        ),
        (SIGNATURE + "|seed:7", apart("seed", "none", "7")),
        (
            SIGNATURE.replace("json_schema", "text"),
            apart("options", "json_schema max_tokens", "text max_tokens"),
        ),
    ],
)
def test_the_part_of_the_signature_that_differs_is_named(
    signature: str, difference: Difference
) -> None:
    explained = why(request(), rows(request()), its_key(request(), signature=signature))
    assert [each.found for each in explained] == ["differs", "differs"]
    assert [each.differences for each in explained] == [(difference,), (difference,)]


def test_another_model_behind_the_same_name_makes_no_difference() -> None:
    now = its_key(request(), signature=SIGNATURE.replace("served:m-1", "served:m-2"))
    assert [each.found for each in why(request(), rows(request()), now)] == ["hit", "hit"]
    half = why(request(), rows(request(), kept=[1]), now)
    assert half[0] == Explained(sentence=0, found="not kept")


TEXTS = [
    (request(query="问?"), apart("query", brief("问"), brief("问?"))),
    (request(answer="One. 2."), apart("answer", brief("One. Two."), brief("One. 2."))),
    (request(chunks="甲Bc"), apart("chunk 2", brief("b"), brief("B"))),
    (request(chunks="甲b"), apart("chunk 3", brief("c"), "none")),
    (request(chunks="甲bcd"), apart("chunk 4", "none", brief("d"))),
    (
        request(chunks="b甲c"),
        apart(
            "order of chunks",
            " ".join(brief(each) for each in "甲bc"),
            " ".join(brief(each) for each in "b甲c"),
        ),
    ),
]


def test_the_text_that_differs_is_named_by_its_hash() -> None:
    for now, difference in TEXTS:
        first, _ = why(now, rows(request()))
        assert first == Explained(sentence=0, found="differs", differences=(difference,))


def test_server_and_repeat_are_named() -> None:
    now = its_key(request(), url="http://localhost:8000/v1", repeat=2)
    first, _ = why(request(), rows(request()), now)
    assert first.differences == (
        apart("url", URL, "http://localhost:8000/v1"),
        apart("repeat", "0", "2"),
    )


def test_citations_differ_for_their_sentence_alone() -> None:
    first, second = why(request(cites={1: (0, 2)}), rows(request(cites={1: (1,)})))
    assert first.found == "hit"
    assert second.differences == (apart("cites", "chunk 2", "chunk 1, chunk 3"),)
    (_, none) = why(request(), rows(request(cites={1: (1,)})))
    assert none.differences == (apart("cites", "chunk 2", "none"),)


def test_a_row_that_is_there_and_does_not_serve_is_told() -> None:
    asked = request()
    stored = rows(asked)
    stored["f" * 64] = stored.pop(its_key(asked).verdict(1))
    _, second = why(asked, stored)
    assert [each.part for each in second.differences] == ["sentence"]


def test_the_nearest_is_the_one_that_differs_least_and_last() -> None:
    stored = {
        **rows(request(answer="Other.", chunks="甲b")),
        **rows(request(), its_key(request(), signature="llm:far|t:1", url="http://far/v1")),
        **rows(request(), its_key(request(), url="http://near/v1")),
        **rows(request(), its_key(request(), url="http://later/v1")),
        **rows(request(query="")),
    }
    first, _ = why(request(), stored)
    assert first.differences == (apart("url", "http://later/v1", URL),)


def test_of_something_else_there_is_nothing_to_tell() -> None:
    other = request(query="other", answer="Else.", chunks="yz")
    unread = {"asked:1": "{}", "probe:1": "x", "f" * 64: "[]"}
    assert why(request(), rows(other) | unread) == [
        Explained(sentence=0, found="nothing"),
        Explained(sentence=1, found="nothing"),
    ]
    empty = request(query="", answer="Else.", chunks="yz")
    assert [each.found for each in why(request(query=""), rows(empty))] == ["nothing", "nothing"]
