import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from pydantic import JsonValue

from judge.backends.fake import FakeJudge
from judge.config import Config
from judge.errors import RunError
from judge.evaluator import Evaluator
from judge.job import Job
from judge.records import JudgeOutcome, Support, Unscored, UnscoredReason, Verdict
from judge.review.draws import take
from judge.review.folder import read_draw, write_draw, write_labels, write_whole
from judge.review.golden import Golden, golden_lines, promotion, read_golden
from judge.review.records import Draw, DrawnSentence, GoldenLabel, Label
from tests.commands import line, write
from tests.reviewed import Quiet

FIRST = "The canteen opens at seven."
SECOND = "It closes at three."
THIRD = "周末不营业。"
FULL, NONE, PARTIAL = Support.FULL, Support.NONE, Support.PARTIAL


def write_golden(path: Path, golden: Sequence[Golden]) -> Path:
    write_whole(path, golden_lines(golden))
    return path


def verdict(support: Support, failure: Unscored | None = None) -> Verdict:
    return Verdict(support=support, source="llm", signature="v", fallback_from=failure)


TIMEOUT = Unscored(reason=UnscoredReason.TIMEOUT)
SAID: dict[str, JudgeOutcome] = {
    FIRST: verdict(FULL),
    SECOND: verdict(NONE, TIMEOUT),
    THIRD: TIMEOUT,
}


def scored(place: Path, **more: JsonValue) -> Path:
    samples = [
        line("问题1", f"{FIRST} {SECOND} {THIRD}") | more,
        line("q2", f"{SECOND} Thank you!") | {"lang": "en"},
        line("q3", FIRST),
    ]
    source = write(place / "in.jsonl", samples)
    evaluator = Evaluator(judge=FakeJudge(SAID, signature="llm:m"))
    Job(source, place / "run", Config(), evaluator=evaluator, force=True).run(Quiet())
    return place / "run"


def drawn(run: Path, seed: int = 0, **changes: object) -> Draw:
    draw = take(run, size=100, seed=seed).draw.model_copy(update=changes)
    write_draw(run, draw)
    return draw


def row(draw: Draw, qid: str, sentence: int) -> DrawnSentence:
    return next(s for s in draw.sentences if (s.qid, s.sentence) == (qid, sentence))


Said = tuple[str, int, Support | bool, str]
"""qid, sentence, the label or a bare yes or no, reviewer"""


def label(run: Path, draw: Draw, said: Sequence[Said]) -> None:
    write_labels(
        run,
        draw.draw,
        [
            Label(
                review_id=row(draw, qid, sentence).review_id,
                qid=qid,
                sentence=sentence,
                support=given if isinstance(given, Support) else None,
                supported=given in (True, FULL),
                reviewer=reviewer,
                note="a secret",
            )
            for qid, sentence, given, reviewer in said
        ],
    )


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return scored(tmp_path)


def test_agreed_labels_stand_in_run_order_with_what_the_judge_said(run: Path) -> None:
    draw = drawn(run)
    told: list[Said] = [
        ("q3", 0, NONE, "a"),
        ("q2", 0, PARTIAL, ""),
        ("问题1", 2, FULL, "a"),
        ("问题1", 0, FULL, "a"),
        ("问题1", 0, FULL, "b"),
    ]
    label(run, draw, told)
    found = promotion(run)
    assert (found.disagreed, found.few, found.stale) == ([], 0, [])
    assert [each.sample.qid for each in found.golden] == ["问题1", "q2", "q3"]
    assert found.golden[1].sample.metadata == {"lang": "en"}
    both, failed = found.golden[0].labels
    # 27 characters, a blank, 19, a blank, 6.
    assert (both.sentence, both.start, both.end, both.text) == (0, 0, 27, FIRST)
    assert (both.support, both.supported, both.reviewers) == (FULL, True, 2)
    assert (both.judged, both.signature) == (FULL, "llm:m")
    assert (failed.sentence, failed.start, failed.end, failed.text) == (2, 48, 54, THIRD)
    assert (failed.support, failed.judged, failed.reviewers) == (FULL, None, 1)
    (stood_in,) = found.golden[1].labels
    assert (stood_in.support, stood_in.supported, stood_in.judged) == (PARTIAL, False, None)


