"""What `judge show` shows: an answer with its cell, or those of a cell one after another."""

import re
import shlex
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import combinations, product
from pathlib import Path
from typing import Final, Literal, get_args

from rich.console import Console
from rich.text import Text

from judge.cli.render.answer import print_answer
from judge.cli.render.cells import LONGEST, say, told
from judge.cli.render.counting import counted
from judge.cli.render.wrap import wrap
from judge.cli.terminal import output
from judge.errors import ConfigError, RunError
from judge.files.runs import Origins, origin, read_results
from judge.messages import Lang
from judge.records import CorrectnessStatus, FlagName, Quadrant, Sample, SampleResult
from judge.records.quadrant import QuadrantWord
from judge.reports.worst import worst_answer
from judge.scores.quadrants import look_up
from judge.text.visible import clip, flat, visible

_UNPLACED: Final = (
    "it takes gold evidence (gold_evidence or relevance of the samples) that agrees with itself; "
    "or the run is older: score again with --force"
)
_COMMA: Final = re.compile(r"[,，、]")
_NAMED: Final = 10
"""Ids of gold in one line."""
_COLUMN: Final = 11


def parse_cell(text: str) -> frozenset[QuadrantWord]:
    """The words of a cell, as a user writes them: apart by commas, in any order.

    Raises:
        ConfigError: one is unknown, or two exclude each other.

    >>> sorted(parse_cell("wrong, retrieved"))
    ['retrieved', 'wrong']
    """
    asked = list(dict.fromkeys(word.strip().lower() for word in _COMMA.split(text)))
    known: dict[str, QuadrantWord] = {word: word for word in get_args(QuadrantWord)}
    listed = ", ".join(known)
    if not any(asked):
        raise ConfigError(f"--cell {text!r} names no word; there are: {listed}")
    for word in asked:
        if word not in known:
            raise ConfigError(f"--cell {text!r}: no word {word!r}; there are: {listed}")
    words = [known[word] for word in asked]
    possible = _possible()
    for pair in combinations(words, 2):
        if not any(cell.issuperset(pair) for cell in possible):
            message = f"no answer is both {pair[0]!r} and {pair[1]!r}; leave one out"
            raise ConfigError(f"--cell {text!r}: {message}")
    return frozenset(words)


def _possible() -> set[frozenset[QuadrantWord]]:
    """The words of every cell there can be."""
    sides, open_sides = (True, False), (True, False, None)
    return {
        frozenset(
            Quadrant(
                answerable=answerable,
                retrieved=retrieved,
                abstained=abstained,
                silent=silent,
                faithful=faithful,
                correct=correct,
                signature="",
            ).words
        )
        for answerable, retrieved, abstained, silent in product(sides, repeat=4)
        for faithful, correct in product(open_sides, repeat=2)
    }


def show_answer(
    run: Path, qid: str | None, words: Collection[QuadrantWord] = (), lang: Lang = "en"
) -> None:
    """Show the answer of that name, or the worst.

    Raises:
        RunError: there is none, or it stands in no cell with all of `words`.
    """
    results = read_results(run)
    if qid is None:
        result = worst_answer(results)
        if result is None:
            raise RunError(f"{run}: no answer claims anything; name one: judge show {run} QID")
    else:
        result = next((result for result in results if result.qid == qid), None)
        if result is None:
            raise RunError(f"{run}: no answer {qid!r}; without one, the worst is shown")
    if words and result.cell is None:
        why = say("conflicting_one", "en") if _conflicts(result) else _UNPLACED
        raise RunError(f"{run}: answer {result.qid!r} is in no cell: {why}")
    if result.cell is not None and not set(words).issubset(result.cell.words):
        where = ", ".join(result.cell.words)
        raise RunError(f"{run}: answer {result.qid!r} is not in that cell; it is {where}")
    with output() as console:
        _show(result, origin(run, result), console, lang)


