"""From samples to the report on all of them, in memory that does not grow with the samples."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from judge import __version__
from judge.answer.sentences import EDITION, split
from judge.errors import InputError
from judge.inputs.samples import samples_in
from judge.overlap import measures as words
from judge.overlap.measures import MOST_CELLS, ROUGE_W_EXPONENT, BleuCounts
from judge.overlap.records import (
    AnswerOverlap,
    Language,
    LanguageBleu,
    LowOverlap,
    OverlapCounts,
    OverlapReport,
)
from judge.records import Sample
from judge.scores.intervals import StreamedMeans
from judge.signature import Signature, release
from judge.text.visible import clip, counted

MEASURES: Final = (
    "exact_match",
    "token_f1",
    "rouge1",
    "rouge2",
    "rougeL",
    "rougeLsum",
    "rougeW",
)
"""The names of `AnswerOverlap.scores` that have a mean, in order."""
LANGUAGE_NAMES: Final[dict[Language, str]] = {
    "zh": "Chinese",
    "unspaced": "other scripts, by character",
    "other": "spaced words (English …)",
}
"""The names for people."""
LISTED: Final = 20
"""The most qids of samples without a gold answer in a report."""
_SHOWN_CHARACTERS: Final = 200
"""Characters of an answer in the report."""


def measure_overlap(
    samples: object,
    *,
    worst: int = 5,
    stem: bool = False,
    each: Callable[[AnswerOverlap], None] | None = None,
) -> OverlapReport:
    """Compare answers with their gold answers: BLEU, ROUGE, exact match, token F1.

    Samples without a gold answer, or with a blank one, are counted and left out; an empty answer
    counts.

    Args:
        samples: samples with unique qids in any order, or rows as `judge.evaluate` takes them.
        worst: the maximum number of lowest answers in the report.
        stem: whether ROUGE-1, -2, -L and -Lsum reduce English words to their stems.
        each: receives the figures of each sample, in order.

    Raises:
        InputError: there is no sample, or none has a gold answer.
    """
    totals = _Totals(worst=worst, stem=stem)
    for sample in samples_in(samples, ("answer",)):
        row = totals.add(sample)
        if each is not None:
            each(row)
    return totals.report()


def with_bad_lines(report: OverlapReport, bad_lines: int) -> OverlapReport:
    """Return the report with the number of bad lines of the file, and the warning about them."""
    counts = report.counts.model_copy(update={"bad_lines": bad_lines})
    warnings = tuple(_warnings(counts, report.bleu))
    return report.model_copy(update={"counts": counts, "warnings": warnings})


def measure(answer: str, gold: str, *, stem: bool) -> dict[str, float | None]:
    """Return every measure of one answer except BLEU, by `MEASURES`."""
    # An empty answer counts 0, even if normalisation leaves nothing of the gold answer either.
    given = bool(answer.strip())
    answer_lines, gold_lines = answer, gold
    if not words.too_long(answer, gold):
        answer_lines, gold_lines = _sentence_lines(answer), _sentence_lines(gold)
    return {
        "exact_match": words.exact_match(answer, gold) if given else 0.0,
        "token_f1": words.token_f1(answer, gold) if given else 0.0,
        **words.rouge(answer_lines, gold_lines, stem=stem),
        "rougeW": words.rouge_w(answer, gold),
    }


def _sentence_lines(text: str) -> str:
    return "\n".join(" ".join(sentence.text.split()) for sentence in split(text))


class _Totals:
    """Adds up the figures of answers, and keeps the lowest of them."""

    def __init__(self, *, worst: int, stem: bool) -> None:
        self._stem, self._most = stem, worst
        self._means = StreamedMeans(MEASURES)
        self._bleu: defaultdict[Language, BleuCounts] = defaultdict(BleuCounts)
        self._counts: Counter[str] = Counter()
        self._without: list[str] = []
        self._worst: list[LowOverlap] = []

    def add(self, sample: Sample) -> AnswerOverlap:
        self._counts["samples"] += 1
        gold = sample.gold_answer
        if gold is None or not gold.strip():
            self._counts["without_gold_answer"] += 1
            if len(self._without) < LISTED:
                self._without.append(sample.qid)
            nothing = dict.fromkeys((*MEASURES, "sentence_bleu"))
            return AnswerOverlap(qid=sample.qid, unmeasured="no_gold_answer", scores=nothing)
        scores = measure(sample.answer, gold, stem=self._stem)
        # A gold answer without letters, such as 500, has no language.
        texts = (gold, sample.query, sample.answer)
        language: Language = next(filter(None, map(words.language_of, texts)), "other")
        gold_tokens = len(words.word_tokens(gold))
        too_long = scores["rougeL"] is None
        self._counts["measured"] += 1
        self._counts["empty_answers"] += not sample.answer.strip()
        self._counts["too_long"] += too_long
        self._counts["wordless_gold"] += gold_tokens == 0
        self._counts["single_token_gold"] += gold_tokens == 1
        self._means.add(scores)
        bleu, counts = words.sentence_bleu(sample.answer, gold, language)
        self._bleu[language] += counts
        self._add_worst(sample, gold, scores)
        return AnswerOverlap(
            qid=sample.qid,
            too_long=too_long,
            language=language,
            scores=scores | {"sentence_bleu": bleu},
        )

    def _add_worst(self, sample: Sample, gold: str, scores: dict[str, float | None]) -> None:
        """Keep the answers with the lowest token F1, then ROUGE-L, then the first."""
        low = LowOverlap(
            qid=sample.qid,
            token_f1=scores["token_f1"] or 0.0,
            rouge_l=scores["rougeL"],
            answer=clip(sample.answer, _SHOWN_CHARACTERS),
            gold_answer=clip(gold, _SHOWN_CHARACTERS),
        )
        if low.token_f1 < 1:
            # An answer too long for ROUGE-L comes after those with equal token F1.
            self._worst.append(low)
            self._worst.sort(
                key=lambda low: (low.token_f1, 1.0 if low.rouge_l is None else low.rouge_l)
            )
            del self._worst[self._most :]

    def report(self) -> OverlapReport:
        counts = OverlapCounts(**self._counts)
        if not counts.samples:
            message = "holds no sample; one JSON object a line, or CSV under a header, is needed"
            raise InputError(message)
        if not counts.measured:
            message = f"is missing or blank in every sample ({counts.samples} read); "
            message += "add the reference answer to each (also read from: reference)"
            raise InputError(message, field="gold_answer")
        languages, means = self._languages(), self._means
        whole = {"bleu": languages[0].score} if len(languages) == 1 else {}
        return OverlapReport(
            mean={name: means.mean(name) for name in MEASURES} | whole,
            interval={name: means.interval(name) for name in MEASURES},
            answers={name: means.count(name) for name in MEASURES},
            counts=counts,
            bleu=languages,
            signature=str(_signature(stem=self._stem)),
            warnings=tuple(_warnings(counts, languages)),
            without_gold_answer=tuple(self._without),
            worst=tuple(self._worst),
        )

    def _languages(self) -> tuple[LanguageBleu, ...]:
        """Return corpus BLEU of each language, the most answers first, then by name."""
        counts = sorted(self._bleu.items(), key=lambda item: (-item[1]["answers"], item[0]))
        return tuple(
            LanguageBleu(
                language=language,
                score=words.bleu(own, language),
                answers=own["answers"],
                too_short=not own["given4"],
                signature=words.bleu_signature(language),
            )
            for language, own in counts
        )


def _signature(*, stem: bool) -> Signature:
    return Signature(
        "overlap:v1",
        (
            "tokens:nfkc-lower-cjk-char",
            "norm:squad2-cjk-char",
            f"rouge:rouge-score-{release('rouge-score')}",
            f"stem:{'porter' if stem else 'no'}",
            f"sentences:{EDITION}",
            f"w:{ROUGE_W_EXPONENT:g}",
            f"cells:{MOST_CELLS}",
            f"judge:{__version__}",
        ),
    )


def _warnings(counts: OverlapCounts, languages: Sequence[LanguageBleu]) -> Iterator[str]:
    """Yield what to know before the numbers are used."""
    of = f"of {counted(counts.samples, 'sample')}"
    if counts.bad_lines:
        yield f"lines that are no samples, and so left out: {counts.bad_lines:,}"
    over = f" (tokens of the answer times tokens of the gold answer: over {MOST_CELLS:,})"
    without_rouge_l = "too long for ROUGE-L, ROUGE-Lsum and ROUGE-W, and not in their means"
    for count, what, more in (
        (counts.without_gold_answer, "no gold_answer, and so left out", ""),
        (counts.empty_answers, "an empty answer, which counts 0", ""),
        (counts.too_long, without_rouge_l, over),
        (counts.wordless_gold, "a gold answer without a letter or digit (ROUGE is 0)", ""),
        (counts.single_token_gold, "a gold answer of one token (ROUGE-2 is 0)", ""),
    ):
        if count:
            yield f"{what}: {count:,} {of}{more}"
    for item in languages:
        if item.too_short:
            yield (
                "no answer has the four tokens that BLEU needs, so it is 0 whatever they share: "
                f"{LANGUAGE_NAMES[item.language]}, {item.answers:,} {of}"
            )
    if len(languages) > 1:
        yield "gold answers of several languages: BLEU is given for each, and not over all"
