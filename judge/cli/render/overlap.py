"""Print the report of `judge overlap`."""

from typing import Final

from rich.table import Table

from judge.cli.terminal import Page, between, figures, number, some
from judge.overlap.measures import TOKENIZERS
from judge.overlap.records import Language, LanguageBleu, OverlapReport
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
_AS_IT_IS: Final = (
    "BLEU takes case, width and punctuation as they are; the other measures ignore them."
)
_UNSEEN: Final = (
    "Overlap does not show whether an answer is true or supported, and a paraphrase scores low."
)


def print_overlap(report: OverlapReport, page: Page, rows: str | None) -> None:
    """Print the tables, the counts, the signatures."""
    page.table(_means(report))
    page.table(_bleu(report.bleu))
    page.say(_AS_IT_IS)
    page.say(_UNSEEN)
    for line in _notes(report):
        page.say(line, hang=2, style="yellow")
    page.blank()
    for found in report.bleu:
        page.copied(f"BLEU, {_LANGUAGES[found.language]}: {found.signature}", style="dim")
    page.made_by([report.signature])
    if rows is not None:
        page.copied(f"written to {rows}")


def _means(report: OverlapReport) -> Table:
    headers = ("", "mean", "95 % interval", "answers")
    table = figures(*headers, title="Overlap with the gold answers")
    for name, words in _SHOWN.items():
        limits = between(report.interval[name])
        table.add_row(words, number(report.mean[name]), limits, f"{report.answers[name]:,}")
    return table


def _bleu(found: tuple[LanguageBleu, ...]) -> Table:
    table = figures("", "BLEU", "tokenizer", "answers", title="Corpus BLEU, 0 to 100")
    for item in found:
        score, answers = f"{item.score:.2f}", f"{item.answers:,}"
        table.add_row(_LANGUAGES[item.language], score, TOKENIZERS[item.language], answers)
    return table


def _notes(report: OverlapReport) -> list[str]:
    lines = [f"warning: {flat(warning)}" for warning in report.warnings]
    if report.without_gold_answer:
        listed, count = report.without_gold_answer, report.counts.without_gold_answer
        lines.append(f"without gold_answer: {some(listed, count, len(listed))}")
    return lines
