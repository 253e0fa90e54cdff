import json
from collections import Counter
from itertools import combinations, pairwise
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from judge.errors import RunError
from judge.inputs.runs import read_summary
from judge.records import (
    Support,
    Unscored,
    UnscoredReason,
    Verdict,
)
from judge.review.draws import (
    FLOOR,
    SheetDraw,
    allocate,
    draw_rows,
    review_id,
    stratum_of,
)
from judge.review.records import Draw, StratumName
from judge.review.sheet import COLUMNS
from tests.review_runs import score

NAMES = [*StratumName, "supported", "supported", "no_claim", "fallen"]
# One to six claims each, all kinds among them, and an empty one.
ANSWERS = [[NAMES[(n + n * k) % len(NAMES)] for k in range(1 + n % 6)] for n in range(40)] + [[]]
SIZES = st.tuples(
    st.integers(0, 40) | st.integers(0, 10_000),
    st.sampled_from([0.0, 0.01, 0.45, 1.0, 60.0, 300.0]),
)


SUPPORTED, PARTIAL = StratumName.SUPPORTED, StratumName.PARTIAL
SIDE, DOUBTED = StratumName.UNSUPPORTED, StratumName.UNSUPPORTED_DOUBTFUL
UNSURE, UNSCORED = StratumName.SUPPORTED_DOUBTFUL, StratumName.UNSCORED
UNDECIDED = StratumName.UNDECIDED
FAILED = Unscored(reason=UnscoredReason.MALFORMED)
SIMILARITY = "similarity:lexical|prior:0.9|t:0.8"


def llm(support: Support) -> Verdict:
    return Verdict(support=support, source="llm", signature="llm:m@h|t:0.8")


def scored(support: Support, score: float | None, signature: str = SIMILARITY) -> Verdict:
    return Verdict(support=support, score=score, source="similarity", signature=signature)


def test_near_the_threshold_is_doubtful() -> None:
    # .8 is odds of 4; 1 in log odds from it are odds of 4/e and 4e: .5954 and .9158.
    table = {0.0: False, 0.59: False, 0.6: True, 0.8: True, 0.91: True, 0.92: False, 1.0: False}
    for value, near in table.items():
        assert stratum_of(scored(Support.FULL, value), ()) == (UNSURE if near else SUPPORTED)
        assert stratum_of(scored(Support.NONE, value), ()) == (DOUBTED if near else SIDE)
        nli = scored(Support.FULL, value, "nli:m|t:0.8").model_copy(update={"source": "nli"})
        assert stratum_of(nli, ()) == (UNSURE if near else SUPPORTED)
    # Without score or threshold a verdict is not near; the t of a model is its temperature.
    alone = llm(Support.FULL).model_copy(update={"score": 0.8})
    for verdict in (scored(Support.FULL, None), scored(Support.FULL, 0.8, "own|t:x"), alone):
        assert stratum_of(verdict, ()) == SUPPORTED


@given(st.lists(SIZES, min_size=1, max_size=6), st.integers(0, 300))
@example([(20, 4), (8, 1.08), (5, 0.1), (20, 0.9)], 34)
def test_claims_are_allocated_between_the_floor_and_the_size(
    sizes: list[tuple[int, float]], total: int
) -> None:
    units, pulls = zip(*sizes, strict=True)
    drawn = allocate(units, pulls, total)
    total = min(total, sum(units))
    assert sum(drawn) == total
    for n, count in zip(drawn, units, strict=True):
        assert min(FLOOR, count, total // len(sizes)) <= n <= count
    # A stratum within its bounds is drawn in proportion to its pull.
    rows = zip(drawn, units, pulls, strict=True)
    free = [(n, pull) for n, count, pull in rows if FLOOR < n < count and pull]
    for (n, pull), (other, its) in combinations(free, 2):
        # Both are whole numbers, each less than one from its share.
        assert abs(n * its - other * pull) <= (pull + its) * (1 + 1e-9)


def test_strata_add_up_to_the_run(tmp_path: Path) -> None:
    names = [name for name in StratumName if name not in {UNDECIDED, UNSCORED}]
    answers = [[names[(n * k + n) % len(names)] for k in range(1 + n % 7)] for n in range(60)]
    run = score(tmp_path, answers)
    summary = read_summary(run)
    loose, strict = summary.faithfulness, summary.faithfulness_strict
    assert loose is not None
    assert strict is not None
    strata = draw_rows(run, size=30).draw.strata
    assert sum(each.units for each in strata) == summary.claims
    assert sum(each.weight for each in strata) == pytest.approx(summary.answers)
    assert sum(each.counted for each in strata) == pytest.approx(summary.answers)
    supported = sum(each.faithfulness for each in strata)
    assert supported == pytest.approx(loose.macro * loose.answers)
    supported = sum(each.faithfulness_strict for each in strata)
    assert supported == pytest.approx(strict.macro * strict.answers)
    # A failure counts for nothing, as in the lower bound.
    (tmp_path / "failed").mkdir()
    run = score(tmp_path / "failed", [["supported", "unscored"], ["unscored"], ["partial"]])
    (only,) = draw_rows(run, size=4).draw.strata
    bounds = read_summary(run).faithfulness_bounds
    assert bounds is not None
    assert only.faithfulness / only.counted == pytest.approx(bounds.low)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return score(tmp_path_factory.mktemp("drawn"), ANSWERS)


def ids(drawing: SheetDraw) -> list[str]:
    return [row["review_id"] for row in drawing.rows]


def places(draw: Draw) -> set[tuple[str, int]]:
    return {(sentence.qid, sentence.sentence) for sentence in draw.sentences}


def test_the_same_arguments_draw_the_same(run: Path) -> None:
    one = draw_rows(run, size=30, seed=3)
    assert draw_rows(run, size=30, seed=3) == one
    for other in (draw_rows(run, size=30, seed=4), draw_rows(run, size=31, seed=3)):
        assert other.draw.draw != one.draw.draw
        assert not set(ids(other)) & set(ids(one))
    assert places(draw_rows(run, size=30, seed=4).draw) != places(one.draw)


def test_id_and_order_do_not_reveal_the_stratum(tmp_path: Path) -> None:
    # The order of the run does: the first half is supported.
    run = score(tmp_path, [["supported"]] * 40 + [["unsupported"]] * 40)
    draw = draw_rows(run, size=80).draw
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


def test_a_sheet_does_not_depend_on_the_verdicts(tmp_path: Path) -> None:
    sheets = []
    for name in ("supported", "unsupported", "unscored", "fallen"):
        place = tmp_path / name
        place.mkdir()
        run = score(place, [[name, name], [name]])
        rows = draw_rows(run, size=9).rows
        sheets.append(sorted([row[c] for c in COLUMNS[1:] if c in row] for row in rows))
    assert all(sheet == sheets[0] for sheet in sheets)


def test_a_run_that_cannot_be_drawn_from(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="holds no run"):
        draw_rows(tmp_path / "nowhere")
    run = score(tmp_path, [[], []])
    record = json.loads((run / "run.json").read_text())
    for finished, says in ((record["finished"], "nothing to review"), (None, "unfinished")):
        (run / "run.json").write_text(json.dumps(record | {"finished": finished}))
        with pytest.raises(RunError, match=says):
            draw_rows(run)
    (run / "run.json").write_text(json.dumps(record))
    (run / "results.jsonl").rename(run / "results.jsonl.part")
    with pytest.raises(RunError, match="score again"):
        draw_rows(run)
