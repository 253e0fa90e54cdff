"""Two sittings of an exam beside each other, against figures made by hand and over real HTTP."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from judge import Support
from judge.errors import ConfigError
from judge.exam import ExamReport, ExamRow, compare, first_items, read_items
from judge.exam.fitness import fitness
from judge.exam.records import Cost
from judge.exam.scores import count
from tests.commands import judge
from tests.oracle import items_file, oracle
from tests.server import JudgeServer

FULL, PARTIAL, NONE = Support.FULL, Support.PARTIAL, Support.NONE


def sat(*items: tuple[str, str, Sequence[Support | None]], maker: str = "nli:a") -> ExamReport:
    """A sitting in which full is always right: an item's qid, its category, and its labels."""
    rows = [
        ExamRow(
            qid=qid,
            category=category,
            language="en",
            sentence=place,
            start=place,
            gold=FULL,
            supported=True,
            label=each,
            unscored="timeout" if each is None else None,
            right=each is FULL,
        )
        for qid, category, labels in items
        for place, each in enumerate(labels)
    ]
    totals = count(rows, len(items), 0)
    return ExamReport(
        items="exam-v1@1",
        signature=maker,
        started="2026-01-01T00:00:00+00:00",
        seconds=1.0,
        config={},
        repeat=1,
        rows=tuple(rows),
        totals=totals,
        cost=Cost(calls=0, prompt_tokens=0, reply_tokens=0, cost=None, seconds=None),
        fitness=fitness(totals, 0.05),
    )


def turns(better: int, worse: int, same: int) -> list[tuple[Support, Support]]:
    return [(NONE, FULL)] * better + [(FULL, NONE)] * worse + [(FULL, FULL)] * same


def test_categories_are_tested_by_mcnemar_and_holm() -> None:
    changes = {"x": turns(8, 0, 2), "y": turns(1, 5, 0), "z": turns(0, 0, 4)}
    each = [(f"{c}{n}", c, pair) for c, pairs in changes.items() for n, pair in enumerate(pairs)]
    first, now = ([(q, c, [pair[side]]) for q, c, pair in each] for side in (0, 1))
    found = compare(sat(*first), sat(*now, maker="nli:b"))
    # 2 / 2⁸; 2 (1 + 6) / 2⁶; 1: times 3, 2 and 1.
    turned = [(each.category, each.better, each.worse) for each in found.categories]
    assert turned == [("x", 8, 0), ("y", 1, 5), ("z", 0, 0)]
    assert [each.p for each in found.categories] == pytest.approx([0.0078125, 0.21875, 1])
    assert [r.p_holm for r in found.categories] == pytest.approx([0.0234375, 0.4375, 1])
    # 2 (1 + 14 + 91 + 364 + 1001 + 2002) / 2¹⁴
    assert found.accuracy.p == pytest.approx(6946 / 16384)
    assert (found.accuracy.first, found.accuracy.now, found.accuracy.of) == (11, 15, 20)
    assert (found.verdict, found.apart) == ("open", ("nli: a, b",))


def test_sentences_of_an_item_stand_and_fall_together() -> None:
    first = [(f"i{n}", "x", [NONE if n < 6 else FULL] * 2) for n in range(20)]
    now = [(f"i{n}", "x", [FULL] * 2) for n in range(20)]
    found = compare(sat(*first), sat(*now))
    # Six ones and fourteen noughts: 0.3 ± t(.975, 19) √(0.21 / 19).
    reach = 2.093024 * (0.21 / 19) ** 0.5
    assert found.accuracy.low == pytest.approx(0.3 - reach, abs=1e-6)
    assert found.accuracy.high == pytest.approx(0.3 + reach, abs=1e-6)
    assert found.verdict == "better"
    assert found.accuracy.p == pytest.approx(2 / 2**12)
    # As many sentences of three items show nothing, whatever McNemar's test says.
    first = [(f"i{n}", "x", [NONE if n < 3 else FULL] * 4) for n in range(20)]
    now = [(f"i{n}", "x", [FULL] * 4) for n in range(20)]
    few = compare(sat(*first), sat(*now))
    assert few.verdict == "open"
    assert few.accuracy.p == pytest.approx(2 / 2**12)
    assert few.accuracy.low < 0


def test_labels_that_are_no_full_are_right_on_their_side_only() -> None:
    first = sat(("a", "x", [PARTIAL, FULL]), ("b", "x", [FULL]))
    now = sat(("a", "x", [NONE, None]), ("c", "x", [FULL]))
    found = compare(first, now)
    assert (found.only_first, found.only_now) == (1, 1)
    assert (found.accuracy.better, found.accuracy.worse) == (0, 1)
    assert (found.binary.better, found.binary.worse) == (0, 1)
    with pytest.raises(ConfigError, match="no item of it is in"):
        compare(sat(("b", "x", [FULL])), now)


def test_what_cannot_be_compared_is_an_error_before_anything_is_asked(tmp_path: Path) -> None:
    items = first_items(read_items(), 1)
    report, broken = tmp_path / "report.json", tmp_path / "broken.json"
    judge("exam", "--items", items_file(tmp_path / "a.jsonl", *items.items[:2]), "-o", report)
    broken.write_text("{}", "utf-8")
    changed = items.items[0].sample.model_copy(update={"query": "Another question?"})
    other = (items.items[0]._replace(sample=changed), *items.items[2:4])
    others = items_file(tmp_path / "b.jsonl", *other)
    with JudgeServer(oracle(items)) as server:
        for path in (report, broken, tmp_path / "none.json"):
            ran = judge("exam", "--items", others, *server.words, "--against", path)
            assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1), path
        assert server.calls == 0
