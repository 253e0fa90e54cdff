import pytest

from judge.judges.similarity.judge import no_passages, shortfall
from judge.judges.similarity.terms import terms


@pytest.mark.parametrize(
    ("sentence", "keys", "words"),
    [
        ("Hotels cost 45 euros.", {"#45"}, "not in the passage: 45"),
        ("Lunch is served on Friday.", {"lunch", "friday"}, "not in the passage: Lunch, Friday"),
        ("须在45天内报销。", {"#45"}, "段落中没有：45天"),
    ],
)
def test_what_is_missing_is_named_as_it_is_written(
    sentence: str, keys: set[str], words: str
) -> None:
    missing = [term for term in terms(sentence) if term.key in keys]
    assert shortfall(sentence, missing, []) == words


def test_what_is_only_scattered_is_said_to_be() -> None:
    found = [term for term in terms("Lunch is at noon.") if term.key == "lunch"]
    assert shortfall("Lunch is at noon.", [], found) == "not in one place: Lunch"


def test_where_nothing_in_particular_is_missing() -> None:
    assert shortfall("It is so.", [], []) == "too little in common with the passages"
    assert shortfall("是的。", [], []) == "与段落相似度低"


def test_without_passages() -> None:
    assert (no_passages("It is so."), no_passages("是的。")) == ("no chunks", "没有段落")
