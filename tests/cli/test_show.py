import json
import re
import shlex
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import get_args

import pytest

from judge.files.runs import line_of
from judge.records import SampleResult, SentenceResult, Unscored, UnscoredReason, Verdict
from judge.records.quadrant import QuadrantWord
from judge.reports.filters import FLAGS, STATUSES, SUPPORTS
from tests.commands import Ran, judge, line, results, write

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"
PAID: dict[str, object] = {
    "qid": "x",
    "answer": "It is paid.",
    "chunks": [{"chunk_id": "a", "text": "It is paid."}],
}


def scored(source: Path, run: Path, *options: str) -> Path:
    assert judge("score", source, "-o", run, *options).code == 0
    return run


def score(folder: Path, *samples: dict[str, object], options: tuple[str, ...] = ()) -> Path:
    """A run of these samples, which stand beside it."""
    lines = (json.dumps(sample) + "\n" for sample in samples)
    (folder / "in.jsonl").write_text("".join(lines), encoding="utf-8")
    return scored(folder / "in.jsonl", folder / "run", *options)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return scored(FIXTURES / "quickstart.jsonl", tmp_path_factory.mktemp("show") / "run")


@pytest.fixture(scope="module")
def placed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    run = tmp_path_factory.mktemp("show") / "run"
    return scored(FIXTURES / "cells.jsonl", run, "--correctness")


def told(ran: Ran) -> str:
    """What was printed, on one line."""
    assert ran.code == 0
    return " ".join(ran.out.split())


def refused(ran: Ran) -> str:
    assert (ran.code, ran.err.count("\n")) == (2, 1)
    return ran.err


def shown(out: str) -> list[str]:
    """The answers shown, in order: the names of the fixture's lines."""
    lines = (FIXTURES / "cells.jsonl").read_text(encoding="utf-8").splitlines()
    names = [json.loads(line)["qid"] for line in lines]
    return [word for word in out.split() if word in names]


@pytest.mark.no_cover
def test_every_answer_of_the_quickstart(run: Path) -> None:
    for text in (FIXTURES / "quickstart.jsonl").read_text(encoding="utf-8").splitlines():
        sample = json.loads(text)
        out = judge("show", run, sample["qid"]).out
        assert sample["qid"] in out
        assert "".join(sample["query"].split()) in "".join(out.split())
        assert "made by similarity:" in out


def test_without_a_name_the_worst(run: Path) -> None:
    results = map(json.loads, (run / "results.jsonl").read_text(encoding="utf-8").splitlines())
    scores = {r["qid"]: r["scores"]["faithfulness"] for r in results}
    least = min(score for score in scores.values() if score is not None)
    assert scores[judge("show", run).out.split()[0]] == least


def test_a_finished_run_that_has_lost_a_line_says_so(run: Path, tmp_path: Path) -> None:
    broken = tmp_path / "run"
    shutil.copytree(run, broken)
    lines = (run / "results.jsonl").read_bytes().splitlines(keepends=True)
    named = json.loads(lines[3])["qid"]
    (broken / "results.jsonl").write_bytes(b"".join(lines[:3] + lines[4:]))
    said = f"judge: {broken}/results.jsonl: holds 15 results, and 16 were scored: lines were lost; "
    for words in ([], [named], ["nobody"]):
        assert refused(judge("show", broken, *words)) == f"{said}score again with --force\n"
    (broken / "results.jsonl").write_bytes(b"".join([*lines, lines[0]]))
    assert "17 results, and 16 were scored: lines were added" in refused(judge("show", broken))


def test_without_the_input_quotes_stand_alone(tmp_path: Path) -> None:
    chunk = {"chunk_id": "a", "text": "Notice. Rooms cost 500 yuan at most, breakfast included."}
    answer = "Rooms cost 500 yuan at most, breakfast included."
    run = score(tmp_path, {"qid": "x", "answer": answer, "chunks": [chunk]})
    (tmp_path / "in.jsonl").unlink()
    assert "a  «" in judge("show", run, "x").out


def test_a_run_without_a_score(tmp_path: Path) -> None:
    run = score(tmp_path, {"qid": "x", "answer": "", "chunks": []})
    assert "no answer claims anything" in refused(judge("show", run))
    assert "(an empty answer)" in judge("show", run, "x").out


