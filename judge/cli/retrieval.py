"""`judge retrieval`: measure by ranks whether the evidence was found."""

from typing import Literal, NamedTuple

import typer
from pydantic import ValidationError

from judge.advice.diagnose import Use, read
from judge.cli.options import JSON, ROWS, SKIP_BAD, GateOptions, split, takes_options
from judge.cli.render.answers import gate_line
from judge.cli.render.ranking import print_compared, print_ranked, print_reading
from judge.cli.terminal import Page, say_report
from judge.errors import ConfigError
from judge.inputs.files import PIPED
from judge.reports.gate import gates_code
from judge.retrieval.evaluate import mean_names
from judge.retrieval.records import RankingReport, RankRules
from judge.retrieval.runs import RankingFiles, named_runs


class _RankOptions(NamedTuple):
    """How a ranking is measured."""

    k: str = typer.Option(
        "1,3,5,10,20", "-k", metavar="K,…", help="The cut-offs: ranks to measure at."
    )
    gain: Literal["linear", "exp2"] = typer.Option(
        "linear", help="The gain of DCG: the relevance, or 2^relevance - 1."
    )
    relevance_level: float | None = typer.Option(
        None, metavar="X", help="The lowest relevance of a relevant chunk; by default any above 0."
    )
    gold_match: Literal["exact", "prefix"] | None = typer.Option(
        None, help="Gold names chunks with exact, the default, and documents with prefix."
    )
    no_ranking: Literal["zero", "skip"] = typer.Option(
        "zero", help="How a query counts for which nothing was ranked."
    )

    def rules(self) -> RankRules:
        """Return the rules; raise ConfigError for a number out of range."""
        values = {**self._asdict(), "ks": split(self.k)}
        del values["k"]
        try:
            return RankRules.model_validate(values)
        except ValidationError as error:
            first = error.errors()[0]
            name = str(first["loc"][0])
            option = "-k" if name == "ks" else f"--{name}".replace("_", "-")
            raise ConfigError(f"{option} {first['input']!r}: {first['msg']}") from None


@takes_options
def retrieval(
    samples: list[str] | None = typer.Argument(
        None, metavar="SAMPLES", help="JSONL, JSON, CSV or a table; - for standard input."
    ),
    *,
    rank_options: _RankOptions,
    qrels: str | None = typer.Option(
        None, metavar="FILE", help="TREC qrels, instead of SAMPLES; with --run."
    ),
    run: list[str] | None = typer.Option(
        None, metavar="[NAME=]FILE", help="With --qrels a TREC run, else NAME=SAMPLES; repeatable."
    ),
    gold: str | None = typer.Option(
        None, metavar="FILE", help="Take gold, and the queries, from these samples."
    ),
    worst: int = typer.Option(5, metavar="N", min=0, help="The number of worst queries to list."),
    as_json: bool = JSON,
    rows: str | None = ROWS,
    skip_bad_lines: bool = SKIP_BAD,
    use: Use | None = typer.Option(
        None, help="Read the means by rules of thumb: bands, and the targets of this use."
    ),
    gate_options: GateOptions,
) -> None:
    """Measure rankings against gold: hit, recall, precision, MRR, MAP, nDCG and more.

    A sample's ranking is `retrieved`, or else the order of its chunks; gold is `gold_evidence`
    or `relevance`. Several files are compared: the same queries, each run less the first.

    Example: judge retrieval samples.jsonl -k 1,5,10
    """
    ranks = rank_options.rules()
    gates = gate_options.gates(mean_names(ranks))
    runs = named_runs(samples or [], run or [])
    is_compared = len(runs) > 1
    has_trec_run = any(text == each.file for each in runs for text in run or [])
    neither = not runs or (has_trec_run and qrels is None)
    both = samples and (qrels or has_trec_run)
    skipped = qrels and skip_bad_lines
    for is_wrong, message in (
        (both, "SAMPLES beside --qrels or --run: name samples or TREC files, not both"),
        (neither, "name a file of samples, or --qrels and --run together"),
        (
            skipped,
            "--skip-bad-lines is for samples: of TREC files no line is skipped; leave it out",
        ),
        (gold and qrels, "--gold is for files of samples, and --qrels has gold; leave out one"),
        (gold == PIPED, "--gold -: gold is read beside the samples; save it, and name the file"),
        (is_compared and use, "--use is for one run; leave it out, or name one file"),
        (as_json and use, "--use and --json: a reading is for people; leave out one"),
    ):
        if is_wrong:
            raise ConfigError(message)

    def gated(report: RankingReport) -> RankingReport:
        results = gates.hold_means(report.mean, report.interval)
        return report.model_copy(update={"gates": results})

    files = RankingFiles(ranks, worst, rows, skip_bad_lines, qrels, gold)
    if is_compared:
        compared = files.compare(runs)
        gated_runs = tuple(
            run.model_copy(update={"report": gated(run.report)}) for run in compared.runs
        )
        compared = compared.model_copy(update={"runs": gated_runs})
        say_report(compared, lambda page: print_compared(compared, page), as_json=as_json)
        raise typer.Exit(gates_code([gate for run in gated_runs for gate in run.report.gates]))
    report = gated(files.measure(runs[0]))

    def show(page: Page) -> None:
        print_ranked(report, page)
        if use:
            print_reading(read(report, use), page)
        for gate in report.gates:
            page.say(gate_line(gate), hang=2)

    say_report(report, show, as_json=as_json)
    raise typer.Exit(gates_code(report.gates))
