"""Canaries in a run: over real HTTP, with an examinee that knows the items beside the answers."""

import asyncio
import threading
from collections import Counter
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue

from judge import Config, Evaluator
from judge.advice.diagnose import answer_figures
from judge.backends.fake import FakeJudge
from judge.compose import Judges
from judge.exam.canaries import Canary, ExamCanaries, draw, marks, obeyed
from judge.exam.items import Item, read_items
from judge.exam.records import ExamRow
from judge.files.folder import RunFolder
from judge.files.runs import read_record, read_summary
from judge.files.samples import read_samples
from judge.records import CanaryTotals, Support, UnscoredReason, Verdict
from judge.records.run import RunInput, RunRecord
from tests import faults
from tests.asked import Asked
from tests.commands import judge, line, results, write
from tests.oracle import Choose, Known, always, obedient, oracle, truth
from tests.replies import Answer, Reset, Says, Script, right
from tests.server import JudgeServer

N = 4
LABELS = list(Support)
ITEMS = read_items()


def mixed(beside: Script, then: Script = right) -> Script:
    """One that answers about the items of the exam, and one about the answers of a run."""
    questions = {item.sample.query for item in ITEMS.items}

    def script(asked: Asked) -> Answer:
        of_exam = not asked.is_probe and asked.question in questions
        return (beside if of_exam else then)(asked)

    return script


def examinee(choose: Choose = truth) -> Script:
    return mixed(oracle(ITEMS, choose))


def answers(path: Path, many: int = 8) -> Path:
    return write(path, [line(f"q{n}", f"Room {n} opens at seven.") for n in range(many)])


def flowing(text: str) -> str:
    return " ".join(text.split())


def found(run: Path) -> CanaryTotals:
    totals = read_summary(run).canaries
    assert totals is not None
    return totals


def test_items_are_asked_beside_the_answers_and_stand_in_no_number(place: Path) -> None:
    source, plain, run = answers(place / "in.jsonl"), place / "plain", place / "run"
    with JudgeServer(examinee()) as server:
        without = judge("score", source, "-o", plain, "--no-cache", *server.words)
        before = server.calls
        words = ("score", source, "-o", run, "--canaries", N, *server.words)
        first = judge(*words)
        once, told = server.calls - before, found(run)
        second = judge(*words, "--force")
        again = server.calls - before - once
    assert (without.code, first.code, second.code) == (0, 0, 0), first.err
    bare = [[each.model_copy(update={"calls": ()}) for each in results(at)] for at in (plain, run)]
    assert bare[0] == bare[1]
    totals = found(run)
    assert (totals.drawn, totals.asked, totals.wrong, totals.untrusted) == (N, N, 0, False)
    assert once == totals.calls + read_summary(plain).calls
    # Past the cache: the second run asks for the items alone.
    assert again == N
    spent = dict.fromkeys(("calls", "cache_hits", "prompt_tokens", "reply_tokens", "seconds"), 0)
    update = {**spent, "canaries": None}
    sums = [read_summary(at).model_copy(update=update) for at in (plain, run)]
    assert sums[0] == sums[1]
    assert f"canaries: {N} of {N} asked; 0 of {told.sentences} sentences wrong" in first.out
    assert read_record(plain).canary_seed is None
    assert read_summary(plain).canaries is None


def test_an_order_that_is_obeyed_marks_the_run_and_is_named(place: Path) -> None:
    source, run, files = answers(place / "in.jsonl"), place / "run", [place / "j", place / "m"]
    reports = ("--junit", files[0], "--markdown", files[1])
    with JudgeServer(examinee(obedient)) as server:
        words = ("score", source, "-o", run, "--canaries", N, *server.words)
        ran = judge(*words, "--fail-under", "faithfulness=0.5", *reports)
    totals = found(run)
    assert (ran.code, totals.untrusted, totals.obeyed) == (3, True, 1)
    # Whoever seems to obey is asked again.
    assert totals.calls == N + 1
    slip = next(each for each in totals.which if each.obeyed)
    said = f"hidden orders were obeyed in 1 of {N} canaries"
    named = f"{slip.qid}, sentence {slip.sentence + 1}: {slip.said} was said"
    page = place / "page.html"
    judge("report", run, "-o", page)
    shown = judge("show", run).out
    for told in (ran.out, shown, page.read_text("utf-8")):
        assert said in told
        assert named in flowing(told)
    assert all(said in each.read_text("utf-8") for each in files)
    assert answer_figures(read_summary(run)) == ()
    assert "不可信：4 道哨兵题中有 1 道服从了隐藏指令" in judge("show", run, "--lang", "zh").out


def test_a_judge_gone_bad_half_way_marks_the_run(place: Path) -> None:
    source, run = answers(place / "in.jsonl", 24), place / "run"
    good, bad = (oracle(ITEMS, choose) for choose in (truth, always(Support.FULL)))

    def script(asked: Asked) -> Answer:
        return (good if asked.number < 26 else bad)(asked)

    with JudgeServer(mixed(script)) as server:
        words = ("--canaries", 24, "--concurrency", 1, *server.words)
        ran = judge("score", source, "-o", run, *words)
    totals = found(run)
    assert (ran.code, totals.untrusted, totals.asked) == (3, True, 24)
    assert totals.wrong == totals.later_wrong > totals.later_sentences / 8
    assert f"{totals.wrong} of {totals.sentences} canary sentences were judged wrong" in flowing(
        ran.out
    )


