import json
from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest

from judge.backends.hook import chosen
from judge.config import Config
from judge.errors import RunError
from judge.files.runs import read_record, read_results
from judge.records import SampleResult
from judge.review.allocation import FLOOR
from judge.review.census import By, claims
from judge.review.draws import Drawing, live_name, review_id, take, take_live
from judge.review.folder import fingerprint
from judge.review.records import StratumName
from judge.review.sheet import BLIND, OPEN
from tests.reviewed import score, text_of

NAMES = [*StratumName, "supported", "supported", "no_claim", "fallen"]
# One to six claims each, all kinds among them, and an empty one.
ANSWERS = [[NAMES[(n + n * k) % len(NAMES)] for k in range(1 + n % 6)] for n in range(40)] + [[]]
RATE = 0.3


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    config = Config(seed=5, review_rate=RATE)
    return score(tmp_path_factory.mktemp("drawn"), ANSWERS, config)


@pytest.fixture
def results(run: Path) -> dict[str, SampleResult]:
    return {result.qid: result for result in read_results(run)}


def ids(drawing: Drawing) -> list[str]:
    return [row["review_id"] for row in drawing.rows]


def test_the_same_arguments_draw_the_same(run: Path) -> None:
    one = take(run, size=30, seed=3)
    assert take(run, size=30, seed=3) == one
    for other in (take(run, size=30, seed=4), take(run, size=31, seed=3), take(run, by="answer")):
        assert other.draw.draw != one.draw.draw
        assert not set(ids(other)) & set(ids(one))
    assert {(s.qid, s.sentence) for s in take(run, size=30, seed=4).draw.sentences} != {
        (s.qid, s.sentence) for s in one.draw.sentences
    }


def test_a_larger_draw_of_one_stratum_holds_the_smaller(tmp_path: Path) -> None:
    run = score(tmp_path, [["supported"]] * 30)
    small, large = ({s.qid for s in take(run, size=n).draw.sentences} for n in (8, 15))
    assert len(small) == 8
    assert small < large


@pytest.mark.parametrize("by", ["sentence", "answer"])
def test_rows_are_the_sentences_drawn(by: By, run: Path, results: dict[str, SampleResult]) -> None:
    drawing = take(run, by=by, size=30)
    draw = drawing.draw
    assert ids(drawing) == [sentence.review_id for sentence in draw.sentences]
    assert len(set(ids(drawing))) == len(drawing.rows)
    for row, sentence in zip(drawing.rows, draw.sentences, strict=True):
        result = results[sentence.qid]
        assert row["review_id"] == review_id(draw.draw, sentence.qid, sentence.sentence)
        assert row["sentence"] == sentence.text == text_of(sentence.qid, sentence.sentence)
        assert row["query"] == f"{sentence.qid}?"
        assert f"▶{sentence.text}◀" in row["answer"]
        assert sentence.outcome == result.sentences[sentence.sentence].outcome
        stratum = draw.strata[sentence.stratum]
        found = {claim.sentence: claim.stratum for claim in claims(result)}
        names = {found[sentence.sentence]} if by == "sentence" else set(found.values())
        assert names & set(stratum.names)
        assert 0 < sentence.probability <= 1
    assert (draw.by, draw.size, draw.seed) == (by, 30, 0)
    assert draw.results == fingerprint(run)
    assert draw.signature == read_record(run).signature


@pytest.mark.parametrize("by", ["sentence", "answer"])
@pytest.mark.parametrize("size", [5, 11, 30, 60])
def test_every_stratum_gives_five_and_all_together_the_size(run: Path, by: By, size: int) -> None:
    draw = take(run, by=by, size=size).draw
    there = sum(stratum.units for stratum in draw.strata)
    assert sum(stratum.drawn for stratum in draw.strata) == min(size, there)
    assert all(FLOOR <= stratum.drawn <= stratum.units for stratum in draw.strata)
    assert len(draw.strata) <= 6
    units = {(s.stratum, s.qid, s.sentence if by == "sentence" else None) for s in draw.sentences}
    drawn = Counter(stratum for stratum, *_ in units)
    assert [drawn[k] for k in range(len(draw.strata))] == [s.drawn for s in draw.strata]
    merged = [name for stratum in draw.strata for name in stratum.names]
    assert merged == [name for name in StratumName if name in merged]


