"""Print the report of `judge overlap`."""

from typing import Final

from judge.cli.terminal import Page, between, figures, number, some
from judge.overlap.evaluate import OverlapReport
from judge.overlap.measures import TOKENIZERS, Language
from judge.text.visible import flat

_SHOWN: Final = {
    "exact_match": "exact match",
    "token_f1": "token F1",
    "rouge1": "ROUGE-1 F",
    "rouge2": "ROUGE-2 F",
    "rougeL": "ROUGE-L F",
    "rougeLsum": "ROUGE-Lsum F",
}
_LANGUAGES: Final[dict[Language, str]] = {"zh": "Chinese", "other": "spaced words (English …)"}


def print_overlap(report: OverlapReport, page: Page, rows: str | None) -> None:
    """Print the tables, the counts, the signatures."""
    headers = ("", "mean", "95 % interval", "answers")
    table = figures(*headers, title="Overlap with the gold answers")
    for name, words in _SHOWN.items():
        limits = between(report.interval[name])
        table.add_row(words, number(report.mean[name]), limits, f"{report.answers[name]:,}")
    page.table(table)
    table = figures("", "BLEU", "tokenizer", "answers", title="Corpus BLEU, 0 to 100")
    for item in report.bleu:
        score, answers = f"{item.score:.2f}", f"{item.answers:,}"
        table.add_row(_LANGUAGES[item.language], score, TOKENIZERS[item.language], answers)
    page.table(table)
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
