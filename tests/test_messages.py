import re
from importlib.resources import files
from pathlib import Path
from string import Formatter

import pytest

from judge.messages import LANGS, Messages

ROOMS = sorted(
    each.name.removesuffix(".toml")
    for each in files("judge").joinpath("data", "messages").iterdir()
    if each.name.endswith(".toml")
)

PACKAGE = Path(__file__).resolve().parents[1] / "judge"
HAN = re.compile(r"[\u4e00-\u9fff]")
FIGURE = re.compile(r"\{[^{}]*\}|\[[^\]]*\]")


def figures(text: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(text) if name is not None}


def test_every_text_is_there_in_both_languages_with_the_same_figures() -> None:
    wrong = []
    for room in ROOMS:
        texts = Messages.of(room)
        for key in texts:
            en, zh = (texts.template(key, lang) for lang in LANGS)
            if not (en and zh and figures(en) == figures(zh)):
                wrong.append(f"{room}: {key}")
            # Each names the other language, to change to it; Brier is a name.
            plain = re.search("[a-z]{4}", FIGURE.sub("", zh)) and not HAN.search(zh)
            if (HAN.search(en) or plain) and not key.endswith(("language", "brier")):
                wrong.append(f"{room}: {key}")
    assert ROOMS
    assert wrong == []


def test_one_of_something_is_told_in_the_singular() -> None:
    """Where a figure may be 1, its noun goes by it; of `{model} answers` none is a noun."""
    nouns = "answers|calls|canaries|characters|chunks|claims|items|labels|lines|queries|questions"
    nouns += "|repeats|rows|samples|sentences"
    stiff = re.compile(rf"[{{\[](?!model|whole)\w+[}}\]] (?:(?!with)\w+ )?(?:{nouns})\b")
    many = {"report note.bounds"}  # nobody sets it so low
    found = {
        f"{room} {key}"
        for room in ROOMS
        for key in Messages.of(room)
        if stiff.search(Messages.of(room).template(key, "en"))
    }
    assert found == many
    one = {"rows": 1, "queries": 1, "graded": 1, "counts": "a 1"}
    said = "1 of 1 chunk graded, for 1 query: a 1"
    assert Messages.of("gold")("import.graded", "en", **one) == said


def test_a_text_is_filled_in_and_a_missing_figure_is_no_text() -> None:
    texts = Messages({"at": {"en": "{n} of {m}", "zh": "{m} 之 {n}"}})
    assert texts("at", "en", n=1, m=2) == "1 of 2"
    assert texts("at", "zh", n=1, m=2) == "2 之 1"
    with pytest.raises(KeyError):
        texts("at", "en", n=1)
    with pytest.raises(KeyError):
        texts("other", "en")
    assert "at" in texts
    assert "other" not in texts


def test_a_room_without_texts_is_an_error() -> None:
    with pytest.raises(FileNotFoundError):
        Messages.of("no_such_room")
