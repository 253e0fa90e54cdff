"""`judge retrieval`: measure by ranks whether the evidence was found."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final, Literal, NamedTuple

import typer
from pydantic import ValidationError

from judge.advice.diagnose import Use, changes, read
from judge.cli.options import JSON, MAX_LINE, SKIP_BAD, split, takes_options
from judge.cli.render.answers import gate_line
from judge.cli.render.comparison import print_compared
from judge.cli.render.ranking import print_findings, print_measures, print_ranked, print_reading
from judge.cli.terminal import output, say_json
from judge.errors import ConfigError
from judge.inputs.files import PIPED
from judge.inputs.runs import read_summary
from judge.records.comparison import Side
from judge.reports.gate import Gates, gates_code
from judge.retrieval.evaluate import mean_names
from judge.retrieval.records import DEEPEST, RankingReport, RankRules
from judge.retrieval.runs import RankingFiles, RunFile, named_runs
from judge.text.visible import short

app = typer.Typer(add_completion=False)

_HEADLINES: Final = ("mrr", "map", "hit@", "recall@", "precision@", "ndcg@", "waste@")
"""The means that a comparison shows by default; those at a cut-off at each."""


def _print_list(wanted: bool) -> None:  # noqa: FBT001  typer calls it so
    if wanted:
        with output() as page:
            print_measures(page)
        raise typer.Exit


class _Rules(NamedTuple):
    """How a ranking is measured."""

    k: str = typer.Option(
        "1,3,5,10,20", "-k", metavar="K,…", help="The cut-offs: ranks to measure at."
    )
    gain: Literal["linear", "exp2"] = typer.Option(
        "linear", help="The gain of DCG: the relevance, or 2^relevance - 1."
    )
    beta: float | None = typer.Option(
        None, metavar="X", help="Also F-beta at each k: recall counts X times as much as precision."
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
    no_relevant: Literal["skip", "zero"] = typer.Option(
        "skip", help="How a query counts that has nothing relevant."
    )
    no_ranking: Literal["zero", "skip"] = typer.Option(
        "zero", help="How a query counts for which nothing was ranked."
    )

    def rules(self) -> RankRules:
        """Return the rules; raise ConfigError for a number out of range."""
        given = self._asdict() | {"ks": split(self.k)}
        del given["k"]
        try:
            return RankRules.model_validate(given)
        except ValidationError as error:
            (name, *_), wrong = error.errors()[0]["loc"], error.errors()[0]["msg"]
            if name == "ks":
                message = f"give whole numbers from 1 to {DEEPEST}, with commas between them"
                raise ConfigError(f"-k {self.k!r}: {message}, such as -k 1,5,10") from None
            option = f"--{name}".replace("_", "-")
            raise ConfigError(f"{option} {given[str(name)]!r}: {wrong}") from None


class _Gating(NamedTuple):
    """The bounds that the means are checked against."""

    fail_under: list[str] | None = typer.Option(
        None,
        metavar="NAME=X",
        help="Exit 1 if a mean, such as recall@5, is under X; may be repeated.",
    )
    fail_over: list[str] | None = typer.Option(
        None,
        metavar="NAME=X",
        help="Exit 1 if a mean of which less is better is over X; may be repeated.",
    )
    strict_gate: bool = typer.Option(
        False, "--strict-gate", help="Compare the worse limit of the 95 % interval."
    )

    def gates(self, rules: RankRules) -> Gates:
        """Return the gates; raise ConfigError if one cannot be read."""
        bounds: dict[Side, list[str]]
        bounds = {"least": self.fail_under or [], "most": self.fail_over or []}
        names = tuple(name for name in mean_names(rules) if not name.startswith("dcg@"))
        return Gates.read(bounds, strict=self.strict_gate, names=names)


@app.command()
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
    by: str | None = typer.Option(
        None,
        metavar="KEY",
        help="Compare the values of this key of the samples, such as chunk_size.",
    ),
    measures: str | None = typer.Option(
        None, metavar="NAME,…", help="The measures of a comparison, such as recall@5,mrr."
    ),
    worst: int = typer.Option(5, metavar="N", min=0, help="The maximum length of each list."),
    as_json: bool = JSON,
    rows: str | None = typer.Option(
        None,
        "-o",
        "--output",
        metavar="FILE",
        help="Write the measures of each query: .jsonl or .csv.",
    ),
    skip_bad_lines: bool = SKIP_BAD,
    max_line: float = MAX_LINE,
    use: Use | None = typer.Option(
        None, help="Read the means by rules of thumb: bands, and the targets of this use."
    ),
    answers: Path | None = typer.Option(
        None, metavar="RUN", help="Read the means beside the scores of the answers of a run."
    ),
    gating: _Gating,
    catalog: bool = typer.Option(  # noqa: ARG001  its callback prints it
        False, "--list", callback=_print_list, is_eager=True, help="Print a table of all measures."
    ),
) -> None:
    """Measure rankings against gold: hit, recall, precision, MRR, MAP, nDCG and more.

    A sample's ranking is `retrieved`, or else the order of its chunks; gold is `gold_evidence`
    or `relevance`. Several files, or one with --by, are compared: the same queries, each run less
    the first.

    Example: judge retrieval samples.jsonl -k 1,5,10
    """
    ranks = rules.rules()
    runs = _runs(samples or [], qrels, run or [], skip_bad_lines=skip_bad_lines)
    gates = gating.gates(ranks)
    several = len(runs) > 1 or by is not None
    reading = "--answers" if answers else "--use" if use else None
    for is_wrong, message in (
        (by and qrels, "--by is a key of samples, and TREC files have none; leave it out"),
        (gold and (qrels or by), "--gold is for files of samples, without --qrels and --by"),
        (gold == PIPED, "--gold -: gold is read beside the samples; save it, and name the file"),
        (several and reading, f"{reading} is for one run; leave it out, or name one file"),
        (measures and not several, "--measures is for several runs; name more files"),
        (as_json and reading, f"{reading} and --json: a reading is for people; leave out one"),
    ):
        if is_wrong:
            raise ConfigError(message)

    def gated(report: RankingReport) -> RankingReport:
        held = gates.hold_means(report.mean, report.interval)
        return report.model_copy(update={"gates": held})

    files = RankingFiles(ranks, worst, rows, max_line, skip_bad_lines, qrels, gold, by)
    if several:
        names = _names(measures, ranks)
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
                for later in gated_runs[1:]:
                    if found := changes(later.differences):
                        page.say(f"What {short(later.name)} points to", hang=2, style="bold")
                        print_findings(found, page)
        raise typer.Exit(gates_code([gate for run in gated_runs for gate in run.report.gates]))
    summary = None if answers is None else read_summary(answers)
    report = gated(files.measure(runs[0]))
    if as_json:
        say_json(report.model_dump_json())
    else:
        with output() as page:
            print_ranked(report, page)
            if answers or use:
                print_reading(read(report, use=use, answers=summary), page)
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


def _names(given: str | None, rules: RankRules) -> tuple[str, ...]:
    """Return the measures that a comparison shows."""
    known = mean_names(rules)
    if given is None:
        shown = {*_HEADLINES, "" if rules.beta is None else f"f{rules.beta:g}@"}
        return tuple(name for name in known if "".join(name.partition("@")[:2]) in shown)
    names = tuple(dict.fromkeys(split(given)))
    for name in names:
        if name not in known:
            message = f"--measures {given!r}: {name!r} is not measured; --list shows all, and -k "
            raise ConfigError(f"{message}the cut-offs, here {','.join(map(str, rules.ks))}")
    return names
