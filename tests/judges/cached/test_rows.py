import json
from datetime import UTC, datetime

from hypothesis import given, settings
from hypothesis import strategies as st

from judge.judges.cached.rows import (
    AskedRow,
    Contents,
    Place,
    ReplyRow,
    Tally,
    VerdictRow,
    contents,
)
from judge.records import Call, Evidence, Support, Unscored, UnscoredReason, Verdict
from judge.records.exchange import Reply

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
IDS = tuple("abcde")
CALL = Call(model="m-1", prompt_tokens=7, reply_tokens=3, seconds=1.5, retries=2)


def written(verdict: Verdict = VERDICT, place: Place = PLACE) -> str | None:
    return VerdictRow.text(verdict, place, {str(position): position for position in range(5)})


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


@settings(deadline=None)
@given(verdicts)
def test_a_verdict_comes_back_equal(verdict: Verdict) -> None:
    made = row(verdict)
    assert made is not None
    assert VerdictRow.read(made.write()) == made
    assert made.verdict(tuple("01234")) == verdict


def test_positions_stand_for_ids() -> None:
    made = row()
    assert made is not None
    assert json.loads(written() or "")["evidence"] == [[1, "每晚500元"]]
    renamed = made.verdict(IDS)
    assert (renamed.evidence[0].chunk_id, renamed.supporting) == ("b", ("b", "a"))
    same = made.verdict(("x", "x", "x", "x", "x"))
    assert (same.evidence[0].chunk_id, same.supporting) == ("x", ("x",))


NO_VERDICTS: list[dict[str, object]] = [
    {"source": "similarity", "score": 0.5},
    {"fallback_from": Unscored(reason=UnscoredReason.TIMEOUT)},
    {"supporting": ("5",)},
    {"supporting": ("-1",)},
    {"supporting": ("docA",)},
    {"supporting": ("٣",)},
    {"evidence": (Evidence(chunk_id="05", quote="q"),)},
]


def test_what_is_no_models_own_verdict_makes_no_row() -> None:
    wrong = [c for c in NO_VERDICTS if written(VERDICT.model_copy(update=c)) is not None]
    assert wrong == []


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
    *(json.dumps({k: v for k, v in GOOD.items() if k != left_out}) for left_out in GOOD),
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


@settings(deadline=None)
@given(st.text() | st.recursive(st.none() | st.integers() | st.text(), st.lists).map(json.dumps))
def test_no_text_at_all_is_a_crash(text: str) -> None:
    assert VerdictRow.read(text) is None
    assert ReplyRow.read(text) is None


def test_half_a_surrogate_pair_does_not_stop_a_run() -> None:
    made = row(VERDICT.model_copy(update={"reason": "half \ud83d 二"}))
    assert made is not None
    back = VerdictRow.read(made.write())
    assert back is not None
    assert back.reason == "half ? 二"


def test_a_reply_keeps_what_it_cost() -> None:
    made = ReplyRow.of(Reply(text='{"二":1}', call=CALL, sentences=(1,)), "llm:m")
    back = ReplyRow.read(made.write())
    assert back is not None
    assert back.text == '{"二":1}'
    assert back.signature == "llm:m"
    assert back.stored.utcoffset() is not None
    assert back.call() == Call(
        model="m-1", prompt_tokens=7, reply_tokens=3, seconds=1.5, cached=True
    )


def stored_verdict(signature: str) -> str:
    return json.dumps(GOOD | {"signature": signature})


def stored_reply(signature: str, day: int) -> str:
    made = ReplyRow.of(Reply(text="{}", call=CALL, sentences=()), signature)
    return made.model_copy(update={"stored": datetime(2026, 5, day, tzinfo=UTC)}).write()


def test_rows_are_counted_by_kind_and_signature() -> None:
    asked = AskedRow(signature="a", url="u", repeat=0, query="", answer="", chunks=()).write()
    counted = contents(
        [
            ("k1", stored_verdict("a")),
            ("reply:1", stored_reply("a", 3)),
            ("asked:1", asked),
            ("k2", stored_verdict("b")),
            ("k3", stored_verdict("a")),
            ("reply:2", stored_reply("a", 1)),
            ("reply:3", stored_reply("a", 2)),
            ("probe:1", "remembered"),
            ("reply:4", "{}"),
            ("asked:2", "二"),
        ]
    )
    assert counted == Contents(
        verdicts=3,
        replies=3,
        answers=1,
        other=3,
        signatures={
            "a": Tally(
                verdicts=2,
                replies=3,
                oldest=datetime(2026, 5, 1, tzinfo=UTC),
                newest=datetime(2026, 5, 3, tzinfo=UTC),
            ),
            "b": Tally(verdicts=1, replies=0, oldest=None, newest=None),
        },
    )
