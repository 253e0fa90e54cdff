"""Answers for the benchmarks of speed: full of figures, dates and names, or made up."""

import cProfile
import os
import pstats
import random
import re
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from itertools import accumulate, chain
from multiprocessing import get_context
from pathlib import Path
from resource import RUSAGE_CHILDREN, RUSAGE_SELF, getrusage
from typing import Final, ParamSpec, TypeVar

from judge import Chunk, Sample, read_samples

_Result = TypeVar("_Result")
_Given = ParamSpec("_Given")

SENTENCES: Final = 8
CHUNKS: Final = 5
CHUNK_WORDS: Final = 120

FULL: Final = Path(__file__).resolve().parents[3] / "shared" / "data" / "speed" / "workload.jsonl"
"""200 answers of 8 sentences and 5 chunks of 120 words, each sentence with figures to check."""

_FIGURE: Final = re.compile(r"\b(7?)1(\d{4})\b")

WORDS: Final = """
the of and in to a for is that on was with as by are from at which were their or this its has
been more than other after also between during under over most some each where into through
about only company report health city market people water government years research system
energy price project policy school data members public growth team cost region service history
product family period study season office country program treatment population building
industry support language island museum river bridge railway airport hospital library
university committee agreement contract payment deadline receipt travel allowance insurance
manager employee customer supplier software network machine engine battery temperature pressure
protein vitamin disease symptom patient doctor clinical annual regional national international
economic political financial medical technical early recent large small common average
increased reduced reported published opened closed announced approved rejected founded moved
expected required measured produced delivered received remained began ended changed described
"""


class Writer:
    """Writes prose, its words as frequent as words are.

    Args:
        words: the most frequent first.
        flatness: the word of rank r is as frequent as 1 / (r + flatness). Zipf's 0 suits many
            words; of few, "the" and its like would crowd out the rest, and English has 6
            characters a word, blank included.
        length: words in a sentence, the least and the most.
    """

    def __init__(
        self, words: Sequence[str] = (), flatness: int = 20, length: tuple[int, int] = (14, 18)
    ) -> None:
        self._random = random.Random(0)  # noqa: S311  no secret is made of it
        self._words = words or WORDS.split()
        self._length = length
        ranks = range(1, len(self._words) + 1)
        self._weights = list(accumulate(1 / (rank + flatness) for rank in ranks))

    def sentence(self, count: int | None = None) -> str:
        """A sentence without its full stop."""
        drawn = self._random.choices(
            self._words, cum_weights=self._weights, k=count or self._random.randint(*self._length)
        )
        return " ".join(drawn).capitalize()

    def chunk(self) -> str:
        """Sentences of 120 words together."""
        sentences: list[str] = []
        left = CHUNK_WORDS
        while left:
            sentences.append(self.sentence(min(left, self._random.randint(*self._length))))
            left -= len(sentences[-1].split())
        return ". ".join(sentences) + "."

    def sample(self, number: int) -> Sample:
        """An answer of 8 sentences, each citing one of its 5 chunks."""
        answer = " ".join(f"{self.sentence()} [{1 + i % CHUNKS}]." for i in range(SENTENCES))
        return Sample(
            qid=str(number),
            query=f"What is known about the {self.sentence(6).lower()}?",
            answer=answer,
            chunks=tuple(Chunk(chunk_id=f"d#{i}", text=self.chunk()) for i in range(CHUNKS)),
        )


def samples(*, easy: bool, answers: int) -> list[Sample]:
    """The file's answers; `easy`, or where it is not at hand, so many with little to check."""
    if not easy and FULL.is_file():
        return list(read_samples(FULL))
    writer = Writer()
    return [writer.sample(number) for number in range(answers)]


