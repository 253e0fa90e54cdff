import json
from collections.abc import Mapping, Sequence

from hypothesis import given
from hypothesis import strategies as st

from judge.judges.cached.rows import (
    AnswerKey,
    Place,
    VerdictRow,
)
from judge.records import (
    Evidence,
    JudgeRequest,
    Support,
    Verdict,
)
from tests.requests import request

URL = "https://api.example.com/v1"
SIGNATURE = "llm:m@host|served:m-1|prompt:faithfulness-v1@a77cf08f|json_schema|t:0|max_tokens"


# Keys.


def asked(
    chunks: Sequence[str] = ("甲", "b", "c"),
    cites: Mapping[int, tuple[int, ...]] | None = None,
    second: str = "Two.",
    query: str = "问",
    answer: str = "One. Two.",
) -> JudgeRequest:
    return request(["One.", second], chunks, cites, query=query, answer=answer)


def its_key(about: JudgeRequest, signature: str = SIGNATURE, url: str = URL) -> AnswerKey:
    return AnswerKey(about, signature, url)


def key(about: JudgeRequest, signature: str = SIGNATURE, url: str = URL, index: int = 1) -> str:
    return its_key(about, signature, url).verdict(index)


KEY = key(asked())

OTHERS = {
    "model": key(asked(), signature=SIGNATURE.replace("m@host", "m2@host")),
    "prompt": key(asked(), signature=SIGNATURE.replace("-v1@a", "-v2@a")),
    "server": key(asked(), url="https://other.example.com/v1"),
    "port": key(asked(), url="https://api.example.com:8443/v1"),
    "scheme": key(asked(), url="http://api.example.com/v1"),
    "path": key(asked(), url="https://api.example.com/v2"),
    "query": key(asked(query="q?")),
    "answer": key(asked(answer="One.  Two.")),
    "chunk text": key(asked("甲Bc")),
    "chunk order": key(asked("b甲c")),
    "chunk count": key(asked("甲b")),
    "empty chunk": key(asked(("甲", "b", "c", ""))),
    "index": key(asked(), index=0),
    "sentence": key(asked(second="Three.")),
    "cites": key(asked(cites={1: (1,)})),
    "cites more": key(asked(cites={1: (1, 2)})),
    "a character from query to answer": key(asked(query="问O", answer="ne. Two.")),
    "a character from chunk to chunk": key(asked(("甲b", "", "c"))),
    "a chunk joined to the answer": key(asked("bc", answer="One. Two.甲")),
    "a field joined to the next": key(asked(query="", answer="问One. Two.")),
}


def test_every_part_of_what_is_asked_makes_another_key_and_nothing_else_does() -> None:
    assert len({KEY, *OTHERS.values()}) == 1 + len(OTHERS)
    chunks = request([], "甲bc", ids=["renamed"] * 3).chunks
    for unseen in ({"chunks": chunks}, {"ask": (1,)}, {"deadline": 5.0}):
        assert key(asked().model_copy(update=unseen)) == KEY, unseen


def test_the_model_that_the_server_named_is_no_part_of_it() -> None:
    named = SIGNATURE.replace("m-1", "m-2026-05")
    assert key(asked(), signature=named) == KEY


def test_texts_count_as_a_model_is_shown_them() -> None:
    # Keys from before control tokens were broken up: only where there are none they hold still.
    before = {
        ("One [1].", "a<b> <i>Two</i>.", "甲"): "93584d305b259ff8",
        ("One [1].", "a<b> <i>Two</i>.", "[INST]"): "b2fba2194f5db0a3",
        ("One.<|im_end|>", "Two.", "甲"): "fd7c24b438ea4cfd",
        ("One.", "Two [/INST].", "甲"): "59a96cb22645d21d",
    }
    held = []
    for (*sentences, chunk), old in before.items():
        its = AnswerKey(request(sentences, [chunk], query="问"), "llm:m", "u")
        held.append(its.verdict(1).startswith(old))
    assert held == [True, False, False, False]


# Rows.

PLACE = Place(sentence=3, cites=(0, 2), flags=(), replies=("reply:1",), asked="asked:1")
VERDICT = Verdict(
    support=Support.PARTIAL,
    evidence=(Evidence(chunk_id="1", quote="每晚500元"),),
    supporting=("1", "0"),
    cited_support=Support.NONE,
    reason="一晚",
    source="llm",
    signature="llm:m",
)


def written(verdict: Verdict = VERDICT, place: Place = PLACE) -> str | None:
    row = VerdictRow.of(verdict, place, {str(position): position for position in range(5)})
    return row.write() if row else None


def row(verdict: Verdict = VERDICT, place: Place = PLACE) -> VerdictRow | None:
    return VerdictRow.read(written(verdict, place) or "")


positions = st.integers(0, 4)
verdicts = st.builds(
    Verdict,
    support=st.sampled_from(Support),
    evidence=st.lists(
        st.builds(Evidence, chunk_id=positions.map(str), quote=st.text()), max_size=3
    ).map(tuple),
    supporting=st.lists(positions.map(str), unique=True).map(tuple),
    cited_support=st.none() | st.sampled_from(Support),
    reason=st.text(),
    source=st.just("llm"),
    signature=st.text(),
    score=st.none(),
    fallback_from=st.none(),
)


@given(verdicts)
def test_a_verdict_comes_back_equal(verdict: Verdict) -> None:
    made = row(verdict)
    assert made is not None
    assert VerdictRow.read(made.write()) == made
    assert made.verdict("01234") == verdict


GOOD = json.loads(written() or "")


NO_ROWS = [
    "",
    "{",
    "null",
    "[]",
    '"verdict"',
    "9" * 5000,
    "[" * 100_000,
    '{"support":"full"}',
    *(json.dumps({k: GOOD[k] for k in GOOD if k != absent}) for absent in GOOD.keys() - {"parts"}),
    *(
        json.dumps(GOOD | change)
        for change in (
            {"more": 1},
            {"support": "FULL"},
            {"support": "yes"},
            {"source": "similarity"},
            {"supporting": ["1"]},
            {"supporting": [-1]},
            {"supporting": [1.0]},
            {"evidence": [[0]]},
            {"evidence": [[0, "q", 1]]},
            {"evidence": [[True, "q"]]},
            {"reason": None},
            {"place": GOOD["place"] | {"flags": ["new_flag"]}},
            {"place": GOOD["place"] | {"sentence": "3"}},
        )
    ),
]


def test_a_text_of_any_other_shape_is_no_row() -> None:
    assert [text[:60] for text in NO_ROWS if VerdictRow.read(text) is not None] == []
