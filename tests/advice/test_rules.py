"""The catalogue of measures and the tables of rules, each complete."""

import inspect
import re

from judge.advice.diagnose import ANSWERS, diagnosis_table
from judge.advice.recommend import family_needs
from judge.advice.rules import advice_table, measures
from judge.overlap import measures as words
from judge.records import Sample
from judge.retrieval import measures as ranks

CUTS = {"small": 1, "k": 2, "wide": 3, "large": 4, "depth": 5, "pool": 6}
RANKS = {each.name for each in measures() if each.family == "retrieval"}


def test_every_measure_is_there_once_and_complete() -> None:
    said = [name for each in measures() for name in (each.name, *each.also)]
    assert len(set(said)) == len(said)
    for each in measures():
        texts = each.model_dump()
        assert all(text or name == "also" for name, text in texts.items()), each.name
        assert all("\n" not in text for text in texts.values() if isinstance(text, str))
        assert set(each.needs) <= {*Sample.model_fields, "labels"}
    by_name = {each.name: each for each in measures()}
    recall, mean = by_name["recall@k"], by_name["mrr@k"]
    assert (recall.formula, recall.range) == ("found(k) ÷ R", "0 to 1")
    # Facts in the table come before those in the docstring.
    assert (mean.formula, mean.source) == ("mean of rr@k over the queries", "Voorhees 1999")
    for module in (ranks, words):
        docs = [inspect.getdoc(each) or "" for each in vars(module).values() if callable(each)]
        told = [doc for doc in docs if "Formula: " in doc]
        facts = ("Range: ", "Source: ", ">>> ")
        assert [(doc, fact) for doc in told for fact in facts if fact not in doc] == []


def known(name: str) -> bool:
    """Whether it is a rank measure, at whatever cut-off."""
    # Advice warns of accuracy, which is not measured here.
    return re.sub(r"@[1-9][0-9]*\Z", "@k", name) in {*RANKS, "accuracy@k"}


def test_every_rule_has_its_texts_and_names_measures_that_there_are() -> None:
    rules = advice_table()
    stated = [
        named
        for rule in rules.advice
        for role in (rule.primary, rule.secondary, rule.supplementary, rule.avoid)
        for named in role or ()
    ]
    assert [name for name, _ in stated if not known(name.format(**CUTS))] == []
    # None is missing, and none is left over.
    assert {group: set(texts) for group, texts in rules.text.items()} == {
        "rule": {rule.text for rule in (*rules.scenario, *rules.advice)},
        "reason": {reason for _, reason in stated},
        "note": {note.text for note in rules.note},
        "fits": set(rules.family),
        "lacks": set(rules.family),
    }
    assert family_needs()["citation"] == {"answer", "chunks", "citations"}
    # The relevance of chunks serves no family but retrieval, and the answer's is no gold.
    assert family_needs()["answer_relevance"] == {"query", "answer", "chunks"}
    table = diagnosis_table()
    rows = [row for rule in table.rule for row in rule.when]
    assert [name for row in rows for name in row.measures if name not in ANSWERS] != []
    assert all(name in ANSWERS or known(name) for row in rows for name in row.measures)
    assert set(table.advice) == {name for rule in table.rule for name in rule.advice}
