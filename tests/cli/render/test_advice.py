import io

import pytest
from rich.console import Console

from judge.advice.recommend import Lang, recommend_measures
from judge.cli.render.advice import print_advice
from judge.records import Sample

ONE = Sample(qid="q", retrieved=("a", "b"), gold_evidence=("b",))


def printed(lang: Lang = "en", width: int = 60, written: str | None = None) -> str:
    console = Console(file=io.StringIO(), width=width, highlight=False)
    print_advice(recommend_measures([ONE], lang=lang), "'a b.jsonl'", console, written)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_the_scenario_stands_first_and_the_command_last() -> None:
    lines = printed().splitlines()
    assert lines[0] == "Scenario: sparse"
    assert lines[-1] == "  judge retrieval 'a b.jsonl' -k 5,10,20"
    assert "  hit@10  whether anything relevant is found at all" in lines


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_no_line_is_wider_than_the_terminal(lang: Lang) -> None:
    wide = [line for line in printed(lang, 40).splitlines() if len(line) > 40]
    assert all(line.startswith("  judge retrieval") for line in wide)


def test_a_page_that_was_written_is_named() -> None:
    assert printed(written="决定\x1b.md").endswith("written to 决定␛.md\n")
    assert printed("zh", written="d.md").endswith("已写入 d.md\n")
