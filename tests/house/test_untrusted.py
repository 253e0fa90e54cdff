"""A run in which calls fail for good: what it prints, and what its numbers are made of."""

from pathlib import Path
from statistics import mean
from zlib import crc32

import numpy as np
import pytest

from judge import SampleResult, Status, Summary, Verdict
from judge.inputs.runs import read_summary
from judge.records import SUPPORT_WEIGHT, SentenceResult, Unscored
from tests import present
from tests.chat_call import ChatCall
from tests.commands import Ran, judge, line, results, write
from tests.faults import CRASHED
from tests.replies import Answer, Says, Script, failing, right, verdicts
from tests.server import JudgeServer

LABELS = ("full", "full", "full", "full", "partial", "none", "contradicted")
ANSWERS = 40
SENTENCES = 6
CLAIMS = ANSWERS * SENTENCES


def labelled(call: ChatCall) -> Answer:
    """Labels that hang on the sentence alone, so that two runs agree on it."""
    if call.is_probe:
        return right(call)
    labels = {name: LABELS[crc32(text.encode()) % 7] for name, text in call.sentences.items()}
    return Says(verdicts(call, **labels))


@pytest.fixture
def samples(place: Path) -> Path:
    """Answers whose calls hold two sentences each, in both languages."""
    # No waiting for a server that will not do better.
    (place / "judge.toml").write_text("attempts = 1\nsentences_per_call = 2\ncache = false\n")
    lines = []
    for number in range(ANSWERS):
        english = [f"Room {number}.{n} is open from {n} to nine." for n in range(SENTENCES)]
        chinese = [f"{number}号楼{n}室九点开放。" for n in range(SENTENCES)]
        answer = " ".join(english) if number % 2 else "".join(chinese)
        lines.append(line(f"q{number}", answer))
    return write(place / "samples.jsonl", lines)


def score(script: Script, samples: Path, name: str, *more: object) -> Ran:
    with JudgeServer(script) as server:
        return judge("score", samples, "-o", samples.with_name(name), *server.words, *more)


def weight(sentence: SentenceResult) -> float:
    assert isinstance(sentence.outcome, Verdict)
    return SUPPORT_WEIGHT[sentence.outcome.support]


def failed(sentence: SentenceResult) -> bool:
    outcome = sentence.outcome
    return isinstance(outcome, Unscored) or (
        isinstance(outcome, Verdict) and outcome.fallback_from is not None
    )


def check_scores(summary: Summary, clean: list[SampleResult], broken: list[SampleResult]) -> None:
    """Check that the scores are those of the clean run's verdicts on the sentences judged."""
    weights = np.ma.array(
        [[weight(each) for each in result.sentences] for result in clean],
        mask=[[failed(each) for each in result.sentences] for result in broken],
    )
    faithfulness, bounds = present(summary.faithfulness), present(summary.faithfulness_bounds)
    assert faithfulness.answers == weights.mean(axis=1).count()
    assert faithfulness.items == summary.judged == weights.count()
    assert faithfulness.macro == pytest.approx(weights.mean(axis=1).mean(), abs=1e-12)
    assert faithfulness.micro == pytest.approx(weights.mean(), abs=1e-12)
    assert bounds.low == pytest.approx(weights.filled(0).mean(), abs=1e-12)
    assert bounds.high == pytest.approx(weights.filled(1).mean(), abs=1e-12)
    assert bounds.low < faithfulness.macro < bounds.high


def draw(texts: list[str], share: float) -> set[str]:
    """The sentences of which the server gives no verdict, call by call."""
    pairs = [texts[low : low + 2] for low in range(0, len(texts), 2)]
    return {
        text for pair in pairs if crc32("\n".join(pair).encode()) / 2**32 < share for text in pair
    }


@pytest.mark.parametrize("fallback", [True, False])
def test_a_tenth_of_the_calls_fails(samples: Path, *, fallback: bool) -> None:
    assert score(labelled, samples, "clean").code == 0
    # A gate gives way to an untrusted run, whether it holds or not.
    more = ["faithfulness=0.01"] if fallback else ["faithfulness=0.99", "--no-fallback"]
    ran = score(failing(0.1, CRASHED, labelled), samples, "broken", "--fail-under", *more)
    assert ran.code == 3

    clean, broken = results(samples.with_name("clean")), results(samples.with_name("broken"))
    lost = [s.text for result in broken for s in result.sentences if failed(s)]
    every = [[s.text for s in result.sentences] for result in clean]
    assert set(lost) == set().union(*(draw(texts, 0.1) for texts in every))
    assert 0.06 * CLAIMS < len(lost) < 0.14 * CLAIMS  # about as many as were meant to

    summary = read_summary(samples.with_name("broken"))
    check_scores(summary, clean, broken)
    assert summary.untrusted
    assert summary.unscored == {"server_error": len(lost)}
    assert summary.fallen_back == (len(lost) if fallback else 0)
    assert summary.calls == CLAIMS // 2
    assert "Traceback" not in ran.err

    with_fallback = summary.faithfulness_with_fallback
    if not fallback:
        assert with_fallback is None
        return
    everything = [mean(weight(s) for s in result.sentences) for result in broken]
    macro = present(with_fallback).macro
    assert macro == pytest.approx(mean(everything), abs=1e-12)
    assert macro != present(summary.faithfulness).macro


def test_a_run_of_failures_alone_has_no_score(samples: Path) -> None:
    ran = score(failing(1, CRASHED), samples, "run")
    assert ran.code == 3
    summary = read_summary(samples.with_name("run"))
    assert summary.faithfulness is None
    bounds = present(summary.faithfulness_bounds)
    assert (bounds.low, bounds.high, bounds.answers) == (0, 1, ANSWERS)
    assert summary.faithfulness_with_fallback is not None
    assert summary.statuses[Status.UNSCORED] == ANSWERS
