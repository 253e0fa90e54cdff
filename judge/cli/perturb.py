"""`judge perturb`: write variants of samples with a changed context."""

import json
from pathlib import Path
from typing import Final

import typer

from judge.cli.options import FORCE, SAMPLES, SKIP_BAD, several
from judge.cli.terminal import Page
from judge.errors import ConfigError, InputError
from judge.inputs.samples import Source
from judge.inputs.tables import check_output, write_whole
from judge.retrieval.perturbation import VARIANTS, Perturbation
from judge.text.visible import counted


def perturb(
    samples: str = SAMPLES,
    out: str = typer.Option(
        ..., "-o", "--output", metavar="FILE", help="Write the variants to this JSONL file."
    ),
    *,
    variants: str | None = typer.Option(
        None, metavar="NAME,…", help=f"Some of the variants: {', '.join(VARIANTS)}."
    ),
    seed: int = typer.Option(0, min=0, help="The same seed makes the same variants."),
    force: bool = FORCE,
    skip_bad_lines: bool = SKIP_BAD,
) -> None:
    """Write variants of the samples' contexts, to see what your RAG system makes of them.

    The variants have no `answer`. Let your RAG system answer each line from its chunks, keep all
    keys, and score the answers with --correctness. judge compare BEFORE AFTER --by variant compares
    two such runs.

    noise20, noise40, noise60: chunks of other questions are added, up to that share of the context.
    reordered: the same chunks in another order. gold_removed: without the gold chunks, and without
    others that contain the gold answer, so that the system should decline to answer. original: the
    context as it was.

    Example: judge perturb samples.jsonl -o perturbed.jsonl
    """
    path = Path(out)
    if path.suffix != ".jsonl":
        raise ConfigError(f"-o {out!r}: ends not in .jsonl; name a file that does")
    check_output(path, [Path(samples)], force=force)
    wanted = several("--variants", variants, VARIANTS) or VARIANTS
    source = Source(samples, ("query", "chunks"), skip_bad_lines=skip_bad_lines)
    with source.samples() as read:
        originals = list(read)
        perturbation = Perturbation(originals, wanted, seed=seed)
        if not originals:
            raise InputError("holds no sample")
        lines = (line for sample in originals for line in perturbation.variants(sample))
        write_whole(path, (json.dumps(line, ensure_ascii=False) + "\n" for line in lines))
    _print(perturbation, out, Page())


_WHY: Final = {
    "no_gold_chunk": "no chunk of its context is gold (gold_evidence, relevance)",
    "few_chunks": "so few chunks that no number of others comes within ten points of that share",
    "few_others": "too few chunks of other questions that do not answer it",
    "one_order": "fewer than two different chunks",
}
"""Why a variant of a sample was left out, by the reason's key."""


def _print(perturbation: Perturbation, out: str, page: Page) -> None:
    counts = (
        (variant, perturbation.made[variant], reasons.total())
        for variant, reasons in perturbation.left_out.items()
    )
    page.table(("variant", "samples", "left out"), counts)
    for variant, reasons in perturbation.left_out.items():
        for reason, count in reasons.most_common():
            page.say(f"{variant}: {count:,} × {_WHY[reason]}", hang=2)
    made = counted(perturbation.made.total(), "question")
    step = "let your RAG system answer each from its chunks and keep every key"
    page.say(f"written to {out}: {made} without answers; {step}", hang=2)
