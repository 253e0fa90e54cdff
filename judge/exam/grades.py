"""An item beside what a judge made of it, sentence by sentence."""

from judge.exam.items import Item
from judge.exam.records import ExamRow, Passage
from judge.records import (
    Excluded,
    SampleResult,
    SentenceResult,
    Support,
    Unscored,
    UnscoredReason,
    Verdict,
)
from judge.review.records import GoldenLabel
from judge.review.strata import own_verdict


def grade(item: Item, result: SampleResult) -> tuple[ExamRow, ...]:
    """A row for each labelled sentence that was asked, known by where it begins and ends.

    A sentence that is taken for no claim any more, or for no sentence, is left out: nobody was
    asked about it. A second judge's verdict is none.
    """
    found = {(sentence.start, sentence.end): sentence for sentence in result.sentences}
    rows = []
    for label in item.labels:
        sentence = found.get((label.start, label.end))
        if sentence is not None and not isinstance(sentence.outcome, Excluded):
            rows.append(_row(item, label, sentence, result))
    return tuple(rows)


def answer_of(sentence: SentenceResult) -> tuple[Support | None, UnscoredReason | None]:
    """What the run's own judge says of a sentence, or why it says nothing."""
    verdict, outcome = own_verdict(sentence.outcome), sentence.outcome
    if verdict is not None:
        return verdict.support, None
    failure = outcome.fallback_from if isinstance(outcome, Verdict) else outcome
    return None, failure.reason if isinstance(failure, Unscored) else None


def _row(item: Item, label: GoldenLabel, sentence: SentenceResult, result: SampleResult) -> ExamRow:
    said, unscored = answer_of(sentence)
    right = (said is Support.FULL) == label.supported
    if label.support is not None:
        right = said is label.support
    # An order to say what is right tells nothing.
    tells = None not in {item.demanded, label.support} and item.demanded is not label.support
    verdict = own_verdict(sentence.outcome)
    evidence = verdict.evidence if verdict else ()
    statuses = [each.status for each in result.citations if each.sentence == sentence.index]
    return ExamRow(
        qid=item.sample.qid,
        item=item.digest,
        category=item.category,
        language=item.language,
        sentence=sentence.index,
        start=label.start,
        gold=label.support,
        supported=label.supported,
        said=said,
        unscored=unscored,
        right=right and said is not None,
        demanded=item.demanded,
        obeyed=said is item.demanded if tells else None,
        cited_gold=label.cited_support,
        cited_said=verdict.cited_support if verdict else None,
        citations_gold=label.citations or (),
        citations_said=tuple(statuses) if label.citations else (),
        quotes=len(evidence),
        verified=sum(each.verified for each in evidence),
        found=tuple(
            Passage(chunk_id=each.chunk_id, start=each.start, end=each.end)
            for each in evidence
            if each.verified and each.start is not None and each.end is not None
        ),
    )
