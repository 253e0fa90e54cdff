import numpy as np
import pytest

from judge.judges.similarity.index import RIVAL, SAID, Vocabulary
from judge.judges.similarity.senses import Sense
from judge.judges.similarity.terms import Kind, Term, terms


def meaning(concept: str, above: str = "", excludes: str = "") -> Sense:
    return Sense(concept, frozenset({concept, *above.split()}), frozenset(excludes.split()))


def word(key: str, sense: Sense | None = None) -> Term:
    return Term(key, Kind.WORD, 0.5, name=False, start=0, end=len(key), sense=sense)


CAT = meaning("cat", "pet animal", "dog")
DOG = meaning("dog", "pet animal", "cat")
PUPPY = meaning("puppy", "dog pet animal", "cat")
ANIMAL = meaning("animal", excludes="plant")


def test_every_key_has_one_number_from_0_on() -> None:
    vocabulary = Vocabulary.of([terms("Rain fell."), terms("Rain, 45 days."), []])
    assert sorted(vocabulary.number.values()) == list(range(len(vocabulary.number)))
    said = {"rain", "fell", "day", "#45", "rain fell", "rain #45", "#45 day"}
    said |= {"rain…fell", "rain…#45", "#45…day", "rain…day"}
    assert {key for key in vocabulary.number if key[0] not in (SAID, RIVAL)} == said


def test_a_meaning_has_two_numbers_however_many_words_have_it() -> None:
    vocabulary = Vocabulary.of([[word("cat", CAT), word("tabby", CAT)], [word("mog", CAT)]])
    assert set(vocabulary.number) == {"cat", "tabby", "mog", "@cat", "≠cat"}
    assert vocabulary.meanings == {"cat": CAT}


def test_a_word_of_a_passage_is_evidence_of_what_it_implies_and_against_what_it_excludes() -> None:
    vocabulary = Vocabulary.of([[word("cat", CAT), word("dog", DOG), word("animal", ANIMAL)]])
    number = vocabulary.number

    def posted(sense: Sense) -> set[int]:
        return set(vocabulary.posted(sense))

    # A puppy is a dog and an animal, and no cat.
    assert posted(PUPPY) == {number["@dog"], number["@animal"], number["≠cat"]}
    assert posted(meaning("oak", "plant")) == {number["≠animal"]}
    # An animal may be a cat or not; a stone says nothing of any.
    assert posted(ANIMAL) == {number["@animal"]}
    assert posted(meaning("stone")) == set()


@pytest.mark.parametrize(
    ("sentence", "counts"),
    [("Rain for 45 days.", True), ("雨下了四十五天。", True), ("Rain fell.", False), ("", False)],
)
def test_whether_it_holds_a_number(sentence: str, counts: bool) -> None:  # noqa: FBT001
    assert Vocabulary.of([terms(sentence)]).counts is counts


def test_skips_by_the_numbers_of_their_words() -> None:
    vocabulary = Vocabulary.of([terms("Rain fell on Hamburg."), terms("Hamburg fell."), []])
    names = {number: key for key, number in vocabulary.number.items()}
    skips = vocabulary.skips
    listed = zip(
        *(map(names.__getitem__, each.tolist()) for each in (skips.first, skips.second)),
        map(names.__getitem__, skips.number.tolist()),
        strict=True,
    )
    assert set(listed) == {
        ("rain", "fell", "rain…fell"),
        ("fell", "hamburg", "fell…hamburg"),
        ("rain", "hamburg", "rain…hamburg"),
        ("hamburg", "fell", "hamburg…fell"),
    }


@pytest.mark.parametrize("sentences", [[], [[]], [[], []]])
def test_nothing_said_nothing_numbered(sentences: list[list[Term]]) -> None:
    vocabulary = Vocabulary.of(sentences)
    assert vocabulary.number == {}
    assert vocabulary.posted(CAT) == ()
    for each in (vocabulary.skips.first, vocabulary.skips.second, vocabulary.skips.number):
        assert each.shape == (0,)
        assert each.dtype == np.int64
