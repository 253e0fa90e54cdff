"""`judge retrieval`: measure by ranks whether the evidence was found."""

from collections.abc import Sequence
from typing import Final, Literal, NamedTuple

import typer
from pydantic import ValidationError

from judge.advice.diagnose import Use, read
from judge.cli.options import JSON, ROWS, SKIP_BAD, Gating, several, split, takes_options
from judge.cli.render.answers import gate_line
from judge.cli.render.comparison import print_compared
from judge.cli.render.ranking import print_ranked, print_reading
from judge.cli.terminal import output, say_json
from judge.errors import ConfigError
from judge.inputs.files import PIPED
from judge.reports.gate import gates_code
from judge.retrieval.evaluate import mean_names
from judge.retrieval.records import DEEPEST, RankingReport, RankRules
from judge.retrieval.runs import RankingFiles, RunFile, named_runs

_HEADLINES: Final = ("mrr", "map", "hit@", "recall@", "precision@", "ndcg@")
"""The means that a comparison shows by default; those at a cut-off at each."""


class _Rules(NamedTuple):
    """How a ranking is measured."""

    k: str = typer.Option(
        "1,3,5,10,20", "-k", metavar="K,…", help="The cut-offs: ranks to measure at."
    )
    gain: Literal["linear", "exp2"] = typer.Option(
        "linear", help="The gain of DCG: the relevance, or 2^relevance - 1."
    )
    relevance_level: float | None = typer.Option(
        None,
        metavar="X",
        help="The lowest relevance of a relevant chunk. Without it, any above 0.",
    )
    gold_match: Literal["exact", "prefix"] | None = typer.Option(
        None,
        help="What gold names: chunks with exact, documents with prefix. Without it, exact, and it "
        "is an error if no ranking has a gold id.",
    )
    no_ranking: Literal["zero", "skip"] = typer.Option(
        "zero", help="How a query counts for which nothing was ranked."
    )

    def rules(self) -> RankRules:
        """Return the rules; raise ConfigError for a number out of range."""
        options = self._asdict() | {"ks": split(self.k)}
        del options["k"]
        try:
            return RankRules.model_validate(options)
        except ValidationError as error:
            (name, *_), wrong = error.errors()[0]["loc"], error.errors()[0]["msg"]
            if name == "ks":
                message = f"give whole numbers from 1 to {DEEPEST}, with commas between them"
                raise ConfigError(f"-k {self.k!r}: {message}, such as -k 1,5,10") from None
            option = f"--{name}".replace("_", "-")
            raise ConfigError(f"{option} {options[str(name)]!r}: {wrong}") from None


@takes_options
def retrieval(
    samples: list[str] | None = typer.Argument(
        None,
        metavar="SAMPLES",
        help="JSONL, JSON, CSV or a table; - for standard input. Several are compared.",
    ),
    *,
    rules: _Rules,
    qrels: str | None = typer.Option(
        None, metavar="FILE", help="TREC qrels, instead of SAMPLES; with --run."
    ),
    run: list[str] | None = typer.Option(
        None,
        metavar="[NAME=]FILE",
        help="With --qrels a TREC run, else NAME=SAMPLES; may be repeated: the others are compared "
        "with the first.",
    ),
    gold: str | None = typer.Option(
        None,
        metavar="FILE",
        help="Take gold from these samples, by qid; other queries are left out.",
    ),
    measures: str | None = typer.Option(
        None, metavar="NAME,…", help="The measures of a comparison, such as recall@5,mrr."
    ),
    worst: int = typer.Option(5, metavar="N", min=0, help="The number of worst queries to list."),
    as_json: bool = JSON,
    rows: str | None = ROWS,
    skip_bad_lines: bool = SKIP_BAD,
    use: Use | None = typer.Option(
        None, help="Read the means by rules of thumb: bands, and the targets of this use."
    ),
    gating: Gating,
) -> None:
    """Measure rankings against gold: hit, recall, precision, MRR, MAP, nDCG and more.

    A sample's ranking is `retrieved`, or else the order of its chunks; gold is `gold_evidence`
    or `relevance`. Several files are compared: the same queries, each run less the first.

    Example: judge retrieval samples.jsonl -k 1,5,10
    """
    ranks = rules.rules()
    runs = _runs(samples or [], qrels, run or [], skip_bad_lines=skip_bad_lines)
    gates = gating.gates(mean_names(ranks))
    is_compared = len(runs) > 1
    for is_wrong, message in (
        (gold and qrels, "--gold is for files of samples, and --qrels has gold; leave out one"),
        (gold == PIPED, "--gold -: gold is read beside the samples; save it, and name the file"),
        (is_compared and use, "--use is for one run; leave it out, or name one file"),
        (measures and not is_compared, "--measures is for several runs; name more files"),
        (as_json and use, "--use and --json: a reading is for people; leave out one"),
    ):
        if is_wrong:
            raise ConfigError(message)

    def gated(report: RankingReport) -> RankingReport:
        results = gates.hold_means(report.mean, report.interval)
        return report.model_copy(update={"gates": results})

    files = RankingFiles(ranks, worst, rows, skip_bad_lines, qrels, gold)
    if is_compared:
        known = mean_names(ranks)
        headlines = [each for each in known if "".join(each.partition("@")[:2]) in _HEADLINES]
        names = several("--measures", measures, known) or headlines
        compared = files.compare(runs)
        gated_runs = tuple(
            run.model_copy(update={"report": gated(run.report)}) for run in compared.runs
        )
        compared = compared.model_copy(update={"runs": gated_runs})
        if as_json:
            say_json(compared.model_dump_json())
        else:
            with output() as page:
                print_compared(compared, names, page)
        raise typer.Exit(gates_code([gate for run in gated_runs for gate in run.report.gates]))
    report = gated(files.measure(runs[0]))
    if as_json:
        say_json(report.model_dump_json())
    else:
        with output() as page:
            print_ranked(report, page)
            if use:
                print_reading(read(report, use), use, page)
            for gate in report.gates:
                page.say(gate_line(gate), hang=2)
    raise typer.Exit(gates_code(report.gates))


def _runs(
    samples: Sequence[str], qrels: str | None, runs: Sequence[str], *, skip_bad_lines: bool
) -> tuple[RunFile, ...]:
    """Return the files of samples, or the TREC runs that belong to the qrels."""
    found = named_runs(samples, runs)
    has_trec_run = any(text == run.file for run in found for text in runs)
    if samples and (qrels is not None or has_trec_run):
        message = f"{samples[0]!r} beside --qrels or --run: name samples or TREC files, not both"
        raise ConfigError(message)
    if not found or (has_trec_run and qrels is None):
        message = "name a file of samples, or --qrels and --run together"
        raise ConfigError(f"{message}; see judge retrieval --help")
    if qrels is not None and skip_bad_lines:
        message = "--skip-bad-lines is for samples: of TREC files no line is skipped; leave it out"
        raise ConfigError(message)
    return found
