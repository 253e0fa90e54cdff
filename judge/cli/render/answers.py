"""Print answers with the labels, evidence, citations and flags of their sentences, or lists.

A support label always has a mark, a colour and a word, so that each of them is enough to read it.
"""

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from io import StringIO
from typing import Final, NamedTuple

from rich.cells import cell_len
from rich.console import Console
from rich.rule import Rule
from rich.text import Text

from judge.cli.terminal import Page, number
from judge.errors import ConfigError
from judge.inputs.runs import is_of
from judge.messages import LANGS, Lang, Messages, use_language
from judge.records import (
    AnswerRelevance,
    Citation,
    CitationStatus,
    ContextScores,
    Correctness,
    Evidence,
    Excluded,
    Flag,
    FlagName,
    GateResult,
    Outcome,
    Sample,
    SampleResult,
    Support,
    Unscored,
    Verdict,
    failure_of,
)
from judge.records.result import ANSWER, GOLD
from judge.reports.gate import describe
from judge.reports.totals import reading
from judge.reports.worst import BAD_CITATIONS, Entry, Filter, Worst, entries, outcomes
from judge.scores.answer import by_similarity, is_undecided
from judge.scores.correctness import look_up, row_of
from judge.signature import Signature
from judge.text.fold import CJK
from judge.text.visible import clip, flat, short

_TEXT_WIDTH: Final = 80
_INDENT: Final = 5
_ENTRY_INDENT: Final = 4
_MAX_TEXT: Final = 160
_MAX_DETAIL: Final = 500
_CELL_COLUMN: Final = 11
_MAX_IDS: Final = 10
_MAX_ID: Final = 40
_CONTEXT: Final = 80
"""Characters of a chunk that are shown on either side of a quote."""
_LETTER: Final = re.compile(rf"(?![{CJK}])\w")
_LETTERS_AT_START: Final = re.compile(rf"^(?:(?![{CJK}])\w)+")
_LETTERS_AT_END: Final = re.compile(rf"(?:(?![{CJK}])\w)+$")


class Look(NamedTuple):
    """The key of a label's word and mark among the messages, and its style."""

    name: str
    style: str
    ascii: str
    """The mark on a terminal that does not know the other one."""


LOOKS: Final = {
    "full": Look("full", "green", "+"),
    "partial": Look("partial", "yellow", "~"),
    "none": Look("none", "red", "x"),
    "contradicted": Look("contradicted", "bold magenta", "!"),
    "no_claim": Look("no_claim", "dim", "."),
    "undecided": Look("undecided", "cyan", "?"),
    "unscored": Look("unscored", "cyan", "-"),
    "excluded": Look("excluded", "dim", "."),
}
"""The looks of labels; `excluded` is that of sentences that are no claims."""
_WITHOUT_VERDICT: Final = {"undecided", "unscored"}
"""The labels whose marks are explained below an answer only where they occur."""
_CITATION_STYLES: Final = {
    CitationStatus.VALID: "green",
    CitationStatus.UNSUPPORTED: "red",
    CitationStatus.DANGLING: "bold red",
    CitationStatus.UNJUDGED: "cyan",
}


def look_of(outcome: Outcome) -> Look:
    """Return the look of an outcome."""
    if isinstance(outcome, Verdict):
        return LOOKS[outcome.support.value]
    name = "undecided" if is_undecided(outcome) else outcome.type
    return LOOKS[name]


def mark(look: Look, page: Page) -> str:
    """Return the mark of a label."""
    return Messages.of("looks", "mark")(look.name) if page.speaks_utf else look.ascii


def _label(look: Look) -> str:
    return Messages.of("looks", "label")(look.name)


def _quoted(text: str, page: Page) -> str:
    # Chinese encodings other than GB 18030 lack these quotation marks.
    return f"«{text}»" if page.speaks_utf else f'"{text}"'


def failure_line(failure: Unscored) -> str:
    """Return the reason why there is no verdict, with its detail."""
    reason, detail = failure.reason.value, flat(failure.detail)
    if detail.startswith(reason.replace("_", " ")):
        return detail
    name = Messages.of("looks", "unscored")(reason)
    return f"{name}: {detail}" if detail else name