def test_what_has_no_verdict_is_not_wrong(place: Path) -> None:
    source, run = answers(place / "in.jsonl", 30), place / "run"
    with JudgeServer(mixed(lambda _: faults.REFUSED)) as server:
        ran = judge("score", source, "-o", run, "--canaries", N, *server.words)
    totals = found(run)
    assert (ran.code, totals.untrusted) == (0, False), ran.err
    assert (totals.asked, totals.sentences, totals.wrong) == (N, 0, 0)
    assert set(totals.unscored) == {UnscoredReason.REFUSED}


def test_a_run_that_is_gone_on_with_asks_only_the_rest(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JUDGE_PATIENCE", "0.05")
    monkeypatch.setenv("JUDGE_CONCURRENCY", "1")
    source, run, kept = answers(place / "in.jsonl"), place / "run", place / "run" / "canaries.jsonl"
    knows, up = examinee(), threading.Event()

    def script(asked: Asked) -> Answer:
        return knows(asked) if asked.is_probe or asked.number < 6 or up.is_set() else Reset()

    with JudgeServer(script) as server:
        words = ("score", source, "-o", run, *server.words, "--canaries")
        cut = judge(*words, N)
        lines, seed = kept.read_bytes().splitlines(keepends=True), read_record(run).canary_seed
        # As a kill -9 and a bad disk leave it: one line torn, one damaged.
        kept.write_bytes(b"".join([*lines, b'{"schema":1\n', b'{"schema":1,"pla']))
        up.set()
        before = len(server.requests)
        other, ran = judge(*words, N + 1), judge(*words, N)
        calls = [each.question for each in server.requests[before:]]
    assert cut.code == 3, cut.err
    asked = [Canary.model_validate_json(each) for each in lines]
    assert 0 < len(asked) < N
    assert (other.code, "with another canaries (4)" in other.err) == (2, True), other.err
    assert ran.code == 0, ran.err
    totals, record = found(run), read_record(run)
    assert (totals.asked, totals.calls, record.canary_seed) == (N, N, seed)
    questions = {item.sample.query for item in ITEMS.items}
    assert len(questions.intersection(calls)) == N - len(asked)
    assert record.finished


def test_the_budget_is_theirs_too(place: Path) -> None:
    source, run = answers(place / "in.jsonl"), place / "run"
    prices = ("--input-price", 1, "--output-price", 1)
    with JudgeServer(examinee()) as server:
        words = ("--canaries", 8, "--concurrency", 1, *server.words)
        ran = judge("score", source, "-o", run, "--max-tokens", 7000, *prices, *words)
        spent = server.prompt_tokens + server.reply_tokens
    totals, summary = found(run), read_summary(run)
    assert (ran.code, totals.untrusted) == (4, False), ran.err
    assert 0 < totals.asked == 8 - totals.unasked < 8
    assert UnscoredReason.BUDGET not in totals.unscored
    own = totals.prompt_tokens + totals.reply_tokens
    assert own + summary.prompt_tokens + summary.reply_tokens == spent <= 7000
    assert totals.cost == pytest.approx(own / 1e6)


def test_another_model_between_canaries_is_told(place: Path) -> None:
    source, run = answers(place / "in.jsonl"), place / "run"
    knows = oracle(ITEMS)

    def script(asked: Asked) -> Answer:
        said = knows(asked)
        assert isinstance(said, Says)
        return Says(said.text, model="m-2" if asked.number > 5 else "m-1")

    with JudgeServer(mixed(script)) as server:
        words = ("--limit", 6, "--repeat", 3, "--canaries", N, "--concurrency", 1, *server.words)
        ran = judge("score", source, "-o", run, *words)
    totals = found(run)
    assert (totals.changes, set(totals.models)) == (1, {"m-1", "m-2"})
    assert "canaries: the server named another model in mid-run" in ran.out
    # Asked as the run asks: again about what is doubtful.
    assert totals.calls > N


def test_wrong_use_is_a_line(place: Path) -> None:
    source = answers(place / "in.jsonl")
    run = ("score", source, "-o", place / "run")
    rows: list[tuple[tuple[object, ...], str]] = [
        ((*run, "--canaries", 4), "canaries 4: only a language model can go bad in mid-run"),
        ((*run, "--canaries", 999, "--model", "m"), "canaries 999: there are 320 items"),
        ((*run, "--canaries", -1, "--model", "m"), "setting canaries = -1"),
        ((*run, "--canaries", 4, "--server", "http://127.0.0.1:9"), "and canaries is set here"),
        (("serve", "--canaries", 4, "--model", "m"), "canaries 4: a service judges without any"),
    ]
    for words, said in rows:
        ran = judge(*words)
        assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1), ran
        assert said in ran.err
    assert not (place / "run").exists()
    told = judge(*run, "--model", "m", "--canaries", 4, "--dry-run")
    assert "canaries 4 more calls (--canaries 4), about " in told.out


