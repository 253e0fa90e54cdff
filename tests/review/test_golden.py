import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import JsonValue

from judge import evaluate, review
from judge.backends.fake import FakeJudge
from judge.config import Config
from judge.errors import InputError, RunError
from judge.evaluator import Evaluator
from judge.files.samples import read_samples
from judge.job import Job
from judge.records import (
    Chunk,
    JudgeOutcome,
    Sample,
    SentenceKind,
    Support,
    Unscored,
    UnscoredReason,
    Verdict,
)
from judge.review import promote
from judge.review.draws import take
from judge.review.folder import write_draw, write_labels, write_whole
from judge.review.golden import (
    Golden,
    compare,
    golden_lines,
    promotion,
    read_golden,
    unjudged,
    untrusted,
)
from judge.review.records import (
    Draw,
    DrawnSentence,
    Drift,
    Flip,
    GoldenLabel,
    Label,
    LostSentence,
)
from tests.commands import line
from tests.commands import write as write_lines
from tests.reviewed import Quiet

ANSWER = "七点开门。 It closes at three."
LABEL = GoldenLabel(
    sentence=1,
    start=6,
    end=25,
    text="It closes at three.",
    support=Support.NONE,
    supported=False,
    reviewers=2,
    judged=Support.FULL,
    signature="llm:m@host|t:0",
)
SAMPLE = Sample(
    qid="问题 1",
    query="几点?",
    answer=ANSWER,
    chunks=(Chunk(chunk_id="a#1", text="七点开门。\nNo more."),),
    retrieved=("a#1", "b"),
    gold_answer="七点",
    gold_evidence=("a#1",),
    relevance={"a#1": 2.0},
    metadata={"lang": "zh", "deep": [{"a": None}], "id": "another", "none": None},
)
JSON_LABEL: dict[str, JsonValue] = json.loads(LABEL.model_dump_json())


def write(path: Path, *golden: Golden) -> Path:
    write_whole(path, golden_lines(golden))
    return path


def damaged(path: Path, labels: JsonValue, answer: str = ANSWER) -> Path:
    plain = {"qid": "one", "answer": "Yes.", "chunks": []}
    bad = {"qid": "two", "answer": answer, "chunks": [], "labels": labels}
    path.write_text(f"{json.dumps(plain)}\n\n{json.dumps(bad)}\n", encoding="utf-8")
    return path


def test_what_is_written_is_read(tmp_path: Path) -> None:
    bare = Golden(Sample(qid="2", answer=ANSWER), (LABEL.model_copy(update={"support": None}),))
    path = write(tmp_path / "new" / "golden.jsonl", Golden(SAMPLE, (LABEL,)), bare)
    read = read_golden(path)
    assert [each.labels for each in read] == [(LABEL,), bare.labels]
    assert [path.name for path in path.parent.iterdir()] == ["golden.jsonl"]


def test_it_is_a_samples_file_and_keeps_every_field(tmp_path: Path) -> None:
    (sample,) = read_samples(write(tmp_path / "golden.jsonl", Golden(SAMPLE, (LABEL,))))
    labels = {"labels": [JSON_LABEL]}
    assert sample == SAMPLE.model_copy(update={"metadata": {**SAMPLE.metadata, **labels}})


def test_a_key_of_the_input_hides_no_field(tmp_path: Path) -> None:
    # `{"qid": null, "id": "x"}` is read as the qid x, and the null stays behind.
    odd = Sample(qid="x", answer=ANSWER, metadata={"qid": None, "reference": None})
    (sample,) = read_samples(write(tmp_path / "golden.jsonl", Golden(odd, (LABEL,))))
    assert (sample.qid, sample.answer, sample.gold_answer) == ("x", ANSWER, None)


