import inspect
import re
from typing import get_args

import pytest

from judge.advice.diagnose import ANSWERS
from judge.advice.recommend import family_needs
from judge.advice.records import Use
from judge.advice.rules import Condition, Fact, advice_table, diagnosis_table, holds, measures
from judge.messages import Messages
from judge.overlap import measures as words
from judge.records import Sample
from judge.retrieval import measures as ranks

CUTS = {"small": 1, "k": 2, "wide": 3, "large": 4, "depth": 5, "pool": 6}
NAMES = {
    "retrieval": "hit@k recall@k precision@k f1@k fbeta@k rr mrr rr@k mrr@k ap map ap@k map@k dcg@k"
    " ndcg@k ndcg r_precision roc_auc waste@k",
    "overlap": "bleu sentence_bleu rouge1 rouge2 rougeL rougeLsum rougeW exact_match token_f1",
    "correctness": "correctness correctness_precision correctness_recall correctness_overall",
    "answer_relevance": "answer_relevance answer_relevance_overall",
    "faithfulness": "faithfulness faithfulness_strict faithfulness_bounds hallucination_rate"
    " abstention_rate contradiction_rate",
    "citation": "coverage citation_validity citation_recall "
    + " ".join(
        f"support_{scale}_{side}{end}"
        for scale in ("weighted", "hard")
        for side in ("precision", "recall")
        for end in ("", "_all")
    ),
    "agreement": "agreement cohen_kappa krippendorff_alpha brier ece corrected_faithfulness",
}
RANKS = NAMES["retrieval"].split()
BY_NAME = {each.name: each for each in measures()}


def test_every_measure_is_there_once_and_complete() -> None:
    assert [(each.family, each.name) for each in measures()] == [
        (family, name) for family, listed in NAMES.items() for name in listed.split()
    ]
    said = [name for each in measures() for name in (each.name, *each.also)]
    assert len(set(said)) == len(said)
    for each in measures():
        texts = each.model_dump()
        assert all(text or name == "also" for name, text in texts.items()), each.name
        assert all("\n" not in text for text in texts.values() if isinstance(text, str))
        assert set(each.needs) <= {*Sample.model_fields, "labels"}
    assert BY_NAME["ndcg@k"].needs == ("retrieved", "relevance")
    lower = {each.name for each in measures() if each.direction == "lower"}
    rates = {"hallucination_rate", "abstention_rate", "contradiction_rate"}
    assert lower == rates | {"brier", "ece", "waste@k"}


def test_formula_range_and_source_stand_in_the_docstring_of_the_function() -> None:
    recall, weighted, mean = (BY_NAME[name] for name in ("recall@k", "rougeW", "mrr@k"))
    assert (recall.formula, recall.range) == ("found(k) ÷ R", "0 to 1")
    assert recall.source == "Kent et al. 1955; trec_eval, recall"
    assert weighted.formula.endswith("the weighted longest common subsequence")
    assert BY_NAME["bleu"].range == "0 to 100"
    # What the table states itself comes first.
    assert (mean.formula, mean.source) == ("mean of rr@k over the queries", "Voorhees 1999")
    for module, count in ((ranks, 12), (words, 6)):
        docs = [inspect.getdoc(each) or "" for each in vars(module).values() if callable(each)]
        told = [doc for doc in docs if "Formula: " in doc]
        assert len(told) == count
        facts = ("Range: ", "Source: ", ">>> ")
        assert [(doc, fact) for doc in told for fact in facts if fact not in doc] == []


def known(name: str) -> bool:
    """Whether it is a rank measure, at whatever cut-off."""
    # Advice warns of accuracy, which is not measured here.
    return re.sub(r"@[1-9][0-9]*\Z", "@k", name) in (*RANKS, "accuracy@k")


def test_every_rule_of_advice_has_its_texts_and_names_measures_that_there_are() -> None:
    rules, texts = advice_table(), Messages.of("recommend")
    keys = {f"rule.{rule.text}" for rule in rules.scenario}
    keys |= {f"rule.{rule.text}" for rule in rules.advice}
    keys |= {f"note.{note.text}" for note in rules.note}
    keys |= {f"family.{family}.{way}" for family in rules.family for way in ("fits", "lacks")}
    for rule in rules.advice:
        for stated in (rule.primary, rule.secondary, rule.supplementary, rule.avoid):
            for name, reason in stated or ():
                assert known(name.format(**CUTS)), name
                keys.add(f"reason.{reason}")
    # None is missing, and none is left over.
    assert {key for key in texts if not key.startswith("words.")} == keys
    names = [row.rule for row in rules.scenario] + [row.rule for row in rules.advice]
    assert len(set(names)) == len(names)
    assert [*rules.family] == [*NAMES][1:]
    assert family_needs()["citation"] == {"answer", "chunks", "citations"}
    # The relevance of chunks serves no family but retrieval, and the answer's is no gold.
    assert family_needs()["answer_relevance"] == {"query", "answer", "chunks"}
    assert family_needs()["overlap"] == {"answer", "gold_answer"}


def test_every_diagnosis_has_its_texts_and_names_measures_that_there_are() -> None:
    rules, texts = diagnosis_table(), Messages.of("diagnosis")
    keys = {"source", *(f"use.{use}" for use in rules.use)}
    for rule in rules.rule:
        keys |= {f"finding.{rule.name}", *(f"advice.{name}" for name in rule.advice)}
        for row in rule.when:
            for name in row.measures:
                assert name in ANSWERS or known(name), name
    assert {key for key in texts if not key.startswith("say.")} == keys
    assert set(rules.use) == set(get_args(Use))


CONDITIONS: list[tuple[Condition, Fact, bool]] = [
    ("<= 5", 5.0, True),
    ("<= 5", 5.5, False),
    ("< 1", 1.0, False),
    ("> 10000", 10_000, False),
    ("> 10000", 10_000.5, True),
    (">= 20", 20, True),
    (">= 0", None, False),
    (("high",), "high", True),
    (("sparse", "dense"), "dense", True),
    (("sparse",), "normal", False),
    (("sparse",), None, False),
]


def test_conditions() -> None:
    for condition, fact, expected in CONDITIONS:
        assert holds({"x": condition}, {"x": fact}) is expected, condition
    when: dict[str, Condition] = {"relevant": "<= 15", "ratio": "> 10000"}
    assert holds(when, {"relevant": 10, "ratio": 20_000})
    assert not holds(when, {"relevant": 10, "ratio": 20})
    for wrong in ({"relevnt": "<= 5"}, {"relevant": "== 5"}):
        with pytest.raises(KeyError):
            holds(wrong, {"relevant": 1})
