"""`judge score`: the batch job."""

import gc
import re
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from functools import cache
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import IO, TYPE_CHECKING, Final, TypedDict, cast

import typer

from judge.cli.app import app
from judge.cli.options import chosen, language, takes_settings
from judge.errors import ConfigError, extra
from judge.files.inputs import COLUMNS, WILD, is_many
from judge.files.source import PIPED, is_fifo, standard_input

if TYPE_CHECKING:
    from judge.cluster.job import ClusterJob
    from judge.config import Config
    from judge.exam.items import Item
    from judge.job import Job
    from judge.messages import Lang
    from judge.remote import RemoteEvaluator
    from judge.reports.gate import Gates


_GATING: Final = (
    "judge: the gates hold what {} says, for no language model is named: add --model, or "
    "--expect or --judge to say that it is meant"
)
_OFFLINE: Final = {"nli": "an NLI model", "span": "a token classifier"}


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


@app.command()
@takes_settings
def score(  # noqa: PLR0913  each is an option of the command line
    source: str = typer.Argument(
        metavar="SAMPLES",
        help="JSONL, JSON, CSV, Parquet, Arrow or XLSX; a folder or a pattern; - for stdin.",
        callback=_named,
    ),
    output: str | None = typer.Option(
        None,
        "-o",
        "--output",
        metavar="RUN",
        help="Run folder [runs/<name of SAMPLES>].",
        callback=_folder,
    ),
    *,
    force: bool = typer.Option(False, "--force", help="Replace a finished run."),
    skip_bad_lines: bool = typer.Option(
        False, "--skip-bad-lines", help="Write bad lines to rejected.jsonl and go on."
    ),
    limit: int | None = typer.Option(
        None, metavar="N", min=1, help="Score N answers of the file, drawn by the setting seed."
    ),
    dry_run: bool = typer.Option(
        False, "--dry-run", help="Say what would be asked, and its cost; nothing is sent."
    ),
    fail_under: list[str] | None = typer.Option(
        None, metavar="NAME=X", help="Exit 1 if a score is under X; may be repeated."
    ),
    fail_over: list[str] | None = typer.Option(
        None,
        metavar="NAME=X",
        help="Exit 1 if a rate, as hallucination_rate, is over X; may be repeated.",
    ),
    strict_gate: bool = typer.Option(
        False, "--strict-gate", help="Gate on the worse 95 % limit, failures counted against it."
    ),
    expect: str | None = typer.Option(
        None,
        metavar="SIGNATURE",
        help="Exit 2 before anything is judged if another judge would: llm, similarity, llm:MODEL, "
        "or how the signature of a run begins, up to a bar.",
    ),
    details: bool = typer.Option(
        False, "--details", help="Print counts, flags, the table of cells, and the worst sentences."
    ),
    worst: int | None = typer.Option(
        None,
        metavar="N",
        min=0,
        help="List the N worst sentences, too [5 with --details]; 0 prints no text of an answer.",
    ),
    junit: Path | None = typer.Option(
        None, metavar="FILE", help="Write a JUnit report, too: a case an answer."
    ),
    markdown: Path | None = typer.Option(
        None, metavar="FILE", help="Write a summary for a pull request, too, in Markdown."
    ),
    server: str | None = typer.Option(
        None,
        metavar="URL",
        help="Have the judge serve at this address judge, with its settings.",
    ),
    engine: str = typer.Option(
        "local", metavar="local|ray", help="What scores: this process, or a Ray cluster [local]."
    ),
    address: str | None = typer.Option(
        None, metavar="ADDRESS", help="With --engine ray: the cluster, such as auto [one here]."
    ),
    replicas: int | None = typer.Option(
        None,
        metavar="N",
        min=1,
        help="With --engine ray: actors that score, of --concurrency each [one a CPU, or 1 where "
        "a server judges].",
    ),
    review_hook: str | None = typer.Option(
        None,
        "--review-hook",
        metavar="NAME",
        help="Hand a share of the answers to module:object, an http address or a .csv file.",
    ),
    lang: str = typer.Option(
        "en", metavar="en|zh", help="Language of what is printed [en]; reasons keep the answer's."
    ),
    settings: "Config",
) -> None:
    """Score a file of answers into a run folder; an interrupted run is taken up.

    Results kept from an interrupted run are not handed to a review hook again. What a hook does,
    or fails to do, changes no result and no exit code.

    In a job of GitHub Actions the worst sentences and failed gates are annotated.

    Example: judge score samples.jsonl -o runs/today --fail-under faithfulness=0.9
    """
    # Heavy, and --help stays quick without them.
    from judge.cli.ci import Reports  # noqa: PLC0415
    from judge.cli.progress import Task, score_into  # noqa: PLC0415
    from judge.cli.render.totals import Wish  # noqa: PLC0415
    from judge.files.folder import RunFolder  # noqa: PLC0415
    from judge.job import Job  # noqa: PLC0415
    from judge.reports.gate import Gates  # noqa: PLC0415

    if server is None:
        _refuse_unasked(settings)
    gates = Gates.read(
        {"least": fail_under or (), "most": fail_over or ()}, expect, strict=strict_gate
    )
    folder = _default_folder(source) if output is None else Path(output)
    others = {"--server": server, "--review-hook": review_hook, "--limit": limit}
    cluster = _cluster(
        engine, {"--address": address, "--replicas": replicas}, others | {"--dry-run": dry_run}
    )
    stream = standard_input() if source == PIPED else Path(source)
    spoken_in = language(lang)
    if dry_run:
        _refuse_beside_forecast(server, junit or markdown)
        _tell_forecast(stream, settings, limit, spoken_in, skip_bad_lines=skip_bad_lines)
        return
    if server is not None:
        if limit is not None:
            raise ConfigError("--limit: a service scores all that it is sent; leave it out")
        if review_hook is not None:
            raise ConfigError("--review-hook: with --server nobody here has the answers in hand")
        asked: dict[str, object] = {"skip_bad_lines": skip_bad_lines, "strict_gate": strict_gate}
        asked |= {"fail_under": fail_under or (), "fail_over": fail_over or (), "expect": expect}
        with RunFolder(folder, force=force):
            pass  # it can be written, which is seen before anything is sent
        evaluator, stream = _remote(server, stream, settings, asked)
        settings = evaluator.open()
    gates.check(correctness=settings.correctness, relevance=settings.relevance)
    meant = server or expect or {"judge", "model"} & settings.model_fields_set
    if gates.bounds and not meant:
        typer.echo(_GATING.format(_OFFLINE.get(settings.offline, settings.offline)), err=True)
    checks: _Checks = {"force": force, "skip_bad_lines": skip_bad_lines, "gates": gates}
    job: Task
    if cluster is not None:
        job = cluster(source, folder, settings, address=address, replicas=replicas, **checks)
    elif server is not None:
        job = Job(stream, folder, settings, evaluator=evaluator, **checks)
    else:
        job = _job(stream, folder, settings, review_hook, limit, checks)
    kept = settings.cache and settings.asks_model
    _freeze()
    wish, files = Wish(worst, details), (junit, markdown)
    with Reports(
        _file(source), folder, *files, spoken_in, texts=worst != 0, mapping=settings.map
    ) as reports:
        code = score_into(folder, job, wish, spoken_in, reports=reports, cached=kept)
    raise typer.Exit(code)


