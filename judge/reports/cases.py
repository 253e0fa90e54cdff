"""An answer as a test case, and a run of them as a JUnit report."""

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import IO, Final, Literal, NamedTuple
from xml.etree import ElementTree as ET

from judge.inputs.runs import Run
from judge.messages import Lang, Messages, use_language
from judge.records import SampleResult, SentenceResult, Support, Verdict, failure_of
from judge.scores.answer import is_undecided, support_of
from judge.text.visible import clip, flat

_MAX_TEXT: Final = 1_000
_MAX_TITLE: Final = 200
_MAX_SENTENCES: Final = 50
# XML has no such characters; `flat` shows control characters.
_NOT_IN_XML: Final = dict.fromkeys((0xFFFE, 0xFFFF), "\ufffd")
_GROUPS: Final = {
    **dict.fromkeys(("none", "contradicted", "partial"), "failed"),
    "unscored": "error",
    "undecided": "undecided",
}
"""The text in `cases` that counts the sentences of each label."""
_QUOTED: Final = frozenset({Support.CONTRADICTED, Support.PARTIAL})
_ROUNDING: Final = 1e-9

CaseKind = Literal["passed", "failure", "error", "undecided", "skipped"]


class Case(NamedTuple):
    """The outcome of one answer as a test case."""

    kind: CaseKind
    message: str = ""
    """The reason why it did not pass, or how many claims are undecided, in one line."""
    lines: tuple[str, ...] = ()
    """The sentences without full support, each with indented lines for what it lacks."""

    @property
    def text(self) -> str:
        """The message and the lines."""
        return "\n".join((self.message, *self.lines))


def case_of(result: SampleResult, least: float = 1.0, lang: Lang | None = None) -> Case:
    """Return an answer as a test case that passes if its faithfulness is `least` or more.

    Faithfulness is over the decided claims. Undecided ones are no failure; the message counts them.

    - `error`: the judge failed on a claim, and faithfulness could still reach `least`.
    - `undecided`: all claims are undecided, so there is no score.
    - `skipped`: the answer abstains or has no claims.
    """
    if lang is not None:
        with use_language(lang):
            return case_of(result, least)
    scores, bounds = result.scores, result.scores.faithfulness_bounds
    if bounds is None:
        status = Messages.of("looks", "status")(result.status.value)
        return Case("skipped", Messages.of("cases", "case")("skipped", status=status))
    say = Messages.of("cases", "case")
    groups: dict[str, list[SentenceResult]] = {"failed": [], "error": [], "undecided": []}
    for each in result.sentences:
        if group := _GROUPS.get(support_of(each) or ""):
            groups[group].append(each)
    best = bounds[1] if groups["error"] else scores.faithfulness
    kind: CaseKind = "passed"
    key, group = "undecided", "undecided"
    if best is None:
        kind, key = "undecided", "no_score"
    elif best < least - _ROUNDING:
        kind, key, group = "failure", "failed", "failed"
    elif groups["error"]:
        kind, key, group = "error", "error", "error"
    counted, undecided = groups.pop(group), len(groups.get("undecided", ()))
    if not counted and kind == "passed":
        return Case(kind)
    message = say(key, count=len(counted), claims=scores.claims)
    shown = [*counted, *chain(*groups.values())]
    lines = [line for each in shown[:_MAX_SENTENCES] for line in _sentence_lines(each)]
    if len(shown) > _MAX_SENTENCES:
        lines.append(say("more", count=len(shown) - _MAX_SENTENCES))
    if kind in {"failure", "error"}:
        if counted:
            message = say("first", message=message, text=clip(flat(counted[0].text), _MAX_TITLE))
        if undecided:
            lines.append(say("undecided", count=undecided, claims=scores.claims))
    return Case(kind, message, tuple(lines))


def _sentence_lines(sentence: SentenceResult) -> Iterator[str]:
    """Yield a sentence with its label, then the judge's reason and the contradicting quote."""
    say, outcome = Messages.of("cases", "case"), sentence.outcome
    failure = failure_of(outcome)
    label = Messages.of("looks", "label")(support_of(sentence) or "excluded")
    text = clip(flat(sentence.text), _MAX_TEXT)
    yield say("sentence", label=label, number=sentence.index + 1, text=text)
    reasons: list[str] = []
    if failure is not None and is_undecided(outcome):
        reasons = [failure.detail]
    elif failure is not None:
        reason = Messages.of("looks", "unscored")(failure.reason.value)
        reasons = [say("quote", chunk=reason, quote=failure.detail)]
    elif isinstance(outcome, Verdict):
        reasons = [outcome.reason]
        if outcome.support in _QUOTED:
            reasons += [
                say("quote", chunk=each.chunk_id, quote=each.quote) for each in outcome.evidence[:1]
            ]
    yield from (f"    {clip(flat(reason), _MAX_TEXT)}" for reason in reasons if reason)


def write_junit(file: IO[bytes], run: Run, lines: Iterable[str]) -> None:
    """Write a finished run, and lines about all of it, as JUnit with a case for each answer."""
    root = ET.Element("testsuites", {"name": "judge"})
    suite = _element(root, "testsuite", name=run.folder.name)
    properties, kinds = _element(suite, "properties"), Counter[CaseKind]()
    for result in run.results:
        if not kinds:
            _element(properties, "property", name="signature", value=result.signature)
        case = case_of(result)
        kinds[case.kind] += 1
        _add_case(suite, result, case, run.folder.name)
    _element(suite, "system-out", lines)
    for element in (root, suite):
        element.set("tests", str(kinds.total()))
        element.set("failures", str(kinds["failure"]))
        element.set("errors", str(kinds["error"]))
        element.set("skipped", str(kinds["skipped"] + kinds["undecided"]))
        element.set("time", f"{run.record.seconds or 0:.3f}")
    ET.indent(root, "")
    ET.ElementTree(root).write(file, "UTF-8", xml_declaration=True)


def _add_case(suite: ET.Element, result: SampleResult, case: Case, run: str) -> None:
    element = _element(suite, "testcase", classname=f"judge.{run}", name=result.qid)
    if calls := [call.seconds for call in result.calls if not call.cached]:
        element.set("time", f"{sum(calls):.3f}")
    if case.kind in {"skipped", "undecided"}:
        _element(element, "skipped", message=case.message)
    if case.kind in {"failure", "error"}:
        kind = "unsupported" if case.kind == "failure" else "unscored"
        _element(element, case.kind, case.lines, message=case.message, type=kind)
    elif case.lines:
        _element(element, "system-out", (case.message, *case.lines))


def _element(
    parent: ET.Element, tag: str, lines: Iterable[str] = (), /, **attributes: str
) -> ET.Element:
    """Add an element, with its attributes on one line each and these lines as its text."""
    texts = {name: _legal(clip(flat(value), _MAX_TEXT)) for name, value in attributes.items()}
    element = ET.SubElement(parent, tag, texts)
    element.text = "".join(f"{_legal(line)}\n" for line in lines) or None
    return element


def _legal(text: str) -> str:
    return text.translate(_NOT_IN_XML)
