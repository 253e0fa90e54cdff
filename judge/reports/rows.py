"""Results as flat rows, for pandas, a notebook or a spreadsheet."""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Final, Literal

from judge.errors import ConfigError
from judge.records import Excluded, SampleResult, SentenceResult, Verdict, failure_of
from judge.records.summary import CONTEXT
from judge.reports.worst import entries
from judge.scores.answer import SUPPORTING

if TYPE_CHECKING:
    import pandas as pd  # type: ignore[import-untyped]

Cell = str | int | float | bool | None
Level = Literal["sentences", "answers"]
"""The unit of a row."""

_CORRECTNESS: Final = ("correctness", "correctness_precision", "correctness_recall")
_EVIDENCE: Final = ("reason", "unscored", "detail", "reference_support", "citations", "flags")

COLUMNS: Final[Mapping[Level, Mapping[str, type[str | float]]]] = {
    "sentences": {
        **dict.fromkeys(("qid", "status"), str),
        **dict.fromkeys(("faithfulness", *_CORRECTNESS, "answer_relevance", *CONTEXT), float),
        "sentence": int,
        "text": str,
        **dict.fromkeys(("start", "end"), int),
        "kind": str,
        "judged": bool,
        **dict.fromkeys(("support", "cited_support"), str),
        "score": float,
        **dict.fromkeys(("source", "chunk_id", "quote"), str),
        "verified": bool,
        **dict.fromkeys((*_EVIDENCE, "signature"), str),
    },
    "answers": {
        **dict.fromkeys(("qid", "status"), str),
        **dict.fromkeys(("faithfulness", "faithfulness_low", "faithfulness_high"), float),
        **dict.fromkeys(("faithfulness_strict", "faithfulness_with_fallback"), float),
        **dict.fromkeys(("contradiction_rate", "coverage", "citation_validity"), float),
        **dict.fromkeys(("citation_validity_low", "citation_validity_high"), float),
        **dict.fromkeys(("citation_recall", *SUPPORTING), float),
        **dict.fromkeys(("correctness", "correctness_low", "correctness_high"), float),
        **dict.fromkeys((*_CORRECTNESS[1:], "answer_relevance"), float),
        **dict.fromkeys(("answer_relevance_low", "answer_relevance_high"), float),
        **dict.fromkeys(
            (f"{name}{end}" for name in CONTEXT for end in ("", "_low", "_high")), float
        ),
        **dict.fromkeys(("sentences", "claims", "judged", "unscored"), int),
        **dict.fromkeys(("no_claim", "unsupported"), int),
        **dict.fromkeys(("cell", "flags"), str),
        **dict.fromkeys(("calls", "prompt_tokens", "reply_tokens"), int),
        **dict.fromkeys(("metadata", "signature"), str),
    },
}
"""The keys of the rows in order, and the type of each value that is not None."""


def to_rows(results: Iterable[SampleResult], level: Level = "sentences") -> list[dict[str, Cell]]:
    """Return a row for each sentence or, at the level `answers`, for each answer.

    All rows have the same keys. A sentence has the scores of its answer; without a verdict,
    `unscored` and `detail` give the reason. `reference_support` is its label against the reference.
    An answer has its scores, the bounds that failures leave (`_low`, `_high`), the counts behind
    them, and its metadata as JSON.

    >>> to_rows([])
    []
    """
    if level not in COLUMNS:
        raise ConfigError(f"level {level!r}: give one of {', '.join(COLUMNS)}")
    return [row for result in results for row in rows_of(result, level)]


def to_frame(results: Iterable[SampleResult], level: Level = "sentences") -> "pd.DataFrame":
    """Return the rows of `to_rows` as a DataFrame; raise ConfigError without pandas."""
    try:
        import pandas as pd  # noqa: PLC0415  no dependency of ours
    except ImportError:
        raise ConfigError("to_pandas: pandas is not installed: pip install pandas") from None
    rows, columns = to_rows(results, level), COLUMNS[level]
    # A column without any value has no type in pandas unless it is given one.
    numbers = {name: "float64" for name, kind in columns.items() if kind is float}
    return pd.DataFrame(rows, columns=list(columns)).astype(numbers)


