"""Whether an answer answers its question: what is asked, cached, counted and gated, over HTTP."""

import json
from pathlib import Path
from typing import Final

import pytest
from pydantic import JsonValue

from judge import (
    AnswerRelevance,
    Config,
    ConfigError,
    Evaluator,
    RelevanceStatus,
    Sample,
    SampleResult,
    UnscoredReason,
    Verdict,
    evaluate,
    to_rows,
)
from judge.backends.fake import FakeJudge
from judge.files.runs import read_record, read_summary
from judge.records import RelevanceTotals
from tests.asked import Asked
from tests.commands import Ran, judge, line, results, write
from tests.faults import CRASHED, FILTERED, REFUSED, TOO_LONG
from tests.replies import Answer, Hang, Says, Script, answered, right, verdicts
from tests.server import JudgeServer

WHEN: Final = "When does it open, and when does it close?"
SAID: Final = {
    WHEN: {"When does it open": "full", "when does it close": "none"},
    "Is it open today? May guests come?": {
        "Is it open today?": "full", "guests": "partial", "come?": "none",
    },
    "食堂几点开门，几点关门？": {"几点开门": "full", "几点关门": "full"},
    "Who runs it?": {"Who runs it": "none"},
}  # fmt: skip
"""What a careful reader says of the parts of each question."""
OPENS: Final = "The canteen opens at seven."
BESIDE: Final = {OPENS: "none", "The cook runs it.": "full", "Which one do you mean?": "none"}


def reader(asked: Asked) -> Answer:
    if not asked.is_about_question:
        return right(asked)
    return Says(answered(asked, **SAID.get(asked.question, {})))


def compares(asked: Asked) -> bool:
    return "two answers" in asked.messages[0][1]


def relating(script: Script) -> Script:
    """As `script` says of questions, and right of sentences."""

    def answer(asked: Asked) -> Answer:
        return script(asked) if asked.is_about_question else right(asked)

    return answer


def score(place: Path, run: str, server: JudgeServer, *more: object) -> Ran:
    return judge(
        "score", place / "in.jsonl", "-o", place / run, "--relevance", *server.words, *more
    )


def found(result: SampleResult) -> AnswerRelevance:
    assert result.answer_relevance is not None
    return result.answer_relevance


def totals(run: Path) -> RelevanceTotals:
    of_run = read_summary(run).answer_relevance
    assert of_run is not None
    return of_run


ROWS: Final = [
    # question, answer, score by hand: full 1, partial 1/2, none 0, over the parts
    (WHEN, "It opens at seven [1].", 1 / 2, RelevanceStatus.SCORED),
    ("Is it open today? May guests come?", "Yes. Some may.", 1.5 / 3, RelevanceStatus.SCORED),
    ("食堂几点开门，几点关门？", "七点开门，三点关门。", 1.0, RelevanceStatus.SCORED),
    ("Who runs it?", OPENS, 0.0, RelevanceStatus.SCORED),
    ("opening hours", OPENS, 1.0, RelevanceStatus.SCORED),
    ("Who runs it?", "The provided documents do not say who runs it.", None, "abstained"),
    ("Who runs it?", "", None, "empty"),
    (" ", OPENS, None, "no_query"),
    ("?!", OPENS, None, "no_query"),
]  # fmt: skip


def test_parts_are_weighed_and_nothing_is_asked_twice(place: Path) -> None:
    """Mean over the judged (1/2 + 1/2 + 1 + 0 + 1)/5 = .6; overall two more zeros: 3/7."""
    lines = [line(str(n), answer, query=query) for n, (query, answer, *_) in enumerate(ROWS)]
    write(place / "in.jsonl", lines)
    with JudgeServer(reader) as server:
        ran = score(place, "first", server, "--details")
        assert ran.code == 0, ran.err
        # Of the parts of a question one call; an abstention is judged by nobody.
        assert server.calls == (7 + 5)
        assert "not measured in 2 answers without a query" in ran.out
        shown = next(each for each in server.requests if each.question == WHEN and each.answer)
        # Neither chunks nor their markers are shown.
        assert shown.answer == "It opens at seven    ."
        assert "Monday to Friday" not in shown.user
        score(place, "again", server)
        assert server.calls == (7 + 5)
        # Other chunks are another faithfulness, and the same question and answer.
        write(place / "in.jsonl", [each | {"chunks": ["Other words."]} for each in lines])
        score(place, "chunks", server)
        assert server.calls == (7 + 5) + 7
    for run in ("first", "again", "chunks"):
        for (query, _, value, status), result in zip(ROWS, results(place / run), strict=True):
            own = found(result)
            assert (own.score, own.status) == (value, status), query
            assert own.bounds == (None if value is None else (value, value))
            assert all(query[part.start : part.end] == part.text for part in own.parts)
            assert "relevance-v1@960423c8" in own.signature
    record, of_run = read_record(place / "first"), totals(place / "first")
    assert record.answer_relevance is not None
    assert "|prompt:relevance-v1@960423c8|" in record.answer_relevance
    assert "fallback" not in record.answer_relevance
    assert of_run.relevance is not None
    assert of_run.relevance_overall is not None
    assert of_run.relevance.macro == pytest.approx(0.6)
    assert of_run.relevance_overall.macro == pytest.approx(3 / 7)
    assert (of_run.relevance.answers, of_run.relevance_overall.answers) == (5, 7)
    # 9 parts of weight 5.5; overall two silent answers beside them.
    assert of_run.relevance.micro == pytest.approx(5.5 / 9)
    assert of_run.relevance_overall.micro == pytest.approx(5.5 / 11)
    rows = {row["qid"]: row["answer_relevance"] for row in to_rows(results(place / "first"))}
    assert (rows["0"], rows["5"]) == (0.5, None)