def test_the_answers_of_a_cell_one_after_another(placed: Path) -> None:
    wanted = ["retrieved-faithful-wrong", "retrieved-unfaithful-wrong"]
    words: list[object] = ["show", placed, "--cell", "wrong,retrieved"]
    for number, qid in enumerate(wanted, start=1):
        out = judge(*words).out
        assert shown(out) == [qid]
        assert f"{number} of 2 in retrieved,wrong\n" in out
        _, found, command = out.partition("\nnext: judge ")
        words = list(command.split())
        assert bool(found) is (number < 2)
    out = judge("show", placed, "--cell", "silent", "-n", 2, "--skip", 1).out
    assert shown(out) == ["missed-silent", "unanswerable-silent"]
    assert out.endswith("2 to 3 of 3 in silent\n")
    out = judge("show", placed, "--cell", "retrieved", "-n", 2).out
    assert out.endswith("--cell retrieved -n 2 --skip 2\n")


def test_why_an_answer_stands_in_its_cell(placed: Path) -> None:
    out = told(judge("show", placed, "--cell", "unfaithful,wrong,missed"))
    assert "Who founded Harrow & Pell?" in out
    assert "cell answerable, missed, answered, unfaithful, wrong: " in out
    assert "(retrieval is broken)" in out
    assert "Agnes Harrow and Tom Pell." in out
    assert "missed history#1" in out
    out = told(judge("show", placed, "retrieved-faithful-correct", "--cell", "correct"))
    assert "(neither half is broken)" in out
    assert "found leave#1" in out
    chinese = judge("show", placed, "--cell", "missed，abstained", "--lang", "zh").out
    assert "检索有问题" in "".join(chinese.split())
    assert "\n所在格     有答案、未检索到、拒答：" in chinese
    assert "\n未检索到   " in chinese
    assert not {"answerable", "abstained", "missed", "cell"} & set(chinese.split())


def test_the_reference_is_shown_where_it_was_not_compared(tmp_path: Path) -> None:
    sample: dict[str, object] = {
        "qid": "x",
        "answer": "十元。",
        "chunks": [{"chunk_id": "文档1#2", "text": "十元。"}],
        "gold_answer": "每人十元。",
        "gold_evidence": [f"文档{number}" for number in range(12)],
    }
    run = score(tmp_path, sample, options=("--gold-match", "prefix"))
    out = judge("show", run).out
    assert "reference  每人十元。\n" in out
    assert "found      文档1\n" in out
    assert "文档0, 文档2" in out
    assert "and 1 more\n" in out
    chinese = judge("show", run, "--lang", "zh").out
    assert "\n参考答案   每人十元。\n" in chinese
    assert "\n检索到     文档1\n" in chinese
    assert "另有 1 个\n" in chinese
    (tmp_path / "in.jsonl").unlink()
    out = judge("show", run, "--cell", "retrieved").out
    assert "cell       answerable, retrieved, answered" in out
    assert "每人十元" not in out


def test_what_cannot_be_shown(placed: Path) -> None:
    rows: list[tuple[list[object], str]] = [
        (["nowhere"], "no such run folder"),
        ([placed, "--cell", ""], "--cell '' names no word; there are: answerable, "),
        ([placed, "--cell", "sound"], "no word 'sound'; there are: answerable, "),
        ([placed, "--cell", "faithful,unfaithful"], "both 'faithful' and 'unfaithful'"),
        ([placed, "--cell", "wrong", "--skip", "6"], "--skip 6 leaves none of 4 answers in wrong"),
        ([placed, "retrieved-abstained", "--cell", "missed"], "is answerable, retrieved, abstain"),
        ([placed, "no-such-qid", "--cell", "missed"], "no answer 'no-such-qid'"),
        ([placed, "no-such-qid"], "no answer 'no-such-qid'"),
        ([placed, "retrieved-abstained", "--cell", "retrieved", "-n", "2"], "without a QID"),
        ([placed, "--skip", "1"], "go with --cell"),
        ([placed, "--support", "bad"], "--support 'bad': give one of full, partial, none, contr"),
        ([placed, "--flag", ""], "--flag '': give one of unverified_quote, "),
        ([placed, "--status", "nix"], "one of abstained, no_claims, unscored, scored, valid, "),
        ([placed, "--worst", "2", "-n", "3"], "--worst N says how many itself"),
        ([placed, "no-such-qid", "--support", "none"], "no answer 'no-such-qid'"),
    ]
    for words, message in rows:
        assert message in refused(judge("show", *words))