def rows_of(result: SampleResult, level: Level) -> Iterator[dict[str, Cell]]:
    """Yield the rows of one answer; see `to_rows`."""
    yield from _sentences(result) if level == "sentences" else (_answer(result),)


def _shared(result: SampleResult) -> dict[str, Cell]:
    """Return the cells that an answer and its sentences share."""
    found, related, context = result.correctness, result.answer_relevance, result.context
    return {
        "qid": result.qid,
        "status": result.status.value,
        "faithfulness": result.scores.faithfulness,
        "correctness": found.f1 if found else None,
        "correctness_precision": found.precision if found else None,
        "correctness_recall": found.recall if found else None,
        "answer_relevance": related.score if related else None,
        "context_recall": context.recall if context else None,
        "context_precision": context.precision if context else None,
        "signature": result.signature,
    }


def _answer(result: SampleResult) -> dict[str, Cell]:
    found, related, context = result.correctness, result.answer_relevance, result.context
    scores = result.scores
    bounds = {
        "faithfulness": scores.faithfulness_bounds,
        "citation_validity": scores.citation_validity_bounds,
        "correctness": found.f1_bounds if found else None,
        "answer_relevance": related.bounds if related else None,
        "context_recall": context.recall_bounds if context else None,
        "context_precision": context.precision_bounds if context else None,
    }
    calls = [call for call in result.calls if not call.cached]
    own: dict[str, Cell] = {
        **_shared(result),
        **{f"{name}_low": both and both[0] for name, both in bounds.items()},
        **{f"{name}_high": both and both[1] for name, both in bounds.items()},
        "sentences": len(result.sentences),
        "unsupported": len(scores.unsupported),
        "cell": ",".join(result.cell.words) if result.cell else None,
        "flags": " ".join(sorted({flag.name.value for flag in result.flags})),
        "calls": len(calls),
        "prompt_tokens": sum(call.prompt_tokens for call in calls),
        "reply_tokens": sum(call.reply_tokens for call in calls),
        "metadata": json.dumps(result.metadata, ensure_ascii=False),
        **scores.citation_support,
    }
    return {name: own.get(name, getattr(scores, name, None)) for name in COLUMNS["answers"]}


def _sentences(result: SampleResult) -> Iterator[dict[str, Cell]]:
    # By sentence, the label that the run's own judge gave it against the reference.
    compared = {
        each.index: each.outcome.support.value
        for each in (result.correctness.answer if result.correctness else ())
        if isinstance(each.outcome, Verdict) and each.outcome.fallback_from is None
    }
    for entry in entries(result):
        sentence = entry.sentence
        own = {
            **_shared(result),
            "sentence": sentence.index,
            "text": sentence.text,
            "start": sentence.start,
            "end": sentence.end,
            "kind": sentence.kind.value,
            **_outcome(sentence),
            "reference_support": compared.get(sentence.index),
            "citations": " ".join(
                f"{each.marker}={each.status.value}" if each.status else each.marker
                for each in entry.citations
            ),
            "flags": " ".join(flag.name.value for flag in entry.flags),
        }
        yield {name: own[name] for name in COLUMNS["sentences"]}


def _outcome(sentence: SentenceResult) -> dict[str, Cell]:
    outcome = sentence.outcome
    verdict = outcome if isinstance(outcome, Verdict) else None
    failure = failure_of(outcome)
    # The first verified quote, or else the first one.
    evidence = sorted(verdict.evidence if verdict else (), key=lambda item: not item.verified)
    best = evidence[0] if evidence else None
    cited = verdict.cited_support if verdict else None
    return {
        "judged": not isinstance(outcome, Excluded),
        "support": verdict.support.value if verdict else None,
        "cited_support": cited.value if cited else None,
        "score": getattr(outcome, "score", None),
        "source": verdict.source if verdict else None,
        "chunk_id": best.chunk_id if best else None,
        "quote": best.quote if best else None,
        "verified": best.verified if best else None,
        "reason": verdict.reason if verdict else None,
        "unscored": failure.reason.value if failure else None,
        "detail": failure.detail if failure else None,
    }
