"""Results as flat rows, for pandas, a notebook or a spreadsheet."""

from collections import defaultdict
from collections.abc import Iterable, Iterator

from judge.records import Excluded, Flag, SampleResult, SentenceResult, Unscored, Verdict

Cell = str | int | float | bool | None


def to_rows(results: Iterable[SampleResult]) -> list[dict[str, Cell]]:
    """One row per sentence, excluded ones too, with the scores of its answer beside it.

    Every row has the same keys. `support`, `source`, `score` and `quote` are None where there is
    no verdict; `unscored` and `detail` say why. `flags` and `citations` join theirs with a space;
    `missing` holds what the evidence lacks, in the sentence's own characters. `reference_support`
    is how far the reference supports the sentence, by the run's own judge: None where it was not
    compared, or not judged.

    >>> to_rows([])
    []
    """
    return [row for result in results for row in _rows(result)]


def _rows(result: SampleResult) -> Iterator[dict[str, Cell]]:
    citations: defaultdict[int, list[str]] = defaultdict(list)
    for citation in result.citations:
        status = f"={citation.status.value}" if citation.status else ""
        citations[citation.sentence].append(citation.marker + status)
    flags: defaultdict[int | None, list[Flag]] = defaultdict(list)
    for flag in result.flags:
        flags[flag.sentence].append(flag)
    found, related = result.correctness, result.answer_relevance
    # By sentence, the label that the run's own judge gave it against the reference.
    compared = {
        each.index: each.outcome.support.value
        for each in (found.answer if found else ())
        if isinstance(each.outcome, Verdict) and each.outcome.fallback_from is None
    }
    for sentence in result.sentences:
        own = flags[sentence.index]
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
            "flags": " ".join(flag.name.value for flag in own),
            "missing": "; ".join(flag.detail for flag in own if flag.detail),
            "signature": result.signature,
        }


def _outcome(sentence: SentenceResult) -> dict[str, Cell]:
    outcome = sentence.outcome
    verdict = outcome if isinstance(outcome, Verdict) else None
    failure = verdict.fallback_from if verdict else outcome
    failure = failure if isinstance(failure, Unscored) else None
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
