"""`judge overlap`: compare answers with gold answers word by word."""

from typing import Final

from judge.cli.options import JSON, ROWS, SAMPLES, SKIP_BAD
from judge.cli.terminal import Page, between, number, say_report, some
from judge.inputs.samples import Source
from judge.inputs.tables import row_file
from judge.overlap import measure_overlap
from judge.overlap.evaluate import AnswerOverlap, OverlapReport
from judge.overlap.measures import TOKENIZERS, Language
from judge.text.visible import flat

_MEASURES: Final = {
    "exact_match": "exact match",
    "token_f1": "token F1",
    "rouge1": "ROUGE-1 F",
    "rouge2": "ROUGE-2 F",
    "rougeL": "ROUGE-L F",
    "rougeLsum": "ROUGE-Lsum F",
}
_LANGUAGES: Final[dict[Language, str]] = {"zh": "Chinese", "other": "spaced words (English …)"}


def overlap(
    samples: str = SAMPLES,
    *,
    as_json: bool = JSON,
    rows: str | None = ROWS,
    skip_bad_lines: bool = SKIP_BAD,
) -> None:
    """Compare answers with gold answers: BLEU, ROUGE, exact match, token F1; Chinese too.

    These count common words. They do not show whether an answer is true or supported, and a
    paraphrase scores low. Samples without a gold_answer are listed and left out.

    Example: judge overlap samples.jsonl -o overlap.csv
    """

    def keep(row: AnswerOverlap) -> None:
        if write is not None:
            write(row.model_dump(exclude={"scores"}) | row.scores)

    source = Source(samples, ("answer",), skip_bad_lines=skip_bad_lines)
    with source.samples() as read, row_file(rows, samples) as write:
        report = measure_overlap(read, each=keep)
    if source.rejected:
        warning = f"lines that are no samples, and so left out: {source.rejected:,}"
        report = report.model_copy(update={"warnings": (*report.warnings, warning)})
    say_report(report, lambda page: _print(report, page, rows), as_json=as_json)


def _print(report: OverlapReport, page: Page, rows: str | None) -> None:
    means = (
        (words, number(report.mean[name]), between(report.interval[name]), report.answers[name])
        for name, words in _MEASURES.items()
    )
    heads = ("", "mean", "95 % interval", "answers")
    page.table(heads, means, "Overlap with the gold answers")
    bleu = (
        (_LANGUAGES[each.language], f"{each.score:.2f}", TOKENIZERS[each.language], each.answers)
        for each in report.bleu
    )
    page.table(("", "BLEU", "tokenizer", "answers"), bleu, "Corpus BLEU, 0 to 100")
    page.say("BLEU takes case, width and punctuation as they are; the other measures ignore them.")
    page.say(
        "Overlap does not show whether an answer is true or supported, and a paraphrase scores low."
    )
    for warning in report.warnings:
        page.say(f"warning: {flat(warning)}", hang=2, style="yellow")
    if qids := report.without_gold_answer:
        names = some(qids, report.counts.without_gold_answer, len(qids))
        page.say(f"without gold_answer: {names}", hang=2, style="yellow")
    page.blank()
    for item in report.bleu:
        page.copied(f"BLEU, {_LANGUAGES[item.language]}: {item.signature}", style="dim")
    page.made_by([report.signature])
    if rows is not None:
        page.copied(f"written to {rows}")
