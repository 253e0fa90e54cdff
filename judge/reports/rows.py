"""Results as flat rows, for pandas, a notebook or a spreadsheet."""

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Final, Literal

from judge.errors import ConfigError
from judge.records import (
    Excluded,
    SampleResult,
    SentenceResult,
    Verdict,
    failure_of,
)
from judge.scores.answer import SUPPORTING

Cell = str | int | float | bool | None
Level = Literal["sentences", "answers"]
"""The unit of a row."""

COLUMNS: Final[Mapping[Level, Mapping[str, type[str | float]]]] = {
    "sentences": {
        "qid": str,
        "status": str,
        "faithfulness": float,
        "correctness": float,
        "correctness_precision": float,
        "correctness_recall": float,
        "answer_relevance": float,
        "sentence": int,
        "text": str,
        "start": int,
        "end": int,
        "kind": str,
        "judged": bool,
        "support": str,
        "cited_support": str,
        "score": float,
        "source": str,
        "chunk_id": str,
        "quote": str,
        "verified": bool,
        "reason": str,
        "unscored": str,
        "detail": str,
        "reference_support": str,
        "citations": str,
        "flags": str,
        "signature": str,
    },
    "answers": {
        "qid": str,
        "status": str,
        "faithfulness": float,
        "faithfulness_low": float,
        "faithfulness_high": float,
        "faithfulness_strict": float,
        "faithfulness_with_fallback": float,
        "contradiction_rate": float,
        "coverage": float,
        "citation_validity": float,
        "citation_validity_low": float,
        "citation_validity_high": float,
        "citation_recall": float,
        **dict.fromkeys(SUPPORTING, float),
        "correctness": float,
        "correctness_low": float,
        "correctness_high": float,
        "correctness_precision": float,
        "correctness_recall": float,
        "answer_relevance": float,
        "answer_relevance_low": float,
        "answer_relevance_high": float,
        "sentences": int,
        "claims": int,
        "judged": int,
        "unscored": int,
        "no_claim": int,
        "unsupported": int,
        "cell": str,
        "flags": str,
        "calls": int,
        "prompt_tokens": int,
        "reply_tokens": int,
        "metadata": str,
        "signature": str,
    },
}
"""The keys of the rows in order, and the type of each value that is not None."""


def to_rows(results: Iterable[SampleResult], level: Level = "sentences") -> list[dict[str, Cell]]:
    """Return a row for each sentence or, at the level `answers`, for each answer.

    All rows have the same keys. A sentence, which may be an excluded one, has the scores of its
    answer. Without a verdict, `support`, `source`, `score` and `quote` are None, and `unscored` and
    `detail` give the reason. `flags` and `citations` are joined with spaces. `reference_support` is
    the label that the run's own judge gave the sentence against the reference, or None.

    An answer has its scores, the bounds that failures leave (`_low`, `_high`), the counts behind
    them, its metadata as JSON, and TREC RAG's measures (`support_…`), which are None without
    citations.

    Raises:
        ConfigError: there is no such level.

    >>> to_rows([])
    []
    """
    if level not in COLUMNS:
        raise ConfigError(f"level {level!r}: give one of {', '.join(COLUMNS)}")
    return [row for result in results for row in rows_of(result, level)]


def rows_of(result: SampleResult, level: Level) -> Iterator[dict[str, Cell]]:
    """Yield the rows of one answer; see `to_rows`."""
    yield from _sentences(result) if level == "sentences" else (_answer(result),)


def _answer(result: SampleResult) -> dict[str, Cell]:
    scores, found, related = result.scores, result.correctness, result.answer_relevance
    bounds = {
        "faithfulness": scores.faithfulness_bounds,
        "citation_validity": scores.citation_validity_bounds,
        "correctness": found.f1_bounds if found else None,
        "answer_relevance": related.bounds if related else None,
    }
    own: dict[str, Cell] = {
        "qid": result.qid,
        "status": result.status.value,
        **{f"{name}_low": both and both[0] for name, both in bounds.items()},
        **{f"{name}_high": both and both[1] for name, both in bounds.items()},
        "correctness": found.f1 if found else None,
        "correctness_precision": found.precision if found else None,
        "correctness_recall": found.recall if found else None,
        "answer_relevance": related.score if related else None,
        "sentences": len(result.sentences),
        "unsupported": len(scores.unsupported),
        "cell": ",".join(result.cell.words) if result.cell else None,
        "flags": " ".join(sorted({flag.name.value for flag in result.flags})),
        "calls": sum(not call.cached for call in result.calls),
        "prompt_tokens": sum(call.prompt_tokens for call in result.calls if not call.cached),
        "reply_tokens": sum(call.reply_tokens for call in result.calls if not call.cached),
        "metadata": json.dumps(result.metadata, ensure_ascii=False),
        "signature": result.signature,
    }
    own |= scores.citation_support
    columns = COLUMNS["answers"]
    return {name: own.get(name, getattr(scores, name, None)) for name in columns}


def _sentences(result: SampleResult) -> Iterator[dict[str, Cell]]:
    citations: defaultdict[int, list[str]] = defaultdict(list)
    for citation in result.citations:
        status = f"={citation.status.value}" if citation.status else ""
        citations[citation.sentence].append(citation.marker + status)
    flags: defaultdict[int | None, list[str]] = defaultdict(list)
    for flag in result.flags:
        flags[flag.sentence].append(flag.name.value)
    found, related = result.correctness, result.answer_relevance
    # By sentence, the label that the run's own judge gave it against the reference.
    compared = {
        each.index: each.outcome.support.value
        for each in (found.answer if found else ())
        if isinstance(each.outcome, Verdict) and each.outcome.fallback_from is None
    }
    for sentence in result.sentences:
        yield {
            "qid": result.qid,
            "status": result.status.value,
            "faithfulness": result.scores.faithfulness,
            "correctness": found.f1 if found else None,
            "correctness_precision": found.precision if found else None,
            "correctness_recall": found.recall if found else None,
            "answer_relevance": related.score if related else None,
            "sentence": sentence.index,
            "text": sentence.text,
            "start": sentence.start,
            "end": sentence.end,
            "kind": sentence.kind.value,
            **_outcome(sentence),
            "reference_support": compared.get(sentence.index),
            "citations": " ".join(citations[sentence.index]),
            "flags": " ".join(flags[sentence.index]),
            "signature": result.signature,
        }


def _outcome(sentence: SentenceResult) -> dict[str, Cell]:
    outcome = sentence.outcome
    verdict = outcome if isinstance(outcome, Verdict) else None
    failure = failure_of(outcome)
    # The first that is verified, or else the first.
    evidence = sorted(verdict.evidence if verdict else (), key=lambda item: not item.verified)
    best = evidence[0] if evidence else None
    cited = verdict.cited_support if verdict else None
    return {
        "judged": not isinstance(outcome, Excluded),
        "support": verdict.support.value if verdict else None,
        "cited_support": cited.value if cited else None,
        "score": verdict.score if verdict else None,
        "source": verdict.source if verdict else None,
        "chunk_id": best.chunk_id if best else None,
        "quote": best.quote if best else None,
        "verified": best.verified if best else None,
        "reason": verdict.reason if verdict else None,
        "unscored": failure.reason.value if failure else None,
        "detail": failure.detail if failure else None,
    }