@pytest.mark.parametrize("by", ["sentence", "answer"])
def test_more_than_there_are_takes_all(by: By, run: Path, results: dict[str, SampleResult]) -> None:
    draw = take(run, by=by, size=10_000).draw
    every = {(qid, c.sentence) for qid, result in results.items() for c in claims(result)}
    assert {(s.qid, s.sentence) for s in draw.sentences} == every
    assert {s.probability for s in draw.sentences} == {1}
    weights = sum(stratum.macro.weight for stratum in draw.strata)
    assert weights == pytest.approx(sum(sentence.weight for sentence in draw.sentences))
    assert sum(stratum.micro.weight for stratum in draw.strata) == len(every)


def test_whole_answers_are_drawn_whole(run: Path, results: dict[str, SampleResult]) -> None:
    draw = take(run, by="answer", size=12).draw
    found: dict[str, list[int]] = {}
    for sentence in draw.sentences:
        found.setdefault(sentence.qid, []).append(sentence.sentence)
    assert len(found) == 12
    for qid, sentences in found.items():
        assert sentences == [claim.sentence for claim in claims(results[qid])]
        assert len({s.probability for s in draw.sentences if s.qid == qid}) == 1


@pytest.mark.parametrize("size", [30, 80])
def test_chances_add_up_to_what_was_drawn(run: Path, size: int) -> None:
    draw = take(run, size=size).draw
    for k, stratum in enumerate(draw.strata):
        mine = [s for s in draw.sentences if s.stratum == k]
        scale = {round(s.weight / s.probability, 9) for s in mine if s.probability < 1}
        # In proportion to the weight, but for those that are certain.
        assert len(scale) <= 1
        certain = sum(s.weight for s in mine if s.probability == 1)
        sure = sum(s.probability == 1 for s in mine)
        for each in scale:
            rest = (stratum.macro.weight - certain) / each
            assert rest + sure == pytest.approx(stratum.drawn)


def test_neither_id_nor_order_tells_the_stratum(tmp_path: Path) -> None:
    # The order of the run does: the first half is supported.
    run = score(tmp_path, [["supported"]] * 40 + [["unsupported"]] * 40)
    draw = take(run, size=80).draw
    strata = [sentence.stratum for sentence in draw.sentences]
    assert Counter(strata) == {0: 40, 1: 40}
    for kept in (strata, [s.stratum for s in sorted(draw.sentences, key=lambda s: s.review_id)]):
        # Runs of equal strata in a random order: 40 and more, give or take 4.4.
        runs = 1 + sum(a != b for a, b in pairwise(kept))
        assert abs(runs - 41) < 3.3 * 4.5
        first = sum(stratum == 0 for stratum in kept[:40])
        assert abs(first - 20) < 3.3 * 2.3
    names = {tuple(sentence.review_id.partition("-")[0] for sentence in draw.sentences)}
    assert names == {(draw.draw,) * 80}


def test_the_verdict_stands_only_in_columns_that_blind_sheets_lack(run: Path) -> None:
    assert set(OPEN) - set(BLIND) == {"judge_support", "judge_quote"}
    for row in take(run, size=30).rows:
        assert set(row) <= set(OPEN)
        blind = " ".join(row[column] for column in BLIND if column in row)
        assert not any(name in blind for name in ("supported", "contradicted", "unscored"))


