from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from judge import evaluate, review
from judge.backends.fake import FakeJudge
from judge.records import (
    JudgeOutcome,
    Sample,
    SentenceKind,
    Support,
    Unscored,
    UnscoredReason,
    Verdict,
)
from judge.review.flips import compare, unjudged, untrusted, write_drift
from judge.review.folder import write_whole
from judge.review.golden import Golden, golden_lines
from judge.review.records import Drift, Flip, GoldenLabel, LostSentence

FULL, PARTIAL, NONE = Support.FULL, Support.PARTIAL, Support.NONE
CONTRADICTED, NO_CLAIM = Support.CONTRADICTED, Support.NO_CLAIM
TIMEOUT = Unscored(reason=UnscoredReason.TIMEOUT)
LLM = "llm:m@host|t:0"


def verdict(support: Support, failure: Unscored | None = None) -> Verdict:
    return Verdict(support=support, source="llm", signature="v", fallback_from=failure)


def text_of(number: int) -> str:
    return f"Room {number} opens at seven."


Row = tuple[Support | None, Support | JudgeOutcome, Support | bool]
"""What the judge said, what it says now, what people say: a label, or a bare yes or no."""


def golden_of(rows: Sequence[Row], signature: str = LLM) -> Golden:
    """One answer with a sentence for each row."""
    answer, labels = "", []
    for number, (then, _, people) in enumerate(rows):
        text = text_of(number)
        labels.append(
            GoldenLabel(
                sentence=number,
                start=len(answer),
                end=len(answer) + len(text),
                text=text,
                support=people if isinstance(people, Support) else None,
                supported=people in (True, FULL),
                reviewers=1,
                judged=then,
                signature=signature,
            )
        )
        answer += f"{text} "
    return Golden(Sample(qid="问题", answer=answer), tuple(labels))


def drift(rows: Sequence[Row], *, then: str = LLM, now: str = LLM) -> Drift:
    golden = golden_of(rows, then)
    said: Mapping[str, JudgeOutcome] = {
        text_of(number): verdict(now) if isinstance(now, Support) else now
        for number, (_, now, _) in enumerate(rows)
    }
    return compare([golden], evaluate([golden.sample], judge=FakeJudge(said, signature=now)))


def test_where_nothing_flips_nothing_drifted() -> None:
    found = drift([(FULL, FULL, FULL), (NONE, NONE, FULL), (PARTIAL, PARTIAL, PARTIAL)])
    assert (found.labels, found.compared, found.scale) == (3, 3, "labels")
    assert (found.agreement_then, found.agreement_now) == (2 / 3, 2 / 3)
    assert (found.better, found.worse, found.p, found.flips) == (0, 0, 1.0, ())
    assert (found.lost, found.unscored_then, found.unscored_now) == ((), 0, 0)


def test_better_and_worse_by_hand() -> None:
    found = drift([(FULL, NONE, NONE)] * 6 + [(FULL, FULL, FULL)] * 6)
    assert (found.better, found.worse) == (6, 0)
    # 2 · ½⁶
    assert found.p == pytest.approx(0.03125, abs=1e-12)
    assert (found.agreement_then, found.agreement_now) == (0.5, 1.0)
    found = drift([(FULL, NONE, NONE)] + [(FULL, NONE, FULL)] * 5 + [(NONE, NONE, NONE)] * 4)
    assert (found.better, found.worse) == (1, 5)
    # 2 · (C(6, 0) + C(6, 1)) / 2⁶ = 14 / 64
    assert found.p == pytest.approx(0.21875, abs=1e-12)
    assert (found.agreement_then, found.agreement_now) == (0.9, 0.5)


def test_the_worst_flip_comes_first() -> None:
    found = drift(
        [
            (NONE, FULL, FULL),  # better
            (NONE, PARTIAL, PARTIAL),  # better, by half
            (NONE, CONTRADICTED, FULL),  # wrong as before
            (FULL, PARTIAL, FULL),  # worse, by half
            (NONE, FULL, NONE),  # worse
            (PARTIAL, FULL, NONE),  # more wrong than before
        ]
    )
    assert [(flip.change, flip.sentence) for flip in found.flips] == [
        ("worse", 4),
        ("worse", 3),
        ("other", 5),
        ("other", 2),
        ("better", 1),
        ("better", 0),
    ]
    assert found.flips[0] == Flip(
        qid="问题",
        sentence=4,
        text="Room 4 opens at seven.",
        change="worse",
        then=NONE,
        now=FULL,
        support=NONE,
        supported=False,
    )
    # Two against two.
    assert (found.better, found.worse, found.p) == (2, 2, 1.0)
    assert (found.agreement_then, found.agreement_now) == (2 / 6, 2 / 6)


