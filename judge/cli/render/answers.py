"""Print answers with the labels, evidence, citations and flags of their sentences, or lists.

A support label always has a mark, a colour and a word, so that each of them is enough to read it.
"""

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from io import StringIO
from itertools import islice
from typing import Final

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
    GateResult,
    Outcome,
    Sample,
    SampleResult,
    SentenceResult,
    Support,
    Unscored,
    Verdict,
)
from judge.records.result import ANSWER, GOLD
from judge.reports.gate import describe
from judge.reports.totals import reading
from judge.reports.worst import BAD_CITATIONS, Entry, Filter, WorstSentences, entries, outcomes
from judge.scores.answer import by_similarity, is_undecided
from judge.scores.correctness import row_of
from judge.text.visible import clip, flat

_TEXT_WIDTH: Final = 80
_INDENT: Final = 5
_ENTRY_INDENT: Final = 4
_MAX_TEXT: Final = 160
_MAX_DETAIL: Final = 500
_WORD_AT_START: Final = re.compile(r"^[a-zA-Z]*\s*")
_WORD_AT_END: Final = re.compile(r"\s*[a-zA-Z]*$")
_CONTEXT: Final = 80
"""Characters of a chunk that are shown on either side of a quote."""
_BLANKS: Final = re.compile(r"\s+")

STYLES: Final = {
    "full": "green",
    "partial": "yellow",
    "none": "red",
    "contradicted": "bold magenta",
    "no_claim": "dim",
    "undecided": "cyan",
    "unscored": "cyan",
    "excluded": "dim",
}
"""The style of each label; `excluded` is that of sentences that are no claims."""
_ALWAYS_EXPLAINED: Final = {"full", "partial", "none", "contradicted", "excluded"}
_CITATION_STYLES: Final = {
    CitationStatus.VALID: "green",
    CitationStatus.UNSUPPORTED: "red",
    CitationStatus.DANGLING: "bold red",
    CitationStatus.UNJUDGED: "cyan",
}
_Texts = Mapping[str, Sequence[str]]
"""The texts with each id, of chunks or of an answer."""


def _label(outcome: Outcome) -> str:
    if isinstance(outcome, Verdict):
        return outcome.support.value
    return "undecided" if is_undecided(outcome) else outcome.type


def _mark(outcome: Outcome) -> str:
    return Messages.of("looks", "mark")(_label(outcome))


def _style(outcome: Outcome) -> str:
    return STYLES[_label(outcome)]


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


def flag_meaning(flag: Flag) -> str:
    """Return the detail and the meaning of a flag."""
    meaning = Messages.of("looks", "flag")(flag.name.value)
    return f"{flat(flag.detail)}: {meaning}" if flag.detail else meaning


def _flag_lines(flags: Iterable[Flag], sentence: int | None = None) -> Iterator[Text]:
    """Yield a line for each flag of a sentence, or by default of the answer as a whole."""
    for flag in flags:
        if flag.sentence == sentence:
            text = f"{flag.name.value}: {clip(flag_meaning(flag), _MAX_DETAIL)}"
            yield Text(text, style="yellow")


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
    if sample is not None and not is_of(result, sample):
        raise ConfigError(f"this is the result of qid {result.qid!r}; give the sample it is of")
    file = StringIO()
    # In a notebook rich would add colours.
    page = Page(Console(file=file, width=_TEXT_WIDTH, color_system=None, force_jupyter=False))
    with use_language(lang):
        print_answer(result, sample, page)
    return file.getvalue()


