"""Samples in, one report out: streamed, in memory that does not grow with them."""

from collections import Counter
from collections.abc import Callable, Iterable
from importlib.metadata import version
from typing import Final

from judge.answer.split import EDITION as SPLIT_EDITION
from judge.errors import InputError
from judge.overlap.answer import MEASURES, Measured, has_gold, measure
from judge.overlap.languages import LanguageBleus
from judge.overlap.lowest import Lowest
from judge.overlap.metrics import MOST_CELLS, MOST_TOKENS, WEIGHT
from judge.overlap.records import AnswerOverlap, OverlapCounts, OverlapReport
from judge.overlap.warning import warnings
from judge.records import Interval, Sample
from judge.scores.intervals import StreamedMeans
from judge.signature import Signature

LISTED: Final = 20
"""How many qids of samples without a gold answer a report lists."""


def measure_overlap(
    samples: Iterable[Sample],
    *,
    worst: int = 5,
    stem: bool = False,
    seed: int = 0,
    each: Callable[[AnswerOverlap], None] | None = None,
) -> OverlapReport:
    """What the answers share with their gold answers: BLEU, ROUGE, exact match, token F1.

    Samples without a gold answer, or a blank one, are counted and left out; an empty answer counts.

    Args:
        samples: in any order; each qid once.
        worst: how many of the lowest answers to list.
        stem: whether ROUGE-1, -2, -L and -Lsum cut English words to their stems.
        seed: of the bootstrap intervals.
        each: is given the figures of every sample, in order.

    Raises:
        InputError: there is no sample, or none has a gold answer.
    """
    totals = Totals(worst=worst, stem=stem, seed=seed)
    for sample in samples:
        row = totals.add(sample)
        if each is not None:
            each(row)
    return totals.report()


def with_bad_lines(report: OverlapReport, bad_lines: int) -> OverlapReport:
    """The report of a file of which so many lines were no samples: counted, and warned of."""
    counts = report.counts.model_copy(update={"bad_lines": bad_lines})
    said = warnings(counts, report.bleu)
    return report.model_copy(update={"counts": counts, "warnings": said})


class Totals:
    """Adds samples up. Arguments as in `measure_overlap`."""

    def __init__(self, *, worst: int = 5, stem: bool = False, seed: int = 0) -> None:
        self._stem = stem
        self._seed = seed
        self._means = StreamedMeans(len(MEASURES), seed)
        self._bleu = LanguageBleus()
        self._counts: Counter[str] = Counter()
        self._without: list[str] = []
        self._lowest = Lowest(worst)

    def add(self, sample: Sample) -> AnswerOverlap:
        """Take in one sample; returns its own figures."""
        self._counts["samples"] += 1
        if sample.gold_answer is None or not has_gold(sample):
            self._counts["without_gold_answer"] += 1
            if len(self._without) < LISTED:
                self._without.append(sample.qid)
            scores = dict.fromkeys((*MEASURES, "sentence_bleu"))
            return AnswerOverlap(qid=sample.qid, unmeasured="no_gold_answer", scores=scores)
        found = measure(sample.answer, sample.gold_answer, stem=self._stem)
        self._count(sample, found)
        self._means.add(sample.qid, [found.scores[name] for name in MEASURES])
        bleu = self._bleu.add(sample.answer, sample.gold_answer, found.language)
        self._lowest.add(sample, found.scores["token_f1"] or 0.0, found.scores["rougeL"])
        return AnswerOverlap(
            qid=sample.qid,
            too_long=found.scores["rougeL"] is None,
            language=found.language,
            scores=found.scores | {"sentence_bleu": bleu},
        )

    def _count(self, sample: Sample, found: Measured) -> None:
        self._counts["measured"] += 1
        self._counts["empty_answers"] += not sample.answer.strip()
        self._counts["too_long"] += found.scores["rougeL"] is None
        self._counts["wordless_gold"] += found.gold_tokens == 0
        self._counts["single_token_gold"] += found.gold_tokens == 1

    def report(self) -> OverlapReport:
        """What was added so far.

        Raises:
            InputError: there is no sample, or none has a gold answer.
        """
        counts = OverlapCounts(**self._counts)
        _refuse_nothing(counts)
        bleu = self._bleu.totals()
        means = {name: self._means.mean(column) for column, name in enumerate(MEASURES)}
        return OverlapReport(
            mean=means | ({"bleu": bleu[0].score} if len(bleu) == 1 else {}),
            interval={name: self._interval(column) for column, name in enumerate(MEASURES)},
            answers={name: self._means.count(column) for column, name in enumerate(MEASURES)},
            counts=counts,
            bleu=bleu,
            signature=signature(stem=self._stem, seed=self._seed),
            warnings=warnings(counts, bleu),
            without_gold_answer=tuple(self._without),
            worst=self._lowest.answers(),
        )

    def _interval(self, column: int) -> Interval | None:
        found = self._means.interval(column)
        if found is None:
            return None
        low, high, method = found
        return Interval(low=low, high=high, method=method)


def signature(*, stem: bool, seed: int) -> str:
    """How the numbers other than BLEU are made, choice by choice."""
    parts = {
        "tokens": "nfkc-lower-cjk-char",
        "norm": "squad2-cjk-char",
        "rouge": f"rouge-score-{version('rouge-score')}",
        "stem": "porter" if stem else "no",
        "sentences": str(SPLIT_EDITION),
        "w": f"{WEIGHT:g}",
        "longest": f"{MOST_TOKENS},{MOST_CELLS}",
        "seed": str(seed),
        "judge": version("judge"),
    }
    return str(Signature("overlap:v1", tuple(f"{name}:{value}" for name, value in parts.items())))


def _refuse_nothing(counts: OverlapCounts) -> None:
    if not counts.samples:
        raise InputError(
            "holds no sample; one JSON object a line, or CSV under a header, is needed"
        )
    if not counts.measured:
        message = (
            f"is missing or blank in every sample ({counts.samples} read); "
            "add the reference answer to each (also read from: reference)"
        )
        raise InputError(message, field="gold_answer")