def gate_line(result: GateResult) -> Text:
    """Return a gate, its value, and whether it passed."""
    return Text(describe(result), style="green" if result.passed else "bold red")


def _meaning(flag: Flag) -> str:
    meaning = Messages.of("looks", "flag")(flag.name.value)
    return f"{flat(flag.detail)}: {meaning}" if flag.detail else meaning


def _citation(citation: Citation) -> Text:
    say = Messages.of("looks", "citation")
    line = Text(f"{say('cites', marker=flat(citation.marker))} ")
    if citation.chunk_id is not None and citation.chunk_id not in citation.marker:
        line.append(f"= {flat(citation.chunk_id)} ")
    if citation.status is None:
        return line.append(say("uncounted"), style="dim")
    line.append(say(citation.status.value), style=_CITATION_STYLES[citation.status])
    if citation.reason:
        line.append(say("why", reason=flat(citation.reason)))
    if citation.suggested is not None:
        line.append(say("would_hold", chunk=flat(citation.suggested)))
    return line


def text_of(result: SampleResult, sample: Sample | None, lang: Lang) -> str:
    """Return the text that `SampleResult.explain` returns."""
    if lang not in LANGS:
        raise ConfigError(f"lang {lang!r}: give one of {', '.join(LANGS)}")
    if sample is not None and not (sample.qid == result.qid and is_of(result, sample)):
        raise ConfigError(f"this is the result of qid {result.qid!r}; give the sample it is of")
    file = StringIO()
    # In a notebook rich would add colours.
    page = Page(Console(file=file, width=_TEXT_WIDTH, color_system=None, force_jupyter=False))
    with use_language(lang):
        print_answer(result, sample, page)
    return file.getvalue()


def print_answer(
    result: SampleResult, sample: Sample | None, page: Page, *, is_gone: bool = False
) -> None:
    """Print a result with its evidence, and why it is in its cell.

    Without the sample, quotes have no context. With `is_gone`, a line says that the input is gone.
    """
    say = Messages.of("answer", "head")
    title = Text(flat(result.qid), style="bold")
    if cell_len(title.plain) > page.console.width - _INDENT:  # a rule would cut it
        page.say(title)
    else:
        page.console.print(Rule(title, align="left", style="dim"))
    if is_gone:
        page.say(say("gone"), style="dim")
    if sample is not None and sample.query:
        page.say(say("question", query=sample.query))
    page.say(_score_line(result), style="bold")
    for line in _flag_lines(_by_name(flag for flag in result.flags if flag.sentence is None)):
        page.say(line, hang=2)
    page.blank()
    page.say(_tinted(result, sample, page) or Text(say("empty"), style="dim"))
    page.blank()
    _print_claims(result, sample, page)
    page.blank()
    if result.correctness is not None:
        _print_reference(result, result.correctness, sample, page)
        page.blank()
    if result.answer_relevance is not None:
        _print_relevance(result.answer_relevance, sample, page)
        page.blank()
    if result.context is not None:
        _print_context(result.context, _texts(sample), page)
        page.blank()
    absent = _WITHOUT_VERDICT - {look_of(each).name for each in outcomes(result)}
    page.say(
        Text("  ").join(
            Text(f"{mark(look, page)} {_label(look)}", style=look.style)
            for look in LOOKS.values()
            if look.name not in {"no_claim", *absent}
        )
    )
    added = {name: [each.signature] for name, each in result.added.items()}
    page.made_by([result.signature], added)
    for name, text in _cell_lines(result, sample):
        line = Text(f"{name}{' ' * (_CELL_COLUMN - cell_len(name))}", style="bold")
        page.say(line.append(text, style="not bold"), hang=_CELL_COLUMN)


