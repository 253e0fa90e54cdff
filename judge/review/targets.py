"""The targets of a spot-check: faithfulness, or one of the halves of correctness.

A half is seen as a run of its own in which the evidence is swapped: the answer's claims against the
reference, or the reference's against the answer. So it is drawn, labelled and corrected as any.
"""

from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import Final, Literal

from judge.inputs import runs
from judge.inputs.runs import origins, read_results, read_summary
from judge.records import Chunk, Excluded, Sample, SampleResult, Sentence, SentenceResult, Summary
from judge.records.result import ANSWER, GOLD, ComparedSentence
from judge.review.records import Target
from judge.review.strata import Census, counts
from judge.scores.answer import aggregate
from judge.scores.totals import summarize

For = Literal["faithfulness", "correctness"]
"""The purpose of a draw."""
TARGETS: Final[dict[For, tuple[Target, ...]]] = {
    "faithfulness": ("faithfulness",),
    "correctness": ("correctness_precision", "correctness_recall"),
}
"""The targets of each purpose; each target has a separate draw."""
_SENTENCE: Final = set(Sentence.model_fields)


def results_of(folder: Path, target: Target) -> Iterator[SampleResult]:
    """Yield the results of a run as the target sees them, with the errors of `read_results`."""
    return (seen(result, target) for result in read_results(folder))


def origins_of(folder: Path, target: Target) -> Iterator[tuple[Sample, SampleResult]]:
    """Yield samples and results of a run as the target sees them; errors are those of `origins`."""
    for sample, result in origins(folder):
        yield seen_sample(sample, target), seen(result, target)


def census_of(
    folder: Path, seed: int = 0, size: int = 0, target: Target = "faithfulness"
) -> Census:
    """Count all claims of a run. RunError: there is no run, or a result is damaged."""
    # The halves of correctness are drawn independently of each other.
    census = Census(seed, size, "draw" if target == "faithfulness" else target)
    for result in results_of(folder, target):
        census.add(result)
    return census


def summary_of(folder: Path, target: Target) -> Summary:
    """Return the totals of a run for the target, with its score as `faithfulness`."""
    summary = read_summary(folder)
    if target == "faithfulness" or summary.correctness is None:
        return summary
    half = target.removeprefix("correctness_")
    raw = summary.correctness.precision if half == "precision" else summary.correctness.recall
    return summarize(results_of(folder, target)).model_copy(
        update={"faithfulness": raw, "gates": summary.gates}
    )


def nothing(target: Target) -> str:
    """Why there is nothing to draw."""
    if target == "faithfulness":
        return "no answer claims anything; there is nothing to review"
    return "no answer was compared with a reference; give gold_answer, and score with --correctness"


def signature_of(folder: Path, target: Target) -> str:
    """How the run's numbers were made."""
    compared = None if target == "faithfulness" else read_summary(folder).correctness
    return next(iter(compared.signatures if compared else ()), runs.read_record(folder).signature)


def samples_of(folder: Path, target: Target, qids: Collection[str]) -> dict[str, Sample]:
    """Some samples of a run as the target sees them, by qid; without those that are gone."""
    asked = frozenset(qids)
    wanted = (result for result in read_results(folder) if result.qid in asked)
    found = runs.samples_of(folder, wanted)
    return {qid: seen_sample(sample, target) for qid, sample in found.items()}


def seen_sample(sample: Sample, target: Target) -> Sample:
    """The sample with the text whose claims are checked as its answer, and the other as chunk."""
    gold = sample.gold_answer or ""
    if target == "correctness_precision":
        return sample.model_copy(update={"chunks": (Chunk(chunk_id=GOLD, text=gold),)})
    if target == "correctness_recall":
        other = Chunk(chunk_id=ANSWER, text=sample.answer)
        return sample.model_copy(update={"answer": gold, "chunks": (other,)})
    return sample


def seen(result: SampleResult, target: Target) -> SampleResult:
    """The result with the claims of this target; none where either half has none to compare."""
    if target == "faithfulness":
        return result
    compared = result.correctness
    both = compared is not None and _any(compared.answer) and _any(compared.reference)
    if compared is None or not both:
        made = result.signature if compared is None else compared.signature
        return aggregate(Sample(qid=result.qid), (), {}, (), signature=made)
    precise = target == "correctness_precision"
    claims = compared.answer if precise else compared.reference
    sentences = result.sentences if precise else compared.reference
    return aggregate(
        Sample(qid=result.qid),
        [Sentence.model_validate(each.model_dump(include=_SENTENCE)) for each in sentences],
        {each.index: each.outcome for each in claims if not isinstance(each.outcome, Excluded)},
        (),
        flags=compared.answer_flags if precise else compared.reference_flags,
        signature=compared.signature,
    )


def _any(claims: Iterable[ComparedSentence | SentenceResult]) -> bool:
    """Whether anything counts among the claims of one text."""
    outcomes = (claim.outcome for claim in claims)
    return any(not isinstance(each, Excluded) and counts(each) for each in outcomes)