def print_answer(result: SampleResult, sample: Sample | None, page: Page) -> None:
    """Print a result with its evidence; without the sample, quotes have no context."""
    say = Messages.of("answer", "head")
    title = Text(flat(result.qid), style="bold")
    if cell_len(title.plain) > page.console.width - _INDENT:  # a rule would cut it
        page.say(title)
    else:
        page.console.print(Rule(title, align="left", style="dim"))
    if sample is not None and sample.query:
        page.say(say("question", query=sample.query), hang=2)
    if sample is not None and sample.gold_answer:
        page.say(say("reference", answer=sample.gold_answer), hang=2)
    page.say(_score_line(result), style="bold")
    for line in _flag_lines(result.flags):
        page.say(line, hang=2)
    page.blank()
    page.say(_tinted(result, sample) or Text(say("empty"), style="dim"))
    page.blank()
    _print_own_claims(result, sample, page)
    page.blank()
    if result.correctness is not None:
        _print_reference(result, result.correctness, sample, page)
    if result.answer_relevance is not None:
        _print_relevance(result.answer_relevance, sample, page)
    if result.context is not None:
        _print_context(result.context, sample, page)
    explained = _ALWAYS_EXPLAINED | {_label(each) for each in outcomes(result)} - {"no_claim"}
    marks, labels = Messages.of("looks", "mark"), Messages.of("looks", "label")
    page.say(
        Text("  ").join(
            Text(f"{marks(name)} {labels(name)}", style=style)
            for name, style in STYLES.items()
            if name in explained
        )
    )
    page.made_by([result.signature], {key: [own.signature] for key, own in result.added.items()})
    if result.cell is not None:
        words = result.cell.words
        say = Messages.of("quadrants", "say")
        half = Messages.of("quadrants", "broken")(row_of(words).half)
        page.say(say("meaning", reading=reading(words), half=half), hang=2)


def _tinted(result: SampleResult, sample: Sample | None) -> Text:
    """Return the answer in the colours of its sentences, with mark and number before each claim."""
    text, position = Text(), 0
    for sentence in result.sentences:
        if sample is not None:
            text.append(sample.answer[position : sentence.start])
        elif position:
            text.append("\n")
        style = _style(sentence.outcome)
        if not isinstance(sentence.outcome, Excluded):
            text.append(f"{_mark(sentence.outcome)}{sentence.index + 1} ", style=f"bold {style}")
        text.append(sentence.text, style=style)
        position = sentence.end
    if sample is not None and result.sentences:
        text.append(sample.answer[position:].rstrip())
    return text


def _print_own_claims(result: SampleResult, sample: Sample | None, page: Page) -> None:
    """Print each claim with its evidence and citations, then the citations in other sentences."""
    citations = defaultdict[int, list[Text]](list)
    for citation in result.citations:
        citations[citation.sentence].append(_citation(citation))
    _print_claims(result.sentences, _chunk_texts(sample), result.flags, page, citations=citations)
    for sentence in result.sentences:
        if isinstance(sentence.outcome, Excluded):
            for line in citations[sentence.index]:
                place = f"{_mark(sentence.outcome)}{sentence.index + 1:<3} "
                page.say(Text(place, style="dim").append_text(line), hang=_INDENT)


def _chunk_texts(sample: Sample | None) -> _Texts:
    chunks = defaultdict[str, list[str]](list)
    for chunk in sample.chunks if sample else ():
        chunks[chunk.chunk_id].append(chunk.text)
    return chunks


def _print_reference(
    result: SampleResult, found: Correctness, sample: Sample | None, page: Page
) -> None:
    """Print how the answer agrees with its reference, sentence by sentence."""
    say = Messages.of("answer", "reference")
    judged = [*(each.outcome for each in found.answer), *(each.outcome for each in found.reference)]
    name = "looks_correct" if by_similarity(judged) else "correctness"
    scores = {
        name: found.f1,
        "precision": found.precision,
        "recall": found.recall,
        "with_fallback": found.f1_with_fallback,
    }
    unscored = found.of_answer.unscored + found.of_reference.unscored
    parts = _parts(say(found.status.value), scores, found.f1_bounds, unscored)
    page.say(say("line", parts=parts), hang=_INDENT, style="bold")
    if found.of_answer.claims or found.of_reference.claims:
        page.say(say("said"), hang=_INDENT, style="bold")
        answer = {ANSWER: [sample.answer if sample else ""]}
        _print_claims(found.reference, answer, found.reference_flags, page)
    flagged = {flag.sentence for flag in found.answer_flags}
    beyond = [
        result.sentences[each.index].model_copy(update={"outcome": each.outcome})
        for each in found.answer
        if each.index in flagged or not _is_in_reference(each.outcome)
    ]
    if beyond:
        page.say(say("beyond"), hang=_INDENT, style="bold")
    gold = {GOLD: [(sample.gold_answer if sample else None) or ""]}
    _print_claims(beyond, gold, found.answer_flags, page)
    page.blank()


