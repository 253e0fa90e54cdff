import json
from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judge.backends.hook import chosen
from judge.config import Config
from judge.errors import ConfigError, RunError
from judge.files.runs import read_record, read_results
from judge.records import SampleResult
from judge.review import draw
from judge.review.allocation import FLOOR
from judge.review.census import By, claims
from judge.review.draws import Drawing, carried, deal, live_name, review_id, take, take_live
from judge.review.folder import fingerprint, labelled_draws, read_draw, write_draw, write_labels
from judge.review.records import Draw, Label, StratumName
from judge.review.sheet import BLIND, OPEN
from tests.drawn import label
from tests.reviewed import cells, score, text_of

NAMES = [*StratumName, "supported", "supported", "no_claim", "fallen"]
# One to six claims each, all kinds among them, and an empty one.
ANSWERS = [[NAMES[(n + n * k) % len(NAMES)] for k in range(1 + n % 6)] for n in range(40)] + [[]]
RATE = 0.3
BOTH: tuple[By, ...] = ("sentence", "answer")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    config = Config(seed=5, review_rate=RATE)
    return score(tmp_path_factory.mktemp("drawn"), ANSWERS, config)


@pytest.fixture
def results(run: Path) -> dict[str, SampleResult]:
    return {result.qid: result for result in read_results(run)}


def ids(drawing: Drawing) -> list[str]:
    return [row["review_id"] for row in drawing.rows]


def places(draw: Draw) -> set[tuple[str, int]]:
    return {(sentence.qid, sentence.sentence) for sentence in draw.sentences}


def test_the_same_arguments_draw_the_same(run: Path) -> None:
    one = take(run, size=30, seed=3)
    assert take(run, size=30, seed=3) == one
    for other in (take(run, size=30, seed=4), take(run, size=31, seed=3), take(run, by="answer")):
        assert other.draw.draw != one.draw.draw
        assert not set(ids(other)) & set(ids(one))
    assert places(take(run, size=30, seed=4).draw) != places(one.draw)


def test_rows_are_the_sentences_drawn(run: Path, results: dict[str, SampleResult]) -> None:
    for by in BOTH:
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
            found = {claim.sentence: claim.stratum for claim in claims(result)}
            names = {found[sentence.sentence]} if by == "sentence" else set(found.values())
            assert names & set(draw.strata[sentence.stratum].names)
            assert 0 < sentence.probability <= 1
        assert (draw.by, draw.size, draw.seed) == (by, 30, 0)
        assert draw.results == fingerprint(run)
        assert draw.signature == read_record(run).signature


def test_every_stratum_gives_five_and_all_together_the_size(run: Path) -> None:
    for by in BOTH:
        for size in (5, 11, 30, 60):
            draw = take(run, by=by, size=size).draw
            there = sum(stratum.units for stratum in draw.strata)
            assert sum(stratum.drawn for stratum in draw.strata) == min(size, there)
            assert all(FLOOR <= stratum.drawn <= stratum.units for stratum in draw.strata)
            units = {
                (s.stratum, s.qid, s.sentence if by == "sentence" else None) for s in draw.sentences
            }
            drawn = Counter(stratum for stratum, *_ in units)
            assert [drawn[k] for k in range(len(draw.strata))] == [s.drawn for s in draw.strata]
            merged = [name for stratum in draw.strata for name in stratum.names]
            assert merged == [name for name in StratumName if name in merged]


def test_chances_add_up_to_what_was_drawn(run: Path) -> None:
    for size in (30, 80):
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
        assert abs(sum(stratum == 0 for stratum in kept[:40]) - 20) < 3.3 * 2.3
    for sentence in draw.sentences:
        # No number to a spreadsheet.
        head, _, tail = sentence.review_id.partition("-")
        assert (head, head[0], len(tail)) == (draw.draw, "r", 12)
    assert review_id("r1", "a", 12) != review_id("r1", "a1", 2)


def test_what_a_blind_sheet_says_is_independent_of_the_verdict(tmp_path: Path) -> None:
    assert set(OPEN) - set(BLIND) == {"judge_support", "judge_quote"}
    sheets = []
    for name in ("supported", "unsupported", "unscored", "fallen"):
        place = tmp_path / name
        place.mkdir()
        run = score(place, [[name, name], [name]])
        rows = take(run, size=9).rows
        assert all(set(row) <= set(OPEN) for row in rows)
        sheets.append(sorted([row[c] for c in BLIND[1:] if c in row] for row in rows))
    assert all(sheet == sheets[0] for sheet in sheets)


def test_whom_the_hook_was_handed(
    run: Path, results: dict[str, SampleResult], tmp_path: Path
) -> None:
    draw = take_live(run).draw
    handed = {qid for qid, result in results.items() if chosen(qid, 5, RATE) and claims(result)}
    assert {sentence.qid for sentence in draw.sentences} == handed
    # Given how many were chosen, each answer that claims anything had the same chance.
    claiming = sum(bool(claims(result)) for result in results.values())
    assert {s.probability for s in draw.sentences} == {len(handed) / claiming}
    (stratum,) = draw.strata
    assert (stratum.drawn, draw.size, stratum.units) == (len(handed), len(handed), claiming)
    assert draw.draw == live_name(read_record(run).signature, 5, RATE)
    # Its name is known before a server has said what it calls its model.
    assert live_name("llm:m@h|served:m-1|t:0", 5, RATE) == live_name("llm:m@h|t:0", 5, RATE)
    assert len({live_name("a", 5, RATE), live_name("a", 6, RATE), live_name("a", 5, 0.2)}) == 3
    small = score(tmp_path, [["supported"], [], ["partial"]], Config(review_rate=1))
    draw = take_live(small).draw
    assert draw.size == draw.strata[0].drawn == draw.strata[0].units == 2