def test_what_the_sheet_says_is_independent_of_the_verdict(tmp_path: Path) -> None:
    sheets = []
    for name in ("supported", "unsupported", "unscored", "fallen"):
        place = tmp_path / name
        place.mkdir()
        run = score(place, [[name, name], [name]])
        rows = take(run, size=9).rows
        sheets.append(sorted([row[c] for c in BLIND[1:] if c in row] for row in rows))
    assert all(sheet == sheets[0] for sheet in sheets)


def test_an_id_is_no_number_to_a_spreadsheet(run: Path) -> None:
    drawing = take(run, size=30)
    for name in ids(drawing):
        head, _, tail = name.partition("-")
        assert head == drawing.draw.draw
        assert head.startswith("r")
        assert len(tail) == 12
    assert review_id("r1", "a", 12) != review_id("r1", "a1", 2)


def test_whom_the_hook_was_handed(run: Path, results: dict[str, SampleResult]) -> None:
    drawing = take_live(run)
    handed = {qid for qid, result in results.items() if chosen(qid, 5, RATE) and claims(result)}
    assert {sentence.qid for sentence in drawing.draw.sentences} == handed
    # Given how many were chosen, each answer that claims anything had the same chance.
    claiming = sum(bool(claims(result)) for result in results.values())
    assert {s.probability for s in drawing.draw.sentences} == {len(handed) / claiming}
    (stratum,) = drawing.draw.strata
    assert stratum.drawn == drawing.draw.size == len(handed)
    assert stratum.units == sum(bool(claims(result)) for result in results.values())
    record = read_record(run)
    assert drawing.draw.draw == live_name(record.signature, 5, RATE)
    # Its name is known before a server has said what it calls its model.
    assert live_name("llm:m@h|served:m-1|t:0", 5, RATE) == live_name("llm:m@h|t:0", 5, RATE)
    assert len({live_name("a", 5, RATE), live_name("a", 6, RATE), live_name("a", 5, 0.2)}) == 3


def test_an_answer_that_claims_nothing_was_not_drawn(tmp_path: Path) -> None:
    run = score(tmp_path, [["supported"], [], ["partial"]], Config(review_rate=1))
    draw = take_live(run).draw
    assert draw.size == draw.strata[0].drawn == draw.strata[0].units == 2


def test_a_run_that_cannot_be_drawn_from(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="no such run folder"):
        take(tmp_path / "nowhere")
    run = score(tmp_path, [[], []])
    for draw in (take, take_live):
        with pytest.raises(RunError, match="nothing to review"):
            draw(run)
    record = json.loads((run / "run.json").read_text())
    (run / "run.json").write_text(json.dumps(record | {"finished": None}))
    (run / "results.jsonl").rename(run / "results.jsonl.part")
    for draw in (take, take_live):
        with pytest.raises(RunError, match="unfinished"):
            draw(run)


@pytest.mark.parametrize("old", ["opened", "May."])
def test_samples_that_changed(tmp_path: Path, old: str) -> None:
    run = score(tmp_path, [["supported", "partial"]] * 9)
    source = tmp_path / "in.jsonl"
    text = source.read_text()
    source.write_text(text.replace(old, "closed"))
    with pytest.raises(RunError, match="changed since"):
        take(run)
    source.unlink()
    with pytest.raises(RunError, match="cannot be read again"):
        take(run)


def test_chunks_that_changed(tmp_path: Path) -> None:
    # The person would read other evidence than the judge.
    run = score(tmp_path, [["supported", "partial"]] * 9)
    source = tmp_path / "in.jsonl"
    lines = [json.loads(line) for line in source.read_text().splitlines()]
    for sample in lines:
        sample["chunks"][0]["text"] = "Something else."
    source.write_text("".join(json.dumps(sample) + "\n" for sample in lines))
    with pytest.raises(RunError, match="changed since"):
        take(run)


def test_results_that_are_gone(tmp_path: Path) -> None:
    run = score(tmp_path, [["supported"]] * 9)
    (run / "results.jsonl").unlink()
    with pytest.raises(RunError, match=r"results\.jsonl: .*score again"):
        fingerprint(run)