def test_the_next_command_can_be_pasted_whatever_the_folder_is_called(tmp_path: Path) -> None:
    run = scored(FIXTURES / "cells.jsonl", tmp_path / "today's run")
    out = judge("show", run, "--cell", "retrieved", "--lang", "zh").out
    words = shlex.split(out.partition("\nnext: judge ")[2])
    assert words == ["show", str(run), "--cell", "retrieved", "--lang", "zh", "--skip", "1"]
    assert judge(*words).code == 0


def test_help_lists_every_word() -> None:
    words = {*get_args(QuadrantWord), *SUPPORTS, *STATUSES, *FLAGS}
    assert set(re.findall(r"[\w:]+\w", judge("show", "--help").out)) >= words


# Of fixtures/quickstart.jsonl, by what `results.jsonl` holds.
LISTS: list[tuple[str, Callable[[SampleResult], int]]] = [
    ("--support none", lambda r: sum(has(s, "support", "none") for s in r.sentences)),
    ("--support full", lambda r: sum(has(s, "support", "full") for s in r.sentences)),
    ("--status abstained", lambda r: r.status == "abstained"),
    ("--status scored", lambda r: r.status == "scored"),
    ("--status valid", lambda r: len({c.sentence for c in r.citations if c.status == "valid"})),
    ("--flag injection_suspected", lambda r: bool(general(r))),
    (
        "--support none --flag injection_suspected",
        lambda r: general(r) and sum(has(s, "support", "none") for s in r.sentences),
    ),
    (
        "--support none --status dangling",
        lambda r: len(
            {c.sentence for c in r.citations if c.status == "dangling"}
            & {s.index for s in r.sentences if has(s, "support", "none")}
        ),
    ),
    (
        "en-leave-partial --support none",
        lambda r: (
            r.qid == "en-leave-partial" and sum(has(s, "support", "none") for s in r.sentences)
        ),
    ),
]


def has(sentence: SentenceResult, field: str, value: str) -> bool:
    return getattr(sentence.outcome, field, None) == value


def general(result: SampleResult) -> bool:
    return any(flag.sentence is None for flag in result.flags)


def flagged(result: SampleResult, name: str) -> set[int | None]:
    return {flag.sentence for flag in result.flags if flag.name.startswith(name)}


def test_lists_hold_what_the_results_hold_and_filters_combine(run: Path) -> None:
    found = results(run)
    for options, count in LISTS:
        expected = sum(map(count, found))
        ran = judge("show", run, *options.split(), "-n", 1000)
        assert (ran.code, ran.err) == (0, "")
        counts = re.findall(r"^1 to (\d+) of (\d+) in ", ran.out, flags=re.MULTILINE)
        if expected:
            assert counts == [(str(expected),) * 2], options
        else:
            *_, asked = ran.out.partition(" with ")
            assert ran.out.startswith("nothing found in "), options
            assert asked.startswith(options.split()[0])


def test_a_list_goes_on_where_it_ended(tmp_path: Path) -> None:
    run = scored(FIXTURES / "quickstart.jsonl", tmp_path / "today's run")
    names = [r.qid for r in results(run) if r.status == "scored"]
    words, seen = ["show", str(run), "--status", "scored", "-n", "5"], []
    while words:
        out = judge(*words).out
        seen += [each.split()[0] for each in out.splitlines() if each.startswith(tuple(names))]
        words = shlex.split(out.partition("\nnext: judge ")[2])
    assert seen == names


def test_the_worst_of_a_run_and_of_a_filter(tmp_path: Path) -> None:
    chunks = ["Dogs sleep all day.", "The fee is 90 euros a year."]
    answers = ["Dogs sleep all day.", "Rockets burn kerosene.", "The fee is 90 euros a year."]
    lines = [line(f"q{n}", text, chunks) for n, text in enumerate(answers)]
    run = scored(write(tmp_path / "in.jsonl", lines), tmp_path / "run")
    out = judge("show", run, "--worst", 5).out
    assert "q1  Rockets burn kerosene." in out
    assert "the worst 1 in 3 answers\n" in out
    out = judge("show", run, "--worst", 1, "--support", "full").out
    assert len(re.findall(r"^✓ full", out, flags=re.MULTILINE)) == 1
    assert "the worst 1 in 3 answers\n" in out
    out = judge("show", run, "--worst", 9, "--support", "none", "--lang", "zh").out
    assert "✗ 不支持" in out
    assert out.endswith("3 篇回答中最差的 1 条\n")


