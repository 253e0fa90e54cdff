import tomllib
from collections import Counter
from importlib.resources import files
from typing import Any

from judge.text.senses import Sense, senses
from judge.text.words import stems, words

RAW: dict[str, Any] = tomllib.loads(
    files("judge").joinpath("data", "senses.toml").read_text("utf-8")
)
CONCEPTS: dict[str, dict[str, str]] = RAW["concepts"]
SETS: dict[str, list[str]] = {name: group.split() for name, group in RAW["exclusive"].items()}
HIDING: list[str] = RAW["other"]["zh"].split()
HAN = {word: name for name, entry in CONCEPTS.items() for word in entry.get("zh", "").split()}


def sense(word: str) -> Sense:
    ((found, _),) = senses(word, words(word))
    return found


def test_no_word_of_the_table_has_two_meanings_or_one_at_odds_with_itself() -> None:
    spelled = [
        " ".join(stems(spelling.replace("_", " ")))
        for entry in CONCEPTS.values()
        for spelling in entry.get("en", "").split()
    ]
    spelled += [word for entry in CONCEPTS.values() for word in entry.get("zh", "").split()]
    assert [word for word, times in Counter(spelled + HIDING).items() if times > 1] == []
    for word in HAN:
        found = sense(word)
        assert [key for key, group in SETS.items() if len(found.implies & set(group)) > 1] == [], (
            word
        )
        less = set(CONCEPTS[found.concept].get("less", "").split())
        assert found.implies & found.excludes <= less <= found.excludes, word
