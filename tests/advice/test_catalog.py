import inspect
from dataclasses import fields
from typing import get_args, get_type_hints

import pytest

from judge.advice.catalog import Measure, family_of, measures, names, needs
from judge.errors import ConfigError
from judge.overlap import measures as words
from judge.records import Sample
from judge.retrieval import measures as ranks

NAMES = {
    "retrieval": "hit@k recall@k precision@k f1@k rr mrr rr@k mrr@k ap map ap@k map@k dcg@k ndcg@k"
    " ndcg r_precision roc_auc accuracy@k",
    "overlap": "bleu sentence_bleu rouge1 rouge2 rougeL rougeLsum rougeW exact_match token_f1",
    "correctness": "correctness correctness_precision correctness_recall",
    "faithfulness": "faithfulness faithfulness_strict faithfulness_bounds contradiction_rate",
    "citation": "coverage citation_validity citation_recall",
    "agreement": "agreement cohen_kappa krippendorff_alpha brier ece corrected_faithfulness",
}
BY_NAME = {each.name: each for each in measures()}


def test_every_measure_is_there_once() -> None:
    assert {family: " ".join(names(family)) for family in needs()} == NAMES
    assert [(each.family, each.name) for each in measures()] == [
        (family, name) for family, listed in NAMES.items() for name in listed.split()
    ]
    said = [name for each in measures() for name in (each.name, *each.also)]
    assert len(set(said)) == len(said)


def test_an_entry_is_complete() -> None:
    for each in measures():
        texts = {field.name: getattr(each, field.name) for field in fields(each)}
        assert all(text or name == "also" for name, text in texts.items()), each.name
        assert all("\n" not in text for text in texts.values() if isinstance(text, str))
        assert each.direction in get_args(get_type_hints(Measure)["direction"])
        assert set(each.needs) <= {*Sample.model_fields, "labels"}


def test_formula_range_and_source_stand_in_the_docstring_of_the_function() -> None:
    recall, weighted, mean = (BY_NAME[name] for name in ("recall@k", "rougeW", "mrr@k"))
    assert (recall.formula, recall.range) == ("found(k) ÷ R", "0 to 1")
    assert recall.source == "Kent et al. 1955; trec_eval, recall"
    assert weighted.formula.endswith("the weighted longest common subsequence")
    assert BY_NAME["bleu"].range == "0 to 100"
    # What the table states itself comes first.
    assert (mean.formula, mean.source) == ("mean of rr@k over the queries", "Voorhees 1999")


def test_every_function_of_a_measure_says_what_it_is() -> None:
    facts = ("Formula: ", "Range: ", "Zero: ", "Source: ", ">>> ")
    for module, count in ((ranks, 11), (words, 6)):
        told = [
            function.__doc__ or ""
            for function in vars(module).values()
            if inspect.isfunction(function) and "Formula: " in (function.__doc__ or "")
        ]
        assert len(told) == count
        for doc in told:
            assert [fact for fact in facts if fact not in doc] == [], doc


def test_what_is_needed_and_which_values_are_better() -> None:
    assert needs()["correctness"] == {"answer", "gold_answer"}
    assert needs()["retrieval"] == {"retrieved"}
    assert BY_NAME["ndcg@k"].needs == ("retrieved", "relevance")
    lower = {each.name for each in measures() if each.direction == "lower"}
    assert lower == {"contradiction_rate", "brier", "ece"}


@pytest.mark.parametrize(
    "name", ["recall", "recall@0", "recall@x", "ndcg@5@5", "", "r_precision@5"]
)
def test_an_unknown_measure_is_named(name: str) -> None:
    assert family_of("recall@10") == "retrieval"
    with pytest.raises(ConfigError, match=r"there is no measure .*recall@k") as caught:
        family_of(name)
    assert repr(name) in str(caught.value)
