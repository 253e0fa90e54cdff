"""`judge review promote` and `judge review drift`: a golden set, made and judged again."""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from judge.cli.options import takes_settings
from judge.cli.review import review
from judge.text.visible import clip, counted, flat

if TYPE_CHECKING:
    from judge.config import Config
    from judge.review import Promotion
    from judge.review.records import Drift, Flip, LostSentence

_WIDTH: Final = 60
"""How many characters of a sentence are printed."""
_WORDS: Final = 12
"""How wide the words before a figure are, in columns."""
Report = Annotated[
    Path | None,
    typer.Option("-o", "--output", metavar="FILE", help="Keep what is found, as JSON."),
]
FailWorse = Annotated[
    float | None,
    typer.Option(
        metavar="ALPHA",
        min=0,
        max=1,
        help="Exit 1 if more sentences got worse than better, and p is under ALPHA.",
    ),
]
Force = Annotated[bool, typer.Option("--force", help="Replace the file that -o names.")]


@review.command()
def promote(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="Run folder with imported labels.")],
    output: Annotated[
        Path, typer.Option("-o", "--output", metavar="FILE", help="The golden set, JSONL.")
    ],
    *,
    min_reviewers: Annotated[
        int, typer.Option(metavar="N", min=1, help="How many must say the same of a sentence.")
    ] = 1,
    force: Force = False,
) -> None:
    """Make a golden set of the sentences on which all reviewers agree.

    It is a samples file, and `judge score` reads it. Each answer bears its labels under `labels`,
    with what the judge said. Sentences on which reviewers disagree are listed and left out.

    Example: judge review promote runs/today -o golden.jsonl
    """
    # Heavy, and --help stays quick without them.
    from judge.cli.terminal import say  # noqa: PLC0415
    from judge.review import promote as promoted  # noqa: PLC0415

    found = promoted(run, output, min_reviewers=min_reviewers, force=force)
    say(*_promoted(found, min_reviewers), f"written to {output}")


@review.command()
@takes_settings
def drift(
    golden: Annotated[
        Path, typer.Argument(metavar="GOLDEN", help="What judge review promote made.")
    ],
    output: Report = None,
    *,
    fail_worse: FailWorse = None,
    force: Force = False,
    settings: "Config",
) -> None:
    """Judge a golden set again: which verdicts flipped, and whether by more than chance.

    Takes the settings of `judge score`. What the judge said when the set was made and what it says
    now is held against what people say; p is McNemar's, exact, two-sided.

    Exit codes: 0 fine; 1 the --fail-worse gate failed; 3 too many labels have no verdict now (three
    at least, and over --max-unscored), or the gate found nothing to compare.

    Example: judge review drift golden.jsonl --model gpt-4.1-mini --fail-worse 0.05
    """
    # Heavy, and --help stays quick without them.
    from judge.cli.terminal import say  # noqa: PLC0415
    from judge.review import drift as drifted  # noqa: PLC0415
    from judge.review import read_golden  # noqa: PLC0415
    from judge.review.folder import as_json, check_output, write_whole  # noqa: PLC0415
    from judge.review.golden import unjudged, untrusted  # noqa: PLC0415

    if output is not None:
        check_output(output, [golden], force=force)
    answers = read_golden(golden)
    found = drifted(answers, settings)
    unhealthy = untrusted(found, settings.max_unscored)
    say(*_told(found, len(answers)))
    if unhealthy:
        say("", f"untrusted: {100 * unjudged(found):.1f} % of the labels have no verdict now")
    if output is not None:
        write_whole(output, [as_json(found)])
        say("", f"written to {output}")
    raise typer.Exit(_code(found, fail_worse, unhealthy=unhealthy))


def _code(drift: "Drift", alpha: float | None, *, unhealthy: bool) -> int:
    from judge.reports.gate import FINE, GATE_FAILED, UNTRUSTED  # noqa: PLC0415  heavy

    if unhealthy or (alpha is not None and not drift.compared):
        return UNTRUSTED
    failed = alpha is not None and drift.worse > drift.better and drift.p < alpha
    return GATE_FAILED if failed else FINE


def _promoted(found: "Promotion", reviewers: int) -> Iterable[str]:
    labels = [label for each in found.golden for label in each.labels]
    yield f"{counted(len(labels), 'label')} on {counted(len(found.golden), 'answer')}"
    if bare := sum(label.support is None for label in labels):
        yield f"{counted(bare, 'label')} of these a bare yes or no: full support against the rest"
    if found.replaced:
        yield f"replaced: {counted(found.replaced, 'label')} of the golden set that was scored"
    if found.few:
        yield f"left out: {counted(found.few, 'sentence')} with under {reviewers} reviewers"
    if found.stale:
        yield f"left out: labels of earlier results, draws {', '.join(found.stale)}"
    yield f"{counted(len(found.disagreed), 'sentence')} disagreed on"
    for each in found.disagreed:
        yield f"  {flat(each.review_id)}  {flat(each.qid)}, sentence {each.sentence + 1}"


def _told(drift: "Drift", answers: int) -> Iterable[str]:
    right = {"labels": "label for label", "full_or_rest": "full support against the rest"}
    yield f"{counted(drift.labels, 'label')} on {counted(answers, 'answer')}, {right[drift.scale]}"
    for name, signatures in (("then", drift.signatures_then), ("now", drift.signatures_now)):
        for signature, count in signatures.items():
            several = f" ({counted(count, 'label')})" if len(signatures) > 1 else ""
            yield f"{name:{_WORDS}}{flat(signature)}{several}"
    if drift.unscored_then or drift.unscored_now:
        yield f"no verdict  {drift.unscored_then:,} then, {drift.unscored_now:,} now"
    yield f"compared    {counted(drift.compared, 'label')}"
    if drift.agreement_then is not None and drift.agreement_now is not None:
        then, now = (
            f"{100 * share:.1f} %" for share in (drift.agreement_then, drift.agreement_now)
        )
        yield f"right       {then} then, {now} now"
    others = len(drift.flips) - drift.better - drift.worse
    counts = f"{drift.worse:,} worse, {drift.better:,} better, {others:,} other"
    yield f"flipped     {counts}; McNemar's exact p = {drift.p:.3g}"
    for flip in drift.flips:
        people = flip.support or ("supported" if flip.supported else "not supported")
        yield from _listed(flip.change, flip, f"{flip.then} → {flip.now}, people: {people}")
    for lost in drift.lost:
        why = f"counts as {lost.kind} now" if lost.kind else "is no sentence of its own now"
        yield from _listed("lost", lost, why)


def _listed(what: str, each: "Flip | LostSentence", why: str) -> Iterable[str]:
    yield ""
    yield flat(f"{what}: {each.qid}, sentence {each.sentence + 1}: {why}")
    yield f"  {clip(flat(each.text), _WIDTH)}"