def show_cell(
    run: Path, words: Collection[QuadrantWord], *, count: int = 1, skip: int = 0, lang: Lang = "en"
) -> None:
    """Show `count` answers with all these words, in input order, and say how to go on.

    Raises:
        RunError: no answer of the run is in a cell, none in this one, or none is left.
    """
    found = 0
    run_has = _Has()
    samples = Origins(run)
    asked = ",".join(word for word in get_args(QuadrantWord) if word in words)
    with output() as console:
        for result in read_results(run):
            run_has.add(result)
            if result.cell is None or not set(words).issubset(result.cell.words):
                continue
            found += 1
            if skip < found <= skip + count:
                _show(result, samples.of(result), console, lang)
                console.print()
        if not found:
            raise RunError(f"{run}: {run_has.none_in(words, asked)}")
        if found <= skip:
            raise RunError(
                f"{run}: --skip {skip} leaves none of {counted(found, 'answer')} in {asked}"
            )
        last = min(found, skip + count)
        console.print(_place(skip + 1, last, found, asked), soft_wrap=True)
        if last < found:
            many = "" if count == 1 else f" -n {count}"
            many += "" if lang == "en" else f" --lang {lang}"
            command = f"judge show {shlex.quote(str(run))} --cell {asked}{many} --skip {last}"
            console.print(Text(f"next: {visible(command)}"), soft_wrap=True)


class _Has:
    """What the answers of a run have, to tell why none is in a cell."""

    def __init__(self) -> None:
        self._placed = self._compared = self._referenced = False

    def add(self, result: SampleResult) -> None:
        compared = result.correctness
        self._placed |= result.cell is not None
        self._compared |= compared is not None
        referenced = compared and compared.status is not CorrectnessStatus.NO_REFERENCE
        self._referenced |= bool(referenced)

    def none_in(self, words: Collection[QuadrantWord], asked: str) -> str:
        if not self._placed:
            return f"no answer is in a cell: {_UNPLACED}"
        hint = ""
        if not {"correct", "wrong"}.isdisjoint(words) and not self._referenced:
            hint = "; whether answers are correct was not asked: --correctness"
            if self._compared:
                hint = "; no answer has a reference to be compared with: gold_answer"
        return f"no answer is {asked}{hint}"


def _conflicts(result: SampleResult) -> bool:
    return any(flag.name is FlagName.CONFLICTING_GOLD for flag in result.flags)


def _place(first: int, last: int, found: int, asked: str) -> Text:
    shown = f"{first:,}" if first == last else f"{first:,} to {last:,}"
    return Text(f"{shown} of {found:,} in {asked}", style="bold")


def _show(result: SampleResult, sample: Sample | None, console: Console, lang: Lang) -> None:
    print_answer(result, sample, console)
    lines: Iterable[Text] = ()
    if result.cell is not None:
        lines = _grounds(result, result.cell, sample, lang)
    elif _conflicts(result):
        lines = [_line("no cell", say("conflicting_one", lang))]
    for line in lines:
        console.print(wrap(line, console.width, hang=_COLUMN), soft_wrap=True)


def _grounds(
    result: SampleResult, cell: Quadrant, sample: Sample | None, lang: Lang
) -> Iterator[Text]:
    """Why the answer stands in its cell."""
    yield _line("cell", f"{', '.join(cell.words)}: {told(cell.words, lang, partly=cell.partly)}")
    if sample is None:
        return
    if result.correctness is None and (reference := flat(sample.gold_answer or "")):
        yield _line("reference", reference)
    found, missed = look_up(sample, _match(cell))
    if _changed(cell, found, missed, sample.gold_answer):
        yield _line("gold", say("changed", lang))
        return
    if found:
        yield _line("found", _listed(found))
    if missed:
        yield _line("missed", _listed(missed))


def _changed(
    cell: Quadrant, found: Sequence[str], missed: Sequence[str], reference: str | None
) -> bool:
    """Whether gold, as it stands in the input, would put the answer elsewhere."""
    if not cell.answerable:  # it may name chunks, where its reference abstains
        return bool(found or missed) and not (reference or "").strip()
    named = bool(found or missed)
    return not named or (bool(found), bool(found and missed)) != (cell.retrieved, cell.partly)


def _match(cell: Quadrant) -> Literal["exact", "prefix"]:
    return "prefix" if cell.signature.endswith("gold:prefix") else "exact"


def _listed(ids: Sequence[str]) -> str:
    more = f" and {len(ids) - _NAMED} more" if len(ids) > _NAMED else ""
    return ", ".join(clip(flat(name), LONGEST) for name in ids[:_NAMED]) + more


def _line(name: str, said: str = "") -> Text:
    return Text(f"{name:<{_COLUMN}}", style="bold").append(said, style="not bold")