def _is_in_reference(outcome: Outcome) -> bool:
    """Return whether the reference says what a claim of the answer says, by the judge itself."""
    return (
        isinstance(outcome, Verdict)
        and not outcome.fallback_from
        and outcome.support in {Support.FULL, Support.NO_CLAIM}
    )


def _print_context(found: ContextScores, sample: Sample | None, page: Page) -> None:
    recall, precision = "context_recall", "context_precision"
    if by_similarity(each.outcome for each in found.reference):
        recall, precision = "looks_recalled", "looks_precise"
    status = Messages.of("looks", "status")(found.status.value)
    scores = {recall: found.recall, precision: found.precision}
    parts = _parts(status, scores, found.recall_bounds, found.of_reference.unscored)
    page.say(Messages.of("answer", "reference")("context", parts=parts), hang=_INDENT, style="bold")
    _print_claims(found.reference, _chunk_texts(sample), found.flags, page)
    page.blank()


def _print_relevance(found: AnswerRelevance, sample: Sample | None, page: Page) -> None:
    say, scores = Messages.of("answer", "related"), {"relevance": found.score}
    parts = _parts(say(found.status.value), scores, found.bounds, len(found.failures))
    page.say(say("line", parts=parts), hang=_INDENT, style="bold")
    if found.failure is not None:
        page.say(failure_line(found.failure), _INDENT, style=STYLES["unscored"])
    answer = {ANSWER: [sample.answer if sample else ""]}
    _print_claims(found.parts, answer, found.flags, page, labels="answered")
    page.blank()


def _print_claims(
    sentences: Iterable[SentenceResult],
    texts: _Texts,
    flags: Sequence[Flag],
    page: Page,
    *,
    labels: str = "label",
    citations: Mapping[int, Sequence[Text]] | None = None,
) -> None:
    """Print each claim: its label, the judge's reason, quotes with their context, and flags.

    With `citations` by sentence these are printed, and not the text of the claim.
    """
    names = Messages.of("looks", labels)
    for each in sentences:
        if isinstance(each.outcome, Excluded):
            continue
        page.say(_heading(each.outcome, names, f"{each.index + 1:<3}"), hang=_INDENT)
        if citations is None:
            page.say(each.text, _INDENT, style=_style(each.outcome))
        notes = (citations or {}).get(each.index, ())
        for line in (*_grounds(each.outcome, texts), *notes, *_flag_lines(flags, each.index)):
            page.say(line, _INDENT)


def _grounds(outcome: Outcome, texts: _Texts) -> Iterator[Text]:
    """Yield the labels of repeats, the judge's reason, and the quotes with their context."""
    if isinstance(outcome, Unscored) and is_undecided(outcome):
        yield Text(flat(outcome.detail))
    if not isinstance(outcome, Verdict):
        return
    if outcome.askings:
        labels, reasons = Messages.of("looks", "label"), Messages.of("looks", "unscored")
        repeats = Messages.of("looks", "gate")("joint").join(
            labels(each.value) if isinstance(each, Support) else reasons(each.value)
            for each in outcome.askings
        )
        say = Messages.of("answer", "claim")
        yield Text(say("askings", count=len(outcome.askings), labels=repeats))
    if outcome.reason:
        yield Text(clip(flat(outcome.reason), _MAX_DETAIL))
    for evidence in outcome.evidence:
        yield _in_context(evidence, texts.get(evidence.chunk_id, []))


def _heading(outcome: Outcome, labels: Messages, place: str = "") -> Text:
    """Return the mark, number and label of a sentence, and who gave the label."""
    say = Messages.of("answer", "claim")
    line = Text(f"{_mark(outcome)}{place} {labels(_label(outcome))}", style=_style(outcome))
    if not isinstance(outcome, Excluded) and outcome.score is not None:
        score = number(outcome.score)
        line.append(f", {say('probability', score=score)}" if place else f" {score}")
    if isinstance(outcome, Verdict) and outcome.fallback_from is not None:
        failure = failure_line(outcome.fallback_from)
        line.append(f", {say('instead', source=outcome.source, failure=failure)}", "cyan")
    if isinstance(outcome, Unscored) and not is_undecided(outcome):
        line.append(f": {failure_line(outcome)}")
    return line