def _cell_lines(result: SampleResult, sample: Sample | None) -> Iterator[tuple[str, str]]:
    """Yield why an answer is in its cell of the table of quadrants: names and texts."""
    cell, say = result.cell, Messages.of("quadrants", "say")
    name = Messages.of("quadrants", "ground")
    if cell is None:
        if any(flag.name is FlagName.CONFLICTING_GOLD for flag in result.flags):
            yield name("no_cell"), say("conflicting_one")
        return
    half = row_of(cell.words).half
    text = say(
        "told",
        reading=reading(cell.words),
        half=Messages.of("quadrants", "broken")(half),
    )
    words = name("joint").join(map(Messages.of("quadrants", "word"), cell.words))
    yield name("cell"), name("placed", words=words, told=text)
    if sample is None:
        return
    if result.correctness is None and (reference := flat(sample.gold_answer or "")):
        yield name("reference"), reference
    by_document = Signature.parse(cell.signature).part("gold") == "prefix"
    found, missed = look_up(sample, "prefix" if by_document else "exact")
    for key, ids in (("found", found), ("missed", missed)):
        if ids:
            listed = ", ".join(short(each, _MAX_ID) for each in ids[:_MAX_IDS])
            rest = len(ids) - _MAX_IDS
            yield name(key), name("more", ids=listed, count=rest) if rest > 0 else listed


def _tinted(result: SampleResult, sample: Sample | None, page: Page) -> Text:
    """Return the answer in the colours of its sentences, with mark and number before each claim."""
    text, position = Text(), 0
    for sentence in result.sentences:
        if sample is not None:
            text.append(sample.answer[position : sentence.start])
        elif position:
            text.append("\n")
        look = look_of(sentence.outcome)
        if not isinstance(sentence.outcome, Excluded):
            text.append(f"{mark(look, page)}{sentence.index + 1} ", style=f"bold {look.style}")
        text.append(sentence.text, style=look.style)
        position = sentence.end
    if sample is not None and result.sentences:
        text.append(sample.answer[position:].rstrip())
    return text


def _print_claims(result: SampleResult, sample: Sample | None, page: Page) -> None:
    """Print each claim with its evidence and citations, then the citations in other sentences."""
    chunks = _texts(sample)
    notes = defaultdict[int, list[Text]](list)
    elsewhere = list[Text]()
    for citation in result.citations:
        line = _citation(citation)
        if isinstance(result.sentences[citation.sentence].outcome, Excluded):
            place = f"{mark(LOOKS['excluded'], page)}{citation.sentence + 1:<3} "
            elsewhere.append(Text(place, style="dim").append_text(line))
        else:
            notes[citation.sentence].append(line)
    for sentence in result.sentences:
        if not isinstance(sentence.outcome, Excluded):
            page.say(_heading(sentence.index, sentence.outcome, page), hang=_INDENT)
            own = [*notes[sentence.index], *_flags_of(sentence.index, result.flags)]
            _print_evidence(sentence.outcome, chunks, own, page)
    for line in elsewhere:
        page.say(line, hang=_INDENT)


def _texts(sample: Sample | None) -> Mapping[str, Sequence[str]]:
    """Return the texts of the chunks by id."""
    chunks = defaultdict[str, list[str]](list)
    for chunk in sample.chunks if sample else ():
        chunks[chunk.chunk_id].append(chunk.text)
    return chunks


def _print_reference(
    result: SampleResult, found: Correctness, sample: Sample | None, page: Page
) -> None:
    """Print how the answer agrees with its reference, sentence by sentence."""
    say = Messages.of("answer", "reference")
    page.say(_agreement_line(found), hang=_INDENT, style="bold")
    if not (found.of_answer.claims or found.of_reference.claims):
        for sentence in found.reference:  # they were not judged, and have no label
            page.say(sentence.text, _INDENT, style="dim")
        return

    page.say(say("said"), hang=_INDENT, style="bold")
    answer = sample.answer if sample else ""
    for each in found.reference:
        texts = {ANSWER: [answer]}
        _print_claim(each.index, each.outcome, each.text, texts, found.reference_flags, page)
    flagged = {flag.sentence for flag in found.answer_flags}
    beyond = [c for c in found.answer if c.index in flagged or not _is_held(c.outcome)]
    if beyond:
        page.say(say("beyond"), hang=_INDENT, style="bold")
    gold = (sample.gold_answer if sample else None) or ""
    for claim in beyond:
        text = result.sentences[claim.index].text
        texts = {GOLD: [gold]}
        _print_claim(claim.index, claim.outcome, text, texts, found.answer_flags, page)


def _print_claim(
    index: int,
    outcome: Outcome,
    text: str,
    texts: Mapping[str, Sequence[str]],
    flags: Iterable[Flag],
    page: Page,
) -> None:
    """Print the text of a claim, its label and its evidence in `texts`."""
    page.say(_heading(index, outcome, page), hang=_INDENT)
    page.say(text, _INDENT, style=look_of(outcome).style)
    _print_evidence(outcome, texts, _flags_of(index, flags), page)


