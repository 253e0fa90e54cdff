import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue

from judge import evaluate, review
from judge.backends.fake import FakeJudge
from judge.config import Config
from judge.errors import InputError, RunError
from judge.evaluator import Evaluator
from judge.files.samples import read_samples
from judge.job import Job
from judge.records import Chunk, JudgeOutcome, Sample, SentenceKind, Support, Verdict
from judge.review import Promotion, promote
from judge.review.draws import take
from judge.review.flips import Drift, Flip, LostSentence, compare, unjudged, untrusted
from judge.review.folder import write_draw, write_labels, write_whole
from judge.review.golden import Golden, golden_lines, read_golden
from judge.review.records import Draw, DrawnSentence, GoldenLabel, Label
from tests.commands import line
from tests.commands import write as write_lines
from tests.drawn import FAILED, fallen_back, label, verdict
from tests.reviewed import Quiet

FULL, PARTIAL, NONE = Support.FULL, Support.PARTIAL, Support.NONE
CONTRADICTED, NO_CLAIM = Support.CONTRADICTED, Support.NO_CLAIM
LLM = "llm:m@host|t:0"
ANSWER = "七点开门。 It closes at three."
LABEL = GoldenLabel(
    sentence=1,
    start=6,
    end=25,
    text="It closes at three.",
    support=NONE,
    supported=False,
    reviewers=2,
    judged=FULL,
    signature=LLM,
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
JSON_LABEL: dict[str, JsonValue] = json.loads(LABEL.model_dump_json(exclude_defaults=True))


def write(path: Path, *golden: Golden) -> Path:
    write_whole(path, golden_lines(golden))
    return path


def damaged(path: Path, labels: JsonValue) -> Path:
    plain = {"qid": "one", "answer": "Yes.", "chunks": []}
    bad = {"qid": "two", "answer": ANSWER, "chunks": [], "labels": labels}
    path.write_text(f"{json.dumps(plain)}\n\n{json.dumps(bad)}\n", encoding="utf-8")
    return path


def test_a_golden_set_is_a_samples_file_and_keeps_every_field(tmp_path: Path) -> None:
    # `{"qid": null, "id": "x"}` is read as the qid x, and the null stays behind.
    odd = Sample(qid="x", answer=ANSWER, metadata={"qid": None, "reference": None})
    bare = LABEL.model_copy(update={"support": None})
    path = write(tmp_path / "new" / "g.jsonl", Golden(SAMPLE, (LABEL,)), Golden(odd, (bare,)))
    assert [path.name for path in path.parent.iterdir()] == ["g.jsonl"]
    assert [each.labels for each in read_golden(path)] == [(LABEL,), (bare,)]
    first, second = read_samples(path)
    labels = {"labels": [JSON_LABEL]}
    assert first == SAMPLE.model_copy(update={"metadata": {**SAMPLE.metadata, **labels}})
    assert (second.qid, second.answer, second.gold_answer) == ("x", ANSWER, None)


@given(text=st.text(st.characters(exclude_categories=["Cs"]), min_size=1))
def test_any_text_comes_back(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    label = LABEL.model_copy(update={"start": 1, "end": 1 + len(text), "text": text})
    golden = Golden(Sample(qid="q", query=text, answer=f"“{text}”"), (label,))
    (read,) = read_golden(write(tmp_path_factory.getbasetemp() / "any.jsonl", golden))
    assert (read.sample.query, read.sample.answer) == (text, f"“{text}”")
    assert read.labels == (label,)


def test_damaged_labels_are_named_with_their_line(tmp_path: Path) -> None:
    nothing: list[JsonValue] = [None, []]
    for labels in nothing:
        path = damaged(tmp_path / "golden.jsonl", labels)
        with pytest.raises(InputError, match=r"golden\.jsonl: no answer has 'labels'; .* promote"):
            read_golden(path)
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
SAID: dict[str, JudgeOutcome] = {
    FIRST: verdict("full"),
    SECOND: fallen_back("none"),
    THIRD: FAILED,
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


Said = tuple[str, int, str, str]
"""qid, sentence, what a person said, the person"""


def say(run: Path, draw: Draw, *said: Said) -> None:
    labels = [label(row(draw, qid, k), word, who, "a secret") for qid, k, word, who in said]
    write_labels(run, draw.draw, labels)


def promoted(run: Path, reviewers: int = 1) -> Promotion:
    return promote(run, run.parent / "golden.jsonl", min_reviewers=reviewers, force=True)


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return scored(tmp_path)


def test_agreed_labels_stand_in_run_order_with_what_the_judge_said(run: Path) -> None:
    told: list[Said] = [
        ("q3", 0, "none", "a"),
        ("q2", 0, "partial", ""),
        ("问题1", 2, "full", "a"),
        ("问题1", 0, "full", "a"),
        ("问题1", 0, "full", "b"),
    ]
    say(run, drawn(run), *told)
    found = promoted(run)
    assert (found.disagreed, found.few, found.stale) == ([], 0, [])
    assert [each.sample.qid for each in found.golden] == ["问题1", "q2", "q3"]
    assert found.golden[1].sample.metadata == {"lang": "en"}
    common = {"signature": "llm:m", "supported": True, "support": FULL}
    first = {"sentence": 0, "start": 0, "end": 27, "text": FIRST, "reviewers": 2, "judged": FULL}
    # 27 characters, a blank, 19, a blank, 6.
    last = {"sentence": 2, "start": 48, "end": 54, "text": THIRD, "reviewers": 1, "judged": None}
    assert found.golden[0].labels == (
        GoldenLabel.model_validate(common | first),
        GoldenLabel.model_validate(common | last),
    )
    (stood_in,) = found.golden[1].labels
    assert (stood_in.support, stood_in.supported, stood_in.judged) == (PARTIAL, False, None)


def test_all_who_labelled_it_say_the_same(run: Path) -> None:
    table: dict[str, tuple[Support | None, bool] | None] = {
        "full full": (FULL, True),
        "full partial": None,
        "none partial": None,
        "contradicted none": None,
        "no no": (None, False),
        "no partial": (None, False),
        "none no partial": (None, False),
        "no full": None,
        "none none none": (NONE, False),
        "none none full": None,
    }
    draw = drawn(run)
    for words, agreed in table.items():
        said: list[Said] = [("q2", 0, word, f"r{n}") for n, word in enumerate(words.split())]
        say(run, draw, ("q3", 0, "full", "a"), *said)
        found = promoted(run)
        labels = {each.sample.qid: each.labels for each in found.golden}
        if agreed is None:
            assert list(labels) == ["q3"], words
            assert found.disagreed == [(row(draw, "q2", 0).review_id, "q2", 0)]
        else:
            (only,) = labels["q2"]
            assert (only.support, only.supported) == agreed, words
            assert (only.reviewers, found.disagreed) == (len(said), [])


def test_labels_of_several_draws_count_together(run: Path) -> None:
    one, two = drawn(run, seed=1), drawn(run, seed=2)
    say(run, one, ("q3", 0, "full", "a"), ("q2", 0, "none", "a"), ("问题1", 0, "full", "a"))
    say(run, two, ("q3", 0, "full", "b"), ("q2", 0, "full", "b"), ("问题1", 0, "full", "a"))
    found = promoted(run, reviewers=2)
    assert [each.sample.qid for each in found.golden] == ["q3"]
    assert found.golden[0].labels[0].reviewers == 2
    assert [each.qid for each in found.disagreed] == ["q2"]
    assert found.few == 1  # one person, asked twice, is one


def test_what_nothing_can_be_promoted_of(run: Path) -> None:
    with pytest.raises(RunError, match="no draw has labels; judge review import"):
        promoted(run)
    # Labels of earlier results are left out.
    old = drawn(run, seed=7, results="0" * 64)
    say(run, old, ("q2", 0, "full", "a"))
    with pytest.raises(RunError, match=r"no draw of its results \(1 with labels of earlier"):
        promoted(run)
    draw = drawn(run)
    say(run, draw, ("q2", 0, "full", "a"), ("q2", 0, "none", "b"), ("q3", 0, "full", "a"))
    wanted = r"disagreed on: 1, agreed on by under 2 reviewers: 1\); nothing was written"
    with pytest.raises(RunError, match=wanted):
        promoted(run, reviewers=2)
    drawn(run, seed=8, results="1" * 64)  # without labels there is nothing to leave out
    found = promoted(run)
    assert ([each.sample.qid for each in found.golden], found.stale) == (["q3"], [old.draw])
    for qid, sentence in (("no such", 0), ("q2", 9)):
        stray = Label(review_id="r", qid=qid, sentence=sentence, supported=True)
        write_labels(run, draw.draw, [stray])
        with pytest.raises(RunError, match="a sentence it has not; import the sheet again"):
            promoted(run)


def test_a_key_labels_of_the_input_is_not_written_over(tmp_path: Path) -> None:
    run = scored(tmp_path, labels=["mine"])
    draw = drawn(run)
    say(run, draw, ("q2", 0, "full", "a"))
    assert len(promoted(run).golden) == 1  # in the other answer it is in nobody's way
    say(run, draw, ("问题1", 0, "full", "a"))
    wanted = r"'问题1' bears a key 'labels' in the input that is no .*'labels\[0\]'.*; rename it"
    with pytest.raises(RunError, match=wanted):
        promoted(run)


def test_labels_of_an_earlier_golden_set_make_way(tmp_path: Path) -> None:
    old = LABEL.model_copy(update={"sentence": 0, "start": 0, "end": 27, "text": FIRST})
    run = scored(tmp_path, labels=[json.loads(old.model_dump_json())])
    say(run, drawn(run), ("问题1", 0, "full", "a"), ("q3", 0, "full", "a"))
    assert promoted(run).replaced == 1
    (first, _) = read_golden(tmp_path / "golden.jsonl")
    assert [each.support for each in first.labels] == [FULL]


def test_promote_writes_the_set_and_no_more(run: Path, tmp_path: Path) -> None:
    say(run, drawn(run), ("q2", 0, "full", "a"))
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
        changes = {
            "sentence": number,
            "start": len(answer),
            "end": len(answer) + len(text),
            "text": text,
            "support": people if isinstance(people, Support) else None,
            "supported": people in (True, FULL),
            "judged": then,
            "signature": signature,
        }
        labels.append(LABEL.model_copy(update=changes))
        answer += f"{text} "
    return Golden(Sample(qid="问题", answer=answer), tuple(labels))


def drift(rows: Sequence[Row], *, then: str = LLM, now: str = LLM) -> Drift:
    golden = golden_of(rows, then)
    said: Mapping[str, JudgeOutcome] = {
        text_of(number): verdict(now.value) if isinstance(now, Support) else now
        for number, (_, now, _) in enumerate(rows)
    }
    return compare([golden], evaluate([golden.sample], judge=FakeJudge(said, signature=now)))


def test_better_and_worse_by_hand() -> None:
    same: list[Row] = [(FULL, FULL, FULL), (NONE, NONE, FULL), (PARTIAL, PARTIAL, PARTIAL)]
    up: list[Row] = [(FULL, NONE, NONE)]
    down: list[Row] = [(FULL, NONE, FULL)]
    table: list[tuple[list[Row], tuple[int, int, float, float | None, float | None]]] = [
        # Better, worse, p, right then, right now.
        (same, (0, 0, 1.0, 2 / 3, 2 / 3)),
        # 2 · ½⁶
        (up * 6 + same[:1] * 6, (6, 0, 0.03125, 0.5, 1.0)),
        # 2 · (C(6, 0) + C(6, 1)) / 2⁶ = 14 / 64
        (up + down * 5 + [(NONE, NONE, NONE)] * 4, (1, 5, 0.21875, 0.9, 0.5)),
        ([(None, FULL, FULL)], (0, 0, 1, None, None)),
    ]
    for rows, (better, worse, p, then, now) in table:
        found = drift(rows)
        assert (found.better, found.worse, found.scale) == (better, worse, "labels")
        assert found.p == pytest.approx(p, abs=1e-12)
        assert (found.agreement_then, found.agreement_now) == (then, now)
        assert len(found.flips) == better + worse
        assert (found.labels, found.lost) == (len(rows), ())


def test_the_worst_flip_comes_first() -> None:
    rows: list[Row] = [
        (NONE, FULL, FULL),  # better
        (NONE, PARTIAL, PARTIAL),  # better, by half
        (NONE, CONTRADICTED, FULL),  # wrong as before
        (FULL, PARTIAL, FULL),  # worse, by half
        (NONE, FULL, NONE),  # worse
        (PARTIAL, FULL, NONE),  # more wrong than before
    ]
    found = drift(rows)
    assert [flip.sentence for flip in found.flips] == [4, 3, 5, 2, 1, 0]
    changes = "worse worse other other better better"
    assert " ".join(flip.change for flip in found.flips) == changes
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
    # So does a judge that never says partial.
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
        assert found.scale == scale, (then, now)
        assert (found.signatures_then, found.signatures_now) == ({then: 1}, {now: 1})


def test_no_verdict_is_no_flip() -> None:
    rows: list[Row] = [
        (FULL, FAILED, FULL),
        (FULL, fallen_back("none"), FULL),
        (None, FULL, FULL),
        (None, FAILED, FULL),
        (FULL, FULL, FULL),
    ]
    found = drift(rows)
    assert (found.labels, found.compared, found.flips) == (5, 1, ())
    assert (found.unscored_then, found.unscored_now) == (2, 3)
    assert (found.agreement_then, found.agreement_now, found.p) == (1.0, 1.0, 1.0)


def test_a_sentence_is_known_by_where_it_stands() -> None:
    answer = "It opens at seven. It opens at seven. Is it large? 周末不营业。"
    said: dict[str, JudgeOutcome] = {
        "It opens at seven.": verdict("none"),
        "周末不营业。": verdict("full"),
    }
    # The splitter of then: the first two as one, the question taken for a claim, 周末 the seventh.
    places = [(0, 0, 37), (1, 38, 50), (6, 51, 57), (9, 19, 37)]
    (full,) = golden_of([(FULL, FULL, FULL)]).labels
    labels = tuple(
        full.model_copy(update={"sentence": k, "start": a, "end": b, "text": answer[a:b]})
        for k, a, b in places
    )
    sample = Sample(qid="q", answer=answer)
    results = evaluate([sample], judge=FakeJudge(said, signature=LLM))
    found = compare([Golden(sample, labels)], results)
    assert found.lost == (
        LostSentence(qid="q", sentence=0, text=answer[:37], kind=None),
        LostSentence(qid="q", sentence=1, text="Is it large?", kind=SentenceKind.QUESTION),
    )
    assert (found.labels, found.compared, found.unscored_now) == (4, 2, 0)
    assert [(flip.sentence, flip.change) for flip in found.flips] == [(9, "worse")]


def test_a_file_is_judged_again(tmp_path: Path) -> None:
    golden = golden_of([(FULL, NONE, NONE), (None, FAILED, True), *[(FULL, FAILED, FULL)] * 3])
    path = write(tmp_path / "golden.jsonl", golden)
    said: dict[str, Verdict] = {text_of(0): verdict("none")}
    judge = FakeJudge(said | {text_of(n): FAILED for n in range(1, 5)})
    found = review.drift(path, judge=judge)
    assert found == review.drift([golden], judge=judge)
    assert [path.name for path in tmp_path.iterdir()] == ["golden.jsonl"]
    assert (found.labels, found.compared, found.unscored_now) == (5, 1, 4)
    assert (unjudged(found), untrusted(found, 0.8), untrusted(found, 0.7)) == (0.8, False, True)
    assert not untrusted(found.model_copy(update={"unscored_now": 2}), 0.0)
