"""An answer as a test case, and a run of them as a JUnit report."""

import shutil
from collections import Counter
from collections.abc import Iterable, Iterator
from html import escape
from tempfile import TemporaryFile
from typing import IO, Final, Literal, NamedTuple

from judge.messages import Messages
from judge.records import SampleResult, SentenceResult, Support, Verdict, failure_of
from judge.text.visible import clip, flat

_LONGEST: Final = 1_000
"""Characters of a sentence, a reason or a quote."""
_TITLE: Final = 200
_MOST: Final = 50
"""Sentences that a case names."""
# XML has no such characters; control characters are shown by `flat`.
_FOREIGN: Final = dict.fromkeys((0xFFFE, 0xFFFF), "\ufffd")
_WRONG: Final = frozenset({Support.NONE, Support.CONTRADICTED, Support.PARTIAL})
_QUOTED: Final = frozenset({Support.CONTRADICTED, Support.PARTIAL})
_ROUNDING: Final = 1e-9

Kind = Literal["passed", "failure", "error", "skipped"]


class Case(NamedTuple):
    """The outcome of one answer as a test case."""

    kind: Kind
    message: str = ""
    """Why it did not pass, in a line."""
    lines: tuple[str, ...] = ()
    """The sentences concerned, each with what it lacks set in below it."""

    @property
    def text(self) -> str:
        """All of it, a thing a line."""
        return "\n".join((self.message, *self.lines))


def case_of(result: SampleResult, least: float = 1.0) -> Case:
    """The case of an answer whose faithfulness is to be `least` or more.

    A failure whatever the claims without a verdict are worth; else an error where there is one, for
    what was not judged did not pass; skipped where nothing was to be judged.
    """
    scores, say = result.scores, Messages.of("cases", "case")
    wrong = [s for s in result.sentences if _is_wrong(s)]
    open_ = [s for s in result.sentences if failure_of(s.outcome)]
    bounds = scores.faithfulness_bounds
    kind: Kind = "passed"
    if bounds is None:
        status = Messages.of("looks", "status")(result.status.value)
        return Case("skipped", say("skipped", status=status))
    if bounds[1] < least - _ROUNDING:
        kind, named = "failure", wrong
    elif scores.unscored:
        kind, named = "error", open_
    else:
        return Case("passed")
    key = "failed" if kind == "failure" else "error"
    told = say(key, count=len(named), claims=scores.claims)
    if named:
        told = say("first", told=told, text=clip(flat(named[0].text), _TITLE))
    listed = [*wrong, *open_] if kind == "failure" else [*open_, *wrong]
    lines = [line for each in listed[:_MOST] for line in sentence_lines(each)]
    if len(listed) > _MOST:
        lines.append(say("more", count=len(listed) - _MOST))
    return Case(kind, told, tuple(lines))


def sentence_lines(sentence: SentenceResult) -> Iterator[str]:
    """A sentence with its label; below it why, and the quote that says otherwise."""
    say, outcome = Messages.of("cases", "case"), sentence.outcome
    failure = failure_of(outcome)
    verdict = outcome if isinstance(outcome, Verdict) and failure is None else None
    label = Messages.of("looks", "label")(verdict.support.value if verdict else "unscored")
    text = clip(flat(sentence.text), _LONGEST)
    yield say("sentence", label=label, number=sentence.index + 1, text=text)
    reasons: list[str] = []
    if failure is not None:
        reason = Messages.of("looks", "unscored")(failure.reason.value)
        reasons = [say("quote", chunk=reason, quote=failure.detail)]
    elif verdict:
        reasons = [verdict.reason]
        if verdict.support in _QUOTED:
            reasons += [
                say("quote", chunk=each.chunk_id, quote=each.quote) for each in verdict.evidence[:1]
            ]
    yield from (f"    {clip(flat(reason), _LONGEST)}" for reason in reasons if reason)


class Junit:
    """A JUnit report, an answer a case; memory does not grow with them. To be closed."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._file: IO[bytes] = TemporaryFile()  # noqa: SIM115  it is read when all are there
        self._kinds: Counter[Kind] = Counter()
        self._seconds = 0.0
        self._signature = ""

    def close(self) -> None:
        """Let go of what was kept."""
        self._file.close()

    def add(self, result: SampleResult) -> None:
        """Take in one answer."""
        case = case_of(result)
        self._kinds[case.kind] += 1
        self._signature = self._signature or result.signature
        seconds = sum(call.seconds for call in result.calls if not call.cached)
        self._seconds += seconds
        named = _attributes(classname=f"judge.{self._name}", name=result.qid, time=f"{seconds:.3f}")
        body = ""
        if case.kind == "skipped":
            body = f"<skipped{_attributes(message=case.message)}/>"
        elif case.kind != "passed":
            kind = "unsupported" if case.kind == "failure" else "unscored"
            attributes = _attributes(message=case.message, type=kind)
            body = f"<{case.kind}{attributes}>{_text(case.lines)}</{case.kind}>"
        self._file.write(f"<testcase{named}>{body}</testcase>\n".encode())

    def write(self, file: IO[bytes], said: Iterable[str] = ()) -> None:
        """Write the report, with what was said of the whole run."""
        kinds = self._kinds
        counts = {
            "tests": str(kinds.total()),
            "failures": str(kinds["failure"]),
            "errors": str(kinds["error"]),
            "skipped": str(kinds["skipped"]),
            "time": f"{self._seconds:.3f}",
        }
        made = _attributes(name="signature", value=self._signature)
        head = (
            '<?xml version="1.0" encoding="UTF-8"?>\n'
            f"<testsuites{_attributes(name='judge', **counts)}>\n"
            f"<testsuite{_attributes(name=self._name, **counts)}>\n"
            f"<properties><property{made}/></properties>\n"
        )
        file.write(head.encode())
        self._file.seek(0)
        shutil.copyfileobj(self._file, file)
        end = f"<system-out>{_text(said)}</system-out>\n</testsuite>\n</testsuites>\n"
        file.write(end.encode())


def _is_wrong(sentence: SentenceResult) -> bool:
    outcome = sentence.outcome
    return isinstance(outcome, Verdict) and not outcome.fallback_from and outcome.support in _WRONG


def _attributes(**values: str) -> str:
    named = {name: clip(flat(value), _LONGEST) for name, value in values.items()}
    return "".join(f' {name}="{_escaped(value)}"' for name, value in named.items())


def _text(lines: Iterable[str]) -> str:
    return "".join(f"{_escaped(line)}\n" for line in lines)


def _escaped(line: str) -> str:
    return escape(line.translate(_FOREIGN))