def test_one_bare_answer_makes_it_full_against_rest() -> None:
    rows: list[Row] = [(NONE, PARTIAL, PARTIAL), (FULL, PARTIAL, NONE), (PARTIAL, NONE, NONE)]
    assert (drift(rows).better, drift(rows).scale) == (2, "labels")
    found = drift([*rows, (FULL, NONE, True), (NO_CLAIM, FULL, False)])
    assert found.scale == "full_or_rest"
    changes = {flip.sentence: flip.change for flip in found.flips}
    assert changes == {0: "other", 1: "better", 2: "other", 3: "worse", 4: "worse"}
    assert (found.better, found.worse, found.p) == (1, 2, 1.0)
    # Right then: all but 1; right now: 0, 1 and 2.
    assert (found.agreement_then, found.agreement_now) == (4 / 5, 3 / 5)
    assert (found.flips[0].support, found.flips[0].supported) == (None, True)


def test_a_judge_that_never_says_partial_makes_it_so_too() -> None:
    similar = "similarity:lexical|t:0.87"
    table = [
        (LLM, LLM, "labels"),
        (LLM, f"{LLM}|fallback:{similar}", "labels"),
        ("mine", "yours", "labels"),
        (similar, LLM, "full_or_rest"),
        (LLM, similar, "full_or_rest"),
        (LLM, "nli:folder|t:0.5", "full_or_rest"),
    ]
    for then, now, scale in table:
        found = drift([(FULL, NONE, PARTIAL)], then=then, now=now)
        assert found.scale == scale
        assert found.better == (scale == "full_or_rest")
        assert (found.signatures_then, found.signatures_now) == ({then: 1}, {now: 1})


def test_no_verdict_is_no_flip() -> None:
    found = drift(
        [
            (FULL, TIMEOUT, FULL),
            (FULL, verdict(NONE, TIMEOUT), FULL),
            (None, FULL, FULL),
            (None, TIMEOUT, FULL),
            (FULL, FULL, FULL),
        ]
    )
    assert (found.labels, found.compared, found.flips) == (5, 1, ())
    assert (found.unscored_then, found.unscored_now) == (2, 3)
    assert (found.agreement_then, found.agreement_now, found.p) == (1.0, 1.0, 1.0)
    found = drift([(None, FULL, FULL)])
    assert (found.compared, found.agreement_then, found.agreement_now, found.p) == (
        0,
        None,
        None,
        1,
    )


def test_a_sentence_is_known_by_where_it_stands() -> None:
    answer = "It opens at seven. It opens at seven. Is it large? 周末不营业。"
    said: dict[str, JudgeOutcome] = {
        "It opens at seven.": verdict(NONE),
        "周末不营业。": verdict(FULL),
    }

    def label(index: int, start: int, end: int) -> GoldenLabel:
        (made,) = golden_of([(FULL, FULL, FULL)]).labels
        place = {"sentence": index, "start": start, "end": end, "text": answer[start:end]}
        return made.model_copy(update=place)

    # The splitter of then: the first two as one, the question taken for a claim, 周末 the seventh.
    labels = (label(0, 0, 37), label(1, 38, 50), label(6, 51, 57), label(9, 19, 37))
    sample = Sample(qid="q", answer=answer)
    results = evaluate([sample], judge=FakeJudge(said, signature=LLM))
    found = compare([Golden(sample, labels)], results)
    assert found.lost == (
        LostSentence(qid="q", sentence=0, text=answer[:37], kind=None),
        LostSentence(qid="q", sentence=1, text="Is it large?", kind=SentenceKind.QUESTION),
    )
    assert (found.labels, found.compared, found.unscored_now) == (4, 2, 0)
    assert [(flip.sentence, flip.change) for flip in found.flips] == [(9, "worse")]


def test_a_file_is_judged_again_and_what_flipped_is_kept(tmp_path: Path) -> None:
    golden = golden_of([(FULL, NONE, NONE), (None, TIMEOUT, True), *[(FULL, TIMEOUT, FULL)] * 3])
    write_whole(tmp_path / "golden.jsonl", golden_lines([golden]))
    judge = FakeJudge({text_of(0): verdict(NONE)} | {text_of(n): TIMEOUT for n in range(1, 5)})
    found = review.drift(tmp_path / "golden.jsonl", judge=judge)
    assert found == review.drift([golden], judge=judge)
    assert [path.name for path in tmp_path.iterdir()] == ["golden.jsonl"]
    assert (found.labels, found.compared, found.unscored_now) == (5, 1, 4)
    assert (unjudged(found), untrusted(found, 0.8), untrusted(found, 0.7)) == (0.8, False, True)
    assert not untrusted(found.model_copy(update={"unscored_now": 2}), 0.0)
    write_drift(tmp_path / "drift.json", found)
    text = (tmp_path / "drift.json").read_text("utf-8")
    assert Drift.model_validate_json(text) == found
    assert text.startswith('{\n  "schema": 1,')
