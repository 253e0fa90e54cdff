"""`judge score`: the batch job."""

import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import IO, Final, Literal, NamedTuple, TypedDict

import typer

from judge.cli.app import app
from judge.cli.ci import Reports
from judge.cli.options import takes_groups, takes_settings
from judge.cli.progress import Task, score_into
from judge.cli.render.totals import Wish, print_forecast
from judge.cli.terminal import output
from judge.config import Config
from judge.errors import ConfigError, extra
from judge.evaluator import Evaluator
from judge.inputs.inputs import run_name
from judge.inputs.source import PIPED, is_fifo, standard_input
from judge.jobs.forecast import forecast
from judge.jobs.job import Job
from judge.messages import Lang
from judge.records.comparison import Side
from judge.reports.gate import Gates
from judge.review.hook import open_hook

_GATING: Final = (
    "judge: the gates hold what {} says, for no language model is named: add --model, or "
    "--expect or --judge to say that it is meant"
)
_OFFLINE: Final = {"nli": "an NLI model"}


def _named(value: str | None) -> str | None:
    """Refuse an empty name: a script's unset variable would mean the current folder."""
    if value is not None and not value:
        raise typer.BadParameter("is empty; name a path")
    return value


def _folder(value: str | None) -> str | None:
    """Refuse an empty name likewise, and an option that slipped into its place."""
    if value is not None and value.startswith("-"):
        raise typer.BadParameter(f"{value!r} reads like an option; for a path say ./{value}")
    return _named(value)


class _Gating(NamedTuple):
    """What ends in another exit code than 0."""

    fail_under: list[str] | None = typer.Option(
        None, metavar="NAME=X", help="Exit 1 if a score is under X; may be repeated."
    )
    fail_over: list[str] | None = typer.Option(
        None,
        metavar="NAME=X",
        help="Exit 1 if a rate, as hallucination_rate, is over X; may be repeated.",
    )
    strict_gate: bool = typer.Option(
        False, "--strict-gate", help="Gate on the worse 95 % limit, failures counted against it."
    )
    expect: str | None = typer.Option(
        None,
        metavar="SIGNATURE",
        help="Exit 2 before anything is judged if another judge would: llm, similarity, llm:MODEL, "
        "or how the signature of a run begins, up to a bar.",
    )

    def gates(self) -> Gates:
        """What a summary is held to. Errors as of `Gates.read`."""
        bounds: dict[Side, list[str]]
        bounds = {"least": self.fail_under or [], "most": self.fail_over or []}
        return Gates.read(bounds, self.expect, strict=self.strict_gate)


class _Telling(NamedTuple):
    """What is told of a run, and where."""

    details: bool = typer.Option(
        False, "--details", help="Print counts, flags, the table of cells, and the worst sentences."
    )
    worst: int | None = typer.Option(
        None,
        metavar="N",
        min=0,
        help="List the N worst sentences, too [5 with --details]; 0 prints no text of an answer.",
    )
    junit: Path | None = typer.Option(
        None, metavar="FILE", help="Write a JUnit report, too: a case an answer."
    )
    markdown: Path | None = typer.Option(
        None, metavar="FILE", help="Write a summary for a pull request, too, in Markdown."
    )


class _Engine(NamedTuple):
    """What scores, and where that is."""

    engine: Literal["local", "ray"] = typer.Option(
        "local", metavar="local|ray", help="What scores: this process, or a Ray cluster [local]."
    )
    address: str | None = typer.Option(
        None, metavar="ADDRESS", help="With --engine ray: the cluster, such as auto [one here]."
    )
    replicas: int | None = typer.Option(
        None,
        metavar="N",
        min=1,
        help="With --engine ray: actors that score, of --concurrency each [one a CPU, or 1 where "
        "a server judges].",
    )


_SAMPLES: Final = typer.Argument(
    metavar="SAMPLES",
    help="JSONL, JSON, CSV, Parquet, Arrow or XLSX; a folder or a pattern; - for stdin.",
    callback=_named,
)
_OUTPUT: Final = typer.Option(
    None,
    "-o",
    "--output",
    metavar="RUN",
    help="Run folder [runs/<name of SAMPLES>].",
    callback=_folder,
)
_FORCE: Final = typer.Option(False, "--force", help="Replace a finished run.")
_SKIP_BAD: Final = typer.Option(
    False, "--skip-bad-lines", help="Write bad lines to rejected.jsonl and go on."
)
_LIMIT: Final = typer.Option(
    None, metavar="N", min=1, help="Score N answers of the file, drawn by the setting seed."
)
_DRY_RUN: Final = typer.Option(
    False, "--dry-run", help="Say what would be asked, and its cost; nothing is sent."
)
_REVIEW_HOOK: Final = typer.Option(
    None,
    "--review-hook",
    metavar="NAME",
    help="Hand a share of the answers to module:object, an http address or a .csv file.",
)
_LANG: Final = typer.Option(
    "en", metavar="en|zh", help="Language of what is printed [en]; reasons keep the answer's."
)