def test_an_answer_beside_its_question_is_flagged_and_listed(place: Path) -> None:
    write(place / "in.jsonl", [line("a", OPENS, query="Who runs it?"), line("b", OPENS)])
    with JudgeServer(reader) as server:
        assert "1 beside_question" in score(place, "run", server).out
    assert "a  scored" in judge("show", place / "run", "--flag", "beside_question").out
    shown = {lang: judge("show", place / "run", "a", "--lang", lang).out for lang in ("en", "zh")}
    assert "question: scored · answer relevance 0.000" in shown["en"]
    assert "✗1   not answered: Who runs it" in shown["en"]
    assert "切题度 0.000" in shown["zh"]
    assert "✗1   未回答：Who runs it" in shown["zh"]


def part(**fields: JsonValue) -> dict[str, JsonValue]:
    """A right part of the question `WHEN`, with other fields put over it."""
    plain: dict[str, JsonValue] = {"part": WHEN, "evidence": [OPENS], "answered": "full"}
    return plain | fields


def parts(*listed: JsonValue) -> Says:
    return Says(json.dumps({"parts": list(listed)}))


FAULTS: Final[list[tuple[Answer, str, int]]] = [
    # what comes back every time, why there is no score, and after how many calls
    (parts(), "missing", 3),
    (parts(part(part="When does it open"), part(part="tea?")), "malformed", 2),
    (parts(part(), part()), "malformed", 2),
    (parts(part(part="When does it open"), part(part="it open")), "malformed", 2),
    (parts(part(answered="yes")), "malformed", 2),
    (parts(part(answered="contradicted")), "malformed", 2),
    (parts(part(answered=None)), "malformed", 2),
    (parts(part(part="")), "malformed", 2),
    (parts(part(part="?")), "malformed", 2),
    (parts(part(part=3)), "malformed", 2),
    (parts(part(evidence=[3])), "malformed", 2),
    (parts(part(evidence=OPENS)), "malformed", 2),
    (parts("When"), "malformed", 2),
    (Says('{"parts": {}}'), "malformed", 2),
    (Says('{"verdicts": []}'), "malformed", 2),
    (Says('{"parts": []} {"parts": []}'), "malformed", 2),
    (Says('{"parts": ['), "malformed", 2),
    (Says("Both are answered."), "malformed", 2),
    (Says(None), "malformed", 2),
    (REFUSED, "refused", 1),
    (FILTERED, "content_filter", 1),
    (CRASHED, "server_error", 1),
    (TOO_LONG, "truncated", 1),
]


def test_what_cannot_be_believed_is_no_score(place: Path) -> None:
    """The fault is named the second time; what the chunks say stays as it is."""
    lines = [line(str(n), OPENS, query=f"{n}: {WHEN}") for n in range(len(FAULTS))]
    # Where nothing usable came of the first 20 answers a run would end.
    write(place / "in.jsonl", [line("right", OPENS), *lines])
    (place / "judge.toml").write_text("attempts = 1\nconcurrency = 1\n")

    def script(asked: Asked) -> Answer:
        number = asked.question.partition(":")[0]
        return FAULTS[int(number)][0] if number.isdecimal() else right(asked)

    with JudgeServer(relating(script)) as server:
        score(place, "run", server)
    _, *scored = results(place / "run")
    for n, ((fault, reason, calls), result) in enumerate(zip(FAULTS, scored, strict=True)):
        own = found(result)
        about = [each for each in server.requests if each.question.startswith(f"{n}:")]
        again = [each.again for each in about if each.is_about_question]
        assert own.failure is not None, fault
        assert (own.failure.reason, again) == (reason, [False, True, True][:calls]), fault
        assert (own.status, own.score, own.bounds) == ("unscored", None, (0.0, 1.0))
        assert result.scores.faithfulness == 1.0
    kept = {"missing": 1, "malformed": 18, "refused": 1, "content_filter": 1, "server_error": 1}
    kept["truncated"] = 1
    assert totals(place / "run").unscored == kept


