"""What is taken from nltk, and what is left where it is."""

import subprocess
import sys

import pytest

COMMAND = """
from judge.answer.sentences import split
from judge.text.words import stem
print([sentence.text for sentence in split("It rained, says Dr. Smith. We stayed.")])
print(stem("relational"), sorted({"nltk", "scipy", "sklearn"} & set(sys.modules)))
"""


@pytest.mark.parametrize(
    ("first", "left"),
    [
        # Neither all of nltk nor what it looks for; a later `import nltk` finds everything.
        ("import sys", []),
        # A program that has all of it keeps it; without these two, which would take seconds.
        (
            "import sys; sys.modules.update(scipy=None, sklearn=None, numpy=None); import nltk",
            ["nltk", "scipy", "sklearn"],
        ),
    ],
)
def test_two_parts_of_nltk_do(first: str, left: list[str]) -> None:
    command = [sys.executable, "-c", first + COMMAND]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    said = ["It rained, says Dr. Smith.", "We stayed."]
    assert done.stdout.splitlines() == [str(said), f"relat {left}"]
