"""`judge retrieval`: whether the evidence was found, measured by its ranks."""

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from judge.cli.app import app
from judge.cli.source import PIPED
from judge.cli.terminal import output, say_json
from judge.errors import ConfigError

if TYPE_CHECKING:
    from judge.cli.reading import Reading
    from judge.retrieval.records import RankingReport, RankRules

_Gain = Literal["linear", "exp2"]
_GoldMatch = Literal["exact", "prefix"]
_NoRelevant = Literal["skip", "zero"]
_NoRanking = Literal["zero", "skip"]
_USES = "<faq|documents|scholarly|knowledge_base|monitoring>"


def _list(wanted: bool) -> None:  # noqa: FBT001  typer calls it so
    if wanted:
        from judge.cli.render.measures import print_measures  # noqa: PLC0415

        with output() as console:
            print_measures(console)
        raise typer.Exit


Samples = Annotated[
    str | None,
    typer.Argument(metavar="SAMPLES", help="JSONL or CSV, may be .gz; - for stdin."),
]
Cutoffs = Annotated[
    str, typer.Option("-k", metavar="K,…", help="Ranks to look at, whole numbers from 1.")
]
Qrels = Annotated[
    str | None, typer.Option(metavar="FILE", help="TREC qrels, instead of SAMPLES; with --run.")
]
Run = Annotated[str | None, typer.Option(metavar="FILE", help="TREC run, with --qrels.")]
Gain = Annotated[_Gain, typer.Option(help="DCG's gain: relevance, or 2^relevance - 1.")]
Level = Annotated[
    float | None,
    typer.Option(metavar="X", help="Least relevance that counts as relevant [any above 0]."),
]
GoldMatch = Annotated[
    _GoldMatch | None,
    typer.Option(
        help="prefix: gold names documents; a chunk's id goes on with no letter or digit [exact]."
    ),
]
NoRelevant = Annotated[_NoRelevant, typer.Option(help="A query with nothing relevant.")]
NoRanking = Annotated[_NoRanking, typer.Option(help="A query for which nothing was ranked.")]
Worst = Annotated[int, typer.Option(metavar="N", min=0, help="How long each list may be.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of tables.")]
Output = Annotated[
    str | None,
    typer.Option("-o", "--output", metavar="FILE", help="Each query's measures: .jsonl or .csv."),
]
Skip = Annotated[bool, typer.Option("--skip-bad-lines", help="Tell of bad lines, and go on.")]
Use = Annotated[
    str | None,
    typer.Option(
        metavar=_USES, help="Read the means, by rules of thumb: bands, and this use's targets."
    ),
]
Before = Annotated[
    str | None,
    typer.Option(metavar="FILE", help="Read the means beside those of an earlier --json."),
]
Answers = Annotated[
    Path | None,
    typer.Option(metavar="RUN", help="Read the means beside what judge score said of the answers."),
]
Lang = Annotated[str | None, typer.Option(metavar="<en|zh>", help="Language of the reading [en].")]
Catalog = Annotated[
    bool,
    typer.Option("--list", callback=_list, is_eager=True, help="Print the table of all measures."),
]


@app.command()
def retrieval(  # noqa: PLR0913  each is an option of the command line
    samples: Samples = None,
    *,
    k: Cutoffs = "1,3,5,10,20",
    qrels: Qrels = None,
    run: Run = None,
    gain: Gain = "linear",
    relevance_level: Level = None,
    gold_match: GoldMatch = None,
    no_relevant: NoRelevant = "skip",
    no_ranking: NoRanking = "zero",
    seed: Annotated[int, typer.Option(min=0, help="Of the bootstrap intervals.")] = 0,
    worst: Worst = 5,
    as_json: Json = False,
    rows: Output = None,
    skip_bad_lines: Skip = False,
    use: Use = None,
    before: Before = None,
    answers: Answers = None,
    lang: Lang = None,
    catalog: Catalog = False,  # noqa: ARG001  its callback has seen to it
) -> None:
    """Measure rankings against gold: hit, recall, precision, MRR, MAP, nDCG and more.

    A sample's ranking is `retrieved`, or else the order of its chunks; gold is `gold_evidence`
    or `relevance`.

    Example: judge retrieval samples.jsonl -k 1,5,10
    """
    rules = _rules(k, gain, relevance_level, gold_match, no_relevant, no_ranking, seed)
    files = (samples, qrels, run)
    reading = _reading(use, before, answers, lang, files, as_json=as_json)
    report = _report(samples, (qrels, run), rules, worst, rows, skip_bad_lines=skip_bad_lines)
    _print(report, reading, as_json=as_json)