def _print_context(found: ContextScores, texts: Mapping[str, Sequence[str]], page: Page) -> None:
    """Print how well the chunks support the reference, claim by claim."""
    recall, precision = "context_recall", "context_precision"
    if by_similarity(each.outcome for each in found.reference):
        recall, precision = "looks_recalled", "looks_precise"
    parts = [
        Messages.of("looks", "compared")(found.status.value),
        *_numbers({recall: found.recall}),
        *_bounds(found.of_reference.unscored, found.recall_bounds),
        *_numbers({precision: found.precision}),
    ]
    line = Messages.of("answer", "reference")("context", parts=" · ".join(parts))
    page.say(line, hang=_INDENT, style="bold")
    for each in found.reference:
        if not isinstance(each.outcome, Excluded):
            _print_claim(each.index, each.outcome, each.text, texts, found.flags, page)


def _is_held(outcome: Outcome) -> bool:
    """Whether the reference says what a claim of the answer says, by the judge itself."""
    return (
        isinstance(outcome, Verdict)
        and not outcome.fallback_from
        and outcome.support in {Support.FULL, Support.NO_CLAIM}
    )


def _print_relevance(found: AnswerRelevance, sample: Sample | None, page: Page) -> None:
    """Print how far the answer answers its question, part by part."""
    say, names = Messages.of("answer", "related"), Messages.of("looks", "answered")
    parts = [
        say(found.status.value),
        *_numbers({"relevance": found.score}),
        *_bounds(len(found.failures), found.bounds),
    ]
    page.say(say("line", parts=" · ".join(parts)), hang=_INDENT, style="bold")
    if found.failure is not None:
        page.say(failure_line(found.failure), _INDENT, style=LOOKS["unscored"].style)
    answer = sample.answer if sample else ""
    for part in found.parts:
        look = look_of(part.outcome)
        text = say("part", answered=names(look.name), words=flat(part.text))
        line = f"{mark(look, page)}{part.index + 1:<3} {text}"
        if isinstance(part.outcome, Unscored):
            line = f"{line} ({failure_line(part.outcome)})"
        page.say(line, hang=_INDENT, style=look.style)
        notes = _flags_of(part.index, found.flags)
        _print_evidence(part.outcome, {ANSWER: [answer]}, notes, page)


def _print_evidence(
    outcome: Outcome, texts: Mapping[str, Sequence[str]], notes: Iterable[Text], page: Page
) -> None:
    """Print the judge's reason, the quotes with their context in `texts`, and notes."""
    if isinstance(outcome, Unscored) and is_undecided(outcome):
        page.say(flat(outcome.detail), _INDENT)
    if isinstance(outcome, Verdict):
        if outcome.askings:
            labels, reasons = Messages.of("looks", "label"), Messages.of("looks", "unscored")
            names = (
                labels(each.value) if isinstance(each, Support) else reasons(each.value)
                for each in outcome.askings
            )
            answers = Messages.of("looks", "gate")("joint").join(names)
            say = Messages.of("answer", "claim")
            page.say(say("askings", count=len(outcome.askings), told=answers), _INDENT)
        if outcome.reason:
            page.say(flat(outcome.reason), _INDENT)
        for evidence in outcome.evidence:
            page.say(_in_context(evidence, texts.get(evidence.chunk_id, []), page), _INDENT)
    for line in notes:
        page.say(line, _INDENT)


def _heading(index: int, outcome: Outcome, page: Page) -> Text:
    """Return the mark, number and label of a sentence, and who gave the label."""
    look, say = look_of(outcome), Messages.of("answer", "claim")
    line = Text(f"{mark(look, page)}{index + 1:<3} {_label(look)}", style=look.style)
    if not isinstance(outcome, Excluded) and outcome.score is not None:
        line.append(f", {say('probability', score=number(outcome.score))}")
    if isinstance(outcome, Verdict) and outcome.fallback_from is not None:
        failure = failure_line(outcome.fallback_from)
        line.append(f", {say('instead', source=outcome.source, failure=failure)}", "cyan")
    if isinstance(outcome, Unscored) and not is_undecided(outcome):
        line.append(f": {failure_line(outcome)}")
    return line


