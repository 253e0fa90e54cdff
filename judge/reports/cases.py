"""An answer as a test case, and a run of them as a JUnit report."""

import shutil
from collections import Counter
from collections.abc import Iterable, Iterator
from html import escape
from tempfile import TemporaryFile
from typing import IO, Final, Literal, NamedTuple

from judge.inputs.runs import Run
from judge.messages import Messages
from judge.records import SampleResult, SentenceResult, Support, UnscoredReason, Verdict, failure_of
from judge.text.visible import clip, flat

_MAX_TEXT: Final = 1_000
_MAX_TITLE: Final = 200
_MAX_SENTENCES: Final = 50
# XML has no such characters; `flat` shows control characters.
_NOT_IN_XML: Final = dict.fromkeys((0xFFFE, 0xFFFF), "\ufffd")
_WRONG: Final = frozenset({Support.NONE, Support.CONTRADICTED, Support.PARTIAL})
_QUOTED: Final = frozenset({Support.CONTRADICTED, Support.PARTIAL})
_ROUNDING: Final = 1e-9

Kind = Literal["passed", "failure", "error", "skipped"]


class Case(NamedTuple):
    """The outcome of one answer as a test case."""

    kind: Kind
    message: str = ""
    """The reason why it did not pass, in one line."""
    lines: tuple[str, ...] = ()
    """The sentences that did not pass, each with indented lines for what it lacks."""

    @property
    def text(self) -> str:
        """The message and the lines."""
        return "\n".join((self.message, *self.lines))


def case_of(result: SampleResult, least: float = 1.0) -> Case:
    """Return an answer as a test case that passes if its faithfulness is `least` or more.

    It is a failure if faithfulness is less however the unscored claims are counted, an error if a
    claim failed, and skipped if it has no claims or if undecided claims leave it open.
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
    elif scores.unscored and not _is_undecided(open_):
        kind, named = "error", open_
    elif scores.unscored and bounds[0] < least - _ROUNDING:
        kind, named = "skipped", open_
    else:
        return Case("passed")
    key = {"failure": "failed", "skipped": "undecided"}.get(kind, "error")
    message = say(key, count=len(named), claims=scores.claims)
    if named:
        message = say("first", told=message, text=clip(flat(named[0].text), _MAX_TITLE))
    listed = [*wrong, *open_] if kind == "failure" else [*open_, *wrong]
    lines = [line for each in listed[:_MAX_SENTENCES] for line in sentence_lines(each)]
    if len(listed) > _MAX_SENTENCES:
        lines.append(say("more", count=len(listed) - _MAX_SENTENCES))
    return Case(kind, message, tuple(lines))


def sentence_lines(sentence: SentenceResult) -> Iterator[str]:
    """Yield a sentence with its label, then the judge's reason and the contradicting quote."""
    say, outcome = Messages.of("cases", "case"), sentence.outcome
    failure = failure_of(outcome)
    verdict = outcome if isinstance(outcome, Verdict) and failure is None else None
    label = Messages.of("looks", "label")(verdict.support.value if verdict else "unscored")
    text = clip(flat(sentence.text), _MAX_TEXT)
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
    yield from (f"    {clip(flat(reason), _MAX_TEXT)}" for reason in reasons if reason)


def write_junit(file: IO[bytes], run: Run, lines: Iterable[str]) -> None:
    """Write a finished run as a JUnit report with a case for each answer.

    Args:
        file: where the report is written.
        run: the run; its results are read from disk, so memory does not grow with them.
        lines: what is said about the whole run.
    """
    kinds, signature = Counter[Kind](), ""
    with TemporaryFile() as cases:
        for result in run.results:
            case = case_of(result)
            kinds[case.kind] += 1
            signature = signature or result.signature
            cases.write(f"{_testcase(result, case, run.folder.name)}\n".encode())
        counts = {
            "tests": str(kinds.total()),
            "failures": str(kinds["failure"]),
            "errors": str(kinds["error"]),
            "skipped": str(kinds["skipped"]),
            "time": f"{run.record.seconds or 0:.3f}",
        }
        made = _attributes(name="signature", value=signature)
        head = (
            '<?xml version="1.0" encoding="UTF-8"?>\n'
            f"<testsuites{_attributes(name='judge', **counts)}>\n"
            f"<testsuite{_attributes(name=run.folder.name, **counts)}>\n"
            f"<properties><property{made}/></properties>\n"
        )
        file.write(head.encode())
        cases.seek(0)
        shutil.copyfileobj(cases, file)
    end = f"<system-out>{_text(lines)}</system-out>\n</testsuite>\n</testsuites>\n"
    file.write(end.encode())


def _testcase(result: SampleResult, case: Case, run: str) -> str:
    attributes = {"classname": f"judge.{run}", "name": result.qid}
    if calls := [call.seconds for call in result.calls if not call.cached]:
        attributes["time"] = f"{sum(calls):.3f}"
    body = ""
    if case.kind == "skipped":
        body = f"<skipped{_attributes(message=case.message)}/>"
        body += f"<system-out>{_text(case.lines)}</system-out>" if case.lines else ""
    elif case.kind != "passed":
        kind = "unsupported" if case.kind == "failure" else "unscored"
        message = _attributes(message=case.message, type=kind)
        body = f"<{case.kind}{message}>{_text(case.lines)}</{case.kind}>"
    return f"<testcase{_attributes(**attributes)}>{body}</testcase>"


def _is_undecided(open_: list[SentenceResult]) -> bool:
    """Return whether no sentence failed: all of them were left undecided."""
    failures = [failure_of(each.outcome) for each in open_]
    return all(each and each.reason is UnscoredReason.UNDECIDED for each in failures)


def _is_wrong(sentence: SentenceResult) -> bool:
    outcome = sentence.outcome
    return isinstance(outcome, Verdict) and not outcome.fallback_from and outcome.support in _WRONG


def _attributes(**values: str) -> str:
    named = {name: clip(flat(value), _MAX_TEXT) for name, value in values.items()}
    return "".join(f' {name}="{_escaped(value)}"' for name, value in named.items())


def _text(lines: Iterable[str]) -> str:
    return "".join(f"{_escaped(line)}\n" for line in lines)


def _escaped(line: str) -> str:
    return escape(line.translate(_NOT_IN_XML))