def _refuse_unasked(settings: "Config") -> None:
    """Refuse what takes a language model where none is asked, and more canaries than there are."""
    if settings.repeat > 1 and not settings.asks_model:
        raise ConfigError(
            f"repeat {settings.repeat}: only a language model is asked again, for the other judges "
            "say the same each time; name one with --model, or leave it out"
        )
    if settings.canaries:
        from judge.exam.canaries import checked  # noqa: PLC0415  for runs that have some

        checked(settings)


class _Checks(TypedDict):
    force: bool
    skip_bad_lines: bool
    gates: "Gates"


def _cluster(
    engine: str, own: Mapping[str, object], others: Mapping[str, object]
) -> "type[ClusterJob] | None":
    """What scores on a cluster, where that is asked for; it has options of its own."""
    away = chosen("--engine", engine, ("local", "ray")) == "ray"
    for name in filter((others if away else own).get, others if away else own):
        step = "has no place beside" if away else "is of a cluster: add"
        raise ConfigError(f"{name}: {step} --engine ray, or leave it out")
    if not away:
        return None
    with extra("ray", "--engine ray"):
        from judge.cluster.job import ClusterJob  # noqa: PLC0415  heavy, and an extra
    return ClusterJob


@cache
def _freeze() -> None:
    """What was imported lives as long as the process: the collector need not walk through it."""
    gc.freeze()


def _job(
    stream: "IO[bytes] | Path",
    folder: Path,
    settings: "Config",
    review_hook: str | None,
    limit: int | None,
    checks: _Checks,
) -> "Job":
    """What scores here."""
    from judge.evaluator import Evaluator  # noqa: PLC0415  likewise heavy
    from judge.job import Job  # noqa: PLC0415

    hook = canaries = None
    if review_hook is not None:
        from judge.review.hook import open_hook  # noqa: PLC0415  for runs that have one

        hook = open_hook(review_hook, settings)
    evaluator = Evaluator(settings, review_hook=hook)
    if settings.canaries:
        from judge.exam.canaries import ExamCanaries  # noqa: PLC0415  likewise

        canaries = ExamCanaries(settings, evaluator)
    return Job(
        stream, folder, settings, evaluator=evaluator, limit=limit, canaries=canaries, **checks
    )