def _in_context(evidence: Evidence, texts: Sequence[str]) -> Text:
    """Return a quote with the text around it in its chunk."""
    line = Text(f"{flat(evidence.chunk_id)}  ", style="bold")
    quote = Text(f"«{flat(evidence.quote)}»", style="not bold")
    start, end = evidence.start, evidence.end
    if not evidence.verified or start is None or end is None:
        missing = Messages.of("answer", "claim")("not_found")
        return line.append(missing, "not bold yellow").append_text(quote)
    text = next((text for text in texts if text[start:end] == evidence.quote), None)
    if text is None:
        return line.append_text(quote)
    before, after = text[max(0, start - _CONTEXT) : start], text[end : end + _CONTEXT]
    if start > _CONTEXT:
        before = f"…{_WORD_AT_START.sub('', before)}"
    if end + _CONTEXT < len(text):
        after = f"{_WORD_AT_END.sub('', after)}…"
    before, after = _BLANKS.sub(" ", before), _BLANKS.sub(" ", after)
    return line.append(before, "not bold dim").append_text(quote).append(after, "not bold dim")


def _score_line(result: SampleResult) -> str:
    scores = result.scores
    offline = by_similarity(sentence.outcome for sentence in result.sentences)
    status = Messages.of("looks", "status")(result.status.value)
    values = {
        "looks_supported" if offline else "faithfulness": scores.faithfulness,
        "with_fallback": scores.faithfulness_with_fallback,
        "coverage": scores.coverage,
        "validity": scores.citation_validity,
    }
    return _parts(status, values, scores.faithfulness_bounds, scores.unscored)


def _parts(
    status: str,
    scores: Mapping[str, float | None],
    bounds: tuple[float, float] | None,
    unscored: int,
) -> str:
    """Join a status and scores; the bounds that failures leave the first score are behind it."""
    say = Messages.of("answer", "score")
    parts = [f"{say(name)} {number(value)}" for name, value in scores.items() if value is not None]
    if unscored and bounds:
        low, high = map(number, bounds)
        parts.insert(1, say("open", low=low, high=high, unscored=unscored))
    return " · ".join([status, *parts])


def print_list(
    results: Iterable[SampleResult], wanted: Filter, page: Page, worst: int | None
) -> None:
    """Print the sentences or answers that a filter finds, or the `worst` ones, and their number."""
    say = Messages.of("answer", "list")
    answers, total = 0, 0
    kept = WorstSentences(worst or 0)
    statuses = wanted.cited or BAD_CITATIONS
    for result in results:
        answers += 1
        indexes = wanted.indexes(result)
        if worst is not None:
            kept.add(result, indexes)
        elif indexes is None:
            total += 1
            _print_beginning(result, page)
        elif indexes:
            total += len(indexes)
            sentences = entries(result)
            for index in indexes:
                print_entry(sentences[index], page, statuses)
    for entry in kept.sentences():
        total += 1
        print_entry(entry, page, statuses)
    if total:
        page.blank()
    key = "nothing" if not total else "shown" if worst is None else "worst"
    read = Messages.of("totals", "counted")("answer", count=answers)
    page.copied(say(key, answers=read, total=total), "bold" if total else "")


def _print_beginning(result: SampleResult, page: Page) -> None:
    line = Text(f"{flat(result.qid)}  ", style="bold")
    page.say(line.append(_score_line(result), style="not bold"), hang=2)
    text = flat(" ".join(sentence.text for sentence in islice(result.sentences, 3)))
    page.say(clip(text, _MAX_TEXT), _ENTRY_INDENT)
    for line in _flag_lines(result.flags):
        page.say(line, _ENTRY_INDENT)


def print_entry(
    entry: Entry, page: Page, statuses: Collection[CitationStatus], indent: int = 0
) -> None:
    """Print a sentence with its reason, quotes and flags, and its citations with `statuses`."""
    line = _heading(entry.sentence.outcome, Messages.of("looks", "label"))
    line.append(f"  {flat(entry.qid)}  ", style="bold")
    line.append(clip(flat(entry.sentence.text), _MAX_TEXT), style="default")
    page.say(line, indent, hang=2)
    grounds = [
        *_grounds(entry.sentence.outcome, {}),
        *_flag_lines(entry.flags, entry.sentence.index),
    ]
    grounds += [_citation(each) for each in entry.citations if each.status in statuses]
    for ground in grounds:
        page.say(ground, indent + _ENTRY_INDENT)