def test_a_fallback_is_listed_as_what_it_is(tmp_path: Path) -> None:
    source = write(tmp_path / "in.jsonl", [line("q", "Rockets burn kerosene.")])
    run = scored(source, tmp_path / "run")
    found = results(run)
    (sentence,) = found[0].sentences
    late = Unscored(reason=UnscoredReason.TIMEOUT, detail="after 60 s")
    assert isinstance(sentence.outcome, Verdict)
    outcome = sentence.outcome.model_copy(update={"fallback_from": late})
    fallen = sentence.model_copy(update={"outcome": outcome})
    result = found[0].model_copy(update={"sentences": (fallen,)})
    (run / "results.jsonl").write_bytes(line_of(result))
    assert judge("show", run, "--support", outcome.support).out.startswith("nothing found in 1 ")
    out = judge("show", run, "--support", "unscored").out
    assert "(fallback: similarity)" in out
    assert "timeout: after 60 s" in out


def test_how_far_a_sentence_is_from_full_is_told(tmp_path: Path) -> None:
    source = write(tmp_path / "in.jsonl", [line("q", "Rockets burn kerosene.")])
    run = scored(source, tmp_path / "run")
    english = judge("show", run).out
    assert re.search(r"none, P\(supported\) 0\.\d{3}; full from 0\.\d{3}\n", english)
    assert re.search(r"不支持, P\(支持\) .*; 不低于 0", judge("show", run, "--lang", "zh").out)


def test_evidence_that_was_seen_in_part_is_said_to_be(tmp_path: Path) -> None:
    run = score(tmp_path, PAID | {"gold_evidence": ["a", "b"]})
    out = told(judge("show", run, "x"))
    assert "part of the gold was missed: retrieval may be at fault" in out
    assert "found a missed b" in out
    assert "只检索到部分标注证据" in told(judge("show", run, "x", "--lang", "zh")).replace(" ", "")


def test_gold_that_has_changed_since_is_not_listed(tmp_path: Path) -> None:
    rows: list[tuple[dict[str, object], dict[str, object]]] = [
        ({"gold_evidence": ["a"]}, {"gold_evidence": ["b"]}),
        ({"gold_evidence": ["b"]}, {"relevance": {"a": 1}}),
        ({"gold_evidence": ["a"]}, {"gold_evidence": ["a", "b"]}),
        ({"gold_evidence": ["a", "b"]}, {"gold_evidence": ["a"]}),
        ({"gold_evidence": ["b"]}, {}),
        ({"gold_evidence": []}, {"gold_evidence": ["b"]}),
    ]
    before = [PAID | {"qid": f"q{n}"} | gold for n, (gold, _) in enumerate(rows)]
    after = [PAID | {"qid": f"q{n}"} | gold for n, (_, gold) in enumerate(rows)]
    run = score(tmp_path, *before)
    lines = (json.dumps(sample) + "\n" for sample in after)
    (tmp_path / "in.jsonl").write_text("".join(lines), "utf-8")
    for number in range(len(rows)):
        out = judge("show", run, f"q{number}").out
        assert "gold       gold or chunks in the input have changed since\n" in out
        assert "\nfound " not in out
        assert "\nmissed " not in out
    out = judge("show", run, "q0", "--lang", "zh").out
    assert "输入中的标注或片段此后改动过" in out


def test_ids_beside_a_reference_that_abstains_are_no_change(tmp_path: Path) -> None:
    gold = {"gold_evidence": ["b"], "gold_answer": "The documents do not say."}
    out = judge("show", score(tmp_path, PAID | gold), "x").out
    assert "unanswerable" in out
    assert "missed     b\n" in out
    assert "changed since" not in out


