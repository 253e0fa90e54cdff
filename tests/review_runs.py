"""Runs made for a draw: every claim's outcome is scripted, and the samples lie beside the run."""

import csv
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from judge.backends.fake import FakeJudge
from judge.config import Config
from judge.evaluator import Evaluator
from judge.jobs.job import Job
from judge.records import (
    Evidence,
    JudgeOutcome,
    Support,
    Unscored,
    UnscoredReason,
    Verdict,
)
from judge.review.records import StratumName

_LEXICAL: Final = "similarity:lexical|t:0.8"
_FAILED: Final = Unscored(reason=UnscoredReason.TIMEOUT)
_CHUNK: Final = "a"
_ASKED: Final = ("human_support", "人工判断", "human_grade", "相关等级")


def _verdict(support: Support, score: float | None, text: str = "") -> Verdict:
    evidence = (Evidence(chunk_id=_CHUNK, quote=text),) if text else ()
    if score is None:
        return Verdict(support=support, evidence=evidence, source="llm", signature="llm:m|t:0.8")
    return Verdict(
        support=support, evidence=evidence, score=score, source="similarity", signature=_LEXICAL
    )


def outcome(name: str, text: str) -> JudgeOutcome:
    """Return an outcome that falls into the stratum of this name.

    `no_claim` and `fallen` are names, too: the first is doubtful, the second unscored.
    """
    if name == "fallen":
        return _verdict(Support.FULL, 0.99, text).model_copy(update={"fallback_from": _FAILED})
    outcomes: dict[str, JudgeOutcome] = {
        StratumName.SUPPORTED: _verdict(Support.FULL, 0.99, text),
        StratumName.SUPPORTED_DOUBTFUL: _verdict(Support.FULL, 0.81, text),
        StratumName.PARTIAL: _verdict(Support.PARTIAL, None, text),
        StratumName.UNSUPPORTED_DOUBTFUL: _verdict(Support.NONE, 0.79),
        StratumName.UNSUPPORTED: _verdict(Support.CONTRADICTED, None),
        StratumName.UNDECIDED: Unscored(reason=UnscoredReason.UNDECIDED, score=0.6),
        StratumName.UNSCORED: _FAILED,
        "no_claim": _verdict(Support.NO_CLAIM, None),
    }
    return outcomes[name]


def text_of(qid: str, place: int) -> str:
    """The sentence of an answer, found in its chunk word by word."""
    spelled = "".join(chr(ord("a") + int(digit)) for digit in f"{place:02}")
    return f"The room {qid}{spelled} opened in May."


def score(place: Path, answers: Sequence[Sequence[str]], config: Config | None = None) -> Path:
    """Score answers into `place/run`; an answer is the names of its claims' outcomes.

    The answer at position n has the qid `qa`, `qb`, …, `qba`: letters, for numbers raise flags.
    An answer without names is empty.
    """
    lines: list[str] = []
    script: dict[str, JudgeOutcome] = {}
    for n, names in enumerate(answers):
        qid = qid_of(n)
        texts = [text_of(qid, k) for k in range(len(names))]
        script |= {text: outcome(name, text) for text, name in zip(texts, names, strict=True)}
        answer = " ".join(texts)
        chunks = [{"chunk_id": _CHUNK, "text": answer}]
        lines.append(
            json.dumps({"qid": qid, "query": f"{qid}?", "answer": answer, "chunks": chunks})
        )
    source = place / "in.jsonl"
    source.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    evaluator = Evaluator(judge=FakeJudge(script))
    Job(source, place / "run", config or Config(), evaluator=evaluator).run()
    return place / "run"


def qid_of(position: int) -> str:
    """The qid of the answer at this position."""
    return "q" + "".join(chr(ord("a") + int(digit)) for digit in str(position))


def cells(sheet: Path) -> list[dict[str, str]]:
    """A CSV as any program reads it."""
    with sheet.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def fill(sheet: Path, word: str) -> None:
    """Fill in the same answer in every row."""
    rows = cells(sheet)
    header = next(name for name in rows[0] if name.startswith(_ASKED))
    with sheet.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0].keys())
        writer.writeheader()
        writer.writerows(row | {header: word} for row in rows)
