from collections.abc import Iterable, Mapping, Sequence

import pytest

from judge.judges.cached.key import AnswerKey, Difference, Explained, brief, explain
from judge.judges.cached.rows import Place, VerdictRow
from judge.records import Chunk, JudgeRequest, Sentence, Support, Verdict

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


# Why a sentence is asked again.

ASKED_BY = "llm:m@host|served:m-1|prompt:faithfulness-v1@a77cf08f|json_schema|t:0|max_tokens"


def asking(
    query: str = "问",
    answer: str = "One. Two.",
    chunks: Sequence[str] = ("甲", "b", "c"),
    cites: Mapping[int, tuple[int, ...]] | None = None,
    ask: tuple[int, ...] = (0, 1),
) -> JudgeRequest:
    return JudgeRequest(
        query=query,
        answer=answer,
        sentences=(
            Sentence(index=0, start=0, end=4, text="One."),
            Sentence(index=1, start=5, end=9, text="Two."),
        ),
        ask=ask,
        chunks=tuple(Chunk(chunk_id="x", text=text) for text in chunks),
        cites=cites or {},
    )


def its_key(
    asked: JudgeRequest, signature: str = ASKED_BY, url: str = URL, repeat: int = 0
) -> AnswerKey:
    return AnswerKey(asked, signature, url, repeat)


def rows(
    asked: JudgeRequest, its: AnswerKey | None = None, kept: Iterable[int] = (0, 1)
) -> dict[str, str]:
    its = its or its_key(asked)
    verdict = Verdict(support=Support.NONE, source="llm", signature=ASKED_BY)
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
    assert [each.found for each in why(asking(), rows(asking()))] == ["hit", "hit"]
    half = why(asking(), rows(asking(), kept=[1]))
    assert half == [Explained(sentence=0, found="not kept"), Explained(sentence=1, found="hit")]
    assert why(asking(ask=()), {}) == []


@pytest.mark.parametrize(
    ("signature", "difference"),
    [
        (ASKED_BY.replace("m@host", "m2@host"), apart("model", "m@host", "m2@host")),
        (
            ASKED_BY.replace("v1@a77cf08f", "v2@00000000"),
            apart("prompt", "faithfulness-v1@a77cf08f", "faithfulness-v2@00000000"),
        ),
        (ASKED_BY + "|seed:7", apart("seed", "none", "7")),
        (
            ASKED_BY.replace("json_schema", "text"),
            apart("options", "json_schema max_tokens", "text max_tokens"),
        ),
    ],
)
def test_the_part_of_the_signature_that_differs_is_named(
    signature: str, difference: Difference
) -> None:
    explained = why(asking(), rows(asking()), its_key(asking(), signature=signature))
    assert [each.found for each in explained] == ["differs", "differs"]
    assert [each.differences for each in explained] == [(difference,), (difference,)]


def test_another_model_behind_the_same_name_makes_no_difference() -> None:
    now = its_key(asking(), signature=ASKED_BY.replace("served:m-1", "served:m-2"))
    assert [each.found for each in why(asking(), rows(asking()), now)] == ["hit", "hit"]
    half = why(asking(), rows(asking(), kept=[1]), now)
    assert half[0] == Explained(sentence=0, found="not kept")


TEXTS = [
    (asking(query="问?"), apart("query", brief("问"), brief("问?"))),
    (asking(answer="One. 2."), apart("answer", brief("One. Two."), brief("One. 2."))),
    (asking(chunks="甲Bc"), apart("chunk 2", brief("b"), brief("B"))),
    (asking(chunks="甲b"), apart("chunk 3", brief("c"), "none")),
    (asking(chunks="甲bcd"), apart("chunk 4", "none", brief("d"))),
    (
        asking(chunks="b甲c"),
        apart(
            "order of chunks",
            " ".join(brief(each) for each in "甲bc"),
            " ".join(brief(each) for each in "b甲c"),
        ),
    ),
]


def test_the_text_that_differs_is_named_by_its_hash() -> None:
    for now, difference in TEXTS:
        first, _ = why(now, rows(asking()))
        assert first == Explained(sentence=0, found="differs", differences=(difference,))


def test_server_and_repeat_are_named() -> None:
    now = its_key(asking(), url="http://localhost:8000/v1", repeat=2)
    first, _ = why(asking(), rows(asking()), now)
    assert first.differences == (
        apart("url", URL, "http://localhost:8000/v1"),
        apart("repeat", "0", "2"),
    )


def test_citations_differ_for_their_sentence_alone() -> None:
    first, second = why(asking(cites={1: (0, 2)}), rows(asking(cites={1: (1,)})))
    assert first.found == "hit"
    assert second.differences == (apart("cites", "chunk 2", "chunk 1, chunk 3"),)
    (_, none) = why(asking(), rows(asking(cites={1: (1,)})))
    assert none.differences == (apart("cites", "chunk 2", "none"),)


def test_a_row_that_is_there_and_does_not_serve_is_told() -> None:
    asked = asking()
    stored = rows(asked)
    stored["f" * 64] = stored.pop(its_key(asked).verdict(1))
    _, second = why(asked, stored)
    assert [each.part for each in second.differences] == ["sentence"]


def test_the_nearest_is_the_one_that_differs_least_and_last() -> None:
    stored = {
        **rows(asking(answer="Other.", chunks="甲b")),
        **rows(asking(), its_key(asking(), signature="llm:far|t:1", url="http://far/v1")),
        **rows(asking(), its_key(asking(), url="http://near/v1")),
        **rows(asking(), its_key(asking(), url="http://later/v1")),
        **rows(asking(query="")),
    }
    first, _ = why(asking(), stored)
    assert first.differences == (apart("url", "http://later/v1", URL),)


def test_of_something_else_there_is_nothing_to_tell() -> None:
    other = asking(query="other", answer="Else.", chunks="yz")
    unread = {"asked:1": "{}", "probe:1": "x", "f" * 64: "[]"}
    assert why(asking(), rows(other) | unread) == [
        Explained(sentence=0, found="nothing"),
        Explained(sentence=1, found="nothing"),
    ]
    empty = asking(query="", answer="Else.", chunks="yz")
    assert [each.found for each in why(asking(query=""), rows(empty))] == ["nothing", "nothing"]
