"""What `evaluate` returns: totals, tables, a run folder, and what a notebook shows of it."""

import os
from pathlib import Path

import nbclient
import nbformat
import pandas as pd  # type: ignore[import-untyped]
import pytest
from tqdm import tqdm

import judge as package
from judge import (
    Config,
    ConfigError,
    InputError,
    Results,
    Run,
    RunError,
    Sample,
    evaluate,
    read_samples,
)
from judge.config import Config as Settings
from tests.commands import judge
from tests.server import JudgeServer

ROWS = pd.DataFrame(
    [
        {
            "user_input": "When does it open?",
            "response": "It opens at seven.",
            "retrieved_contexts": ["It opens at seven."],
            "reference": "At seven.",
        },
        {
            "user_input": "Where is it?",
            "response": "It is in Rome. It is in Paris.",
            "retrieved_contexts": ["It is in Rome.", "It closes at nine."],
            "reference": "In Rome.",
        },
    ]
)
"""Rows as the users of ragas have them."""


@pytest.fixture(scope="module")
def results() -> Results:
    return evaluate(ROWS, correctness=True)


def test_results_are_a_list_with_totals_and_tables(results: Results) -> None:
    assert isinstance(results, list)
    assert [each.qid for each in results] == ["1", "2"]
    assert [each.gold_answer for each in results.samples] == ["At seven.", "In Rome."]
    assert results.summary.answers == 2
    assert results.summary.correctness is not None
    assert list(results.to_pandas()["sentence"]) == [0, 0, 1]
    assert list(results.to_pandas("answers")["qid"]) == ["1", "2"]
    assert repr(results) == "<Results of 2 answers>"
    assert package.__version__ == results.record.versions["judge"]


def test_results_are_saved_as_a_run_that_commands_read(results: Results, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    results.save(folder)
    run = Run.open(folder)
    assert list(run) == results
    assert run.summary == results.summary
    assert [run.sample(each.qid) for each in results] == results.samples
    shown = judge("show", folder, "2").out
    assert "question  Where is it?" in shown
    assert "the input is gone" not in shown
    assert judge("report", folder, "-o", tmp_path / "report.html").code == 0
    assert judge("compare", folder, folder).code == 0
    with pytest.raises(RunError, match="holds a finished run"):
        results.save(folder)
    results.save(folder, force=True)


def test_results_of_mapped_rows_are_saved_in_our_own_form(tmp_path: Path) -> None:
    row = {"id": "q", "result": {"text": "It opens."}, "docs": ["It opens."], "team": "a"}
    made = evaluate([row], map={"answer": "result.text", "chunks": "docs[]"})
    made.save(tmp_path)
    assert Run.open(tmp_path).sample("q") == made.samples[0]
    assert made.samples[0].metadata["team"] == "a"


def test_what_cannot_be_read_again_is_not_saved(tmp_path: Path) -> None:
    sample = Sample(qid="q", answer="A.", chunks=[], metadata={"reference": "B.", "team": "a"})
    with pytest.raises(InputError, match="'q': its metadata has the name of a field"):
        evaluate([sample]).save(tmp_path / "run")
    made = evaluate(ROWS)
    del made[0]
    with pytest.raises(RunError, match="result 1 is not of sample 1; save the list as evaluate"):
        made.save(tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_every_setting_is_a_keyword(server: JudgeServer) -> None:
    every = {name: getattr(Config(), name) for name in Settings.model_fields}
    assert evaluate([], **every) == []
    own = server.config(seed=3)
    made = evaluate(ROWS, own, model="tiny", input_price=2, output_price=4, judge="llm")
    assert {each.split("|")[0].split(":")[0] for each in made.summary.signatures} == {"llm"}
    assert made.record.config["seed"] == 3
    # Worked by hand: two millionths for a token in, four for one out.
    spent = 2 * made.summary.prompt_tokens + 4 * made.summary.reply_tokens
    assert made.summary.cost == pytest.approx(spent / 1e6)
    with pytest.raises(ConfigError, match="unknown setting 'modle'; did you mean 'model'"):
        evaluate(ROWS, modle="tiny")
    with pytest.raises(ConfigError, match="prior: give the evaluator its settings as a Config"):
        evaluate(ROWS, evaluator=package.Evaluator(), prior=0.5)


def test_an_empty_file_is_an_error_that_names_it(tmp_path: Path) -> None:
    path = tmp_path / "empty.jsonl"
    path.touch()
    with pytest.raises(InputError, match=r"empty\.jsonl: holds no sample"):
        evaluate(read_samples(path))
    assert "empty.jsonl: holds no sample" in judge("score", path, "-o", tmp_path / "run").err


def test_samples_that_can_be_iterated_only_once_are_not_lost() -> None:
    rows = ROWS.to_dict("records")
    assert len(evaluate(tqdm(rows))) == 2
    with pytest.raises(InputError, match="only once; pass a list"):
        evaluate(tqdm(iter(rows)))


def test_a_notebook_shows_results(tmp_path: Path) -> None:
    code = """
import judge
judge.evaluate([
    {"qid": "<i>sound</i>", "answer": "It opens at seven.", "chunks": ["It opens at seven."]},
    {"qid": "bad", "answer": "Napoleon <b>ate</b> here.", "chunks": ["It opens at seven."]},
])
"""
    cell = {"cell_type": "code", "source": code, "metadata": {}, "outputs": [], "id": "a"}
    made = {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [cell]}
    book = nbformat.from_dict(made)  # type: ignore[no-untyped-call]
    places = {"HOME": str(tmp_path), "IPYTHONDIR": str(tmp_path)}
    nbclient.NotebookClient(book, timeout=120).execute(env={**os.environ, **places})
    (shown,) = (each.data for each in book.cells[0].outputs if "data" in each)
    assert shown["text/plain"] == "<Results of 2 answers>"
    assert "looks supported" in shown["text/html"]
    assert "<b>ate" not in shown["text/html"]