def test_a_run_that_cannot_be_drawn_from(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="no such run folder"):
        take(tmp_path / "nowhere")
    run = score(tmp_path, [[], []])
    for draws in (take, take_live):
        with pytest.raises(RunError, match="nothing to review"):
            draws(run)
    record = json.loads((run / "run.json").read_text())
    (run / "run.json").write_text(json.dumps(record | {"finished": None}))
    (run / "results.jsonl").rename(run / "results.jsonl.part")
    for draws in (take, take_live):
        with pytest.raises(RunError, match="unfinished"):
            draws(run)
    (run / "run.json").write_text(json.dumps(record))
    with pytest.raises(RunError, match=r"results\.jsonl: .*score again"):
        take(run)


@settings(deadline=None)
@given(st.integers(0, 30), st.integers(1, 5), st.integers(0, 40))
def test_all_see_the_shared_and_one_the_rest(units: int, hands: int, overlap: int) -> None:
    rows = [f"{unit}.{k}" for unit in range(units) for k in range(1 + unit % 3)]
    dealt = deal(rows, hands, overlap, lambda row: row.split(".")[0])
    assert len(dealt) == hands
    for row in rows:
        takers = [hand for hand in dealt if row in hand]
        assert len(takers) == (hands if int(row.split(".")[0]) < overlap else 1)
    for hand in dealt:
        assert hand == [row for row in rows if row in hand]  # in order, each once
    sizes = [len({row.split(".")[0] for row in hand}) for hand in dealt]
    assert max(sizes) - min(sizes) <= 1


@pytest.fixture
def few(tmp_path: Path) -> Path:
    return score(tmp_path, [["supported", "partial", "unsupported"]] * 8)


def keep(run: Path, draw: Draw, labels: list[Label]) -> None:
    write_draw(run, draw)
    write_labels(run, draw.draw, labels)


def test_a_larger_draw_comes_filled_in_with_a_smaller_ones_labels(
    few: Path, tmp_path: Path
) -> None:
    small = take(few, size=15).draw
    keep(few, small, [label(row, "partial", "Ann", "见") for row in small.sentences])
    made = draw(few, tmp_path / "review.csv", size=20, lang="zh")
    rows = [row for row in cells(tmp_path / "review.csv") if row["人工判断"]]
    assert len(rows) == made.filled == len(places(small) & places(made.draw)) > 10
    assert {(r["人工判断"], r["备注"], r["审核人"]) for r in rows} == {("部分支持", "见", "Ann")}
    # Of other results nothing is carried.
    for name in (small.draw, made.draw.draw):
        old = read_draw(few, name)
        assert old is not None
        write_draw(few, old.model_copy(update={"results": "0" * 64}))
    assert list(labelled_draws(few)) == []
    assert draw(few, tmp_path / "none.csv", size=21).filled == 0


def test_where_people_disagree_nothing_is_filled_in(few: Path) -> None:
    drawn = take(few, size=24).draw
    first, second, third, *_ = drawn.sentences
    labels = [
        label(first, "full", "Ann"),
        label(first, "none", "Bo"),
        label(second, "no"),
        label(third, "no_claim", "Ann"),
        label(third, "no_claim", "Bo"),
    ]
    keep(few, drawn, labels)
    other = take(few, size=24, seed=1)
    rows = zip(other.draw.sentences, carried(few, other, "en"), strict=True)
    said = {(s.qid, s.sentence): row["human_support"] for s, row in rows if "human_support" in row}
    assert said == {(second.qid, second.sentence): "no", (third.qid, third.sentence): "no_claim"}


def test_draw_writes_what_it_is_told_and_no_more(few: Path, tmp_path: Path) -> None:
    before = {path.name for path in tmp_path.iterdir()}
    made = draw(few, tmp_path / "r.csv", size=12, reviewers=["Ann", "Bo"], overlap=4, verdicts=True)
    assert made.sheets == (tmp_path / "r-1.csv", tmp_path / "r-2.csv")
    assert {path.name for path in tmp_path.iterdir()} == before | {"r-1.csv", "r-2.csv"}
    assert made.kept == few / "review" / f"{made.draw.draw}.json"
    assert read_draw(few, made.draw.draw) == made.draw
    rows = [cells(path) for path in made.sheets]
    assert [{row["reviewer"] for row in sheet} for sheet in rows] == [{"Ann"}, {"Bo"}]
    assert [len(sheet) for sheet in rows] == [8, 8]
    assert all(tuple(row) == OPEN for sheet in rows for row in sheet)
    with pytest.raises(RunError, match="stands there already"):
        draw(few, tmp_path / "r.csv", reviewers=["Ann", "Bo"])
    with pytest.raises(ConfigError, match=r"name a \.csv or \.xlsx file"):
        draw(few, tmp_path / "r.txt")
