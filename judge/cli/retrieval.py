"""`judge retrieval`: whether the evidence was found, measured by its ranks."""

import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final, Literal, NamedTuple

import typer

from judge.advice.diagnose import Reading, Use, changes, read
from judge.cli.options import JSON, MAX_LINE, SKIP_BAD, takes_options
from judge.cli.render.answers import gate_line
from judge.cli.render.comparison import print_compared
from judge.cli.render.ranking import print_findings, print_measures, print_ranked, print_reading
from judge.cli.runs import (
    Held,
    How,
    Run,
    compare,
    cutoffs,
    held_to,
    measure,
    named,
    number_within,
)
from judge.cli.terminal import output, say_json
from judge.errors import ConfigError
from judge.inputs.files import PIPED
from judge.inputs.runs import read_summary
from judge.records import GateResult
from judge.records.comparison import Side
from judge.reports.gate import gates_code
from judge.retrieval.batch import mean_names
from judge.retrieval.records import RankingReport, RankRules
from judge.text.visible import short

_POSITIVE: Final = (sys.float_info.min, sys.float_info.max)
_HEADLINES: Final = ("mrr", "map", "hit@", "recall@", "precision@", "ndcg@", "waste@")
"""What a comparison shows unless it is told: means, those at a cut-off at each."""


def _list(wanted: bool) -> None:  # noqa: FBT001  typer calls it so
    if wanted:
        with output() as page:
            print_measures(page)
        raise typer.Exit


_CATALOG: Final = typer.Option(
    False, "--list", callback=_list, is_eager=True, help="Print the table of all measures."
)


class _Files(NamedTuple):
    """What is measured, beside files of samples."""

    qrels: str | None = typer.Option(
        None, metavar="FILE", help="TREC qrels, instead of SAMPLES; with --run."
    )
    run: list[str] | None = typer.Option(
        None,
        metavar="[NAME=]FILE",
        help="With --qrels a TREC run, else NAME=SAMPLES; repeated, the others are held against "
        "the first.",
    )
    gold: str | None = typer.Option(
        None,
        metavar="FILE",
        help="Take gold from these samples, by qid; other queries are left out.",
    )
    by: str | None = typer.Option(
        None, metavar="KEY", help="Compare what differs in this key of the samples, as chunk_size."
    )


class _Table(NamedTuple):
    """How a comparison is shown."""

    measures: str | None = typer.Option(
        None, metavar="NAME,…", help="What to print where runs are compared, as recall@5,mrr."
    )
    chart: bool = typer.Option(False, "--chart", help="Print bars, too, where runs are compared.")


class _Rules(NamedTuple):
    """How a ranking is measured."""

    gain: Literal["linear", "exp2"] = typer.Option(
        "linear", help="DCG's gain: relevance, or 2^relevance - 1."
    )
    beta: float | None = typer.Option(
        None, metavar="X", help="Also F-beta at each k: recall counts X times as much as precision."
    )
    relevance_level: float | None = typer.Option(
        None, metavar="X", help="The lowest relevance of a relevant chunk. Without it, any above 0."
    )
    gold_match: Literal["exact", "prefix"] | None = typer.Option(
        None,
        help="What gold names: chunks with exact, documents with prefix. Without it, exact, and it "
        "is an error if no ranking has a gold id.",
    )
    no_relevant: Literal["skip", "zero"] = typer.Option(
        "skip", help="A query with nothing relevant."
    )
    no_ranking: Literal["zero", "skip"] = typer.Option(
        "zero", help="A query for which nothing was ranked."
    )

    def rules(self, k: str) -> RankRules:
        """The rules, of measures at these ranks."""
        given = self._asdict() | {"ks": cutoffs(k)}
        level = number_within("--relevance-level", self.relevance_level, *_POSITIVE)
        given |= {"relevance_level": level, "beta": number_within("--beta", self.beta, 0.01, 100)}
        return RankRules.model_validate(given)