@pytest.mark.parametrize(
    ("said", "agreed"),
    [
        ((FULL, FULL), (FULL, True)),
        ((FULL, PARTIAL), None),
        ((NONE, PARTIAL), None),
        ((Support.CONTRADICTED, NONE), None),
        ((False, False), (None, False)),
        ((False, PARTIAL), (None, False)),
        ((NONE, False, PARTIAL), (None, False)),
        ((False, FULL), None),
        ((True, FULL), (None, True)),
        ((NONE, NONE, NONE), (NONE, False)),
        ((NONE, NONE, FULL), None),
    ],
)
def test_all_who_labelled_it_say_the_same(
    run: Path, said: Sequence[Support | bool], agreed: tuple[Support | None, bool] | None
) -> None:
    draw = drawn(run)
    others: list[Said] = [("q3", 0, FULL, "a")]
    told: list[Said] = [("q2", 0, each, f"r{n}") for n, each in enumerate(said)]
    label(run, draw, others + told)
    found = promotion(run)
    labels = {each.sample.qid: each.labels for each in found.golden}
    if agreed is None:
        assert list(labels) == ["q3"]
        assert found.disagreed == [(row(draw, "q2", 0).review_id, "q2", 0)]
    else:
        (only,) = labels["q2"]
        assert (only.support, only.supported) == agreed
        assert (only.reviewers, found.disagreed) == (len(said), [])


def test_labels_of_several_draws_count_together(run: Path) -> None:
    one, two = drawn(run, seed=1), drawn(run, seed=2)
    label(run, one, [("q3", 0, FULL, "a"), ("q2", 0, NONE, "a"), ("问题1", 0, FULL, "a")])
    label(run, two, [("q3", 0, FULL, "b"), ("q2", 0, FULL, "b"), ("问题1", 0, FULL, "a")])
    found = promotion(run, reviewers=2)
    assert [each.sample.qid for each in found.golden] == ["q3"]
    assert found.golden[0].labels[0].reviewers == 2
    assert [each.qid for each in found.disagreed] == ["q2"]
    assert found.few == 1  # one person, asked twice, is one


def test_labels_of_earlier_results_are_left_out(run: Path) -> None:
    label(run, drawn(run), [("q3", 0, FULL, "a")])
    old = drawn(run, seed=7, results="0" * 64)
    label(run, old, [("q2", 0, FULL, "a")])
    drawn(run, seed=8, results="1" * 64)  # without labels there is nothing to leave out
    found = promotion(run)
    assert [each.sample.qid for each in found.golden] == ["q3"]
    assert found.stale == [old.draw]


def test_without_labels_there_is_nothing_to_promote(run: Path) -> None:
    with pytest.raises(RunError, match="no draw has labels; judge review import"):
        promotion(run)
    label(run, drawn(run, results="0" * 64), [("q2", 0, FULL, "a")])
    with pytest.raises(RunError, match=r"no draw of its results \(1 with labels of earlier"):
        promotion(run)


def test_where_nothing_is_agreed_the_counts_are_told(run: Path) -> None:
    told: list[Said] = [("q2", 0, FULL, "a"), ("q2", 0, NONE, "b"), ("q3", 0, FULL, "a")]
    label(run, drawn(run), told)
    wanted = r"disagreed on: 1, agreed on by under 2 reviewers: 1\); nothing was written"
    with pytest.raises(RunError, match=wanted):
        promotion(run, reviewers=2)


def test_changed_samples_are_not_promoted(run: Path) -> None:
    label(run, drawn(run), [("q2", 0, FULL, "a")])
    write(run.parent / "in.jsonl", [line("问题1", "Another.")])
    with pytest.raises(RunError, match="changed since"):
        promotion(run)


def test_a_key_labels_of_the_input_is_not_written_over(tmp_path: Path) -> None:
    run = scored(tmp_path, labels=["mine"])
    draw = drawn(run)
    label(run, draw, [("q2", 0, FULL, "a")])
    assert len(promotion(run).golden) == 1  # in the other answer it is in nobody's way
    label(run, draw, [("问题1", 0, FULL, "a")])
    wanted = r"'问题1' bears a key 'labels' in the input that is no .*'labels\[0\]'.*; rename it"
    with pytest.raises(RunError, match=wanted):
        promotion(run)


def test_labels_of_an_earlier_golden_set_make_way(tmp_path: Path) -> None:
    old = GoldenLabel(
        sentence=0,
        start=0,
        end=27,
        text=FIRST,
        support=NONE,
        supported=False,
        reviewers=1,
        judged=FULL,
        signature="llm:old",
    )
    run = scored(tmp_path, labels=[json.loads(old.model_dump_json())])
    label(run, drawn(run), [("问题1", 0, FULL, "a"), ("q3", 0, FULL, "a")])
    found = promotion(run)
    assert found.replaced == 1
    (first, _) = read_golden(write_golden(tmp_path / "golden.jsonl", found.golden))
    assert [each.support for each in first.labels] == [FULL]


@pytest.mark.parametrize("changes", [{"qid": "no such"}, {"sentence": 9}])
def test_labels_of_no_sentence_are_refused(run: Path, changes: dict[str, object]) -> None:
    draw = drawn(run)
    assert read_draw(run, draw.draw) == draw
    stray = Label(review_id="r", qid="q2", sentence=0, supported=True).model_copy(update=changes)
    write_labels(run, draw.draw, [stray])
    with pytest.raises(RunError, match="a sentence it has not; import the sheet again"):
        promotion(run)
