"""The labelled answers at ../shared/data/faithfulness: rows, and what a judge is asked of them."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from judge.answer.kinds import classify
from judge.records import Chunk, JudgeRequest, Sample, Sentence, SentenceKind

Row = dict[str, Any]

ROOT: Final = Path(__file__).resolve().parents[2]
FAITHFULNESS: Final = ROOT.parent / "shared" / "data" / "faithfulness"


def available(name: str) -> bool:
    """Whether that data set is there."""
    return (FAITHFULNESS / f"{name}.jsonl").is_file()


def rows(name: str) -> Iterator[Row]:
    """The rows of a data set, one an answer; rows of one `group` share their source text."""
    with (FAITHFULNESS / f"{name}.jsonl").open(encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def request(row: Row, *, claims: bool = False) -> tuple[JudgeRequest, list[bool]]:
    """All labelled sentences of a row, or those that `classify` takes for claims.

    Returns:
        The request, and for each sentence it asks about, in that order, whether it is supported.
    """
    labelled = [each for each in row["labels"]["sentences"] if each["supported"] is not None]
    answer, sentences = row["answer"], []
    for index, each in enumerate(labelled):
        text, start = each["text"], each["start"]
        if start is None:
            # The answer has it in other words: it is added at the end.
            start = len(answer) + 1
            answer += f"\n{text}"
        end = start + len(text)
        sentences.append(Sentence(index=index, start=start, end=end, text=text))
    kinds = classify(sentences) if claims else sentences
    asked = JudgeRequest(
        query=row["query"],
        answer=answer,
        sentences=tuple(sentences),
        ask=tuple(s.index for s in kinds if s.kind is SentenceKind.CLAIM),
        chunks=chunks(row),
    )
    return asked, [labelled[index]["supported"] for index in asked.ask]


def sample(row: Row) -> Sample:
    """A row as a user would hand it in, without its labels."""
    return Sample(qid=row["id"], query=row["query"], answer=row["answer"], chunks=chunks(row))


def chunks(row: Row) -> tuple[Chunk, ...]:
    """What the answer was written from."""
    return tuple(Chunk(chunk_id=each["id"], text=each["text"]) for each in row["chunks"])