def _flags_of(index: int, flags: Iterable[Flag]) -> list[Text]:
    return [_flag(flag) for flag in flags if flag.sentence == index]


def _flag(flag: Flag) -> Text:
    say = Messages.of("answer", "claim")
    return Text(say("flag", name=flag.name.value, means=_meaning(flag)), style="yellow")


def _in_context(evidence: Evidence, texts: Sequence[str], page: Page) -> Text:
    """Return a quote with the text around it in its chunk."""
    line = Text(f"{flat(evidence.chunk_id)}  ", style="bold")
    quote = Text(_quoted(_one_line(evidence.quote), page), style="not bold")
    start, end = evidence.start, evidence.end
    if not evidence.verified or start is None or end is None:
        missing = Messages.of("answer", "claim")("not_found")
        return line.append(missing, "not bold yellow").append_text(quote)
    text = next((text for text in texts if text[start:end] == evidence.quote), None)
    if text is None:
        return line.append_text(quote)
    before, after = text[max(0, start - _CONTEXT) : start], text[end : end + _CONTEXT]
    if start > _CONTEXT:
        is_torn = _LETTER.match(text[start - _CONTEXT - 1])
        before = "…" + (_LETTERS_AT_START.sub("", before) if is_torn else before).lstrip()
    if end + _CONTEXT < len(text):
        is_torn = _LETTER.match(text[end + _CONTEXT])
        after = (_LETTERS_AT_END.sub("", after) if is_torn else after).rstrip() + "…"
    line.append(_one_line(before), "not bold dim").append_text(quote)
    return line.append(_one_line(after), "not bold dim")


def _one_line(text: str) -> str:
    """Return a part of a text as one line; a blank at either end stays one."""
    return (" " if text[:1].isspace() else "") + flat(text) + (" " if text[-1:].isspace() else "")


def _score_line(result: SampleResult) -> str:
    scores = result.scores
    offline = by_similarity(sentence.outcome for sentence in result.sentences)
    name = "looks_supported" if offline else "faithfulness"
    cited = {"coverage": scores.coverage, "validity": scores.citation_validity}
    return " · ".join(
        [
            Messages.of("looks", "status")(result.status.value),
            *_numbers({name: scores.faithfulness}),
            *_bounds(scores.unscored, scores.faithfulness_bounds),
            *_numbers({"with_fallback": scores.faithfulness_with_fallback} | cited),
        ]
    )


def _agreement_line(found: Correctness) -> str:
    say = Messages.of("answer", "reference")
    outcomes = [each.outcome for each in found.answer] + [each.outcome for each in found.reference]
    name = "looks_correct" if by_similarity(outcomes) else "correctness"
    unscored = found.of_answer.unscored + found.of_reference.unscored
    parts = [
        say(found.status.value),
        *_numbers({name: found.f1, "precision": found.precision, "recall": found.recall}),
        *_bounds(unscored, found.f1_bounds),
        *_numbers({"with_fallback": found.f1_with_fallback}),
    ]
    return say("line", parts=" · ".join(parts))


def _numbers(scores: Mapping[str, float | None]) -> list[str]:
    say = Messages.of("answer", "score")
    return [f"{say(name)} {number(value)}" for name, value in scores.items() if value is not None]


def _bounds(unscored: int, bounds: tuple[float, float] | None) -> list[str]:
    if not unscored or not bounds:
        return []
    low, high = map(number, bounds)
    return [Messages.of("answer", "score")("open", low=low, high=high, unscored=unscored)]


