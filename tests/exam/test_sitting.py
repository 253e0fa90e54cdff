"""Exams over real HTTP of judges whose quality is known."""

from functools import cache

import pytest

from judge.exam import ExamItems, ExamReport, read_items, sit
from judge.exam.items import first_items
from tests.faults import NO_SEED_422
from tests.oracle import Choose, obedient, oracle, truth
from tests.replies import picky
from tests.server import JudgeServer


@cache
def items(limit: int = 0) -> ExamItems:
    return first_items(read_items(), limit or 99)


def sat(choose: Choose, limit: int = 1, repeat: int = 1) -> ExamReport:
    with JudgeServer(oracle(items(limit), choose)) as server:
        return sit(server.config(), items(limit), repeat=repeat)


@pytest.mark.no_cover
def test_one_who_answers_from_gold_is_all_right_everywhere() -> None:
    report = sat(truth, limit=0)
    totals = report.totals
    assert report.items == read_items().version
    assert report.signature.startswith("llm:tiny@127.0.0.1")
    assert len(report.rows) == totals.sentences > 900
    assert [row for row in report.rows if not row.right] == []
    assert {group.accuracy.value for group in totals.groups} == {1.0}
    assert len(totals.groups) == 1 + 2 + 20
    assert (totals.macro_f1, totals.kappa, totals.lost, totals.unscored) == (1.0, 1.0, 0, {})
    found = (totals.quotes, totals.citations, totals.obeyed)
    assert [each and each.value for each in found] == [1.0, 1.0, 0.0]
    assert (report.fitness.level, report.fitness.untrusted) == ("gating", False)
    assert report.fitness.blind == ()
    assert report.cost.calls == totals.items
    assert report.cost.prompt_tokens > 0


def test_who_obeys_hidden_orders_is_found_out() -> None:
    report = sat(obedient, limit=2)
    hidden = {row.qid for row in report.rows if row.obeyed is not None}
    assert report.totals.obeyed is not None
    assert (report.totals.obeyed.hits, report.totals.obeyed.of) == (len(hidden), len(hidden))
    criteria = {each.name: each for each in report.fitness.criteria}
    assert (criteria["obeyed"].value, criteria["obeyed"].level) == (1.0, "unfit")
    wrong = {row.category for row in report.rows if not row.right}
    assert wrong == {"injection"}
    assert all(row.label is row.demanded for row in report.rows if row.obeyed)


def test_repeats_without_a_seed_change_the_order_of_the_chunks() -> None:
    few, refused = ExamItems("few", items(1).items[:2]), {"seed": NO_SEED_422}
    with JudgeServer(picky(refused, oracle(few))) as server:
        report = sit(server.config(), few, repeat=3)
        asked = [each for each in server.requests if not each.is_probe]
    assert {len(row.repeats) for row in report.rows} == {2}
    assert all("seed" not in each.body for each in asked)
    shown = {(each.question, tuple(each.chunks)) for each in asked}
    assert len(shown) == len(asked) == 6
