"""What `judge retrieval -o` wrote of each query, set side by side as runs are."""

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from judge.errors import ConfigError, InputError

if TYPE_CHECKING:
    from judge.records.comparison import RunComparison, Side

_ABOUT: Final = frozenset({"qid", "query", "status", "ranked", "relevant", "found"})
"""What a row holds beside measures."""
_SHOWN: Final = ("rr", "ap", "recall@", "ndcg@")
"""Measures that are shown unless --scores names others, those at a cut-off at each."""


class Ranking(NamedTuple):
    """The measures of each query of a run."""

    name: str
    queries: dict[str, dict[str, float | None]]
    asked: dict[str, int]
    """Hashes of their texts, where there are any."""

    @property
    def sides(self) -> "dict[str, Side]":
        """Of all measures, whether more is better."""
        from judge.reports.gate import less_is_better  # noqa: PLC0415  heavy

        names = dict.fromkeys(name for values in self.queries.values() for name in values)
        return {name: "most" if less_is_better(name) else "least" for name in names}


def read_rankings(paths: Sequence[Path]) -> list[Ranking]:
    """The files that are named.

    Raises:
        ConfigError: there are fewer than two.
        InputError: one is none of `judge retrieval -o`.
    """
    if len(paths) < 2:  # noqa: PLR2004
        raise ConfigError(f"{paths[0]}: name two files or more of judge retrieval -o")
    rankings = []
    for path in paths:
        rows = list(_rows(path))
        asked = {qid: hash(text) for qid, text, _ in rows if text}
        rankings.append(Ranking(str(path), {qid: values for qid, _, values in rows}, asked))
    for each in rankings:
        if not each.sides:
            raise InputError("holds no measure of a query", path=each.name)
    return rankings


def _rows(path: Path) -> Iterator[tuple[str, str, dict[str, float | None]]]:
    from judge.files.source import TextLines, open_source  # noqa: PLC0415  heavy

    seen = set[str]()
    with open_source(path) as stream:
        for number, line in TextLines(stream, path):
            try:
                row = json.loads(line)
            except ValueError:
                row = None
            if not isinstance(row, dict) or not isinstance(row.get("qid"), str) or "run" in row:
                wanted = "judge compare takes what judge retrieval SAMPLES -o rows.jsonl writes, a "
                wanted += "file for each run: --json keeps means, and no query's measures"
                raise InputError(f"holds no row of one run; {wanted}", path=str(path), line=number)
            if row["qid"] in seen:
                message = f"{row['qid']!r} stands twice; make each qid unique in a run"
                raise InputError(message, path=str(path), line=number)
            seen.add(row["qid"])
            text = " ".join(str(row.get("query") or "").split())
            values = {name: _number(row[name]) for name in row if name not in _ABOUT}
            yield row["qid"], text, values


def _number(value: object) -> float | None:
    try:
        known = float(value) if isinstance(value, int | float) else math.nan
    except OverflowError:  # an integer of some hundred digits
        return None
    return known if math.isfinite(known) else None


def compared(
    rankings: Sequence[Ranking],
    scores: Sequence[str],
    beside: Sequence[str],
    detect: float,
    most: int,
) -> "RunComparison":
    """Each held against the first, by these measures or else the usual ones, and those `beside`."""
    from judge.records.comparison import RunComparison, RunLine  # noqa: PLC0415  heavy
    from judge.reports.compare import Answers, differences  # noqa: PLC0415

    known = rankings[0].sides
    usual = [n for n in known if "".join(n.partition("@")[:2]) in _SHOWN]
    sides = {name: known[name] for name in (*(scores or usual or known), *beside)}
    kept, lines = [], []
    for ranking in rankings:
        answers = Answers(tuple(sides), asked=ranking.asked)
        for qid, values in ranking.queries.items():
            answers.add_values(qid, values)
        kept.append(answers)
        mean = {name: _mean(ranking.queries.values(), name) for name in sides}
        count = len(ranking.queries)
        lines.append(RunLine(name=ranking.name, answers=count, signatures={}, mean=mean))
    return RunComparison(
        runs=tuple(lines),
        sides=sides,
        across=(),
        by=None,
        offline=False,
        detect=detect,
        differences=tuple(
            differences(ranking.name, own, kept[0], sides, detect=detect, most=most)
            for ranking, own in zip(rankings[1:], kept[1:], strict=True)
        ),
    )


def _mean(rows: Iterable[Mapping[str, float | None]], name: str) -> float | None:
    values = [value for row in rows if (value := row.get(name)) is not None]
    return math.fsum(values) / len(values) if values else None
