"""What `judge overlap` found, printed."""

from typing import Final

from rich.console import Console
from rich.table import Table
from rich.text import Text

from judge.cli.render.page import number, wrap
from judge.cli.terminal import print_table, titled_table
from judge.overlap.evaluate import LANGUAGE_NAMES
from judge.overlap.measures import TOKENIZERS
from judge.overlap.records import LanguageBleu, LowOverlap, OverlapReport
from judge.text.visible import clip, flat, visible

_SHOWN: Final = {
    "exact_match": "exact match",
    "token_f1": "token F1",
    "rouge1": "ROUGE-1 F",
    "rouge2": "ROUGE-2 F",
    "rougeL": "ROUGE-L F",
    "rougeLsum": "ROUGE-Lsum F",
    "rougeW": "ROUGE-W F",
}
_SHARES: Final = {
    name: (f"{name.removesuffix('_f1')}_precision", f"{name.removesuffix('_f1')}_recall")
    for name in _SHOWN
}
_AS_IT_IS: Final = (
    "BLEU takes case, width and punctuation as they are; the other measures ignore them."
)
_UNSEEN: Final = (
    "What overlap cannot see: whether an answer is true or supported; and a paraphrase scores low."
)
_CLIPPED: Final = 120


def print_overlap(report: OverlapReport, console: Console, rows: str | None) -> None:
    """Print the tables, the counts, the lowest answers, the signatures."""

    def say(text: Text, hang: int = 0) -> None:
        console.print(wrap(text, console.width, hang=hang), soft_wrap=True)

    print_table(_means(report), console)
    print_table(_bleu(report.bleu), console)
    say(Text(_AS_IT_IS))
    say(Text(_UNSEEN))
    for line in _notes(report):
        say(Text(line, style="yellow"), hang=2)
    if report.worst:
        console.print()
        say(Text("Least in common with their gold answers, lowest first", style="bold"))
        for item in report.worst:
            for text, hang in _low(item):
                say(text, hang)
    console.print()
    # Signatures are copied: they are not broken into lines.
    for found in report.bleu:
        signature = f"BLEU, {LANGUAGE_NAMES[found.language]}: {found.signature}"
        console.print(Text(visible(signature), style="dim"), soft_wrap=True)
    console.print(Text(f"made by {visible(report.signature)}", style="dim"), soft_wrap=True)
    if rows is not None:
        console.print(Text(f"written to {visible(rows)}"), soft_wrap=True)


def _means(report: OverlapReport) -> Table:
    table = titled_table("Overlap with the gold answers")
    for name in ("mean", "95 % interval", "precision", "recall", "answers"):
        table.add_column(name, justify="right", no_wrap=True)
    for name, words in _SHOWN.items():
        interval = report.interval[name]
        limits = f"{number(interval.low)}–{number(interval.high)}" if interval else ""
        shares = [number(report.mean.get(part)) for part in _SHARES[name]]
        answers = f"{report.answers[name]:,}"
        table.add_row(words, number(report.mean[name]), limits, *shares, answers)
    return table


def _bleu(found: tuple[LanguageBleu, ...]) -> Table:
    table = titled_table("Corpus BLEU, 0 to 100")
    for name in ("BLEU", "tokenizer", "answers"):
        table.add_column(name, justify="right", no_wrap=True)
    for item in found:
        score, answers = f"{item.score:.2f}", f"{item.answers:,}"
        table.add_row(LANGUAGE_NAMES[item.language], score, TOKENIZERS[item.language], answers)
    return table


def _notes(report: OverlapReport) -> list[str]:
    lines = [f"warning: {flat(warning)}" for warning in report.warnings]
    if report.without_gold_answer:
        named = ", ".join(clip(flat(qid), 60) for qid in report.without_gold_answer)
        more = report.counts.without_gold_answer - len(report.without_gold_answer)
        lines.append(f"without gold_answer: {named}" + (f" and {more:,} more" if more else ""))
    return lines


def _low(item: LowOverlap) -> list[tuple[Text, int]]:
    head = Text(clip(flat(item.qid), _CLIPPED), style="bold")
    head.append(f"  token F1 {number(item.token_f1)}, ROUGE-L {number(item.rouge_l)}", "not bold")
    answer = clip(flat(item.answer), _CLIPPED) or "(empty)"
    gold = clip(flat(item.gold_answer), _CLIPPED)
    return [(head, 2), (Text(f"  answer  {answer}"), 10), (Text(f"  gold    {gold}", "dim"), 10)]