@app.command()
@takes_settings
@takes_groups
def score(
    source: str = _SAMPLES,
    output: str | None = _OUTPUT,
    *,
    force: bool = _FORCE,
    skip_bad_lines: bool = _SKIP_BAD,
    limit: int | None = _LIMIT,
    dry_run: bool = _DRY_RUN,
    gating: _Gating,
    telling: _Telling,
    where: _Engine,
    review_hook: str | None = _REVIEW_HOOK,
    lang: Lang = _LANG,
    settings: Config,
) -> None:
    """Score a file of answers into a run folder; an interrupted run is taken up.

    Results kept from an interrupted run are not handed to a review hook again. What a hook does,
    or fails to do, changes no result and no exit code.

    In a job of GitHub Actions the worst sentences and failed gates are annotated.

    Example: judge score samples.jsonl -o runs/today --fail-under faithfulness=0.9
    """
    _refuse_unasked(settings)
    gates = gating.gates()
    others = {"--review-hook": review_hook, "--limit": limit, "--dry-run": dry_run}
    cluster = _cluster(where, others)
    stream = standard_input() if source == PIPED else Path(source)
    if dry_run:
        if telling.junit or telling.markdown:
            raise ConfigError("--dry-run: nothing is scored; leave out --junit and --markdown")
        _tell_forecast(stream, settings, limit, lang, skip_bad_lines=skip_bad_lines)
        return
    file = _file(source)
    folder = Path(output or f"runs/{run_name(file.name) if file else 'stdin'}")
    _check(gates, settings, meant=bool(gating.expect))
    checks: _Checks = {"force": force, "skip_bad_lines": skip_bad_lines, "gates": gates}
    job: Task
    if cluster is not None:
        on, many = where.address, where.replicas
        job = cluster(source, folder, settings, address=on, replicas=many, **checks)
    else:
        job = _job(stream, folder, settings, review_hook, limit, checks)
    raise typer.Exit(_run(job, file, folder, settings, telling, lang))


def _run(
    job: Task,
    source: Path | None,
    folder: Path,
    settings: Config,
    telling: _Telling,
    lang: Lang,
) -> int:
    """Run the job, and tell of it; returns the exit code."""
    kept = settings.cache and settings.asks_model
    wish, files = Wish(telling.worst, telling.details), (telling.junit, telling.markdown)
    texts = telling.worst != 0
    with Reports(source, folder, *files, lang, texts=texts) as reports:
        return score_into(folder, job, wish, lang, reports=reports, cached=kept)


def _refuse_unasked(settings: Config) -> None:
    """Refuse what takes a language model where none is asked."""
    if settings.repeat > 1 and not settings.asks_model:
        raise ConfigError(
            f"repeat {settings.repeat}: only a language model is asked again, for the other judges "
            "say the same each time; name one with --model, or leave it out"
        )


class _Checks(TypedDict):
    force: bool
    skip_bad_lines: bool
    gates: Gates


def _cluster(where: _Engine, others: Mapping[str, object]) -> Callable[..., Task] | None:
    """What scores on a cluster, where that is asked for; it has options of its own."""
    away = where.engine == "ray"
    own: Mapping[str, object] = {"--address": where.address, "--replicas": where.replicas}
    for name in filter((others if away else own).get, others if away else own):
        step = (
            "has no place beside --engine ray;" if away else "is of a cluster: add --engine ray, or"
        )
        raise ConfigError(f"{name}: {step} leave it out")
    if not away:
        return None
    with extra("ray", "--engine ray"):
        from judge.cluster.job import ClusterJob  # noqa: PLC0415  heavy, and an extra
    return ClusterJob


def _job(
    stream: IO[bytes] | Path,
    folder: Path,
    settings: Config,
    review_hook: str | None,
    limit: int | None,
    checks: _Checks,
) -> Job:
    """What scores here."""
    hook = None
    if review_hook is not None:
        hook = open_hook(review_hook)
    evaluator = Evaluator(settings, review_hook=hook)
    return Job(stream, folder, settings, evaluator=evaluator, limit=limit, **checks)


def _file(source: str) -> Path | None:
    """The file of samples; None where they come through a pipe."""
    return None if source == PIPED or is_fifo(Path(source)) else Path(source)


def _check(gates: Gates, settings: Config, *, meant: bool) -> None:
    """See that the gates can be held, and say who judges where nobody meant a judge."""
    gates.check(correctness=settings.correctness, relevance=settings.relevance)
    if gates.bounds and not (meant or {"judge", "model"} & settings.model_fields_set):
        typer.echo(_GATING.format(_OFFLINE.get(settings.offline, settings.offline)), err=True)


def _tell_forecast(
    given: IO[bytes] | Path,
    settings: Config,
    limit: int | None,
    lang: Lang,
    *,
    skip_bad_lines: bool,
) -> None:
    """Print what a run would ask and cost."""
    with output(lang) as page:
        if not settings.asks_model:
            page.say("no language model is named: nobody would be asked, and nothing be paid")
            return
        with _file_of(given) as path:
            made = forecast(path, settings, limit=limit, skip_bad_lines=skip_bad_lines)
        print_forecast(made, page, repeat=settings.repeat)


@contextmanager
def _file_of(given: IO[bytes] | Path) -> Iterator[Path]:
    """A file that can be read more than once: a stream is copied."""
    if isinstance(given, Path) and not is_fifo(given):
        yield given
        return
    with (
        NamedTemporaryFile() as copy,
        given.open("rb") if isinstance(given, Path) else nullcontext(given) as stream,
    ):
        shutil.copyfileobj(stream, copy)
        copy.flush()
        yield Path(copy.name)
