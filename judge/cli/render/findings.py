"""What is wrong, printed: findings of a run, and sentences in a list."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Final, TypeVar, get_args

from rich.cells import cell_len
from rich.text import Text

from judge.cli.render.looks import citation_line, failure_line, look_of, mark, meaning, quoted, word
from judge.cli.terminal import Page, number
from judge.messages import Messages
from judge.records import CitationStatus, Flag, Summary, Support, Verdict, failure_of
from judge.reports.worst import Entry, Finding, FindingName
from judge.text.visible import clip, flat

_Part = TypeVar("_Part", bound=str)

_LONGEST: Final = 160
"""Characters of a sentence that is listed."""
_LONGEST_DETAIL: Final = 500
_INDENT: Final = 4
_GAP: Final = 2
BAD: Final = (CitationStatus.UNSUPPORTED, CitationStatus.DANGLING)


def counted(noun: str, count: int) -> str:
    """Return a count with its noun, such as `2 claims` for `counted("claim", 2)`."""
    return Messages.of("totals", "counted")(noun, count=count)


def listed(parts: Mapping[_Part, int], group: str) -> str:
    """Return the counts that are not 0, each with its word in a group of `looks`, if it has one."""
    names = Messages.of("looks", group) if group else Messages({})
    say = Messages.of("totals", "counted")
    return say("joint").join(
        say("each", name=names(part) if part in names else part, count=count)
        for part, count in parts.items()
        if count
    )


def print_findings(
    summary: Summary, found: Mapping[FindingName, Finding], page: Page, *, examples: bool
) -> None:
    """Print how often which thing is wrong, each with one example."""
    say = Messages.of("totals", "finding")
    claims = counted("claim", summary.judged)
    answers = counted("answer", summary.answers)
    title = "title_similarity" if summary.by_similarity else "title"
    page.say(say(title, claims=claims, answers=answers), style="bold")
    if not summary.judged:
        page.say(say("nothing_judged"), _GAP)
    wide = _GAP + column() + _GAP
    for name, each in found.items():
        if not _matters(name, each, summary):
            continue
        label = say(name)
        line = Text(f"  {label}{' ' * (wide - _GAP - cell_len(label))}", style="bold")
        told = _told(name, each, summary) if each.count else say("none")
        line.append(told, style="not bold" if each.count else "not bold dim")
        page.say(line, hang=wide)
        if examples and each.example is not None:
            print_entry(each.example, page, _grounds(name, each.example, page), indent=_INDENT)


def column() -> int:
    """How wide the names of findings are."""
    say = Messages.of("totals", "finding")
    return max(cell_len(say(name)) for name in get_args(FindingName))


def _matters(name: FindingName, found: Finding, summary: Summary) -> bool:
    """Whether a finding is told: where it could be made, and a partial one where there is any."""
    if name == "citations":
        return any(summary.citations.values())
    return bool(found.count if name == "partial" else summary.judged)


def _told(name: FindingName, found: Finding, summary: Summary) -> str:
    say = Messages.of("totals", "finding")
    answers = counted("answer", found.answers)
    if name == "citations":
        parts = {status: summary.citations[status] for status in BAD}
        total = counted("citation", sum(summary.citations.values()))
        values = {"count": f"{found.count:,}", "total": total, "answers": answers}
        return say("bad", parts=listed(parts, "citation"), **values)
    count = counted("claim", found.count)
    return say("where", count=count, answers=answers, means=Messages.of("totals", "means")(name))


def _grounds(name: FindingName, entry: Entry, page: Page) -> Iterator[Text]:
    """What makes an example one: the words or the quote that disagree."""
    if name == "citations":
        bad = [each for each in entry.citations if each.status in BAD]
        first = min(bad, key=lambda each: each.status != CitationStatus.DANGLING)
        yield citation_line(first)
    else:
        yield from _reasons(entry, page)


def grounds(entry: Entry, page: Page, cited: Collection[CitationStatus] = BAD) -> Iterator[Text]:
    """All that speaks for and against a sentence in a list, and its citations of some status."""
    yield from _reasons(entry, page)
    yield from flag_lines(entry.flags)
    for citation in entry.citations:
        if citation.status in cited:
            yield citation_line(citation)


def _reasons(entry: Entry, page: Page) -> Iterator[Text]:
    outcome = entry.sentence.outcome
    if failure := failure_of(outcome):
        yield Text(clip(failure_line(failure), _LONGEST_DETAIL), style="cyan")
    if not isinstance(outcome, Verdict):
        return
    if outcome.reason:
        yield Text(clip(flat(outcome.reason), _LONGEST_DETAIL), style="dim")
    if outcome.support in {Support.CONTRADICTED, Support.PARTIAL} and outcome.evidence:
        evidence = outcome.evidence[0]
        quote = quoted(clip(flat(evidence.quote), _LONGEST), page)
        yield Text(f"{flat(evidence.chunk_id)}  ", style="bold").append(quote, style="not bold")


def flag_lines(flags: Iterable[Flag]) -> Iterator[Text]:
    """What flags say, a line each."""
    for flag in flags:
        told = clip(meaning(flag), _LONGEST_DETAIL)
        yield Text(f"{flag.name.value}: {told}", style="yellow")


def print_entry(entry: Entry, page: Page, below: Iterable[Text], indent: int = 0) -> None:
    """Print a sentence of a list: its mark, label, whose it is, and what it rests on."""
    outcome = entry.sentence.outcome
    look = look_of(outcome)
    line = Text(f"{mark(look, page)} {word(look)}", style=look.style)
    if isinstance(outcome, Verdict):
        line.append("" if outcome.score is None else f" {number(outcome.score)}")
        if outcome.fallback_from:
            say = Messages.of("totals", "worst")
            line.append(say("instead", source=outcome.source))
    line.append(f"  {flat(entry.qid)}  ", style="bold")
    line.append(clip(flat(entry.sentence.text), _LONGEST), style="default")
    page.say(line, indent, hang=2)
    for ground in below:
        page.say(ground, indent + _INDENT)
