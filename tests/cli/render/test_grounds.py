import io

import pytest
from rich.console import Console

from judge.cli.render.answer import grounds, heading
from judge.records import Evidence, Excluded, Outcome, Support, Unscored, UnscoredReason, Verdict

LATE = Unscored(reason=UnscoredReason.TIMEOUT, detail="timeout: 60 s")
CONSOLE = Console(file=io.StringIO(), width=80)


def verdict(reason: str = "", *evidence: Evidence) -> Verdict:
    return Verdict(
        support=Support.PARTIAL, reason=reason, evidence=evidence, source="llm", signature="s"
    )


def told(outcome: Outcome, **texts: str) -> list[str]:
    named = {name: [text] for name, text in texts.items()}
    return [line.plain for line in grounds(outcome, named, CONSOLE)]


@pytest.mark.parametrize(
    ("outcome", "line"),
    [
        (verdict(), "◐3   partial"),
        (LATE, "?3   unscored: timeout: 60 s"),
        (Excluded(), "·3   not a claim"),
        (
            verdict().model_copy(update={"score": 0.25, "support": Support.NONE}),
            "✗3   none, P(supported) 0.250",
        ),
        (
            verdict().model_copy(update={"source": "nli", "fallback_from": LATE}),
            "◐3   partial, by nli: timeout: 60 s",
        ),
    ],
)
def test_the_heading_of_a_sentence_numbers_it_from_one(outcome: Outcome, line: str) -> None:
    assert heading(2, outcome, CONSOLE).plain == line


def test_reason_and_quotes_with_what_stands_around_them() -> None:
    found = Evidence(chunk_id="answer", quote="十元", start=1, end=3, verified=True)
    lost = Evidence(chunk_id="answer", quote="二十元")
    assert told(verdict("少了\n币种", found, lost), answer="共十元。") == [
        "少了 币种",
        "answer  共«十元»。",
        "answer  not found there: «二十元»",
    ]
    assert told(verdict("", found)) == ["answer  «十元»"]
    assert told(verdict("", found), answer="changed since") == ["answer  «十元»"]


def test_what_is_no_verdict_rests_on_nothing() -> None:
    assert told(LATE) == told(Excluded()) == []
