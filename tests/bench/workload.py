"""Answers for the benchmarks of speed, full of figures, dates and names."""

import os
import re
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from itertools import chain
from multiprocessing import get_context
from pathlib import Path
from resource import RUSAGE_CHILDREN, RUSAGE_SELF, getrusage
from typing import Final, ParamSpec, TypeVar

from judge import Sample, read_samples

_Result = TypeVar("_Result")
_Given = ParamSpec("_Given")

FULL: Final = Path(__file__).resolve().parents[3] / "shared" / "data" / "speed" / "workload.jsonl"
"""200 answers of 8 sentences and 5 chunks of 120 words, each sentence with figures to check."""
_FIGURE: Final = re.compile(r"\b(7?)1(\d{4})\b")


def samples() -> list[Sample]:
    """Return the answers of the file.

    Raises:
        SystemExit: the file is absent.
    """
    if not FULL.is_file():
        message = f"no data at {FULL}"
        raise SystemExit(message)
    return list(read_samples(FULL))


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
    """Return answers in other words, which warm a process up for none of the measured ones."""
    texts = [_FIGURE.sub(r"\g<1>3\2", each.model_dump_json()) for each in read[:answers]]
    return [Sample.model_validate_json(text.replace(" the ", " its ")) for text in texts]


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


def machine() -> str:
    """Return the number of cores and the load."""
    return f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}"