def test_gold_that_contradicts_itself_is_told(tmp_path: Path) -> None:
    gold: dict[str, object] = {"gold_evidence": [], "gold_answer": "It is paid."}
    source = tmp_path / "in.jsonl"
    source.write_text(json.dumps(PAID | gold) + "\n")
    out = told(judge("score", source, "-o", tmp_path / "run", "--details"))
    assert "flags 1: 1 conflicting_gold" in out
    assert "left out: 1 whose gold contradicts itself" in out
    assert "(x). Name the chunks" in out
    out = told(judge("show", tmp_path / "run", "x"))
    assert "flags conflicting_gold" in out
    assert "no cell gold contradicts itself: it names no relevant chunk" in out
    assert "\n不在格内   标注" in judge("show", tmp_path / "run", "x", "--lang", "zh").out
    err = refused(judge("show", tmp_path / "run", "x", "--cell", "retrieved"))
    assert "in no cell: gold contradicts itself: it names no" in err


def test_long_ids_are_clipped(tmp_path: Path) -> None:
    chunk = {"chunk_id": "长" * 3000, "text": "It is paid."}
    gold: dict[str, object] = {"chunks": [chunk], "gold_evidence": ["长" * 3000, "b" * 3000]}
    out = judge("show", score(tmp_path, PAID | gold), "x").out
    assert f"missed     {'b' * 39}…\n" in out
    assert "长" * 39 + "…" in "".join(out.split())


def test_a_cell_without_an_answer(tmp_path: Path) -> None:
    lines = (FIXTURES / "cells.jsonl").read_text(encoding="utf-8").splitlines()[:3]
    run = score(tmp_path, *map(json.loads, lines))
    assert refused(judge("show", run, "--cell", "missed")).endswith("run: no answer is missed\n")
    err = refused(judge("show", run, "--cell", "wrong,retrieved"))
    assert "no answer is retrieved,wrong; whether answers are correct was not asked" in err
    (tmp_path / "b").mkdir()
    sample = PAID | {"gold_evidence": ["a"]}
    run = score(tmp_path / "b", sample, options=("--correctness",))
    err = refused(judge("show", run, "--cell", "wrong"))
    assert "no answer is wrong; no answer has a reference to be compared with: gold_answer" in err


def test_a_run_without_gold_has_no_cells(tmp_path: Path) -> None:
    run = scored(FIXTURES / "samples.csv", tmp_path / "run")
    qid = json.loads((run / "results.jsonl").read_text(encoding="utf-8").splitlines()[0])["qid"]
    for words in (["--cell", "retrieved"], [qid, "--cell", "abstained"]):
        err = refused(judge("show", run, *words))
        assert "gold_evidence or relevance" in err
        assert "or the run is older: score again with --force" in err
    assert "\ncell " not in judge("show", run, qid).out


def test_gold_that_names_other_chunks_twice_is_told(tmp_path: Path) -> None:
    gold: dict[str, object] = {"gold_evidence": ["b"], "relevance": {"a": 2, "b": 1}}
    run = score(tmp_path, PAID | gold, PAID | {"qid": "y", "relevance": {"a": 1}})
    for lang, said in (
        ("en", "name different chunks of 1 of them: gold_evidence says"),
        ("zh", "其中 1 条的 gold_evidence 与 relevance 标出的片段不同"),
    ):
        words = ("--details", "--force", "--lang", lang)
        out = judge("score", tmp_path / "in.jsonl", "-o", run, *words).out
        assert said.replace(" ", "") in "".join(out.split())
    assert [each.cell and each.cell.retrieved for each in results(run)] == [False, True]
    assert "missed b" in told(judge("show", run, "x"))


def test_what_is_absurdly_long_or_wide_is_told_briefly(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = score(tmp_path, PAID)
    assert len(refused(judge("show", run, "q" * 100_000))) < 500
    monkeypatch.setenv("COLUMNS", "99999999")
    assert max(map(len, judge("show", run, "x").out.splitlines())) == 1_000


def test_links_that_lead_to_each_other_are_no_input(tmp_path: Path) -> None:
    loop = tmp_path / "a.jsonl"
    loop.symlink_to(tmp_path / "b.jsonl")
    (tmp_path / "b.jsonl").symlink_to(loop)
    err = refused(judge("score", loop, "-o", tmp_path / "run"))
    assert err.startswith(f"judge: {loop}: cannot be read: Too many levels of symbolic links")