_REWORDINGS: Final = {
    "after the second extension of its northern wing opened": "once its new northern wing was open",
    "as the audit office confirmed in its closing statement": "which auditors later confirmed",
    "despite a long strike among the night shift crews": "although the night crews were on strike",
    "while the neighbouring site stayed shut for repairs": "with the site next door under repair",
    "according to the annual survey of the regional board": "the yearly regional survey says",
}
_VERBS: Final = {
    "reported": "listed",
    "delivered": "supplied",
    "registered": "logged",
    "processed": "handled",
    "recorded": "noted",
    "exported": "shipped",
}


def reworded(read: Sequence[Sample]) -> list[Sample]:
    """Return the samples with claims in other words than their chunks have.

    Every second sentence of an answer gets another ending, the others get another verb, so that no
    claim equals a sentence of a chunk. Numbers, dates and names stay.
    """
    return [
        sample.model_copy(
            update={
                "answer": ". ".join(
                    _replaced(sentence, _REWORDINGS if number % 2 else _VERBS)
                    for number, sentence in enumerate(sample.answer.split(". "))
                )
            }
        )
        for sample in read
    ]


def _replaced(text: str, words: dict[str, str]) -> str:
    for before, after in words.items():
        text = text.replace(before, after)
    return text


def other(read: Sequence[Sample], answers: int = 40) -> list[Sample]:
    """Answers like these in other words, to warm up with: what is kept of them helps no other."""
    texts = [_FIGURE.sub(r"\g<1>3\2", each.model_dump_json()) for each in read[:answers]]
    return [Sample.model_validate_json(text.replace(" the ", " its ")) for text in texts]


def grown(
    read: Sequence[Sample],
    sentences: int = SENTENCES,
    chunks: int = CHUNKS,
    length: int = 1,
    times: int = 1,
) -> list[Sample]:
    """Answers made of sentences of their chunks.

    Args:
        read: whose chunks are taken, each once.
        sentences: of an answer.
        chunks: that an answer has.
        length: chunks that are joined to one.
        times: how many answers have the same chunks.
    """
    texts = [chunk.text for each in read for chunk in each.chunks]
    made: list[Sample] = []
    while len(texts) >= chunks * length and len(made) < len(read):
        own, texts = texts[: chunks * length], texts[chunks * length :]
        joined = tuple(
            Chunk(chunk_id=f"d#{i}", text=" ".join(own[i::chunks])) for i in range(chunks)
        )
        lines = [line for text in own for line in text.removesuffix(".").split(". ")]
        random.Random(len(made)).shuffle(lines)  # noqa: S311  no secret is made of it
        for turn in range(times):
            drawn = [lines[(turn * sentences + i) % len(lines)] for i in range(sentences)]
            made.append(
                Sample(
                    qid=str(len(made)),
                    query=read[0].query,
                    answer=". ".join(drawn) + ".",
                    chunks=joined,
                )
            )
    return made


def forked(work: Callable[_Given, _Result], *given: _Given.args, **named: _Given.kwargs) -> _Result:
    """Return the result of a call in a fresh process."""
    with ProcessPoolExecutor(1, mp_context=get_context("fork")) as pool:
        return pool.submit(work, *given, **named).result()


def computed() -> float:
    """Return the processor time of this process and its children, in seconds."""
    used = (getrusage(RUSAGE_SELF), getrusage(RUSAGE_CHILDREN))
    alive = [
        child
        for task in Path("/proc/self/task").glob("*/children")
        for child in task.read_text().split()
    ]
    ticks = [
        Path(f"/proc/{child}/stat").read_text().rpartition(")")[2].split()[11:13] for child in alive
    ]
    return sum(each.ru_utime + each.ru_stime for each in used) + sum(
        map(int, chain(*ticks))
    ) / os.sysconf("SC_CLK_TCK")


def profiled(work: Callable[[], object]) -> None:
    """Print the time of each step, in seconds of a slowed run."""
    profile = cProfile.Profile()
    profile.runcall(work)
    pstats.Stats(profile).sort_stats("cumulative").print_stats(r"judge/\w+/", 40)


def machine() -> str:
    """Return the number of cores and the load."""
    return f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}"