class _Reading(NamedTuple):
    """What the means are read beside."""

    use: Use | None = typer.Option(
        None,
        metavar="<faq|documents|scholarly|knowledge_base|monitoring>",
        help="Read the means, by rules of thumb: bands, and this use's targets.",
    )
    answers: Path | None = typer.Option(
        None, metavar="RUN", help="Read the means beside what judge score said of the answers."
    )

    def given(self) -> dict[str, object]:
        """By option."""
        return {"--answers": self.answers, "--use": self.use}


class _Gating(NamedTuple):
    """What fails."""

    fail_under: list[str] | None = typer.Option(
        None, metavar="NAME=X", help="Exit 1 if a mean, as recall@5, is under X; may be repeated."
    )
    fail_over: list[str] | None = typer.Option(
        None, metavar="NAME=X", help="Exit 1 if a mean of which less is better is over X, likewise."
    )
    fail_targets: bool = typer.Option(
        False, "--fail-targets", help="Exit 1 if a target of --use is missed."
    )
    strict_gate: bool = typer.Option(
        False, "--strict-gate", help="Gate on the worse limit of the 95 % interval."
    )

    def held(self, rules: RankRules, use: Use | None) -> Held:
        """What the means are held to."""
        if self.fail_targets and use is None:
            raise ConfigError("--fail-targets needs --use, whose targets it holds the means to")
        asked: dict[Side, list[str]]
        asked = {"least": self.fail_under or [], "most": self.fail_over or []}
        targets = use if self.fail_targets else None
        return held_to(rules, asked, targets, strict=self.strict_gate)


app = typer.Typer(add_completion=False)


@app.command()
@takes_options
def retrieval(
    samples: list[str] | None = typer.Argument(
        None,
        metavar="SAMPLES",
        help="JSONL, JSON, CSV or a table; - for stdin. Several are compared.",
    ),
    *,
    k: str = typer.Option(
        "1,3,5,10,20", "-k", metavar="K,…", help="Ranks to look at, whole numbers from 1."
    ),
    files: _Files,
    table: _Table,
    ruled: _Rules,
    worst: int = typer.Option(5, metavar="N", min=0, help="How long each list may be."),
    as_json: bool = JSON,
    rows: str | None = typer.Option(
        None, "-o", "--output", metavar="FILE", help="Each query's measures: .jsonl or .csv."
    ),
    skip_bad_lines: bool = SKIP_BAD,
    max_line: float = MAX_LINE,
    beside: _Reading,
    gating: _Gating,
    catalog: bool = _CATALOG,  # noqa: ARG001  its callback has seen to it
) -> None:
    """Measure rankings against gold: hit, recall, precision, MRR, MAP, nDCG and more.

    A sample's ranking is `retrieved`, or else the order of its chunks; gold is `gold_evidence`
    or `relevance`.

    Several files, or one with --by, are compared: the same queries, each run less the first.

    Example: judge retrieval samples.jsonl -k 1,5,10
    """
    rules = ruled.rules(k)
    runs = _runs(samples or [], files.qrels, files.run or [], skip_bad_lines=skip_bad_lines)
    gates = gating.held(rules, beside.use)
    if files.gold is not None and (files.qrels is not None or files.by is not None):
        raise ConfigError("--gold is for files of samples, without --qrels and --by; leave it out")
    if files.gold == PIPED:
        raise ConfigError("--gold -: gold is read beside the samples; save it, and name the file")
    how = How(rules, worst, rows, max_line, skip_bad_lines, files.gold)
    several = len(runs) > 1 or files.by is not None
    if gating.fail_targets and (as_json or several):
        beside = beside._replace(use=None)
    if several:
        _refuse(beside.given(), "is of one run")
        held = _compare(runs, files, how, gates, table, as_json=as_json)
    else:
        _refuse(
            {"--measures": table.measures, "--chart": table.chart or None}, "is of several runs"
        )
        file = runs[0].file
        reading = _reading(beside, as_json=as_json)
        held = _measure(files.qrels, file, how, gates, reading, as_json=as_json)
    raise typer.Exit(gates_code(held))