def test_each_sentence_with_a_question_mark_has_a_part(place: Path) -> None:
    """A reply that passes over one is asked again, and told which."""
    query = "你好！食堂几点开门？周末呢？"
    write(place / "in.jsonl", [line("a", "七点开门。", query=query)])
    short = {"食堂几点开门": "full"}

    def script(asked: Asked) -> Answer:
        return Says(answered(asked, **(short | ({"周末": "none"} if asked.again else {}))))

    with JudgeServer(relating(script)) as server:
        score(place, "run", server)
        assert "question: no part of '周末呢？'" in server.requests[-1].user
    assert found(results(place / "run")[0]).score == 0.5


def test_failures_have_bounds_gates_and_an_exit_code(place: Path) -> None:
    """Of 8 answers 5 are relevant, 3 fail: 5/8 to 1; a strict gate takes the lower limit."""
    lines = [line(str(n), OPENS, query=f"Opens at {n}?") for n in range(8)]
    write(place / "in.jsonl", lines)
    (place / "judge.toml").write_text("attempts = 1\n")

    def script(asked: Asked) -> Answer:
        return CRASHED if asked.question[9] in "012" else right(asked)

    gate = ("--fail-under", "relevance=0.9")
    with JudgeServer(relating(script)) as server:
        ran = score(place, "run", server, *gate)
        loose = score(place, "loose", server, *gate, "--max-unscored", 1)
        strict = score(place, "strict", server, *gate, "--max-unscored", 1, "--strict-gate")
    assert (ran.code, loose.code, strict.code) == (3, 0, 1)
    assert "37.5 % of the answers judged for relevance have no verdict" in ran.out
    assert "3: 3 server error" in ran.out
    of_run = totals(place / "run")
    assert of_run.relevance_bounds is not None
    assert (of_run.relevance_bounds.low, of_run.relevance_bounds.high) == (5 / 8, 1.0)
    assert (of_run.untrusted, of_run.unscored_share, of_run.asked) == (True, 3 / 8, 8)
    assert of_run.relevance is not None
    assert (of_run.relevance.macro, of_run.relevance.answers) == (1.0, 5)
    assert "failures counted 0" in strict.out


def test_a_server_that_hangs_is_given_up_with_the_whole_answer(place: Path) -> None:
    write(place / "in.jsonl", [line("a", OPENS)])
    with JudgeServer(relating(lambda _: Hang())) as server:
        score(place, "run", server, "--deadline", 0.3)
    failure = found(results(place / "run")[0]).failure
    assert failure is not None
    assert failure.reason is UnscoredReason.TIMEOUT


def test_quotes_of_the_answer_are_checked(place: Path) -> None:
    marked = "It opens at seven [1], and closes at three [1]."
    write(place / "in.jsonl", [line("a", OPENS), line("b", marked)])

    def script(asked: Asked) -> Answer:
        said = json.loads(answered(asked))
        # Markers are no part of what is said, nor are the spaces before them.
        true = "It opens at seven, and closes at three."
        wrong = "It opens whenever the cook comes in."
        said["parts"][0]["evidence"] = [wrong if OPENS in asked.user else true]
        return Says(json.dumps(said))

    with JudgeServer(relating(script)) as server:
        score(place, "run", server)
        score(place, "strict", server, "--require-quotes")
    kept, other = map(found, results(place / "run"))
    strict, same = map(found, results(place / "strict"))
    outcome = other.parts[0].outcome
    assert isinstance(outcome, Verdict)
    (evidence,) = outcome.evidence
    assert marked[evidence.start : evidence.end] == marked
    assert (same.score, other.flags) == (1.0, ())
    assert (kept.score, [flag.name for flag in kept.flags]) == (1.0, ["unverified_quote"])
    assert (strict.score, strict.bounds) == (None, (0.0, 1.0))
    assert [failure.reason for failure in strict.failures] == ["unverified"]


