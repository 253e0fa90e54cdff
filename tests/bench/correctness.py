"""Right and wrong answers against references, by similarity, as `judge score --correctness` does.

Run `python tests/bench/correctness.py`; a set that is absent is named and skipped.

rgb_zh_en holds questions and short answers. Each short answer is put into its question where the
question word stands, which makes a right sentence; another row's answer makes a wrong one, and so
does the right one with its last digit changed. Such sentences use the question's own words: people
vary them, so that what is printed is the best case. The right answer among those of other rows is
no right answer. bump holds an answer with and without one error. clapnq holds long answers: each
against itself, and against the answer to another question.
"""

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from statistics import mean
from typing import Final, NamedTuple

# Run as a file, Python looks for modules beside it and not where `tests` stands.
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from judge import Chunk, Config, Correctness, Sample, evaluate
from tests.bench.labelled import available, rows

_ASKS: Final = re.compile(
    r"多少|什么|谁|哪里|哪儿|哪一年|哪年|何时|几|^(?:who|which \w+)(?= )", re.IGNORECASE
)
_DIGIT: Final = re.compile(r"[1-9](?=[^1-9]*$)")
_OFFERS: Final = {
    True: ("It could be {0}, {1} or {2}.", "It is either {1} or {0}.", "{0} or {1}"),
    False: ("可能是{0}、{1}或者{2}。", "要么是{1}，要么是{0}。", "{0}或{1}"),
}
"""Answers that leave open which of several it is, by whether the question is in English."""
_OTHER: Final = 7
"""How many rows on the other question stands."""


class Said(NamedTuple):
    """What is held against what, under which question."""

    query: str
    claim: str
    evidence: str


class Fact(NamedTuple):
    """A question, its short answer, and a sentence with a gap for an answer."""

    query: str
    short: str
    sentence: tuple[str, str]

    def say(self, short: str) -> str:
        """The sentence with an answer in it."""
        before, behind = self.sentence
        stop = "." if self.query.isascii() else "。"
        return f"{before}{short}{behind}{stop}"


def facts() -> Iterator[Fact]:
    """The questions of one question word, once each."""
    seen = set()
    for row in rows("rgb_zh_en"):
        query = row["query"].strip()
        found = list(_ASKS.finditer(query))
        if query in seen or len(found) != 1 or not row["labels"]["answer_supported"]:
            continue
        seen.add(query)
        start, end = found[0].span()
        short = re.split(r"[;；]", row["answer"])[0].strip()
        yield Fact(query, short, (query[:start], query[end:].rstrip("?？。. ")))


def pairs() -> Iterator[tuple[str, Said]]:
    """What is printed in which line, of all sets."""
    if available("rgb_zh_en"):
        known = list(facts())
        for at, fact in enumerate(known):
            right, short = fact.say(fact.short), fact.short
            yield "rgb: right sentence, short reference", Said(fact.query, right, short)
            yield "rgb: right sentence, short answer", Said(fact.query, short, right)
            ahead = (*known[at + 1 :], *known[:at])
            other = next(each.short for each in ahead if not set(each.short) & set(short))
            more = next(each.short for each in ahead if each.short not in (short, other))
            for form in _OFFERS[fact.query.isascii()]:
                several = form.format(short, other, more)
                yield "rgb: the right one among others", Said(fact.query, several, short)
            changed = _DIGIT.sub(lambda digit: str(int(digit[0]) % 9 + 1), short)
            for name, wrong in (("other", other), *([("digit", changed)] * (changed != short))):
                said = fact.say(wrong)
                yield (
                    f"rgb: wrong sentence ({name}), short reference",
                    Said(fact.query, said, short),
                )
                yield f"rgb: wrong sentence ({name}), right one", Said(fact.query, said, right)
    if available("clapnq"):
        answers = [(row["query"], row["answer"]) for row in rows("clapnq")]
        for at, (query, answer) in enumerate(answers):
            yield "clapnq: itself", Said(query, answer, answer)
            other_query, other = answers[(at + _OTHER) % len(answers)]
            if other_query != query:
                yield "clapnq: the answer to another question", Said(query, other, answer)
    if available("bump"):
        for row in rows("bump"):
            error, without = row["answer"], row["meta"]["reference_summary"]
            yield "bump: with the error, without", Said(row["query"], error, without)
            yield "bump: without the error, with", Said(row["query"], without, error)


def measure() -> None:
    """Print for each line how much was found correct, and the means of its numbers."""
    said = list(pairs())
    samples = (
        Sample(
            qid=str(at),
            query=each.query,
            answer=each.claim,
            chunks=(Chunk(chunk_id="1", text=each.claim),),
            gold_answer=each.evidence,
            gold_evidence=("1",),
        )
        for at, (_, each) in enumerate(said)
    )
    found: dict[str, list[tuple[bool, Correctness]]] = {}
    for (name, _), result in zip(said, evaluate(samples, Config(correctness=True)), strict=True):
        if result.correctness is not None and result.correctness.recall is not None:
            right = result.cell is not None and result.cell.correct is True
            found.setdefault(name, []).append((right, result.correctness))
    columns = ("correct", "precision", "recall", "f1")
    print(f"{'':52}{'n':>5}" + "".join(f"{name:>12}" for name in columns))
    for name, each in found.items():
        figures = (
            mean(right for right, _ in each),
            *(mean(getattr(one, column) or 0.0 for _, one in each) for column in columns[1:]),
        )
        print(f"{name:52}{len(each):>5}" + "".join(f"{figure:>12.3f}" for figure in figures))


def main() -> None:
    """Name what is absent, and measure the rest."""
    for name in ("rgb_zh_en", "clapnq", "bump"):
        if not available(name):
            print(f"{name}: absent, skipped")
    measure()


if __name__ == "__main__":
    main()
