"""`judge compare` of two runs and more, through the command."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from scipy import stats

from tests.commands import judge, line, refused, write
from tests.review_runs import score

S, U, P, F = "supported", "unsupported", "partial", "unscored"
# By hand: of eight questions six lose a half, one gains it, one stays.
FIRST = [[S, S]] * 7 + [[S, U]]
SECOND = [[S, U]] * 6 + [[S, S]] * 2


def report(*words: object, code: int = 0) -> dict[str, Any]:
    ran = judge("compare", *words, "--json")
    assert (ran.code, ran.err) == (code, ""), ran.err
    found: dict[str, Any] = json.loads(ran.out)
    return found


def two(folder: Path, first: list[list[str]], second: list[list[str]]) -> tuple[Path, Path]:
    runs = []
    for name, answers in (("a", first), ("b", second)):
        (folder / name).mkdir()
        runs.append(score(folder / name, answers))
    return runs[0], runs[1]


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    return two(tmp_path_factory.mktemp("runs"), FIRST, SECOND)


def test_the_example_worked_by_hand(runs: tuple[Path, Path]) -> None:
    found = report(*runs)
    (differences,) = found["differences"]
    own = differences["scores"]["faithfulness"]
    assert (own["pairs"], own["better"], own["worse"]) == (8, 1, 6)
    assert (own["first"], own["value"]) == (15 / 16, 10 / 16)
    assert own["difference"] == pytest.approx(-2.5 / 8)
    # t = .3125/√(.1383929/8) = 2.3760 with 7 degrees of freedom.
    assert own["p"] == pytest.approx(2 * stats.t.sf(2.37598, 7), abs=1e-5)
    # s² = (7·.25 - 8·.3125²)/7, and t(7) at .975 is 2.3646.
    reach = 2.3646 * (0.1383929 / 8) ** 0.5
    limits = (own["interval"]["low"], own["interval"]["high"])
    assert limits == pytest.approx((-0.3125 - reach, -0.3125 + reach), abs=1e-3)
    # Strict, both hallucination rates and contradictions differ alike: five times p.
    assert own["p_holm"] == pytest.approx(5 * own["p"])
    assert differences["scores"]["coverage"]["p_holm"] == 1
    assert differences["labels"] == [
        {"first": "full", "then": "contradicted", "sentences": 6},
        {"first": "contradicted", "then": "full", "sentences": 1},
    ]
    assert [each["qid"] for each in differences["worst"]] == ["qa", "qb", "qc", "qd", "qe"]
    assert (differences["common"], differences["same_text"], differences["changed"]) == (8, 8, 7)


GATES = [
    # The loss is .3125, and .0015 at least: .0014 is passed, .3 is not.
    (("faithfulness=0.3",), 0),
    (("faithfulness=0.001",), 1),
    (("hallucination_rate=0.001",), 1),  # by 5/8, of which less is better
    (("faithfulness=0.3", "contradiction_rate=0.001"), 1),
    (("correctness=0.1",), 3),  # it was not measured
    (("faithfulness=0.001", "correctness=0.1"), 3),
    (("nothing=0.1",), 2),
    (("faithfulness=2",), 2),
    (("faithfulness",), 2),
]


@pytest.mark.parametrize(("gates", "code"), GATES)
def test_gates_hold_the_lower_limit_of_the_loss(
    runs: tuple[Path, Path], gates: tuple[str, ...], code: int
) -> None:
    words = [word for gate in gates for word in ("--fail-if-worse", gate)]
    assert judge("compare", *runs, *words).code == code


def test_a_gate_on_the_mean_loss_fails_what_its_lower_limit_would_pass(
    runs: tuple[Path, Path],
) -> None:
    # The mean loss is .3125, its limits .3125 - .31102 and .3125 + .31102.
    for bound, code in ((0.312, 1), (0.3125, 0)):
        assert judge("compare", *runs, "--fail-if-mean-worse", f"faithfulness={bound}").code == code
    words = ("--fail-if-worse", "faithfulness=0.3", "--fail-if-mean-worse", "faithfulness=0.3")
    ran = judge("compare", *runs, *words)
    text = " ".join(ran.out.split())
    assert ran.code == 1
    assert "gate faithfulness <= 0.3: 0.312 (mean loss), failed" in text
    loss = "Mean loss of faithfulness: +0.312 (95 % interval +0.001 to +0.624) over 8 questions"
    assert text.count(loss) == 1
    # .3 and the distance of the mean from its lower limit, .31102.
    assert "a mean loss of up to 0.611 would pass the gate faithfulness <= 0.3 on the lower" in text
    assert judge("compare", *runs, "--fail-if-mean-worse", "correctness=0.1").code == 3
    assert judge("compare", *runs[::-1], "--fail-if-mean-worse", "faithfulness=0").code == 0


def test_a_trend_is_in_the_order_of_the_runs_starts(
    tmp_path: Path, runs: tuple[Path, Path]
) -> None:
    for name, day in (("late", 2), ("early", 1)):
        folder = shutil.copytree(runs[0], tmp_path / name)
        record = json.loads((folder / "run.json").read_text())
        record["started"] = f"2026-01-0{day}T00:00:00Z"
        (folder / "run.json").write_text(json.dumps(record))
    names = [str(tmp_path / name) for name in ("early", "late")]
    (tmp_path / "early.html").touch()
    (tmp_path / "none").mkdir()
    ran = judge("compare", *sorted(tmp_path.iterdir(), reverse=True), "--trend", "--json")
    assert [each["name"] for each in json.loads(ran.out)["runs"]] == names
    assert "none: holds no run" in ran.err
    assert "early.html" not in ran.err


def test_no_gate_stops_what_became_no_worse(runs: tuple[Path, Path]) -> None:
    for pair in (runs[::-1], (runs[0], runs[0])):
        assert judge("compare", *pair, "--fail-if-worse", "faithfulness=0").code == 0


def test_failures_are_in_no_difference_and_leave_bounds(tmp_path: Path) -> None:
    first, second = two(tmp_path, [[S], [S], [S, S], [S]], [[S], [F], [S, F], [U]])
    (found,) = report(first, second)["differences"]
    own = found["scores"]["faithfulness"]
    # 1 → 1, nothing, 1 → 1 of one claim, 1 → 0; with failures false 0, -1, -.5, -1; true 0 0 0 -1.
    assert (own["pairs"], own["open"]) == (3, 1)
    assert own["difference"] == pytest.approx(-1 / 3)
    assert own["bounds"] == [-2.5 / 4, -1 / 4]
    # One pair differs: whether it is better or worse the sign alone cannot say.
    assert own["p"] == 1
    assert own["interval"]["low"] < -1 / 3 < own["interval"]["high"]
    assert own["interval"]["high"] >= 0
    # Two failures are an accident: the gate fails, and nothing is untrusted.
    assert judge("compare", first, second, "--fail-if-worse", "faithfulness=0").code == 0
    (tmp_path / "more").mkdir()
    runs = two(tmp_path / "more", [[S]] * 4, [[F], [F], [F], [S]])
    assert judge("compare", *runs, "--fail-if-worse", "faithfulness=0.5").code == 3
    assert judge("compare", *runs).code == 0


def test_questions_of_one_run_alone_are_counted_and_said(tmp_path: Path) -> None:
    first, second = two(tmp_path, [[S]] * 4, [[S]])
    (found,) = report(first, second)["differences"]
    assert (found["common"], found["only_first"], found["only_here"]) == (1, 3, 0)
    assert found["qids"]["only_first"] == ["qb", "qc", "qd"]
    own = found["scores"]["faithfulness"]
    assert (own["interval"]["low"], own["interval"]["high"]) == (-1, 1)
    other = write(tmp_path / "other.jsonl", [line("x", "It opens at seven.")])
    third = tmp_path / "third"
    assert judge("score", other, "-o", third).code == 0
    ran = judge("compare", first, third, "--across-signatures", "--fail-if-worse", "faithfulness=0")
    assert ran.code == 3


def test_questions_that_share_no_more_than_a_qid_are_counted(tmp_path: Path) -> None:
    good = "The canteen opens at seven."
    words = {"a": "When is it open?", "b": "When  is it\nopen?", "c": "Who cooks?", "d": ""}
    for name, query in words.items():
        lines = [line("q1", good, query=query), line("q2", good)]
        source = write(tmp_path / f"{name}.jsonl", lines)
        assert judge("score", source, "-o", tmp_path / name).code == 0
    for other, qids in {"a": [], "b": [], "c": ["q1"], "d": []}.items():
        (found,) = report(tmp_path / "a", tmp_path / other)["differences"]
        assert (found["reworded"], found["qids"]["reworded"]) == (len(qids), qids), other
    (tmp_path / "c.jsonl").unlink()
    (found,) = report(tmp_path / "a", tmp_path / "c")["differences"]
    assert found["reworded"] == 0


def test_runs_that_were_judged_otherwise_are_refused(tmp_path: Path) -> None:
    source = write(tmp_path / "a.jsonl", [line("1", "The canteen opens at seven.")])
    for prior in ("0.9", "0.8"):
        assert judge("score", source, "-o", tmp_path / prior, "--prior", prior).code == 0
    words = (tmp_path / "0.9", tmp_path / "0.8")
    for runs in (words, (*words, words[0])):
        refused(judge("compare", *runs), "prior: ")
    assert "prior: " in " ".join(report(*words, "--across-signatures")["across"])


def test_slices_are_by_what_the_samples_say(tmp_path: Path) -> None:
    good, bad = "The canteen opens at seven.", "Nobody ever danced on the purple moon."
    for name, wrong in (("a", ()), ("b", range(6))):
        lines = [
            line(f"{lang}{n}", bad if lang == "中文" and n in wrong else good) | {"lang": lang}
            for lang in ("中文", "en", None)
            for n in range(8)
        ]
        source = write(tmp_path / f"{name}.jsonl", lines)
        assert judge("score", source, "-o", tmp_path / name).code == 0
    words = (tmp_path / "a", tmp_path / "b", "--by", "lang")
    (found,) = report(*words)["differences"]
    counted = {key: table["faithfulness"] for key, table in found["slices"].items()}
    counts = {key: (each["pairs"], each["worse"]) for key, each in counted.items()}
    assert counts == {"中文": (8, 6), "en": (8, 0), "": (8, 0)}
    # One slice differs: nothing to correct for. The signs of six say 2^-5.
    assert (counted["中文"]["p"], counted["中文"]["p_holm"]) == (2**-5, 2**-5)
    assert judge("compare", *words).code == 0


def test_what_cannot_be_compared(tmp_path: Path, runs: tuple[Path, Path]) -> None:
    broken, unfinished = tmp_path / "broken", tmp_path / "unfinished"
    for each in (broken, unfinished):
        shutil.copytree(runs[0], each)
    (broken / "results.jsonl").write_text("{}\n")
    record = json.loads((unfinished / "run.json").read_text())
    (unfinished / "run.json").write_text(json.dumps(record | {"finished": None}))
    wrong: list[tuple[object, ...]] = [
        (),
        (runs[0],),
        (runs[0], tmp_path / "none"),
        (runs[0], broken),
        (runs[0], unfinished),
        (*runs, "--scores", "faith"),
        (*runs, "--by", "nothing"),
    ]
    for words in wrong:
        refused(judge("compare", *words))
    assert judge("compare", runs[0], runs[1], runs[0]).code == 0
