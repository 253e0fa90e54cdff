"""`judge perturb`: variants of samples whose context is changed, for one's own RAG to answer."""

import json
from pathlib import Path
from typing import Final, Literal

import typer

from judge.cli.options import MAX_LINE, SAMPLES, SKIP_BAD, several
from judge.cli.terminal import Page, figures, output
from judge.errors import ConfigError, InputError
from judge.inputs.samples import Source
from judge.inputs.tables import check_output, write_whole
from judge.retrieval.perturbation import VARIANTS, Perturbation, Pool, check

_NEEDS: Final = ("query", "chunks")


app = typer.Typer(add_completion=False)


@app.command()
def perturb(
    samples: str = SAMPLES,
    out: str = typer.Option(
        ..., "-o", "--output", metavar="FILE", help="Where the variants go: JSON lines."
    ),
    *,
    variants: str | None = typer.Option(
        None,
        metavar="NAME,…",
        help="The variants: original, noise20, noise40, noise60, reordered, gold_removed. "
        "Without it, all.",
    ),
    seed: int = typer.Option(0, min=0, help="Another seed makes others; the same makes the same."),
    gold_match: Literal["exact", "prefix"] = typer.Option(
        "exact", help="prefix: gold names documents, as of judge score."
    ),
    force: bool = typer.Option(False, "--force", help="Replace the file that -o names."),
    skip_bad_lines: bool = SKIP_BAD,
    max_line: float = MAX_LINE,
) -> None:
    """Write variants of the samples' contexts, to see what your RAG makes of them.

    What is written has no `answer`: let your RAG answer each line from the chunks given, keep all
    its keys, score that with --correctness, and hold two such runs against each other with
    judge compare BEFORE AFTER --by variant.

    noise20, noise40, noise60: chunks of other questions are added, and make up that share of the
    context. reordered: the same chunks in another order. gold_removed: without the gold chunks and
    their near-copies, so that your RAG should decline to answer. original: the context as it was.

    Example: judge perturb samples.jsonl -o perturbed.jsonl
    """
    path = Path(out)
    if path.suffix != ".jsonl":
        raise ConfigError(f"-o {out!r}: ends not in .jsonl; name a file that does")
    check_output(path, [Path(samples)], force=force)
    if not path.absolute().parent.is_dir():
        raise ConfigError(f"-o {out!r}: no such folder; make it first, or name another -o")
    asked = several("--variants", variants, VARIANTS) or VARIANTS
    source = Source(samples, _NEEDS, skip_bad_lines=skip_bad_lines, check=check, max_line=max_line)
    with source.again() as read:
        pool = Pool(read(), seed)
        perturbation = Perturbation(pool, asked, seed=seed, match=gold_match)
        if not pool.samples:
            raise InputError("holds no sample")
        lines = (line for sample in read() for line in perturbation.variants(sample))
        write_whole(path, (json.dumps(line, ensure_ascii=False) + "\n" for line in lines))
    with output() as page:
        _print(perturbation, out, page)


_WHY: Final = {
    "no_gold_chunk": "no chunk of its context is gold (gold_evidence, relevance)",
    "few_chunks": "so few chunks that no whole number of others makes up that share within ten "
    "points",
    "few_others": "too few chunks of other questions that do not hold its gold",
    "one_order": "fewer than two different chunks",
}
"""Why a variant of a sample was left out, by the reason's key."""


def _print(perturbation: Perturbation, out: str, page: Page) -> None:
    table = figures("variant", "samples", "left out")
    for variant, reasons in perturbation.left_out.items():
        table.add_row(variant, f"{perturbation.made[variant]:,}", f"{reasons.total():,}")
    page.table(table)
    for variant, reasons in perturbation.left_out.items():
        for reason, count in reasons.most_common():
            page.say(f"{variant}: {count:,} × {_WHY[reason]}", hang=2)
    made = perturbation.made.total()
    page.say(
        f"written to {out}: {made:,} {'question' if made == 1 else 'questions'} without answers; "
        "let your RAG answer each, with the chunks given, keep every key, and score that with "
        "judge score --correctness",
        hang=2,
    )