def test_similarity_says_nothing_of_it(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One line that names the next step; nothing is scored, and no 0 is made up."""
    write(place / "in.jsonl", [line("a", OPENS)])
    for words in ((), ("--judge", "similarity", "--model", "m")):
        ran = judge("score", place / "in.jsonl", "-o", place / "run", "--relevance", *words)
        assert (ran.code, ran.out) == (2, "")
        assert "by similarity or NLI it is not measured: name one with --model" in ran.err
        assert not (place / "run").exists()
    monkeypatch.setenv("JUDGE_RELEVANCE", "true")
    assert judge("score", place / "in.jsonl", "-o", place / "run").code == 2
    assert judge("score", place / "in.jsonl", "-o", place / "run", "--no-relevance").code == 0
    assert read_summary(place / "run").answer_relevance is None
    with pytest.raises(ConfigError, match="not measured"):
        Config(relevance=True)
    with pytest.raises(ConfigError, match="a judge of your own"):
        Evaluator(Config(relevance=True, model="m"), judge=FakeJudge({}))
    monkeypatch.delenv("JUDGE_RELEVANCE")
    ran = judge("score", place / "in.jsonl", "-o", place / "x", "--fail-under", "relevance=0.5")
    assert (ran.code, "answer relevance is not measured; add --relevance" in ran.err) == (2, True)


def test_it_is_a_setting_like_any_other(place: Path) -> None:
    """From the file, and from Python, where `relevance` of a sample stays what gold says."""
    write(place / "in.jsonl", [line("a", OPENS)])
    (place / "judge.toml").write_text("relevance = true\n")
    with JudgeServer(reader) as server:
        assert judge("score", place / "in.jsonl", "-o", place / "run", *server.words).code == 0
        sample = Sample(qid="a", query="Open?", answer=OPENS, relevance={"x": 2.0})
        (result,) = evaluate([sample], server.config(relevance=True))
    assert found(results(place / "run")[0]).score == found(result).score == 1.0


def test_faithful_and_beside_the_question_is_a_cell(place: Path) -> None:
    """Of three faithful answers to one question one is about something else."""
    gold: dict[str, JsonValue] = {"gold_evidence": ["1"], "gold_answer": "The cook runs it."}
    chunks = [OPENS, "The cook runs it."]
    rows = [("beside", OPENS), ("right", chunks[1]), ("silent", "Which one do you mean?")]
    lines = [line(name, text, chunks, "Who runs it?") | gold for name, text in rows]
    write(place / "in.jsonl", lines)

    def script(asked: Asked) -> Answer:
        if asked.is_about_question:
            return Says(answered(asked, **{asked.question: BESIDE[asked.answer]}))
        other = any(text in asked.user for text, label in BESIDE.items() if label == "none")
        return Says(verdicts(asked, "none" if compares(asked) and other else "full"))

    gate = ("--details", "--correctness", "--fail-under", "relevance=0.5")
    with JudgeServer(script) as server:
        ran = score(place, "run", server, *gate)
        assert score(place, "zh", server, "--details", "--lang", "zh").code == 0
    assert "beside?" in ran.out
    assert "the answer keeps to the chunks, and is beside the question (beside)" in " ".join(
        ran.out.split()
    )
    table = read_summary(place / "run").breakdown
    assert table is not None
    cells = {cell.words[2:]: cell.half for cell in table.cells}
    assert cells == {
        ("answered", "faithful", "wrong", "beside"): "generation",
        ("answered", "faithful", "correct"): "neither",
        ("silent",): "generation",
    }
    assert [made.rpartition("|")[2] for made in table.signatures] == ["beside:0"]
    shown = judge("show", place / "run", "--cell", "faithful,beside")
    assert "beside ───" in shown.out
    assert "1 of 1 in faithful,beside" in shown.out
    shown = judge("show", place / "zh", "--cell", "faithful,beside", "--lang", "zh")
    assert "检索到了证据，答案忠于片段，却答非所问" in "".join(shown.out.split())
    # Where it was not asked, that is said.
    judge("score", place / "in.jsonl", "-o", place / "plain")
    assert "--relevance" in judge("show", place / "plain", "--cell", "beside").err


def test_a_model_that_says_nothing_usable_is_told_of_in_time(place: Path) -> None:
    """What it left unscored is not kept; the same command asks about the questions alone."""
    write(place / "in.jsonl", [line(str(n), f"{OPENS} {n}", query=f"{n}?") for n in range(20)])
    says: list[Answer] = [Says("All of it.")]
    with JudgeServer(relating(lambda asked: says[0] if says else right(asked))) as server:
        ran = score(place, "run", server)
        assert ran.code == 3
        assert "none of the first 20 answers got a usable verdict" in ran.err
        assert "question: it holds no JSON" in ran.err
        says.clear()
        calls = server.calls
        assert score(place, "run", server).code == 0
        assert server.calls == calls + 20