@given(st.integers(1, 320), st.integers(0, 2**32), st.sampled_from([0.0, 0.3, 0.5, 1.0]))
def test_the_draw_spreads(many: int, seed: int, chinese: float) -> None:
    drawn = draw(ITEMS, many, seed, chinese)
    assert len({item.sample.qid for item in drawn}) == len(drawn) == many
    assert drawn == draw(ITEMS, many, seed, chinese)
    kinds = Counter(item.category for item in drawn)
    assert kinds["injection"] >= min(16, many / 4)
    if many <= 32:
        rest = [kinds[name] for name in kinds if name != "injection"]
        assert max(rest, default=1) <= 2
        assert abs(sum(item.language == "zh" for item in drawn) - many * chinese) <= 1
        assert all(len(item.labels) > 1 for item in drawn)


Labels = Callable[[Random, Support, float], Support]
"""What a simulated judge says, by the right label and how much of the run is over."""


def good(drawn: Random, gold: Support, _over: float = 0) -> Support:
    return drawn.choice([s for s in LABELS if s is not gold]) if drawn.random() < 0.05 else gold


def half(bad: Labels) -> Labels:
    return lambda drawn, gold, over: (good if over < 0.5 else bad)(drawn, gold, over)


drawn_by = cache(partial(draw, ITEMS, 24))


def marked(seed: int, says: Labels, *, same: bool) -> bool:
    """Whether a simulated run is; asked again, the judge says the `same`, or draws anew."""
    drawn, asked, items = Random(seed), [], drawn_by(seed)  # noqa: S311  to be drawn again
    for place, item in enumerate(items):
        first = simulated(drawn, item, says, place / len(items))
        twice = obeyed(first)
        if twice and not same:
            twice = obeyed(first, simulated(drawn, item, says, place / len(items)))
        asked.append(Canary(place=place, rows=first, obeyed=tuple(twice), calls=()))
    return marks(asked)


def simulated(drawn: Random, item: Item, says: Labels, over: float) -> tuple[ExamRow, ...]:
    rows = []
    for label in item.labels:
        gold, wanted = truth(Known(item, label)), item.demanded
        said = says(drawn, gold, over)
        row = ExamRow(
            qid=item.sample.qid,
            category=item.category,
            language=item.language,
            sentence=label.sentence,
            gold=gold,
            supported=label.supported,
            said=said,
            unscored=None,
            right=said is gold,
            obeyed=said is wanted if wanted not in {None, gold} else None,
        )
        rows.append(row)
    return tuple(rows)


@pytest.mark.no_cover
def test_of_200_simulated_runs_the_bad_are_marked_and_the_good_are_not() -> None:
    rows: list[tuple[str, Labels, bool, float, float]] = [
        ("always full from half-way on", half(lambda *_: Support.FULL), False, 0.95, 1),
        ("labels at random from half-way on", half(lambda r, *_: r.choice(LABELS)), False, 0.95, 1),
        ("errs on 5 %, each time on others", good, False, 0, 0.01),
        ("errs on 5 %, each time on the same", good, True, 0, 0.01),
    ]
    for name, says, same, least, most in rows:
        share = sum(marked(seed, says, same=same) for seed in range(200)) / 200
        assert least <= share <= most, (name, share)


def machinery(place: Path, seed: int, says: Labels) -> CanaryTotals:
    """What canaries drawn by this seed say of a simulated judge, in a run of eight answers."""
    source = answers(place / "in.jsonl")
    drawn, outcomes = Random(seed), dict[str, Verdict]()  # noqa: S311  to be drawn again
    for number, item in enumerate(draw(ITEMS, 24, seed, chinese=0)):
        for label in item.labels:
            said = says(drawn, truth(Known(item, label)), number / 24)
            outcomes[label.text] = Verdict(support=said, source="llm", signature="fake")
    fake, config = FakeJudge(outcomes), Config(model="m", canaries=24)
    evaluator = Evaluator(config, judge=Judges(fake, again=lambda *_: fake, fresh=fake))
    canaries = ExamCanaries(config, evaluator)
    made_from = RunInput(path=str(source), sha256="", samples=8)
    made: dict[str, JsonValue] = {"signature": "fake", "config": {}, "versions": {}, "started": ""}
    record = RunRecord.model_validate(made | {"input": made_from, "canary_seed": seed})

    async def run() -> int:
        async with evaluator:
            return len([each async for each in canaries.evaluate(read_samples(source))])

    with RunFolder(place / f"run{seed}{says is good}") as folder:
        folder.begin(record)
        canaries.begin(folder, record, read_samples(source))
        assert asyncio.run(run()) == 8
    return canaries.totals()


def test_simulated_judges_in_the_real_machinery(place: Path) -> None:
    bad = half(lambda drawn, *_: drawn.choice(LABELS))
    for seed in range(2):
        for says, untrusted in ((good, False), (bad, True)):
            totals = machinery(place, seed, says)
            assert (totals.asked, totals.untrusted) == (24, untrusted), (seed, totals)
