"""The offline judge's verdicts on requests in a file, under any revision of the package.

    PYTHONPATH=ROOT python tests/bench/scorer.py FOLDER NAME...

reads FOLDER/NAME.jsonl, one request a line, and writes FOLDER/NAME.scores.jsonl, one reply a line.
It imports nothing but the public records and the judge, which earlier revisions have too.
"""

import asyncio
import json
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

from judge.judges.similarity import SimilarityJudge
from judge.judges.similarity.embedding import LexicalEmbedder
from judge.records import Chunk, JudgeRequest, Sentence, Support, Verdict

_FIELDS: Final = frozenset(JudgeRequest.model_fields)
"""Earlier revisions know no markers, and refuse what they do not know."""


class Reply(NamedTuple):
    """What the judge said to one request, of each sentence in the order of `ask`."""

    scores: list[float]
    full: list[bool]
    supporting: list[list[str]]
    """Ids of the chunks that alone support it."""
    seconds: float


def plain(request: JudgeRequest) -> dict[str, Any]:
    """A request as JSON that every revision can read."""
    return {
        "query": request.query,
        "answer": request.answer,
        "sentences": [(s.start, s.end, s.text) for s in request.sentences],
        "ask": list(request.ask),
        "chunks": [(chunk.chunk_id, chunk.text) for chunk in request.chunks],
        "cites": list(request.cites.items()),
        "markers": list(request.markers),
    }


def restored(line: dict[str, Any]) -> JudgeRequest:
    """The request of this revision that `plain` was made of."""
    fields = line | {
        "sentences": tuple(
            Sentence(index=index, start=start, end=end, text=text)
            for index, (start, end, text) in enumerate(line["sentences"])
        ),
        "chunks": tuple(Chunk(chunk_id=name, text=text) for name, text in line["chunks"]),
        "cites": {index: tuple(places) for index, places in line["cites"]},
        "ask": tuple(line["ask"]),
        "markers": tuple(map(tuple, line["markers"])),
    }
    return JudgeRequest(**{key: value for key, value in fields.items() if key in _FIELDS})


async def replies(requests: Iterable[JudgeRequest]) -> list[Reply]:
    """One for each request."""
    judge = SimilarityJudge(LexicalEmbedder())
    written = []
    for request in requests:
        begun = time.perf_counter()
        outcomes = (await judge.judge(request)).outcomes
        seconds = time.perf_counter() - begun
        verdicts = [v for v in map(outcomes.get, request.ask) if isinstance(v, Verdict)]
        assert len(verdicts) == len(request.ask)  # the built-in embedder does not fail
        written.append(
            Reply(
                scores=[verdict.score or 0.0 for verdict in verdicts],
                full=[verdict.support is Support.FULL for verdict in verdicts],
                supporting=[list(verdict.supporting) for verdict in verdicts],
                seconds=seconds,
            )
        )
    return written


def lines(path: Path) -> Iterator[Any]:
    """The objects of a JSON-lines file."""
    with path.open(encoding="utf-8") as file:
        yield from map(json.loads, file)


def main() -> None:
    """Score every named file, and name it when its scores are written."""
    folder = Path(sys.argv[1])
    for name in sys.argv[2:]:
        written = asyncio.run(replies(map(restored, lines(folder / f"{name}.jsonl"))))
        text = "".join(json.dumps(each) + "\n" for each in written)
        (folder / f"{name}.scores.jsonl").write_text(text, encoding="utf-8")
        print(name, flush=True)


if __name__ == "__main__":
    main()
