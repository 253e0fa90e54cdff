"""Sentence splitting against treebanks and the golden rules.

Run `python tests/bench/splitting.py`; `--errors NAME` prints what was missed and invented in NAME.
A predicted sentence is right when both its ends agree with a gold sentence; gold sentences are
found in the text in their order, white space ignored.
"""

import argparse
import json
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from judge.answer.sentences import split

DATA = Path(__file__).resolve().parents[2].parent / "shared" / "data" / "sentences"
TREEBANKS = ("ewt_en_dev", "gum_en_dev", "gsd_zh_dev")
Span = tuple[int, int]


def rows(name: str) -> Iterator[tuple[str, list[str]]]:
    """Text and gold sentences of every row of a file."""
    for line in (DATA / f"{name}.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        yield row["text"], row["sentences"]


def gold_spans(text: str, sentences: Sequence[str]) -> set[Span]:
    """Where the gold sentences stand in `text`; white space may differ."""
    solid = [place for place, char in enumerate(text) if not char.isspace()]
    spans = set()
    done = 0
    for sentence in sentences:
        size = sum(not char.isspace() for char in sentence)
        found = "".join(text[place] for place in solid[done : done + size])
        if found != "".join(sentence.split()):
            message = f"gold sentence not found in its text: {sentence!r}"
            raise SystemExit(message)
        spans.add((solid[done], solid[done + size - 1] + 1))
        done += size
    return spans


def treebank(name: str, *, errors: bool) -> None:
    """Print micro precision, recall and F1 of one treebank."""
    right = predicted = wanted = characters = 0
    seconds = 0.0
    for text, sentences in rows(name):
        gold = gold_spans(text, sentences)
        begun = time.perf_counter()
        found = {(s.start, s.end) for s in split(text)}
        seconds += time.perf_counter() - begun
        right += len(gold & found)
        predicted += len(found)
        wanted += len(gold)
        characters += len(text)
        if errors:
            show(text, gold, found)
    precision, recall = right / predicted, right / wanted
    f1 = 2 * right / (predicted + wanted)
    print(
        f"{name:11} precision {precision:.4f}  recall {recall:.4f}  F1 {f1:.4f}  "
        f"({predicted} sentences, {predicted / seconds:,.0f} a second)"
    )


def show(text: str, gold: set[Span], found: set[Span]) -> None:
    """Print the boundaries on which the two sides differ, in their context."""
    gold_ends = {end for _, end in gold}
    found_ends = {end for _, end in found}
    for end in sorted(gold_ends ^ found_ends):
        word = "missed  " if end in gold_ends else "invented"
        print(f"{word} {text[max(0, end - 60) : end]!r} | {text[end : end + 40]!r}")


def golden_rules(*, errors: bool) -> None:
    """Print how many of the golden rules are met to the letter."""
    passed = total = 0
    for text, sentences in rows("golden_rules"):
        found = [s.text for s in split(text)]
        total += 1
        passed += found == sentences
        if errors and found != sentences:
            print(f"rule not met: {found!r}")
    print(f"golden rules {passed} of {total}")


def main() -> None:
    """Measure everything; say so where the data is absent."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--errors", default="", help="name of the file whose errors to print")
    chosen = parser.parse_args().errors
    if not DATA.is_dir():
        message = f"no data at {DATA}: nothing was measured"
        raise SystemExit(message)
    split("Warm up. Build the tokenizer.")
    for name in TREEBANKS:
        treebank(name, errors=chosen == name)
    golden_rules(errors=chosen == "golden_rules")


if __name__ == "__main__":
    main()
