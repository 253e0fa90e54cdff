"""What is wrong, printed: findings of a run, and sentences in a list."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Final, TypeVar, get_args

from rich.cells import cell_len
from rich.text import Text

from judge.cli.render.looks import citation_line, failure_line, look_of, mark, meaning, quoted, word
from judge.cli.terminal import Page, number, words
from judge.messages import Lang, Messages
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


def counted(noun: str, count: int, lang: Lang) -> str:
    """So many of them: `counted("claim", 2, "en")` is `2 claims`."""
    return words("totals", "counted", lang)(noun, count=count)


def listed(parts: Mapping[_Part, int], group: str, lang: Lang) -> str:
    """How many of each, those of nothing left out; a name without a word stays as it is."""
    texts = Messages.of("looks")
    named = {
        texts(f"{group}.{part}", lang) if f"{group}.{part}" in texts else part: count
        for part, count in parts.items()
        if count
    }
    if lang == "zh":
        return "、".join(f"{name} {n}" for name, n in named.items())
    return ", ".join(f"{n} {name}" for name, n in named.items())


def print_findings(
    summary: Summary, found: Mapping[FindingName, Finding], page: Page, *, examples: bool
) -> None:
    """Print how often which thing is wrong, each with one example."""
    say = words("totals", "finding", page.lang)
    claims = counted("claim", summary.judged, page.lang)
    answers = counted("answer", summary.answers, page.lang)
    title = "title_similarity" if summary.by_similarity else "title"
    page.say(say(title, claims=claims, answers=answers), style="bold")
    if not summary.judged:
        page.say(say("nothing_judged"), _GAP)
    wide = _GAP + column(page.lang) + _GAP
    for name, each in found.items():
        if not _matters(name, each, summary):
            continue
        label = say(name)
        line = Text(f"  {label}{' ' * (wide - _GAP - cell_len(label))}", style="bold")
        told = _told(name, each, summary, page) if each.count else say("none")
        line.append(told, style="not bold" if each.count else "not bold dim")
        page.say(line, hang=wide)
        if examples and each.example is not None:
            print_entry(each.example, page, _grounds(name, each.example, page), indent=_INDENT)


def column(lang: Lang) -> int:
    """How wide the names of findings are."""
    say = words("totals", "finding", lang)
    return max(cell_len(say(name)) for name in get_args(FindingName))


def _matters(name: FindingName, found: Finding, summary: Summary) -> bool:
    """Whether a finding is told: where it could be made, and a partial one where there is any."""
    if name == "citations":
        return any(summary.citations.values())
    return bool(found.count if name == "partial" else summary.judged)


def _told(name: FindingName, found: Finding, summary: Summary, page: Page) -> str:
    say, lang = words("totals", "finding", page.lang), page.lang
    answers = counted("answer", found.answers, lang)
    if name == "citations":
        parts = {status: summary.citations[status] for status in BAD}
        total = counted("citation", sum(summary.citations.values()), lang)
        values = {"count": f"{found.count:,}", "total": total, "answers": answers}
        return say("bad", parts=listed(parts, "citation", lang), **values)
    count = counted("claim", found.count, lang)
    return say("where", count=count, answers=answers, means=say(f"means_{name}"))


def _grounds(name: FindingName, entry: Entry, page: Page) -> Iterator[Text]:
    """What makes an example one: the words or the quote that disagree."""
    if name == "citations":
        bad = [each for each in entry.citations if each.status in BAD]
        first = min(bad, key=lambda each: each.status != CitationStatus.DANGLING)
        yield citation_line(first, page)
    else:
        yield from _reasons(entry, page)


def grounds(entry: Entry, page: Page, cited: Collection[CitationStatus] = BAD) -> Iterator[Text]:
    """All that speaks for and against a sentence in a list, and its citations of some status."""
    yield from _reasons(entry, page)
    yield from flag_lines(entry.flags, page)
    for citation in entry.citations:
        if citation.status in cited:
            yield citation_line(citation, page)


def _reasons(entry: Entry, page: Page) -> Iterator[Text]:
    outcome = entry.sentence.outcome
    if failure := failure_of(outcome):
        yield Text(clip(failure_line(failure, page), _LONGEST_DETAIL), style="cyan")
    if not isinstance(outcome, Verdict):
        return
    if outcome.reason:
        yield Text(clip(flat(outcome.reason), _LONGEST_DETAIL), style="dim")
    if outcome.support in {Support.CONTRADICTED, Support.PARTIAL} and outcome.evidence:
        evidence = outcome.evidence[0]
        quote = quoted(clip(flat(evidence.quote), _LONGEST), page)
        yield Text(f"{flat(evidence.chunk_id)}  ", style="bold").append(quote, style="not bold")


def flag_lines(flags: Iterable[Flag], page: Page) -> Iterator[Text]:
    """What flags say, a line each."""
    for flag in flags:
        told = clip(meaning(flag, page), _LONGEST_DETAIL)
        yield Text(f"{flag.name.value}: {told}", style="yellow")


def print_entry(entry: Entry, page: Page, below: Iterable[Text], indent: int = 0) -> None:
    """Print a sentence of a list: its mark, label, whose it is, and what it rests on."""
    outcome = entry.sentence.outcome
    look = look_of(outcome)
    line = Text(f"{mark(look, page)} {word(look, page)}", style=look.style)
    if isinstance(outcome, Verdict):
        line.append("" if outcome.score is None else f" {number(outcome.score)}")
        if outcome.fallback_from:
            say = words("totals", "worst", page.lang)
            line.append(say("instead", source=outcome.source))
    line.append(f"  {flat(entry.qid)}  ", style="bold")
    line.append(clip(flat(entry.sentence.text), _LONGEST), style="default")
    page.say(line, indent, hang=2)
    for ground in below:
        page.say(ground, indent + _INDENT)
