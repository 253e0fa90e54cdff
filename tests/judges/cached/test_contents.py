from datetime import UTC, datetime

from judge.judges.cached.contents import Contents, Tally, contents
from judge.judges.cached.rows import AskedRow, Place, ReplyRow, VerdictRow
from judge.records import Support


def verdict(signature: str) -> str:
    return VerdictRow(
        place=Place(sentence=0, cites=(), flags=(), replies=(), asked="asked:1"),
        support=Support.FULL,
        evidence=(),
        supporting=(),
        cited_support=None,
        reason="",
        source="llm",
        signature=signature,
    ).write()


def reply(signature: str, day: int) -> str:
    return ReplyRow(
        text="{}",
        model="m",
        prompt_tokens=1,
        reply_tokens=1,
        seconds=0.0,
        signature=signature,
        stored=datetime(2026, 5, day, tzinfo=UTC),
    ).write()


def test_rows_are_counted_by_kind_and_signature() -> None:
    asked = AskedRow(signature="a", url="u", repeat=0, query="", answer="", chunks=()).write()
    counted = contents(
        [
            ("k1", verdict("a")),
            ("reply:1", reply("a", 3)),
            ("asked:1", asked),
            ("k2", verdict("b")),
            ("k3", verdict("a")),
            ("reply:2", reply("a", 1)),
            ("reply:3", reply("a", 2)),
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


def test_nothing_stored_counts_nothing() -> None:
    assert contents([]) == Contents(verdicts=0, replies=0, answers=0, other=0, signatures={})
