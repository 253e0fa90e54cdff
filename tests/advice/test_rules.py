"""The tables of rules are complete."""

import re

from judge.advice.diagnose import diagnosis_table
from judge.advice.recommend import PARTS, advice_table
from judge.retrieval.evaluate import mean_names
from judge.retrieval.records import RankRules

CUTS = {"small": 1, "k": 2, "wide": 3, "large": 4, "depth": 5, "pool": 6}
# Advice warns of accuracy, which is not measured here.
MEASURES = {re.sub(r"@\d+", "@k", name) for name in mean_names(RankRules())} | {"accuracy@k"}


def unknown(*names: str) -> list[str]:
    """Return the names that are no rank measures, whatever their cut-offs."""
    return [name for name in names if re.sub(r"@[1-9][0-9]*\Z", "@k", name) not in MEASURES]


def test_every_rule_has_its_texts_and_names_measures_that_there_are() -> None:
    rules = advice_table()
    stated = [
        pair
        for rule in rules.advice
        for role in (rule.primary, rule.secondary, rule.supplementary, rule.avoid)
        for pair in role or ()
    ]
    assert unknown(*(name.format(**CUTS) for name, _ in stated)) == []
    # None is missing, and none is left over.
    assert {group: set(texts) for group, texts in rules.text.items()} == {
        "rule": {rule.text for rule in (*rules.scenario, *rules.advice)},
        "reason": {reason for _, reason in stated},
        "note": {note.text for note in rules.note},
        "fits": set(rules.family),
        "lacks": set(rules.family),
    }
    assert all(rule.needs <= {*PARTS, "labels"} for rule in rules.family.values())
    table = diagnosis_table()
    assert (
        unknown(*(name for rule in table.rule for row in rule.when for name in row.measures)) == []
    )
    assert set(table.advice) == {name for rule in table.rule for name in rule.advice}
