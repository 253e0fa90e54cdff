"""One answer, printed: tinted and marked by support, with its evidence and its reference."""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from io import StringIO
from typing import Final

from rich.cells import cell_len
from rich.console import Console
from rich.rule import Rule
from rich.text import Text

from judge.cli.render.looks import (
    EXCLUDED_LOOK,
    UNSCORED_LOOK,
    askings_line,
    citation_line,
    failure_line,
    legend,
    look_of,
    mark,
    meaning,
    quoted,
    threshold,
    word,
)
from judge.cli.render.quadrants import print_grounds
from judge.cli.terminal import Page, number
from judge.errors import ConfigError
from judge.inputs.runs import is_of
from judge.messages import LANGS, Lang, Messages, use_language
from judge.records import (
    AnswerRelevance,
    Correctness,
    Evidence,
    Excluded,
    Flag,
    Outcome,
    Sample,
    SampleResult,
    Support,
    Unscored,
    Verdict,
)
from judge.records.result import ANSWER
from judge.scores.answer import by_similarity
from judge.text.fold import CJK
from judge.text.visible import flat

_WIDTH: Final = 80
"""Columns of an answer as text, as of one that is piped."""
_INDENT: Final = 5
"""Columns that stand free before what is said under a heading."""
_AROUND: Final = 80
"""Characters of a chunk shown on either side of a quote."""
_LETTER: Final = re.compile(rf"(?![{CJK}])\w")
_TORN_START: Final = re.compile(rf"^(?:(?![{CJK}])\w)+")
_TORN_END: Final = re.compile(rf"(?:(?![{CJK}])\w)+$")
_SAID: Final = frozenset({Support.FULL, Support.NO_CLAIM})


def text_of(result: SampleResult, sample: Sample | None, lang: Lang) -> str:
    """Return the text that `SampleResult.explain` returns."""
    if lang not in LANGS:
        raise ConfigError(f"lang {lang!r}: give one of {', '.join(LANGS)}")
    if sample is not None and not (sample.qid == result.qid and is_of(result, sample)):
        raise ConfigError(f"this is the result of qid {result.qid!r}; give the sample it is of")
    file = StringIO()
    # In a notebook rich would add colours.
    page = Page(Console(file=file, width=_WIDTH, color_system=None, force_jupyter=False))
    with use_language(lang):
        print_answer(result, sample, page, is_gone=False)
        print_grounds(result, sample, page)
    return file.getvalue()


def print_answer(
    result: SampleResult, sample: Sample | None, page: Page, *, is_gone: bool = True
) -> None:
    """Print a result; without its sample, quotes stand without their surroundings.

    That the sample is `gone` is said.
    """
    answer = _Answer(result, sample, page)
    answer.head(is_gone=is_gone)
    page.blank()
    for part in (answer.text, answer.claims):
        part()
        page.blank()
    if result.correctness is not None:
        answer.reference(result.correctness)
        page.blank()
    if result.answer_relevance is not None:
        answer.question(result.answer_relevance)
        page.blank()
    page.say(legend(page))
    beside = (result.correctness, result.answer_relevance)
    page.made_by([result.signature], *([each.signature] if each else [] for each in beside))


