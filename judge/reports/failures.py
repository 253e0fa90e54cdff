"""What went wrong, by example."""

from collections.abc import Iterator
from dataclasses import dataclass

from judge.records import Outcome, SampleResult, Unscored, UnscoredReason, Verdict


@dataclass(frozen=True, slots=True)
class Example:
    """A sentence that the run's own judge gave no verdict on."""

    qid: str
    failure: Unscored


class Failures:
    """Keeps the first failure of each reason in a stream of results."""

    def __init__(self) -> None:
        self.first: dict[UnscoredReason, Example] = {}
        """By reason, in the order they were first met."""

    def add(self, result: SampleResult) -> None:
        """Take in one answer."""
        for outcome in _outcomes(result):
            failure = outcome.fallback_from if isinstance(outcome, Verdict) else outcome
            if isinstance(failure, Unscored):
                self.first.setdefault(failure.reason, Example(result.qid, failure))


def _outcomes(result: SampleResult) -> Iterator[Outcome]:
    """Those by the chunks, then those of the comparison with the reference."""
    yield from (sentence.outcome for sentence in result.sentences)
    if result.correctness is not None:
        yield from (compared.outcome for compared in result.correctness.answer)
        yield from (compared.outcome for compared in result.correctness.reference)
