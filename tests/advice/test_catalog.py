from dataclasses import fields
from typing import get_args, get_type_hints

import pytest

from judge.advice.catalog import Measure, measure, measures
from judge.errors import ConfigError
from judge.records import Sample

RETRIEVAL = (
    "hit@k recall@k precision@k f1@k rr mrr rr@k mrr@k ap map ap@k map@k dcg@k ndcg@k ndcg"
    " r_precision roc_auc accuracy@k"
)
OVERLAP = "bleu sentence_bleu rouge1 rouge2 rougeL rougeLsum rougeW exact_match token_f1"
CORRECTNESS = "correctness correctness_precision correctness_recall"
FAITHFULNESS = "faithfulness faithfulness_strict faithfulness_bounds contradiction_rate"
CITATION = "coverage citation_validity citation_recall"
AGREEMENT = "agreement cohen_kappa krippendorff_alpha brier ece corrected_faithfulness"


@pytest.mark.parametrize(
    ("family", "names"),
    [
        ("retrieval", RETRIEVAL),
        ("overlap", OVERLAP),
        ("correctness", CORRECTNESS),
        ("faithfulness", FAITHFULNESS),
        ("citation", CITATION),
        ("agreement", AGREEMENT),
    ],
)
def test_every_measure_of_a_family_is_there(family: str, names: str) -> None:
    assert [each.name for each in measures(family)] == names.split()
    assert {each.family for each in measures(family)} == {family}


def test_all_families_together_are_the_table_and_names_are_unique() -> None:
    names = [each.name for each in measures()]

    families = (RETRIEVAL, OVERLAP, CORRECTNESS, FAITHFULNESS, CITATION, AGREEMENT)
    assert names == " ".join(families).split()
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("each", measures(), ids=lambda each: each.name)
def test_an_entry_is_complete(each: Measure) -> None:
    texts = {field.name: getattr(each, field.name) for field in fields(each)}

    assert all(text or name == "also" for name, text in texts.items())
    assert all("\n" not in text for text in texts.values() if isinstance(text, str))
    assert each.direction in get_args(get_type_hints(Measure)["direction"])
    assert set(each.needs) <= {*Sample.model_fields, "labels"}
    assert each.meaning.endswith((".", "?"))
    assert each.meaning_zh.endswith("。")


def test_a_name_stands_for_one_measure_only() -> None:
    said = [name for each in measures() for name in (each.name, *each.also)]

    assert len(set(said)) == len(said)


@pytest.mark.parametrize("name", ["recall@10", "recall@1", "recall@k"])
def test_a_measure_is_found_at_any_cut(name: str) -> None:
    assert measure(name).name == "recall@k"


@pytest.mark.parametrize(
    "name", ["recall", "recall@0", "recall@x", "ndcg@5@5", "", "r_precision@5"]
)
def test_an_unknown_measure_is_named(name: str) -> None:
    with pytest.raises(ConfigError, match="there is no measure") as caught:
        measure(name)

    assert repr(name) in str(caught.value)
    assert "recall@k" in str(caught.value)


def test_an_unknown_family_is_named_beside_those_there_are() -> None:
    with pytest.raises(ConfigError, match="'rank'") as caught:
        measures("rank")

    assert "retrieval, overlap, correctness, faithfulness, citation, agreement" in str(caught.value)


def test_hit_says_that_others_call_it_recall() -> None:
    hit = measure("hit@5")

    assert "success@k" in hit.also
    assert all("Recall@k" in text for text in (hit.meaning, hit.meaning_zh))


def test_accuracy_warns() -> None:
    assert "whatever the ranking does" in measure("accuracy@5").meaning
    assert "注意" in measure("accuracy@5").meaning_zh


def test_correctness_says_where_it_misleads() -> None:
    precision, recall = measure("correctness_precision"), measure("correctness_recall")

    assert "low by nature for long answers" in precision.meaning
    assert "偏低" in precision.meaning_zh
    assert "longer than their references" in recall.meaning
    assert "whether the chunks support it is not looked at" in measure("correctness").meaning
    assert "0 if both are 0" in measure("correctness").formula


def test_what_falls_is_better_only_for_errors() -> None:
    lower = {each.name for each in measures() if each.direction == "lower"}

    assert lower == {"contradiction_rate", "brier", "ece"}