class _Answer(Page):
    def __init__(self, result: SampleResult, sample: Sample | None, page: Page) -> None:
        super().__init__(page.console)
        self._result = result
        self._sample = sample

    def head(self, *, is_gone: bool) -> None:
        """Its name, the question, the scores."""
        say = Messages.of("answer", "head")
        title = Text(flat(self._result.qid), style="bold")
        if cell_len(title.plain) > self.console.width - _INDENT:  # a rule would cut it
            self.say(title)
        else:
            self.console.print(Rule(title, align="left", style="dim"))
        if self._sample is None and is_gone:
            self.say(say("gone"), style="dim")
        if self._sample is not None and self._sample.query:
            self.say(say("question", query=self._sample.query))
        self.say(score_line(self._result), style="bold")
        general = [flag.name.value for flag in self._result.flags if flag.sentence is None]
        if general:
            self.say(say("flags", flags=", ".join(general)), style="yellow")

    def text(self) -> None:
        """The answer, each sentence in its tint, each claim behind its mark and number."""
        text = Text()
        position = 0
        for sentence in self._result.sentences:
            if self._sample is not None:
                text.append(self._sample.answer[position : sentence.start])
            elif position:
                text.append("\n")
            look = look_of(sentence.outcome)
            if not isinstance(sentence.outcome, Excluded):
                label = f"{mark(look, self)}{sentence.index + 1} "
                text.append(label, style=f"bold {look.style}")
            text.append(sentence.text, style=look.style)
            position = sentence.end
        if self._sample is not None:
            text.append(self._sample.answer[position:].rstrip())
        empty = Messages.of("answer", "head")("empty")
        self.say(text if self._result.sentences else Text(empty, style="dim"))

    def claims(self) -> None:
        """What each verdict rests on, and what became of the citations."""
        chunks: defaultdict[str, list[str]] = defaultdict(list)
        for chunk in self._sample.chunks if self._sample else ():
            chunks[chunk.chunk_id].append(chunk.text)
        notes: defaultdict[int, list[Text]] = defaultdict(list)
        elsewhere: list[Text] = []
        for citation in self._result.citations:
            line = citation_line(citation)
            if not isinstance(self._result.sentences[citation.sentence].outcome, Excluded):
                notes[citation.sentence].append(line)
                continue
            # In a sentence that is no claim: listed, never counted.
            place = f"{mark(EXCLUDED_LOOK, self)}{citation.sentence + 1:<3} "
            elsewhere.append(Text(place, style="dim").append_text(line))
        for flag in self._result.flags:
            if flag.sentence is not None:
                notes[flag.sentence].append(_flag(flag))
        for sentence in self._result.sentences:
            if not isinstance(sentence.outcome, Excluded):
                heading = _heading(sentence.index, sentence.outcome, self)
                self.say(heading, hang=_INDENT)
                self._under(sentence.outcome, chunks, notes[sentence.index])
        for line in elsewhere:
            self.say(line, hang=_INDENT)

    def reference(self, found: Correctness) -> None:
        """How the answer agrees with its reference, sentence by sentence."""
        say = Messages.of("answer", "reference")
        self.say(_agreement(found), hang=_INDENT, style="bold")
        if not (found.of_answer.claims or found.of_reference.claims):
            for sentence in found.reference:  # nobody was asked: they have text, and no label
                self.say(sentence.text, _INDENT, style="dim")
            return
        answer = self._sample.answer if self._sample else ""
        gold = (self._sample.gold_answer if self._sample else None) or ""
        self.say(say("said"), hang=_INDENT, style="bold")
        for each in found.reference:
            self._compared(each.index, each.outcome, each.text, answer, found.reference_flags)
        flagged = {flag.sentence for flag in found.answer_flags}
        rest = [c for c in found.answer if c.index in flagged or not _is_said(c.outcome)]
        if rest:
            self.say(say("beyond"), hang=_INDENT, style="bold")
        for claim in rest:
            text = self._result.sentences[claim.index].text
            self._compared(claim.index, claim.outcome, text, gold, found.answer_flags)

    def question(self, found: AnswerRelevance) -> None:
        """How far the answer answers its question, part by part."""
        say = Messages.of("answer", "related")
        parts = [
            say(found.status.value),
            *_numbers({"relevance": found.score}),
            *_open(len(found.failures), found.bounds),
        ]
        self.say(say("line", parts=" · ".join(parts)), hang=_INDENT, style="bold")
        if found.failure is not None:
            self.say(failure_line(found.failure), _INDENT, style=UNSCORED_LOOK.style)
        answer = self._sample.answer if self._sample else ""
        named = Messages.of("looks", "answered")
        for part in found.parts:
            look = look_of(part.outcome)
            told = say("part", answered=named(look.name), words=flat(part.text))
            line = f"{mark(look, self)}{part.index + 1:<3} {told}"
            if isinstance(part.outcome, Unscored):
                line = f"{line} ({failure_line(part.outcome)})"
            self.say(line, hang=_INDENT, style=look.style)
            flags = [_flag(flag) for flag in found.flags if flag.sentence == part.index]
            self._under(part.outcome, {ANSWER: [answer]}, flags)

    def _compared(
        self, index: int, outcome: Outcome, text: str, other: str, flags: Sequence[Flag]
    ) -> None:
        self.say(_heading(index, outcome, self), hang=_INDENT)
        self.say(text, _INDENT, style=look_of(outcome).style)
        # All its evidence stands in the one other text.
        evidence = outcome.evidence if isinstance(outcome, Verdict) else ()
        named = {each.chunk_id: [other] for each in evidence}
        self._under(outcome, named, [_flag(flag) for flag in flags if flag.sentence == index])

    def _under(
        self, outcome: Outcome, texts: Mapping[str, Sequence[str]], notes: Iterable[Text]
    ) -> None:
        """Under the heading of a sentence: the judge's reason, quotes from these texts, notes."""
        if isinstance(outcome, Verdict):
            if outcome.askings:
                self.say(askings_line(outcome), _INDENT)
            if outcome.reason:
                self.say(flat(outcome.reason), _INDENT)
            for evidence in outcome.evidence:
                quote = _quote(evidence, texts.get(evidence.chunk_id, []), self)
                self.say(quote, _INDENT)
        for line in notes:
            self.say(line, _INDENT)