@settings(deadline=None)
@given(text=st.text(st.characters(exclude_categories=["Cs"]), min_size=1))
def test_any_text_comes_back(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    label = LABEL.model_copy(update={"start": 1, "end": 1 + len(text), "text": text})
    golden = Golden(Sample(qid="q", query=text, answer=f"“{text}”"), (label,))
    path = write(tmp_path_factory.getbasetemp() / "any.jsonl", golden)
    (read,) = read_golden(path)
    assert (read.sample.query, read.sample.answer) == (text, f"“{text}”")
    assert read.labels == (label,)


def test_nothing_labelled_is_no_golden_set(tmp_path: Path) -> None:
    nothing: list[JsonValue] = [None, []]
    for labels in nothing:
        path = damaged(tmp_path / "golden.jsonl", labels)
        with pytest.raises(InputError, match=r"golden\.jsonl: no answer has 'labels'; .* promote"):
            read_golden(path)


def test_damaged_labels_are_named_with_their_line(tmp_path: Path) -> None:
    table: list[tuple[JsonValue, str, str]] = [
        ("good", "labels", "is no list"),
        ({"sentence": 1}, "labels", "is no list"),
        (["full"], "labels[0]", "is damaged"),
        ([JSON_LABEL, {}], "labels[1].sentence", "is damaged (Field required)"),
        ([JSON_LABEL | {"support": "good"}], "labels[0].support", "is damaged"),
        ([JSON_LABEL | {"start": "6"}], "labels[0].start", "is damaged"),
        ([JSON_LABEL | {"more": 1}], "labels[0].more", "is damaged"),
        ([JSON_LABEL | {"start": 5}], "labels[0]", "its text does not stand there"),
        ([JSON_LABEL | {"start": -19, "end": 25}], "labels[0]", "its text does not stand there"),
        ([JSON_LABEL | {"start": 6, "end": 6, "text": ""}], "labels[0]", "does not stand there"),
        ([JSON_LABEL | {"supported": True}], "labels[0]", "both supported and not"),
        ([JSON_LABEL, JSON_LABEL | {"reviewers": 1}], "labels[1]", "for the second time"),
    ]
    for labels, field, message in table:
        path = damaged(tmp_path / "golden.jsonl", labels)
        with pytest.raises(InputError) as raised:
            read_golden(path)
        assert (raised.value.path, raised.value.line, raised.value.field) == (str(path), 3, field)
        assert message in str(raised.value)
        assert "(answer 'two'); promote the run again" in str(raised.value)
        assert "\n" not in str(raised.value)


FIRST = "The canteen opens at seven."
SECOND = "It closes at three."
THIRD = "周末不营业。"
FULL, PARTIAL, NONE = Support.FULL, Support.PARTIAL, Support.NONE
CONTRADICTED, NO_CLAIM = Support.CONTRADICTED, Support.NO_CLAIM
LLM = "llm:m@host|t:0"


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
    source = write_lines(place / "in.jsonl", samples)
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


def test_all_who_labelled_it_say_the_same(run: Path) -> None:
    table: list[tuple[tuple[Support | bool, ...], tuple[Support | None, bool] | None]] = [
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
    ]
    draw = drawn(run)
    others: list[Said] = [("q3", 0, FULL, "a")]
    for said, agreed in table:
        label(run, draw, others + [("q2", 0, each, f"r{n}") for n, each in enumerate(said)])
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
    old = LABEL.model_copy(update={"sentence": 0, "start": 0, "end": 27, "text": FIRST})
    run = scored(tmp_path, labels=[json.loads(old.model_dump_json())])
    label(run, drawn(run), [("问题1", 0, FULL, "a"), ("q3", 0, FULL, "a")])
    found = promotion(run)
    assert found.replaced == 1
    (first, _) = read_golden(write(tmp_path / "golden.jsonl", *found.golden))
    assert [each.support for each in first.labels] == [FULL]


def test_labels_of_no_sentence_are_refused(run: Path) -> None:
    draw = drawn(run)
    for qid, sentence in (("no such", 0), ("q2", 9)):
        stray = Label(review_id="r", qid=qid, sentence=sentence, supported=True)
        write_labels(run, draw.draw, [stray])
        with pytest.raises(RunError, match="a sentence it has not; import the sheet again"):
            promotion(run)


def test_promote_writes_the_set_and_no_more(run: Path, tmp_path: Path) -> None:
    label(run, drawn(run), [("q2", 0, FULL, "a")])
    before = {path.name for path in tmp_path.iterdir()}
    found = promote(run, tmp_path / "golden.jsonl")
    assert {path.name for path in tmp_path.iterdir()} == before | {"golden.jsonl"}
    read = read_golden(tmp_path / "golden.jsonl")
    assert [each.labels for each in read] == [each.labels for each in found.golden]
    with pytest.raises(RunError, match="stands there already"):
        promote(run, tmp_path / "golden.jsonl")
    with pytest.raises(RunError, match="made from"):
        promote(run, run / "results.jsonl", force=True)


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
