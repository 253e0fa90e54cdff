"""The sentences or answers of a run that a filter lets through, printed."""

import shlex
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from rich.text import Text

from judge.cli.render.answer import score_line
from judge.cli.render.findings import BAD, counted, flag_lines, grounds, print_entry
from judge.cli.terminal import Page
from judge.messages import Messages
from judge.records import SampleResult
from judge.reports.filters import Filter
from judge.reports.worst import Entry, Worst, entries
from judge.text.visible import clip, flat

_LONGEST: Final = 160
"""Characters of an answer."""
_FIRST: Final = 3
"""Sentences that show how an answer begins."""
_INDENT: Final = 4
_NAMES: Final = 3
"""Words of a command before its options: `judge show RUN`."""


class Part(NamedTuple):
    """Which part of a list is printed."""

    most: int
    """So many."""
    skip: int = 0
    """After so many."""
    worst: bool = False
    """Worst first, and no more than these; else in input order."""


def print_list(
    results: Iterable[SampleResult], asked: Filter, part: Part, command: Sequence[str], page: Page
) -> None:
    """Print a part of what is asked for, how much there is, and the command that goes on."""
    say = Messages.of("answer", "list")
    seen = _Counted(results)
    found = _worst(seen, asked, part.most) if part.worst else _all(seen, asked)
    total, last = 0, part.skip + part.most
    for total, each in enumerate(found, start=1):
        if not part.skip < total <= last:
            continue
        if isinstance(each, Entry):
            print_entry(each, page, grounds(each, page, asked.cited or BAD))
        else:
            _print_result(each, page)
    answers = counted("answer", seen.count)
    if total <= part.skip:
        key = "beyond" if total else "nothing"
        options = shlex.join(command[_NAMES:])
        page.copied(say(key, answers=answers, total=f"{total:,}", skip=part.skip, asked=options))
        return
    page.blank()
    values = {"first": f"{part.skip + 1:,}", "last": f"{min(last, total):,}", "total": f"{total:,}"}
    page.copied(say("worst" if part.worst else "shown", answers=answers, **values), "bold")
    if last < total:
        page.copied(say("next", command=f"{shlex.join(command)} --skip {last}"))


class _Counted:
    """Results, and how many there were."""

    def __init__(self, results: Iterable[SampleResult]) -> None:
        self._results = results
        self.count = 0

    def __iter__(self) -> Iterator[SampleResult]:
        for result in self._results:
            self.count += 1
            yield result


def _all(results: Iterable[SampleResult], asked: Filter) -> Iterator[Entry | SampleResult]:
    for result in results:
        if (meant := asked.indexes(result)) is None:
            yield result
        elif meant:
            listed = entries(result)
            yield from (listed[index] for index in meant)


def _worst(results: Iterable[SampleResult], asked: Filter, size: int) -> list[Entry]:
    worst = Worst(size)
    for result in results:
        worst.add(result, asked.indexes(result))
    return worst.sentences()


def _print_result(result: SampleResult, page: Page) -> None:
    """Print an answer: its name, what became of it, how it begins, what flags it bears."""
    line = Text(f"{flat(result.qid)}  ", style="bold")
    page.say(line.append(score_line(result), style="not bold"), hang=2)
    begins = flat(" ".join(sentence.text for sentence in result.sentences[:_FIRST]))
    page.say(clip(begins, _LONGEST), _INDENT)
    for told in flag_lines(flag for flag in result.flags if flag.sentence is None):
        page.say(told, _INDENT)
