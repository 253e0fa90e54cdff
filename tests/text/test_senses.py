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


def read(text: str) -> list[tuple[str, str]]:
    """Concepts, each with the text from its first word or character to its last one's first."""
    found = senses(text, words(text))
    return [(sense.concept, text[places[0] : places[-1] + 1]) for sense, places in found]


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


def test_the_longest_word_comes_first_and_a_hiding_one_says_nothing() -> None:
    han = [("scientist", "科学家"), ("buy", "买了"), ("wine", "红酒")]
    assert read("科学家用人民币买了红酒") == han
    assert read("the New Zealand high school") == [
        ("new-zealand", "New Z"),
        ("secondary-school", "high s"),
    ]
    assert [text for text in [*HIDING, "right", "plain ascii"] if read(text)] == []
