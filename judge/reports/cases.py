"""An answer as a test case, and a run of them as a JUnit report."""

import shutil
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from html import escape
from tempfile import TemporaryFile
from typing import IO, Final, Literal, NamedTuple

from judge.inputs.runs import Run
from judge.messages import Messages
from judge.records import SampleResult, SentenceResult, Support, Verdict, failure_of
from judge.scores.answer import is_undecided, support_of
from judge.text.visible import clip, flat

_MAX_TEXT: Final = 1_000
_MAX_TITLE: Final = 200
_MAX_SENTENCES: Final = 50
# XML has no such characters; `flat` shows control characters.
_NOT_IN_XML: Final = dict.fromkeys((0xFFFE, 0xFFFF), "\ufffd")
_WRONG: Final = frozenset({Support.NONE, Support.CONTRADICTED, Support.PARTIAL})
_QUOTED: Final = frozenset({Support.CONTRADICTED, Support.PARTIAL})
_ROUNDING: Final = 1e-9

Kind = Literal["passed", "failure", "error", "undecided", "skipped"]


class Case(NamedTuple):
    """The outcome of one answer as a test case."""

    kind: Kind
    message: str = ""
    """The reason why it did not pass, or how many claims are undecided, in one line."""
    lines: tuple[str, ...] = ()
    """The sentences without full support, each with indented lines for what it lacks."""

    @property
    def text(self) -> str:
        """The message and the lines."""
        return "\n".join((self.message, *self.lines))


def case_of(result: SampleResult, least: float = 1.0) -> Case:
    """Return an answer as a test case that passes if its faithfulness is `least` or more.

    Faithfulness is over the decided claims. Undecided ones are no failure; the message counts them.

    - `error`: the judge failed on a claim, and faithfulness could still reach `least`.
    - `undecided`: all claims are undecided, so there is no score.
    - `skipped`: the answer abstains or has no claims.
    """
    scores, bounds = result.scores, result.scores.faithfulness_bounds
    if bounds is None:
        status = Messages.of("looks", "status")(result.status.value)
        return Case("skipped", Messages.of("cases", "case")("skipped", status=status))
    wrong = [each for each in result.sentences if _is_wrong(each)]
    undecided = [each for each in result.sentences if is_undecided(each.outcome)]
    failed = [each for each in result.sentences if failure_of(each.outcome)]
    failed = [each for each in failed if each not in undecided]
    best = bounds[1] if failed else scores.faithfulness
    if best is None:
        return _case("undecided", "no_score", undecided, undecided, result)
    if best < least - _ROUNDING:
        return _case("failure", "failed", wrong, [*wrong, *failed, *undecided], result)
    if failed:
        return _case("error", "error", failed, [*failed, *wrong, *undecided], result)
    if undecided:
        return _case("passed", "undecided", undecided, undecided, result)
    return Case("passed")


def _case(
    kind: Kind,
    key: str,
    named: Sequence[SentenceResult],
    listed: Sequence[SentenceResult],
    result: SampleResult,
) -> Case:
    """Return a case whose message counts `named`, and whose lines are the sentences `listed`."""
    say = Messages.of("cases", "case")
    message = say(key, count=len(named), claims=result.scores.claims)
    if named and kind in {"failure", "error"}:
        message = say("first", told=message, text=clip(flat(named[0].text), _MAX_TITLE))
    lines = [line for each in listed[:_MAX_SENTENCES] for line in sentence_lines(each)]
    if len(listed) > _MAX_SENTENCES:
        lines.append(say("more", count=len(listed) - _MAX_SENTENCES))
    undecided = sum(is_undecided(each.outcome) for each in listed)
    if undecided and kind in {"failure", "error"}:
        lines.append(say("undecided", count=undecided, claims=result.scores.claims))
    return Case(kind, message, tuple(lines))


def sentence_lines(sentence: SentenceResult) -> Iterator[str]:
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
            "skipped": str(kinds["skipped"] + kinds["undecided"]),
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
    if case.kind in {"skipped", "undecided"}:
        body = f"<skipped{_attributes(message=case.message)}/>"
    if case.kind in {"failure", "error"}:
        kind = "unsupported" if case.kind == "failure" else "unscored"
        message = _attributes(message=case.message, type=kind)
        body = f"<{case.kind}{message}>{_text(case.lines)}</{case.kind}>"
    elif case.lines:
        body += f"<system-out>{_text((case.message, *case.lines))}</system-out>"
    return f"<testcase{_attributes(**attributes)}>{body}</testcase>"


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
