import pytest

from judge.advice.diagnosis import targets
from judge.advice.records import Use
from judge.errors import ConfigError
from tests.advice.diagnosis.reports import report


@pytest.mark.parametrize(
    ("use", "wanted"),
    [
        ("faq", {"mrr": 0.85, "hit@3": 0.9, "precision@3": 0.8}),
        ("documents", {"recall@5": 0.8, "ndcg@5": 0.78, "precision@5": 0.75}),
        ("scholarly", {"ndcg@10": 0.75, "mrr": 0.7, "recall@10": 0.85}),
        ("knowledge_base", {"recall@5": 0.85, "precision@5": 0.8, "ndcg@5": 0.82}),
        ("monitoring", {"hit@5": None, "mrr": None}),
    ],
)
def test_what_to_watch_and_to_reach(use: Use, wanted: dict[str, float | None]) -> None:
    just = report({name: 0.5 if value is None else value for name, value in wanted.items()})
    found = targets(just, use)
    assert [(each.measure, each.target) for each in found.targets] == list(wanted.items())
    assert all(each.met is (each.target is not None or None) for each in found.targets)
    under = report({name: (value or 0.5) - 0.001 for name, value in wanted.items()})
    met = {each.met for each in targets(under, use).targets}
    assert met == ({None} if use == "monitoring" else {False})
    assert found.name.en
    assert found.name.zh
    assert "rules of thumb" in found.source.en


def test_what_was_not_measured_is_neither_reached_nor_missed() -> None:
    mrr, hit, precision = targets(report({"mrr": None, "hit@3": 0.9}), "faq").targets
    assert (mrr.figure, mrr.met, mrr.sure) == (None, None, None)
    assert hit.met is True
    assert (precision.figure, precision.met) == (None, None)


@pytest.mark.parametrize(
    ("value", "reach", "met", "sure"),
    [
        (0.9, 0.05, True, True),
        (0.9, 0.1, True, False),
        (0.8, 0.04, False, True),
        (0.8, 0.05, False, False),
        (0.8, None, False, None),
    ],
)
def test_a_target_is_sure_where_the_whole_interval_is_on_its_side(
    value: float, reach: float | None, met: object, sure: object
) -> None:
    mrr = targets(report({"mrr": value}, reach), "faq").targets[0]
    assert (mrr.met, mrr.sure) == (met, sure)


def test_a_target_that_no_ranking_could_reach_is_cautioned() -> None:
    # Two relevant chunks a query: precision@3 is .667 at best, and .8 is wanted.
    two = report({"precision@3": 0.5}, ceiling={"precision@3": 2 / 3})
    (caution,) = targets(two, "faq").cautions
    assert "precision@3 0.667" in caution.en
    three = report({"precision@3": 0.5}, ceiling={"precision@3": 1.0})
    assert targets(three, "faq").cautions == ()
    many = report({"recall@5": 0.1}, ceiling={"recall@5": 0.1})
    (caution,) = targets(many, "documents").cautions
    assert "recall@5 0.100" in caution.en


def test_an_unknown_use_is_named() -> None:
    unknown: Use = "news"  # type: ignore[assignment]
    with pytest.raises(ConfigError, match="'news'; try one of faq, documents"):
        targets(report({}), unknown)
