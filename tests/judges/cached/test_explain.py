from collections.abc import Iterable, Mapping, Sequence

import pytest

from judge.judges.cached.explain import Difference, Explained, differences, explain
from judge.judges.cached.key import AnswerKey, brief
from judge.judges.cached.rows import AskedRow, Place, VerdictRow
from judge.records import Chunk, JudgeRequest, Sentence, Support, Verdict

SIGNATURE = "llm:m@host|served:m-1|prompt:faithfulness-v1@a77cf08f|json_schema|t:0|max_tokens"
URL = "https://api.example.com/v1"


def request(
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


def key(
    asked: JudgeRequest, signature: str = SIGNATURE, url: str = URL, repeat: int = 0
) -> AnswerKey:
    return AnswerKey(asked, signature, url, repeat)


def rows(
    asked: JudgeRequest, its: AnswerKey | None = None, kept: Iterable[int] = (0, 1)
) -> dict[str, str]:
    its = its or key(asked)
    verdict = Verdict(support=Support.NONE, source="llm", signature=SIGNATURE)
    texts = {its.asked: its.asked_row().write()}
    for index in kept:
        cites = asked.cites.get(index, ())
        place = Place(sentence=index, cites=cites, flags=(), replies=(), asked=its.asked)
        row = VerdictRow.text(verdict, place, {str(n): n for n in range(len(asked.chunks))})
        assert row is not None
        texts[its.verdict(index)] = row
    return texts


def why(
    asked: JudgeRequest, stored: dict[str, str], its: AnswerKey | None = None
) -> list[Explained]:
    its = its or key(asked)
    hits = [index for index in asked.ask if its.verdict(index) in stored]
    return explain(asked, its, hits, stored.items)


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
    explained = why(request(), rows(request()), key(request(), signature=signature))
    assert [each.found for each in explained] == ["differs", "differs"]
    assert [each.differences for each in explained] == [(difference,), (difference,)]


def test_another_model_behind_the_same_name_makes_no_difference() -> None:
    now = key(request(), signature=SIGNATURE.replace("served:m-1", "served:m-2"))
    assert [each.found for each in why(request(), rows(request()), now)] == ["hit", "hit"]
    half = why(request(), rows(request(), kept=[1]), now)
    assert half[0] == Explained(sentence=0, found="not kept")


@pytest.mark.parametrize(
    ("now", "difference"),
    [
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
    ],
)
def test_the_text_that_differs_is_named_by_its_hash(
    now: JudgeRequest, difference: Difference
) -> None:
    first, _ = why(now, rows(request()))
    assert first == Explained(sentence=0, found="differs", differences=(difference,))


def test_server_and_repeat_are_named() -> None:
    now = key(request(), url="http://localhost:8000/v1", repeat=2)
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
    _, second = explain(asked, key(asked), [0], rows(asked).items)
    assert [each.part for each in second.differences] == ["sentence"]


def test_the_nearest_is_the_one_that_differs_least_and_last() -> None:
    stored = {
        **rows(request(answer="Other.", chunks="甲b")),
        **rows(request(), key(request(), signature="llm:far|t:1", url="http://far/v1")),
        **rows(request(), key(request(), url="http://near/v1")),
        **rows(request(), key(request(), url="http://later/v1")),
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


def test_equal_askings_do_not_differ() -> None:
    row = key(request()).asked_row()
    back = AskedRow.read(row.write())
    assert back == row
    assert differences(row, back) == []