def _report(
    samples: str | None,
    trec: tuple[str | None, str | None],
    rules: "RankRules",
    worst: int,
    rows: str | None,
    *,
    skip_bad_lines: bool,
) -> "RankingReport":
    from judge.cli.measured import of_run, of_samples  # noqa: PLC0415  heavy, as above

    qrels, run = trec
    if samples is not None and qrels is None and run is None:
        return of_samples(samples, rules, worst, rows, skip_bad_lines=skip_bad_lines)
    if samples is None and qrels is not None and run is not None and not skip_bad_lines:
        return of_run(qrels, run, rules, worst, rows)
    raise ConfigError(_misused(samples, trec, skip_bad_lines=skip_bad_lines))


def _misused(
    samples: str | None, trec: tuple[str | None, str | None], *, skip_bad_lines: bool
) -> str:
    if samples is not None:
        return f"{samples!r} beside --qrels or --run: name samples or TREC files, not both"
    if skip_bad_lines and None not in trec:
        return "--skip-bad-lines is for samples: of TREC files no line is skipped; leave it out"
    return "name a file of samples, or --qrels and --run together; see judge retrieval --help"


def _rules(
    k: str,
    gain: _Gain,
    level: float | None,
    gold_match: _GoldMatch | None,
    no_relevant: _NoRelevant,
    no_ranking: _NoRanking,
    seed: int,
) -> "RankRules":
    from judge.retrieval.records import RankRules  # noqa: PLC0415  heavy, and --help stays quick without it

    return RankRules(
        ks=_cutoffs(k),
        gain=gain,
        relevance_level=_positive(level),
        gold_match=gold_match,
        no_relevant=no_relevant,
        no_ranking=no_ranking,
        seed=seed,
    )


def _reading(
    use: str | None,
    before: str | None,
    answers: Path | None,
    lang: str | None,
    files: tuple[str | None, ...],
    *,
    as_json: bool,
) -> "Reading | None":
    if use is None and before is None and answers is None and lang is None:
        return None
    if before == PIPED and PIPED in files:
        raise ConfigError("--before - beside another -: standard input is one file; name the other")
    from judge.cli.reading import reading  # noqa: PLC0415

    return reading(use, before, answers, lang, samples=files[0], as_json=as_json)


def _print(report: "RankingReport", reading: "Reading | None", *, as_json: bool) -> None:
    if as_json:
        say_json(report.model_dump_json())
        return
    from judge.cli.render.ranking import print_ranked  # noqa: PLC0415

    with output() as console:
        print_ranked(report, console)
        if reading is not None:
            from judge.cli.render.diagnosis import print_reading  # noqa: PLC0415

            print_reading(report, reading, console)


def _cutoffs(text: str) -> tuple[int, ...]:
    from judge.retrieval.records import DEEPEST  # noqa: PLC0415

    try:
        ks = tuple(int(part) for part in text.replace("，", ",").split(","))
    except ValueError:
        ks = ()
    if not ks or min(ks) < 1 or max(ks) > DEEPEST:
        message = f"-k {text!r}: give whole numbers from 1 to {DEEPEST}, with commas between"
        raise ConfigError(f"{message}, such as -k 1,5,10")
    return ks


def _positive(level: float | None) -> float | None:
    if level is not None and not 0 < level < math.inf:
        raise ConfigError(f"--relevance-level {level!r}: give a number above 0, such as 2")
    return level