def _refuse(options: Mapping[str, object], why: str) -> None:
    for option in (option for option, value in options.items() if value is not None):
        raise ConfigError(f"{option} {why}; leave it out, or name other files")


def _runs(
    samples: Sequence[str], qrels: str | None, runs: Sequence[str], *, skip_bad_lines: bool
) -> tuple[Run, ...]:
    """The files that are asked for: samples, or TREC runs and their qrels."""
    found = named(samples, runs)
    bare = [text for text in runs if any(text == run.file for run in found)]
    if samples and (qrels is not None or bare):
        message = f"{samples[0]!r} beside --qrels or --run: name samples or TREC files, not both"
        raise ConfigError(message)
    if not found or (bare and qrels is None):
        message = "name a file of samples, or --qrels and --run together"
        raise ConfigError(f"{message}; see judge retrieval --help")
    if qrels is not None and skip_bad_lines:
        message = "--skip-bad-lines is for samples: of TREC files no line is skipped; leave it out"
        raise ConfigError(message)
    return found


def _names(asked: str | None, rules: RankRules) -> tuple[str, ...]:
    """The measures that a comparison shows."""
    known = mean_names(rules)
    if asked is None:
        beta = "" if rules.beta is None else f"f{rules.beta:g}@"
        asked_for = {*_HEADLINES, beta}
        return tuple(name for name in known if "".join(name.partition("@")[:2]) in asked_for)
    names = tuple(dict.fromkeys(name.strip() for name in asked.replace("，", ",").split(",")))
    for name in names:
        if name not in known:
            message = f"--measures {asked!r}: {name!r} is not measured; --list shows all, and -k "
            raise ConfigError(message + f"the cut-offs, here {','.join(map(str, rules.ks))}")
    return names


def _compare(
    runs: Sequence[Run],
    files: _Files,
    how: How,
    gates: Held,
    table: _Table,
    *,
    as_json: bool,
) -> tuple[GateResult, ...]:
    """Print the runs side by side; returns what the gates say of each."""
    names = _names(table.measures, how.rules)
    if files.by is not None and files.qrels is not None:
        raise ConfigError("--by is a key of samples, and TREC files have none; leave it out")
    report = compare(runs, files.qrels, files.by, how)
    held = [gates.hold(run.report) for run in report.runs]
    gated = tuple(
        run.model_copy(update={"report": run.report.model_copy(update={"gates": results})})
        for run, results in zip(report.runs, held, strict=True)
    )
    report = report.model_copy(update={"runs": gated})
    if as_json:
        say_json(report.model_dump_json())
    else:
        with output() as page:
            print_compared(report, names, page, chart=table.chart)
            for run in report.runs[1:]:
                if found := changes(run.differences):
                    page.say(f"What {short(run.name)} points to", hang=2, style="bold")
                    print_findings(found, page)
    return tuple(result for results in held for result in results)


def _measure(
    qrels: str | None,
    file: str,
    how: How,
    gates: Held,
    reading: Callable[[RankingReport], Reading] | None,
    *,
    as_json: bool,
) -> tuple[GateResult, ...]:
    """Print the report of one run; returns what the gates say of it."""
    report = measure(file, qrels, how)
    held = gates.hold(report)
    report = report.model_copy(update={"gates": held})
    if as_json:
        say_json(report.model_dump_json())
        return held
    with output() as page:
        print_ranked(report, page)
        if reading is not None:
            print_reading(reading(report), page)
        for gate in held:
            page.say(gate_line(gate), hang=2)
    return held


def _reading(beside: _Reading, *, as_json: bool) -> Callable[[RankingReport], Reading] | None:
    """What reads a report beside what is asked for; that is checked before anything is measured."""
    options = [option for option, value in beside.given().items() if value is not None]
    if not options:
        return None
    if as_json:
        raise ConfigError(f"{options[0]} and --json: a reading is for people; leave out one")
    answers = None if beside.answers is None else read_summary(beside.answers)
    return lambda report: read(report, use=beside.use, answers=answers)
