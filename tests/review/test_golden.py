import json
from pathlib import Path

import pytest
from pydantic import JsonValue

from judge.backends.fake import FakeJudge
from judge.config import Config
from judge.errors import InputError, RunError
from judge.evaluator import Evaluator
from judge.inputs.samples import read_samples
from judge.inputs.tables import write_whole
from judge.jobs.job import Job
from judge.records import Chunk, JudgeOutcome, Sample, Support
from judge.review import Promotion, promote
from judge.review.draws import draw_rows, write_draw
from judge.review.golden import Golden, GoldenLabel, golden_lines, read_golden
from judge.review.labels import write_labels
from judge.review.records import Draw, DrawnSentence
from tests.commands import line
from tests.commands import write as write_lines
from tests.draws import FAILED, fallen_back, label, verdict

FULL, PARTIAL, NONE = Support.FULL, Support.PARTIAL, Support.NONE
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


def test_damaged_labels_are_named_with_their_line(tmp_path: Path) -> None:
    nothing: list[JsonValue] = [None, []]
    for labels in nothing:
        path = damaged(tmp_path / "golden.jsonl", labels)
        with pytest.raises(InputError, match=r"golden\.jsonl: no answer has 'labels'; .* promote"):
            read_golden(path)
    table: list[tuple[JsonValue, str, str]] = [
        ("good", "labels", "is damaged"),
        ([JSON_LABEL, {}], "labels.1.sentence", "is damaged: Field required"),
        ([JSON_LABEL | {"start": "6"}], "labels.0.start", "is damaged"),
        ([JSON_LABEL | {"start": 5}], "labels.0", "its text is not there"),
        ([JSON_LABEL | {"start": -19, "end": 25}], "labels.0", "its text is not there"),
        ([JSON_LABEL | {"start": 6, "end": 6, "text": ""}], "labels.0", "its text is not there"),
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


def scored(place: Path) -> Path:
    samples = [
        line("问题1", f"{FIRST} {SECOND} {THIRD}"),
        line("q2", f"{SECOND} Thank you!") | {"lang": "en"},
        line("q3", FIRST),
    ]
    source = write_lines(place / "in.jsonl", samples)
    evaluator = Evaluator(judge=FakeJudge(SAID, signature="llm:m"))
    Job(source, place / "run", Config(), evaluator=evaluator, force=True).run()
    return place / "run"


def drawn(run: Path, seed: int = 0, **changes: object) -> Draw:
    draw = draw_rows(run, size=100, seed=seed).draw.model_copy(update=changes)
    write_draw(run, draw)
    return draw


def row(draw: Draw, qid: str, sentence: int) -> DrawnSentence:
    return next(s for s in draw.sentences if (s.qid, s.sentence) == (qid, sentence))


Said = tuple[str, int, str, str]
"""qid, sentence, what a person said, the person"""


def say(run: Path, draw: Draw, *said: Said) -> None:
    labels = [label(row(draw, qid, k), word, who, "a secret") for qid, k, word, who in said]
    write_labels(run, draw.draw, labels)


def promoted(run: Path) -> Promotion:
    return promote(run, run.parent / "golden.jsonl", force=True)


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return scored(tmp_path)


def test_agreed_labels_come_in_run_order_with_the_judges_labels(run: Path) -> None:
    told: list[Said] = [
        ("q3", 0, "none", "a"),
        ("q2", 0, "partial", ""),
        ("问题1", 2, "full", "a"),
        ("问题1", 0, "full", "a"),
        ("问题1", 0, "full", "b"),
    ]
    say(run, drawn(run), *told)
    found = promoted(run)
    assert found.disagreed == []
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


def test_a_label_is_golden_if_all_reviewers_agree(run: Path) -> None:
    table: dict[str, tuple[Support | None, bool] | None] = {
        "full full": (FULL, True),
        "full partial": None,
        "no no": (None, False),
        "no partial": (None, False),
        "none no partial": (None, False),
        "no full": None,
    }
    draw = drawn(run)
    for words, agreed in table.items():
        said: list[Said] = [("q2", 0, word, f"r{n}") for n, word in enumerate(words.split())]
        say(run, draw, ("q3", 0, "full", "a"), *said)
        found = promoted(run)
        labels = {each.sample.qid: each.labels for each in found.golden}
        if agreed is None:
            assert list(labels) == ["q3"], words
            assert [each.review_id for each in found.disagreed] == [row(draw, "q2", 0).review_id]
        else:
            (only,) = labels["q2"]
            assert (only.support, only.supported) == agreed, words
            assert (only.reviewers, found.disagreed) == (len(said), [])


def test_runs_without_agreed_labels(run: Path) -> None:
    with pytest.raises(RunError, match="no draw of its results has labels; judge review import"):
        promoted(run)
    # Labels of earlier results are left out.
    old = drawn(run, seed=7, results="0" * 64)
    say(run, old, ("q2", 0, "full", "a"))
    with pytest.raises(RunError, match="no draw of its results has labels"):
        promoted(run)
    draw = drawn(run)
    say(run, draw, ("q2", 0, "full", "a"), ("q2", 0, "none", "b"))
    with pytest.raises(RunError, match=r"disagreed on: 1\); nothing was written"):
        promoted(run)
