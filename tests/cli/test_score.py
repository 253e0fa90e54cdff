import json
import signal
from pathlib import Path

import pytest
from pydantic import JsonValue

from judge.files.runs import read_results, read_summary
from judge.records import FlagName
from tests.commands import CHUNKS, judge, line, results, start, until, write

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"
QUICKSTART = FIXTURES / "quickstart.jsonl"


@pytest.fixture(scope="module")
def few(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Five answers of the quickstart, three with an error: all sixteen take half a second."""
    path = tmp_path_factory.mktemp("few") / "few.jsonl"
    rows = QUICKSTART.read_text("utf-8").splitlines(keepends=True)[:5]
    path.write_text("".join(rows), encoding="utf-8")
    return path


@pytest.mark.no_cover
def test_the_quickstart(tmp_path: Path) -> None:
    code, out, err = judge("score", QUICKSTART, "-o", tmp_path / "run")
    assert (code, err) == (0, "")
    assert "Share of sentences that look supported" in out
    assert "Faithfulness" not in out  # what similarity measures is not called so
    assert "figures not found" in out
    assert len(list(read_results(tmp_path / "run"))) == 16
    assert read_summary(tmp_path / "run").unscored == {}


def test_other_spellings_of_the_input(tmp_path: Path) -> None:
    for name in ("ragas.jsonl", "aliases.jsonl", "samples.csv", "samples_columns.csv"):
        code, _, err = judge("score", FIXTURES / name, "-o", tmp_path / name)
        assert (code, err) == (0, "")


BAD = {
    "nowhere.jsonl": "no such file",
    ".": "aliases.jsonl, line 3, field 'qid': is missing",
    "broken.jsonl": "broken.jsonl, line 3: bad JSON",
    "wrong_types.jsonl": "line 2, field 'chunks': is a number",
    "duplicate_qid.jsonl": "field 'qid': ",
    "gb18030.csv": "not UTF-8",
}


def test_bad_input_is_one_clear_line(tmp_path: Path) -> None:
    for name, message in BAD.items():
        code, out, err = judge("score", FIXTURES / name, "-o", tmp_path / "run")
        assert (code, out, err.count("\n")) == (2, "", 1)
        assert message in err
        assert err.startswith("judge: ")
    assert not (tmp_path / "run").exists()


def test_where_every_line_is_bad_the_first_reason_is_told(tmp_path: Path) -> None:
    source = write(tmp_path / "in.jsonl", [{"qid": "1"}, {"qid": "2", "answer": 3}])
    ran = judge("score", source, "-o", tmp_path / "run", "--skip-bad-lines")
    assert (ran.code, ran.out) == (2, "")
    said = "all 2 lines are bad; the first: line 1, field 'answer': is missing"
    assert ran.err.startswith(f"judge: {source}: {said}")
    assert not (tmp_path / "run").exists()


def test_a_folder_that_is_somebody_elses_or_reads_like_an_option(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, few: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "chapter.tex").write_text("keep")
    for words in (["thesis"], ["thesis", "--force"]):
        ran = judge("score", few, "-o", *words)
        assert (ran.code, ran.out) == (2, "")
        assert ran.err == (
            "judge: thesis: holds chapter.tex, and no run.json accounts for it; "
            "move it away, or name another -o\n"
        )
    for name in ("-x", "--force", "-"):
        ran = judge("score", few, "-o", name)
        assert (ran.code, ran.out) == (2, "")
        assert f"{name!r} reads like an option; for a path say ./{name}" in ran.err
    found = {path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*")}
    assert found == {"thesis", "thesis/chapter.tex"}
    assert judge("score", few, "-o", "./-x").code == 0


FLAGGED = (FlagName.NO_CHUNKS, FlagName.AMBIGUOUS_CHUNK_ID, FlagName.UNJUDGED_TEXT)


def test_chunks_that_are_missing_or_share_an_id_are_counted_and_told(tmp_path: Path) -> None:
    answer = "The canteen opens at seven."
    lines = [line("bare", answer, []), line("none", "I do not know.", []), line("fine", answer)]
    chunks: list[JsonValue] = [
        {"chunk_id": "a", "text": text} for text in ("It opens at six.", "It opens at seven.")
    ]
    lines.append({"qid": "two", "answer": "食堂七点开门。", "chunks": chunks})
    gaps: dict[str, JsonValue] = {"answer": f"{answer} {answer}", "sentences": [answer]}
    lines.append({"qid": "gaps", "chunks": chunks[1:], **gaps})
    source = write(tmp_path / "in.jsonl", lines)
    for lang, told in (("en", "1 answer came without"), ("zh", "1 篇回答没有片段")):
        ran = judge("score", source, "-o", tmp_path / "run", "--force", "--lang", lang)
        assert (ran.code, told in ran.out) == (0, True)
        for name in ("no_chunks", "ambiguous_chunk_id", "unjudged_text"):
            assert ran.out.count(name) == 1
    flags = json.loads((tmp_path / "run" / "summary.json").read_text())["flags"]
    assert [flags[name] for name in ("no_chunks", "ambiguous_chunk_id", "unjudged_text")] == [1] * 3
    found = {each.qid: [flag.name for flag in each.flags] for each in results(tmp_path / "run")}
    for qid, name in zip(("bare", "two", "gaps"), FLAGGED, strict=True):
        assert found.pop(qid) == [name]
    assert not any(found.values())


@pytest.mark.no_cover
def test_a_finished_run_is_refused_without_force(tmp_path: Path, few: Path) -> None:
    assert judge("score", few, "-o", tmp_path / "run")[0] == 0
    code, _, err = judge("score", few, "-o", tmp_path / "run")
    assert code == 2
    assert "--force" in err
    assert judge("score", few, "-o", tmp_path / "run", "--force")[0] == 0


@pytest.mark.no_cover
def test_a_damaged_run_is_gone_on_with_and_says_so_in_a_line(tmp_path: Path, few: Path) -> None:
    run = tmp_path / "run"
    first = judge("score", few, "-o", run)
    lines = (run / "results.jsonl").read_bytes().splitlines(keepends=True)
    for force in ([], ["--force"]):
        begun = json.loads((run / "run.json").read_bytes()) | {"finished": None}
        (run / "run.json").write_text(json.dumps(begun), encoding="utf-8")
        (run / "results.jsonl").write_bytes(b"".join([*lines[:2], b"{", *lines[2:4]]))
        ran = judge("score", few, "-o", run, *force)
        assert (ran.code, ran.out.splitlines()[2:]) == (0, first.out.splitlines()[2:])
        assert (run / "results.jsonl").read_bytes() == b"".join(lines)
        (told,) = [each for each in ran.err.splitlines() if "taking up" not in each]
        assert told.startswith(f"judge: {run}/results.jsonl.part: line 3 is damaged, or of another")
        assert told.endswith("made again")  # nothing was paid for


def test_the_folder_has_a_default(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    shapes = FIXTURES / "shapes"
    for name, folder in {
        FIXTURES / "samples.csv": "samples",
        shapes / "pandas.csv.zst": "pandas",
        shapes / "[n-q]*.feather": "n-q",
        FIXTURES / "s*.csv": "s",
    }.items():
        assert judge("score", name, "--force")[0] == 0, name
        assert (tmp_path / "runs" / folder / "summary.json").exists()


def test_a_name_of_dots_is_no_other_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names = {"...jsonl": "run", "..jsonl": "run", "a..jsonl": "a.", "a\nb\x1b.jsonl": "a\nb\x1b"}
    for name, folder in names.items():
        write(tmp_path / name, [line("1", "It opens at seven.")])
        assert judge("score", name, "--force")[0] == 0
        assert (tmp_path / "runs" / folder / "summary.json").exists()
        assert {path.name for path in tmp_path.iterdir()} <= {*names, "runs"}


def test_a_long_line_is_left_out_and_is_not_missed_later(tmp_path: Path) -> None:
    """What the run left out is left out, too, when its samples are read again."""
    long = line("long", "It closes at three. " * 100)
    rows = [line("1", "It opens at seven."), long, line("2", "It closes at three.")]
    source, run = write(tmp_path / "in.jsonl", rows), tmp_path / "run"
    options = ("-o", run, "--max-line", "0.001")
    code, _, err = judge("score", source, *options)
    assert (code, "line 2: longer than 0.001 MB" in err, err.count("\n")) == (2, True, 1)
    assert judge("score", source, *options, "--skip-bad-lines")[0] == 0
    assert [each.qid for each in results(run)] == ["1", "2"]
    assert "longer than" in (run / "rejected.jsonl").read_text()
    assert "The canteen opens" in judge("show", run, "2")[1]
    assert judge("review", "draw", run, "-o", tmp_path / "sheet.csv")[0] == 0
    for command in ("overlap", "retrieval", "recommend"):
        code, _, err = judge(command, source, "--max-line", "0.001")
        assert (code, "line 2: longer than 0.001 MB" in err, err.count("\n")) == (2, True, 1)


def test_exit_codes(tmp_path: Path, few: Path) -> None:
    gated = {
        "faithfulness=0.01": 0,
        "faithfulness=1": 1,
        "faithfulness=0.01 --fail-under coverage=1": 1,
        "faithfulness=0.7 --strict-gate": 1,
        "faithfulness=0.01 --judge similarity": 0,
        "faithfulness=0.01 --expect similarity": 0,
        "faithfulness=0.01 --expect llm": 2,
        "faithfulness=0.01 --fail-over contradiction_rate=1": 0,
        "contradiction_rate=0.5": 2,
        "faithfulness_with_fallback=0.1": 3,
        "faithfulnes=0.9": 2,
        "faithfulness=high": 2,
        "correctness=0.7": 2,
        "correctness_recall=0.7 --no-correctness": 2,
    }
    rows = {f"--fail-under {gate}": code for gate, code in gated.items()}
    rows |= {"--prior 2": 2, "--citation-pattern (": 2, "--no-such-option": 2}
    found = {}
    for number, options in enumerate(rows):
        run = tmp_path / str(number)
        found[options], _, err = judge("score", few, "-o", run, *options.split())
        assert run.exists() is (found[options] != 2)
        assert "Traceback" not in err
        # Which judge gates is said where nobody has said so.
        told = ["judge: the gates hold what similarity says"] * ("under" in options)
        if found[options] != 2 and not {"--judge", "--expect"} & {*options.split()}:
            assert [each.partition(",")[0] for each in err.splitlines()] == told
        else:
            assert bool(err) is (found[options] == 2)
    assert found == rows


def test_gates_and_their_outcome_stand_in_the_summary(tmp_path: Path) -> None:
    """Nothing is looked for beside the words: both figures are of the printed table."""
    words = "--judge similarity --fail-under faithfulness=0.999 --fail-over contradiction_rate=0"
    contradicting = [line("1", "The canteen opens at nine."), line("2", CHUNKS[0])]
    source = write(tmp_path / "in.jsonl", contradicting)
    ran = judge("score", source, "-o", tmp_path / "run", *words.split())
    found = json.loads((tmp_path / "run" / "summary.json").read_text())
    assert [list(gate) for gate in found["gates"]] == [
        ["name", "side", "bound", "value", "what", "passed"]
    ] * 2
    first, second = found["gates"]
    assert (first["name"], first["side"], first["bound"]) == ("faithfulness", "least", 0.999)
    assert (first["value"], first["passed"]) == (found["faithfulness"]["macro"], False)
    assert (second["name"], second["side"]) == ("contradiction_rate", "most")
    assert second["value"] == found["contradiction_rate"]["macro"]
    assert f"gate contradiction_rate <= 0: {second['value']:.3f} (mean over answers)" in ran.out
    assert ran.code == 1
    strict = ("--fail-over", "contradiction_rate=0.9", "--strict-gate", "--force")
    ran = judge("score", source, "-o", tmp_path / "run", "--judge", "similarity", *strict)
    (gate,) = read_summary(tmp_path / "run").gates
    assert gate.what == "upper limit, failures counted 1"
    # Wilson's upper limit of 1 in 2, and of 0 in 2, with t(1) = 12.706.
    assert gate.value == pytest.approx(0.9969 if second["value"] else 0.9878, abs=1e-4)
    # Those of an older version, and of a run without a gate, are read all the same.
    later = ("gates", "contradiction_rate_bounds", "hallucination_rate", "abstentions")
    for name in later:
        del found[name]
    del found["faithfulness_bounds"]["high_interval"]
    (tmp_path / "run" / "summary.json").write_text(json.dumps(found))
    assert read_summary(tmp_path / "run").gates == ()
    assert judge("show", tmp_path / "run").code == 0


def test_an_unfinished_run_is_taken_up_with_other_gates(tmp_path: Path, few: Path) -> None:
    run = tmp_path / "run"
    words = ("score", few, "-o", run, "--judge", "similarity", "--fail-under")
    assert judge(*words, "faithfulness=1").code == 1
    begun = json.loads((run / "run.json").read_bytes()) | {"finished": None}
    (run / "run.json").write_text(json.dumps(begun), encoding="utf-8")
    (run / "results.jsonl").rename(run / "results.jsonl.part")
    ran = judge(*words, "coverage=0.1")
    assert (ran.code, "5 of 5 answers are there" in ran.err) == (0, True)
    assert [gate.name for gate in read_summary(run).gates] == ["coverage"]


WRITTEN = (
    ("zh", "保修期为24个月。电池另计。", "保修期为24个月。"),
    ("en", "The canteen opens at seven.", "The canteen opens at seven. It closes at three."),
)


def samples(folder: Path, *answers: tuple[str, str, str | None]) -> Path:
    lines = [
        {"qid": qid, "answer": answer, "chunks": [answer], "gold_answer": gold}
        for qid, answer, gold in answers
    ]
    text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
    (folder / "in.jsonl").write_text(text, encoding="utf-8")
    return folder / "in.jsonl"


@pytest.mark.parametrize(("least", "code"), [("0.6", 0), ("0.7", 1)])
def test_correctness_is_measured_where_it_is_asked_for(
    tmp_path: Path, least: str, code: int
) -> None:
    """Half of the first answer is in its reference, half of the second reference in its answer:
    F1 2/3 each."""
    gate = f"correctness={least}"
    found, out, err = judge(
        "score", samples(tmp_path, *WRITTEN), "-o", tmp_path / "run", "--correctness",
        "--fail-under", gate,
    )  # fmt: skip
    assert (found, err.count("\n")) == (code, 1)
    assert "looks correct (F1)" in out
    assert f"gate correctness >= {least}: 0.667 (mean over answers)" in out
    totals = read_summary(tmp_path / "run").correctness
    assert totals is not None
    assert totals.precision is not None
    assert totals.recall is not None
    assert totals.precision.macro == totals.recall.macro == 0.75
    _, shown, _ = judge("show", tmp_path / "run", "zh")
    assert "looks correct 0.667 · precision 0.500 · recall 1.000" in shown
    assert "in the answer, and not, not wholly or not surely" in shown


@pytest.mark.no_cover
def test_refusing_passes_no_gate_on_all_questions(tmp_path: Path) -> None:
    """54 of 60 abstain from questions that have an answer: only those who answer are faithful."""
    said = {
        "en": ("The canteen opens at seven.", "I don't know."),
        "zh": ("七点开门。", "不知道。"),
    }
    gates = {
        "--fail-under faithfulness=0.9": (True, 1),
        "--fail-under correctness=0.9": (True, 1),
        "--fail-under correctness_recall=0.9": (True, 1),
        "--fail-under correctness_overall=0.9": (False, 0.1),
        "--fail-under correctness_recall_overall=0.9": (False, 0.1),
        "--fail-over hallucination_rate=0.1": (True, 0),
        "--fail-over abstention_rate=0.3": (False, 0.9),
        "--fail-over abstention_rate_answerable=0.3": (False, 0.9),
    }
    options = f"--judge similarity --correctness --force {' '.join(gates)} --lang"
    for lang, (right, refusal) in said.items():
        source = samples(
            tmp_path, *((str(i), right if i < 6 else refusal, right) for i in range(60))
        )
        ran = judge("score", source, "-o", tmp_path / "run", *options.split(), lang)
        held = read_summary(tmp_path / "run").gates
        assert [(gate.passed, gate.value) for gate in held] == list(gates.values())
        assert ran.code == 1
        names = {
            "en": ("looks correct overall", "recall overall", "looks correct (F1)"),
            "zh": ("总体看似正确", "总体召回率", " 看似正确（F1）"),
        }
        places = [ran.out.index(name) for name in names[lang]]
        assert places == sorted(places)
    # Where every question is answered there is but one figure.
    source = samples(tmp_path, ("1", "It is open.", "It is open."))
    ran = judge("score", source, "-o", tmp_path / "run", *options.split(), "en")
    assert "overall (F1)" not in ran.out
    assert ran.out.count("1.000 (mean over answers), passed") == 5
    # Nobody told which questions have an answer.
    source = samples(tmp_path, ("1", "I don't know.", None))
    words = ["--judge", "similarity", "--force", "--fail-over", "abstention_rate_answerable=0.3"]
    assert judge("score", source, "-o", tmp_path / "run", *words).code == 3


def test_naming_every_city_is_no_right_answer(tmp_path: Path) -> None:
    """Without a model, and in both languages; who names one, and the right one, is right."""
    asked = {
        ("What is the capital of France?", "Paris"): (
            "It could be Paris, London, Berlin or Madrid.",
            "It is Paris.",
            "Paris, London, Berlin, Madrid.",
        ),
        ("法国的首都是哪里？", "巴黎"): (
            "可能是巴黎、里昂、马赛或者波尔多。",
            "是巴黎。",
            "可能是巴黎、里昂、马赛。",
        ),
        ("Which cities hosted it?", "Paris, London, Berlin, Madrid"): (
            "Paris, London, Berlin, Madrid.",
        ),
    }
    lines: list[dict[str, JsonValue]] = [
        {"qid": f"{gold} {i}", "query": query, "answer": said, "gold_answer": gold}
        | {"chunks": [" ".join(answers)], "gold_evidence": ["1"]}
        for (query, gold), answers in asked.items()
        for i, said in enumerate(answers)
    ]
    source = write(tmp_path / "in.jsonl", lines)
    assert judge("score", source, "-o", tmp_path / "run", "--correctness").code == 0
    cells = {each.qid: each.cell.correct for each in results(tmp_path / "run") if each.cell}
    right = {"Paris 1", "巴黎 1", "Paris, London, Berlin, Madrid 0"}
    assert cells == {name: name in right for name in cells}
    listed = judge("show", tmp_path / "run", "--flag", "alternatives").out
    assert {name for name in cells if name in listed} == cells.keys() - right
    shown = judge("show", tmp_path / "run", "Paris 0").out
    assert "the reference is one of several answers that it offers" in shown


def test_without_a_reference_it_says_so_and_a_gate_is_no_pass(tmp_path: Path) -> None:
    source = samples(tmp_path, ("1", "It is open.", None), ("2", "开门了。", " "))
    code, out, _ = judge("score", source, "-o", tmp_path / "run", "--correctness")
    assert code == 0
    assert "no answer has a reference" in out
    words = ("--correctness", "--fail-under", "correctness=0", "--force")
    assert judge("score", source, "-o", tmp_path / "run", *words)[0] == 3


def test_quotes_required_of_a_similarity_judge_are_there(tmp_path: Path, few: Path) -> None:
    assert judge("score", few, "-o", tmp_path / "run", "--require-quotes")[0] == 0


def test_an_empty_name_is_not_the_current_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, few: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    for words in (["score", ""], ["score", few, "-o", ""]):
        code, _, err = judge(*words)
        assert (code, list(tmp_path.iterdir())) == (2, [])
        assert "is empty; name a path" in err


def test_standard_input_that_is_closed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", None)  # what Python itself does for `<&-`
    code, _, err = judge("score", "-", "-o", tmp_path / "run")
    assert code == 2
    assert err.startswith("judge: standard input is closed")


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
def test_a_signal_while_standard_input_is_read(tmp_path: Path, name: str, few: Path) -> None:
    # A process of its own, for a signal is sent to one; it takes a second to start.
    with start("score", "-", "-o", tmp_path / "run") as process:
        assert process.stdin is not None
        assert process.stderr is not None
        process.stdin.write(few.read_text("utf-8"))
        process.stdin.flush()
        until(process, lambda: list((tmp_path / "run").glob("input.*.part")))
        process.send_signal(getattr(signal, name))
        err = process.stderr.read()
        assert process.wait() == 128 + getattr(signal, name)
    assert "interrupted; nothing was written" in err
    assert "Traceback" not in err
    assert not (tmp_path / "run").exists()


def test_a_signal_while_answers_are_scored_keeps_them(tmp_path: Path) -> None:
    lines = [line(str(number), "It opens at seven. " * 40) for number in range(2_000)]
    source, run = write(tmp_path / "in.jsonl", lines), tmp_path / "run"
    with start("score", source, "-o", run, "--concurrency", 2) as process:
        assert process.stderr is not None
        part = run / "results.jsonl.part"
        until(process, lambda: part.exists() and part.stat().st_size)
        process.send_signal(signal.SIGTERM)
        err = process.stderr.read()
        assert process.wait() == 128 + signal.SIGTERM
    kept = len(results(run))
    assert f"interrupted; {kept} of 2000 answers are kept; the same command goes on" in err
    assert 0 < kept < 2_000
    assert "Traceback" not in err


def test_the_table_of_cells_is_printed_in_either_language(tmp_path: Path) -> None:
    lines = (FIXTURES / "cells.jsonl").read_text("utf-8").splitlines(keepends=True)
    source = tmp_path / "in.jsonl"
    source.write_text("".join(lines[:2]), "utf-8")
    english = judge("score", source, "-o", tmp_path / "en", "--correctness", "--details")
    chinese = judge("score", source, "-o", tmp_path / "zh", "--details", "--lang", "zh")
    assert "Which half is broken, of 2 answers with gold evidence" in english[1]
    assert "retrieval is broken in 0, generation in 1, neither in 1" in " ".join(english[1].split())
    assert "检索有问题 0 条，生成有问题 0 条，都没有问题 0 条，未知 2 条" in chinese[1]
    code, out, err = judge("score", source, "-o", tmp_path / "fr", "--lang", "fr")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "'fr'" in err
