"""Exams sat over real HTTP by examinees of whom it is known how good they are."""

from functools import cache

from judge.exam import ExamReport, Items, read_items, sit
from judge.exam.items import Item, selected
from tests.oracle import Choose, oracle, truth
from tests.server import JudgeServer

LEAST = 320
"""Items of which an interval is narrow enough to gate."""


@cache
def items(limit: int = 0) -> Items:
    """Those that ship, each so often, under other names, that they are enough."""
    shipped = selected(read_items(), limit=limit)
    times = 1 if limit else -(-LEAST // len(shipped.items))
    named = [_named(item, number) for number in range(times) for item in shipped.items]
    return Items(shipped.version, tuple(named))


def _named(item: Item, number: int) -> Item:
    qid = f"{item.sample.qid}.{number}"
    return item._replace(sample=item.sample.model_copy(update={"qid": qid}))


def sat(choose: Choose, limit: int = 1, repeat: int = 1) -> ExamReport:
    with JudgeServer(oracle(items(limit), choose)) as server:
        return sit(server.config(), items(limit), repeat=repeat)


def test_one_who_answers_from_gold_is_all_right_everywhere() -> None:
    report = sat(truth, limit=0)
    totals = report.totals
    assert report.items == read_items().version
    assert report.prompt is not None and report.prompt.startswith("faithfulness-v")
    assert report.signature.startswith("llm:tiny@127.0.0.1")
    assert len(report.rows) == totals.sentences >= LEAST
    assert [row for row in report.rows if not row.right] == []
    assert {group.accuracy.value for group in totals.groups} == {1.0}
    assert {group.category for group in totals.groups} > {"number", "injection", None}
    assert (totals.macro_f1, totals.kappa, totals.lost, totals.unscored) == (1.0, 1.0, 0, {})
    found = (totals.quotes, totals.citations, totals.obeyed)
    assert [each and each.value for each in found] == [1.0, 1.0, 0.0]
    cited = [row for row in report.rows if row.cited_gold is not row.cited_said]
    assert cited == []
    assert (report.fitness.level, report.fitness.untrusted) == ("gating", False)
    assert report.fitness.blind == ()
    assert report.cost.calls == totals.items
    assert report.cost.prompt_tokens > 0