def _remote(
    url: str, given: "IO[bytes] | Path", settings: "Config", asked: dict[str, object]
) -> "tuple[RemoteEvaluator, IO[bytes] | Path]":
    """What a service scores, and the samples, which are sent from a file."""
    from judge.remote import RemoteEvaluator  # noqa: PLC0415  heavy, and --help stays quick
    from judge.service.wire import Options  # noqa: PLC0415

    for name in sorted(settings.model_fields_set):
        if name not in Options.model_fields:
            raise ConfigError(
                f"--server judges with its own settings, and {name} is set here: leave it out, or "
                "set it where judge serve runs"
            )
        asked[name] = getattr(settings, name)
    if isinstance(given, Path) and is_many(given):
        raise ConfigError(f"--server is sent one file, and {given} is many: name one of them")
    if isinstance(given, Path) and not is_fifo(given):
        return RemoteEvaluator(url, given, Options.model_validate(asked)), given
    copy = NamedTemporaryFile()  # noqa: SIM115  it is read as long as the command runs
    with given.open("rb") if isinstance(given, Path) else nullcontext(given) as stream:
        shutil.copyfileobj(stream, copy)
    copy.seek(0)
    return RemoteEvaluator(url, Path(copy.name), Options.model_validate(asked)), cast(
        "IO[bytes]", copy
    )


def _file(source: str) -> Path | None:
    """The file of samples; None where they come through a pipe."""
    return None if source == PIPED or is_fifo(Path(source)) else Path(source)


def _refuse_beside_forecast(server: str | None, report: Path | None) -> None:
    if server is not None:
        raise ConfigError("--dry-run: what a service would ask is not known here")
    if report is not None:
        raise ConfigError("--dry-run: nothing is scored; leave out --junit and --markdown")


def _tell_forecast(
    given: "IO[bytes] | Path",
    settings: "Config",
    limit: int | None,
    lang: "Lang",
    *,
    skip_bad_lines: bool,
) -> None:
    """Print what a run would ask and cost."""
    from judge.cli.terminal import output, words  # noqa: PLC0415  likewise heavy
    from judge.forecast import SECONDS, forecast  # noqa: PLC0415  likewise

    say = words("totals", "forecast", lang)
    with output(lang) as page:
        if not settings.asks_model:
            page.say(say("no_model"))
            return
        with _file_of(given) as path:
            samples = [item.sample for item in _drawn(settings)]
            made = forecast(path, settings, samples, limit=limit, skip_bad_lines=skip_bad_lines)
        named = ("answers", "claims", "kept", "calls", "prompt_tokens", "reply_tokens", "at_once")
        numbers = {name: f"{getattr(made, name):,}" for name in named}
        numbers["minutes"] = f"{made.minutes:,.1f}"
        for name in ("answers", "calls", "tokens"):
            page.say(say(name, **numbers))
        page.say(say("no_price") if made.cost is None else say("cost", cost=f"{made.cost:,.4g}"))
        page.say(say("time", seconds=f"{SECONDS:g}", **numbers))
        beside = (("again", settings.repeat, made.again), ("canaries", len(samples), made.canaries))
        for name, many, more in beside:
            if more is not None:
                counts = {name: f"{getattr(more, name):,}" for name in named[3:6]}
                told = say(name, many=many, **counts)
                cost = "" if more.cost is None else f"{more.cost:,.4g}"
                page.say(say("again_cost", told=told, cost=cost) if cost else told)
        page.say(say("unsent"))


def _drawn(settings: "Config") -> "list[Item]":
    if not settings.canaries:
        return []
    from judge.exam.canaries import checked, draw  # noqa: PLC0415  for runs that have some

    return draw(checked(settings), settings.canaries, settings.seed)


@contextmanager
def _file_of(given: "IO[bytes] | Path") -> "Iterator[Path]":
    """A file that can be read more than once: a stream is copied."""
    if isinstance(given, Path) and not is_fifo(given):
        yield given
        return
    with NamedTemporaryFile() as copy:
        with given.open("rb") if isinstance(given, Path) else nullcontext(given) as stream:
            shutil.copyfileobj(stream, copy)
        copy.flush()
        yield Path(copy.name)


def _default_folder(source: str) -> Path:
    file = _file(source)
    name = "stdin" if file is None else file.name
    for ending in (".gz", ".zst", *COLUMNS, ".jsonl", ".ndjson", ".json", ".csv", ".tsv"):
        name = name.removesuffix(ending)
    if not WILD.isdisjoint(name):
        name = re.sub(r"[*?\[\]]+", "", name).strip("-_")
    # `...jsonl` would name the folder above, and `.jsonl` none.
    return Path("runs") / (name if name.strip(".") else "run")
