"""From samples to the report on all of them, in memory that does not grow with the samples."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

from judge import __version__
from judge.answer.sentences import EDITION, split
from judge.errors import InputError
from judge.inputs.samples import samples_in
from judge.overlap import measures as words
from judge.overlap.measures import MOST_CELLS, BleuCounts, Language
from judge.records import Document, Interval, Record, Sample
from judge.scores.intervals import StreamedMeans
from judge.signature import Signature, release
from judge.text.visible import counted

MEASURES: Final = ("exact_match", "token_f1", "rouge1", "rouge2", "rougeL", "rougeLsum")
"""The names of `AnswerOverlap.scores` that have a mean, in order."""
_MOST_QIDS: Final = 20
"""The most qids of samples without a gold answer in a report."""


class AnswerOverlap(Record):
    """The overlap of one answer with its gold answer."""

    qid: str
    """The qid of the sample."""
    language: Language | None = None
    """The language of the gold answer; null without a gold answer."""
    scores: dict[str, float | None]
    """`exact_match`, `token_f1`, and of ROUGE the F, `rouge1`, `rouge2`, `rougeL` and `rougeLsum`;
    0 to 1. Null means that it was not measured: there is no gold answer, or the texts are too long
    for `rougeL` and `rougeLsum`."""


class LanguageBleu(Record):
    """Corpus BLEU over the answers of one language; case, width and punctuation count."""

    language: Language
    """The language of the gold answers."""
    score: float
    """0 to 100, over the counts of all these answers together; 0 if no answer has four tokens."""
    answers: int
    """The number of answers."""
    signature: str
    """The signature that sacrebleu gives; only scores of equal signature compare."""


class OverlapCounts(Record):
    """Counts of samples: read, measured, and left out for lack of a gold answer."""

    samples: int = 0
    """All samples."""
    measured: int = 0
    """Samples with a gold answer."""
    without_gold_answer: int = 0
    """Samples without a gold answer; they are in no mean."""
    empty_answers: int = 0
    """Measured blank answers: they count 0."""
    too_long: int = 0
    """Measured answers too long for ROUGE-L and ROUGE-Lsum, which are null there."""


class OverlapReport(Document):
    """Overlap over a file of answers. A null mean was measured on nothing; it is never 0."""

    mean: dict[str, float | None]
    """Means over the measured answers by the names of `AnswerOverlap.scores`. `bleu`, the corpus
    score and no mean, only where there is one `LanguageBleu`."""
    interval: dict[str, Interval | None]
    """95 % intervals of the means; BLEU has none."""
    answers: dict[str, int]
    """The number of answers in each mean."""
    counts: OverlapCounts
    """The numbers of samples measured and left out."""
    bleu: tuple[LanguageBleu, ...]
    """By language, the most answers first: tokens of different languages do not mix."""
    signature: str
    """How the other numbers were made; only those of equal signature compare."""
    warnings: tuple[str, ...]
    """What to know before the numbers are used."""
    without_gold_answer: tuple[str, ...]
    """The first qids that were left out."""


def measure_overlap(
    samples: object, *, each: Callable[[AnswerOverlap], None] | None = None
) -> OverlapReport:
    """Compare answers with their gold answers: BLEU, ROUGE, exact match, token F1.

    Samples without a gold answer, or with a blank one, are counted and left out; an empty answer
    counts.

    Args:
        samples: samples with unique qids in any order, or rows as `judge.evaluate` takes them.
        each: receives the figures of each sample, in order.

    Raises:
        InputError: there is no sample, or none has a gold answer.
    """
    means = StreamedMeans(MEASURES)
    bleu: defaultdict[Language, BleuCounts] = defaultdict(BleuCounts)
    counts, without = Counter[str](), list[str]()
    for sample in samples_in(samples, ("answer",)):
        counts["samples"] += 1
        gold = sample.gold_answer or ""
        found = AnswerOverlap(qid=sample.qid, scores=dict.fromkeys(MEASURES))
        if gold.strip():
            found = _measured(sample, gold)
            counts["measured"] += 1
            counts["empty_answers"] += not sample.answer.strip()
            counts["too_long"] += found.scores["rougeL"] is None
            means.add(found.scores)
            language = found.language or "other"
            bleu[language] += words.bleu_counts(sample.answer, gold, language)
        else:
            counts["without_gold_answer"] += 1
            without += [sample.qid] * (len(without) < _MOST_QIDS)
        if each is not None:
            each(found)
    return _report(OverlapCounts(**counts), means, bleu, without)


def _measured(sample: Sample, gold: str) -> AnswerOverlap:
    # A gold answer without letters, such as 500, has no language.
    texts = (gold, sample.query, sample.answer)
    language: Language = next(filter(None, map(words.language_of, texts)), "other")
    return AnswerOverlap(qid=sample.qid, language=language, scores=measure(sample.answer, gold))


def measure(answer: str, gold: str) -> dict[str, float | None]:
    """Return every measure of one answer except BLEU, by `MEASURES`."""
    answer_lines, gold_lines = answer, gold
    if not words.too_long(answer, gold):
        answer_lines, gold_lines = _sentence_lines(answer), _sentence_lines(gold)
    # An empty answer counts 0, even if normalisation leaves nothing of the gold answer either.
    is_empty = not answer.strip()
    return {
        "exact_match": 0.0 if is_empty else words.exact_match(answer, gold),
        "token_f1": 0.0 if is_empty else words.token_f1(answer, gold),
        **words.rouge(answer_lines, gold_lines),
    }


def _sentence_lines(text: str) -> str:
    return "\n".join(" ".join(sentence.text.split()) for sentence in split(text))


def _report(
    counts: OverlapCounts,
    means: StreamedMeans,
    bleu: Mapping[Language, BleuCounts],
    without: Sequence[str],
) -> OverlapReport:
    if not counts.samples:
        message = "holds no sample; one JSON object a line, or CSV under a header, is needed"
        raise InputError(message)
    if not counts.measured:
        message = f"is missing or blank in every sample ({counts.samples} read); "
        message += "add the reference answer to each (also read from: reference)"
        raise InputError(message, field="gold_answer")
    # The most answers come first, then the names in order.
    languages = tuple(
        LanguageBleu(
            language=language,
            score=words.bleu(own, language),
            answers=own["answers"],
            signature=words.bleu_signature(language),
        )
        for language, own in sorted(bleu.items(), key=lambda item: (-item[1]["answers"], item[0]))
    )
    whole = {"bleu": languages[0].score} if len(languages) == 1 else {}
    return OverlapReport(
        mean={name: means.mean(name) for name in MEASURES} | whole,
        interval={name: means.interval(name) for name in MEASURES},
        answers={name: means.count(name) for name in MEASURES},
        counts=counts,
        bleu=languages,
        signature=str(_signature()),
        warnings=tuple(_warnings(counts, languages)),
        without_gold_answer=tuple(without),
    )


def _signature() -> Signature:
    return Signature(
        "overlap:v2",
        (
            "tokens:nfkc-lower-cjk-char",
            "norm:squad2-cjk-char",
            f"rouge:rouge-score-{release('rouge-score')}",
            f"sentences:{EDITION}",
            f"cells:{MOST_CELLS}",
            f"judge:{__version__}",
        ),
    )


def _warnings(counts: OverlapCounts, languages: Sequence[LanguageBleu]) -> Iterator[str]:
    """Yield what to know before the numbers are used."""
    of = f"of {counted(counts.samples, 'sample')}"
    over = f" (tokens of the answer times tokens of the gold answer: over {MOST_CELLS:,})"
    too_long = "too long for ROUGE-L and ROUGE-Lsum, and not in their means"
    for count, what, more in (
        (counts.without_gold_answer, "no gold_answer, and so left out", ""),
        (counts.empty_answers, "an empty answer, which counts 0", ""),
        (counts.too_long, too_long, over),
    ):
        if count:
            yield f"{what}: {count:,} {of}{more}"
    if len(languages) > 1:
        yield "gold answers of several languages: BLEU is given for each, and not over all"
