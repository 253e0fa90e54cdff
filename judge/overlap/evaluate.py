"""Samples in, one report out: streamed, in memory that does not grow with them."""

from bisect import insort
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from judge.answer.sentences import EDITION, split
from judge.errors import InputError
from judge.inputs.samples import samples_in
from judge.overlap import measures as words
from judge.overlap.measures import MOST_CELLS, MOST_TOKENS, TOKENIZERS, WEIGHT, BleuCounts
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
"""What has a mean: names of `AnswerOverlap.scores`, in order."""
LANGUAGE_NAMES: Final[dict[Language, str]] = {
    "zh": "Chinese",
    "ja": "Japanese",
    "ko": "Korean",
    "unspaced": "Thai, Lao, Burmese, Khmer or Tibetan",
    "other": "spaced words (English …)",
}
"""What to call them where people read."""
LISTED: Final = 20
"""The most qids of samples without a gold answer that a report lists."""
_LONGEST: Final = 200
"""Characters of an answer that is listed."""


def measure_overlap(
    samples: object,
    *,
    worst: int = 5,
    stem: bool = False,
    each: Callable[[AnswerOverlap], None] | None = None,
) -> OverlapReport:
    """Compare answers with their gold answers: BLEU, ROUGE, exact match, token F1.

    Samples without a gold answer, or a blank one, are counted and left out; an empty answer counts.

    Args:
        samples: in any order; each qid once. Or rows, as `judge.evaluate` takes them.
        worst: how many of the lowest answers to list.
        stem: whether ROUGE-1, -2, -L and -Lsum cut English words to their stems.
        each: is given the figures of every sample, in order.

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
    said = tuple(_warnings(counts, report.bleu))
    return report.model_copy(update={"counts": counts, "warnings": said})


def measure(answer: str, gold: str, *, stem: bool) -> dict[str, float | None]:
    """Every measure but BLEU, of one answer, by `MEASURES`."""
    # An answer was owed, even where normalisation leaves nothing of the gold answer either.
    given = bool(answer.strip())
    answer_lines, gold_lines = answer, gold
    # Lines are for ROUGE-Lsum alone; of texts too long for it finding sentences is time lost.
    if not words.too_long(len(words.word_tokens(answer)), len(words.word_tokens(gold))):
        answer_lines, gold_lines = _a_sentence_a_line(answer), _a_sentence_a_line(gold)
    return {
        "exact_match": words.exact_match(answer, gold) if given else 0.0,
        "token_f1": words.token_f1(answer, gold) if given else 0.0,
        **words.rouge(answer_lines, gold_lines, stem=stem),
        "rougeW": words.rouge_w(answer, gold),
    }


def _a_sentence_a_line(text: str) -> str:
    return "\n".join(" ".join(sentence.text.split()) for sentence in split(text))


class _LanguageBleus:
    """Adds answers up by the language of their gold answers.

    A gold answer without a letter (500) has none: it counts in the end with the language that most
    others have, or as `other` where no gold answer has a letter.
    """

    def __init__(self) -> None:
        self._counts: defaultdict[Language, BleuCounts] = defaultdict(BleuCounts)
        # Which language it will be is known in the end: these are added up in every tokenizer.
        self._letterless: defaultdict[str, BleuCounts] = defaultdict(BleuCounts)

    def add(self, answer: str, gold: str, language: Language | None) -> float:
        """Take in an answer, and return its `sentence_bleu`: without a language that of `other`."""
        score, counts = words.sentence_bleu(answer, gold, language or "other")
        if language is not None:
            self._counts[language] += counts
            return score
        for tokenizer, each in {name: each for each, name in TOKENIZERS.items()}.items():
            self._letterless[tokenizer] += words.sentence_bleu(answer, gold, each)[1]
        return score

    def totals(self) -> tuple[LanguageBleu, ...]:
        """Corpus BLEU of each language, the most answers first, then by name."""
        counts = dict(self._counts)

        def most_first(language: Language) -> tuple[int, Language]:
            return -counts[language]["answers"], language

        if self._letterless:
            most: Language = min(counts, key=most_first, default="other")
            counts[most] = self._counts[most] + self._letterless[TOKENIZERS[most]]
        return tuple(
            LanguageBleu(
                language=language,
                score=words.bleu(counts[language], language),
                answers=counts[language]["answers"],
                too_short=not counts[language]["given4"],
                signature=words.bleu_signature(language),
            )
            for language in sorted(counts, key=most_first)
        )


class _Totals:
    def __init__(self, *, worst: int, stem: bool) -> None:
        self._stem, self._size = stem, worst
        self._means = StreamedMeans(MEASURES)
        self._bleu = _LanguageBleus()
        self._counts: Counter[str] = Counter()
        self._without: list[str] = []
        self._worst: list[tuple[float, float, int, LowOverlap]] = []

    def add(self, sample: Sample) -> AnswerOverlap:
        self._counts["samples"] += 1
        if sample.gold_answer is None or not sample.gold_answer.strip():
            self._counts["without_gold_answer"] += 1
            if len(self._without) < LISTED:
                self._without.append(sample.qid)
            nothing = dict.fromkeys((*MEASURES, "sentence_bleu"))
            return AnswerOverlap(qid=sample.qid, unmeasured="no_gold_answer", scores=nothing)
        scores = measure(sample.answer, sample.gold_answer, stem=self._stem)
        language = words.language_of(sample.gold_answer)
        gold_tokens = len(words.word_tokens(sample.gold_answer))
        too_long = scores["rougeL"] is None
        self._counts["measured"] += 1
        self._counts["empty_answers"] += not sample.answer.strip()
        self._counts["too_long"] += too_long
        self._counts["wordless_gold"] += gold_tokens == 0
        self._counts["single_token_gold"] += gold_tokens == 1
        self._means.add(scores)
        own = self._bleu.add(sample.answer, sample.gold_answer, language)
        self._note_low(sample, sample.gold_answer, scores)
        return AnswerOverlap(
            qid=sample.qid,
            too_long=too_long,
            language=language,
            scores=scores | {"sentence_bleu": own},
        )

    def _note_low(self, sample: Sample, gold: str, scores: dict[str, float | None]) -> None:
        """Keep the least token F1, then ROUGE-L, then the first; of the texts the beginning."""
        token_f1, rouge_l = scores["token_f1"] or 0.0, scores["rougeL"]
        if token_f1 == 1:
            return
        low = LowOverlap(
            qid=sample.qid,
            token_f1=token_f1,
            rouge_l=rouge_l,
            answer=clip(sample.answer, _LONGEST),
            gold_answer=clip(gold, _LONGEST),
        )
        # Too long to be measured says nothing against it.
        rank = 1.0 if rouge_l is None else rouge_l
        insort(self._worst, (token_f1, rank, self._counts["measured"], low))
        del self._worst[self._size :]

    def report(self) -> OverlapReport:
        counts = OverlapCounts(**self._counts)
        if not counts.samples:
            message = "holds no sample; one JSON object a line, or CSV under a header, is needed"
            raise InputError(message)
        if not counts.measured:
            message = f"is missing or blank in every sample ({counts.samples} read); "
            message += "add the reference answer to each (also read from: reference)"
            raise InputError(message, field="gold_answer")
        languages, means = self._bleu.totals(), self._means
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
            worst=tuple(low for *_, low in self._worst),
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
            f"w:{WEIGHT:g}",
            f"longest:{MOST_TOKENS},{MOST_CELLS}",
            f"judge:{release('judge')}",
        ),
    )


def _warnings(counts: OverlapCounts, languages: Sequence[LanguageBleu]) -> Iterator[str]:
    """A line for everything that makes the numbers other than they look."""
    of = f"of {counted(counts.samples, 'sample')}"
    if counts.bad_lines:
        yield f"lines that are no samples, and so left out: {counts.bad_lines:,}"
    over = f" (over {MOST_TOKENS:,} tokens, or tokens of the answer times tokens of the gold answer"
    without_rouge_l = "too long for ROUGE-L, ROUGE-Lsum and ROUGE-W, and not in their means"
    for count, what, more in (
        (counts.without_gold_answer, "no gold_answer, and so left out", ""),
        (counts.empty_answers, "an empty answer, which counts 0", ""),
        (counts.too_long, without_rouge_l, f"{over} over {MOST_CELLS:,})"),
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