def _flag(flag: Flag) -> Text:
    told = Messages.of("answer", "claim")
    return Text(told("flag", name=flag.name.value, means=meaning(flag)), style="yellow")


def score_line(result: SampleResult) -> str:
    """What became of an answer, and its scores."""
    scores = result.scores
    outcomes = (sentence.outcome for sentence in result.sentences)
    name = "looks_supported" if by_similarity(outcomes) else "faithfulness"
    cited = {"coverage": scores.coverage, "validity": scores.citation_validity}
    parts = [
        Messages.of("looks", "status")(result.status.value),
        *_numbers({name: scores.faithfulness}),
        *_open(scores.unscored, scores.faithfulness_bounds),
        *_numbers({"with_fallback": scores.faithfulness_with_fallback} | cited),
    ]
    return " · ".join(parts)


def _agreement(found: Correctness) -> str:
    say = Messages.of("answer", "reference")
    outcomes = [claim.outcome for claim in found.answer]
    outcomes += [sentence.outcome for sentence in found.reference]
    name = "looks_correct" if by_similarity(outcomes) else "correctness"
    scores = {name: found.f1, "precision": found.precision, "recall": found.recall}
    unscored = found.of_answer.unscored + found.of_reference.unscored
    parts = [
        say(found.status.value),
        *_numbers(scores),
        *_open(unscored, found.f1_bounds),
        *_numbers({"with_fallback": found.f1_with_fallback}),
    ]
    return say("line", parts=" · ".join(parts))


def _numbers(scores: Mapping[str, float | None]) -> list[str]:
    say = Messages.of("answer", "score")
    return [f"{say(name)} {number(value)}" for name, value in scores.items() if value is not None]


def _open(unscored: int, bounds: tuple[float, float] | None) -> list[str]:
    """Between what failures leave a score."""
    if not unscored or not bounds:
        return []
    low, high = map(number, bounds)
    return [Messages.of("answer", "score")("open", low=low, high=high, unscored=unscored)]


def _is_said(outcome: Outcome) -> bool:
    return isinstance(outcome, Verdict) and not outcome.fallback_from and outcome.support in _SAID


def _heading(index: int, outcome: Outcome, page: Page) -> Text:
    """The line above what is known of a sentence: its mark, number, label, and who gave that."""
    look, say = look_of(outcome), Messages.of("answer", "claim")
    line = Text(f"{mark(look, page)}{index + 1:<3} {word(look)}", style=look.style)
    if isinstance(outcome, Verdict):
        if outcome.score is not None:
            line.append(f", {say('probability', score=number(outcome.score))}")
            if (least := threshold(outcome.signature)) and outcome.support is Support.NONE:
                line.append(f"; {say('full_from', least=least)}")
        if outcome.fallback_from is not None:
            failure = failure_line(outcome.fallback_from)
            line.append(f", {say('instead', source=outcome.source, failure=failure)}", "cyan")
    if isinstance(outcome, Unscored):
        line.append(f": {failure_line(outcome)}")
    return line


def _quote(evidence: Evidence, texts: Sequence[str], page: Page) -> Text:
    line = Text(f"{flat(evidence.chunk_id)}  ", style="bold")
    quote = Text(quoted(_spaced(evidence.quote), page), style="not bold")
    start, end = evidence.start, evidence.end
    if not evidence.verified or start is None or end is None:
        missing = Messages.of("answer", "claim")("not_found")
        return line.append(missing, "not bold yellow").append_text(quote)
    text = next((text for text in texts if text[start:end] == evidence.quote), None)
    if text is None:
        return line.append_text(quote)
    line.append(_spaced(_before(text, start)), "not bold dim").append_text(quote)
    return line.append(_spaced(_after(text, end)), "not bold dim")


def _before(text: str, position: int) -> str:
    """What stands before a position; an ellipsis and no torn word where it is cut."""
    cut = position - _AROUND
    if cut <= 0:
        return text[:position]
    kept = text[cut:position]
    return "…" + (_TORN_START.sub("", kept) if _LETTER.match(text[cut - 1]) else kept).lstrip()


def _after(text: str, position: int) -> str:
    """What stands behind a position, likewise."""
    cut = position + _AROUND
    if cut >= len(text):
        return text[position:]
    kept = text[position:cut]
    return (_TORN_END.sub("", kept) if _LETTER.match(text[cut]) else kept).rstrip() + "…"


def _spaced(text: str) -> str:
    """One line, the space at its ends kept as one space."""
    return (" " if text[:1].isspace() else "") + flat(text) + (" " if text[-1:].isspace() else "")
