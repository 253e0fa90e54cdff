"""What went wrong, by example."""

from dataclasses import dataclass

from judge.records import SampleResult, Unscored, UnscoredReason, Verdict


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
        if not result.scores.unscored:
            return
        for sentence in result.sentences:
            outcome = sentence.outcome
            failure = outcome.fallback_from if isinstance(outcome, Verdict) else outcome
            if isinstance(failure, Unscored):
                self.first.setdefault(failure.reason, Example(result.qid, failure))