def print_list(
    results: Iterable[SampleResult], wanted: Filter, size: int, page: Page, *, is_worst: bool
) -> None:
    """Print the first `size` sentences or answers that a filter finds, or the worst sentences.

    Below them is their number.
    """
    say = Messages.of("answer", "list")
    answers, total, has_cells = 0, 0, False
    worst = Worst(size)
    for result in results:
        answers += 1
        has_cells |= result.cell is not None
        indexes = wanted.indexes(result)
        if is_worst:
            worst.add(result, indexes)
        elif indexes is None:
            total += 1
            if total <= size:
                _print_beginning(result, page)
        elif indexes:
            listed = entries(result)
            for entry in (listed[index] for index in indexes):
                total += 1
                if total <= size:
                    print_entry(entry, page, grounds(entry, page, wanted.cited or BAD_CITATIONS))
    for entry in worst.sentences():
        total += 1
        print_entry(entry, page, grounds(entry, page, wanted.cited or BAD_CITATIONS))
    read = Messages.of("totals", "counted")("answer", count=answers)
    if not total:
        page.say(say("nothing", answers=read), hang=2)
        if wanted.cell and not has_cells:
            page.say(say("no_cells"), hang=2)
        return
    page.blank()
    key = "worst" if is_worst else "shown" if total <= size else "first"
    page.copied(say(key, answers=read, shown=f"{min(size, total):,}", total=total), "bold")


def _print_beginning(result: SampleResult, page: Page) -> None:
    """Print the name, the scores, the first sentences and the flags of an answer."""
    line = Text(f"{flat(result.qid)}  ", style="bold")
    page.say(line.append(_score_line(result), style="not bold"), hang=2)
    text = flat(" ".join(sentence.text for sentence in result.sentences[:3]))
    page.say(clip(text, _MAX_TEXT), _ENTRY_INDENT)
    for line in _flag_lines(flag for flag in result.flags if flag.sentence is None):
        page.say(line, _ENTRY_INDENT)


def print_entry(entry: Entry, page: Page, below: Iterable[Text], indent: int = 0) -> None:
    """Print one sentence of a list, and the lines below it."""
    outcome = entry.sentence.outcome
    look = look_of(outcome)
    line = Text(f"{mark(look, page)} {_label(look)}", style=look.style)
    if not isinstance(outcome, Excluded) and outcome.score is not None:
        line.append(f" {number(outcome.score)}")
    if isinstance(outcome, Verdict) and outcome.fallback_from:
        line.append(Messages.of("totals", "worst")("instead", source=outcome.source))
    line.append(f"  {flat(entry.qid)}  ", style="bold")
    line.append(clip(flat(entry.sentence.text), _MAX_TEXT), style="default")
    page.say(line, indent, hang=2)
    for ground in below:
        page.say(ground, indent + _ENTRY_INDENT)


def grounds(
    entry: Entry, page: Page, statuses: Collection[CitationStatus] = BAD_CITATIONS
) -> Iterator[Text]:
    """Yield lines for the reasons and flags of a sentence, and its citations with `statuses`."""
    yield from reasons(entry, page)
    yield from _flag_lines(entry.flags)
    yield from citations(entry, statuses)


def reasons(entry: Entry, page: Page) -> Iterator[Text]:
    """Yield lines for the failure, the judge's reason, and the quote of a sentence."""
    outcome = entry.sentence.outcome
    if failure := failure_of(outcome):
        undecided = is_undecided(outcome)
        line = flat(failure.detail) if undecided else failure_line(failure)
        yield Text(clip(line, _MAX_DETAIL), style="dim" if undecided else "cyan")
    if not isinstance(outcome, Verdict):
        return
    if outcome.reason:
        yield Text(clip(flat(outcome.reason), _MAX_DETAIL), style="dim")
    if outcome.support in {Support.CONTRADICTED, Support.PARTIAL} and outcome.evidence:
        evidence = outcome.evidence[0]
        quote = _quoted(clip(flat(evidence.quote), _MAX_TEXT), page)
        yield Text(f"{flat(evidence.chunk_id)}  ", style="bold").append(quote, style="not bold")


def citations(entry: Entry, statuses: Collection[CitationStatus]) -> Iterator[Text]:
    """Yield a line for each citation that has one of `statuses`."""
    return (_citation(each) for each in entry.citations if each.status in statuses)


def _by_name(flags: Iterable[Flag]) -> Iterator[Flag]:
    """Yield one flag for each name, with the details of all flags of that name."""
    details: dict[FlagName, list[str]] = {}
    for flag in flags:
        details.setdefault(flag.name, []).append(flag.detail)
    for name, own in details.items():
        yield Flag(name=name, detail="; ".join(filter(None, own)))


def _flag_lines(flags: Iterable[Flag]) -> Iterator[Text]:
    for flag in flags:
        yield Text(f"{flag.name.value}: {clip(_meaning(flag), _MAX_DETAIL)}", style="yellow")
