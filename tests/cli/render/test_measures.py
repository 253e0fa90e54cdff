import io

import pytest
from rich.console import Console

from judge.advice.rules import measures
from judge.cli.render.measures import print_measures


@pytest.mark.parametrize("width", [40, 80, 200])
def test_every_measure_is_printed_with_what_it_is(width: int) -> None:
    console = Console(width=width, file=io.StringIO(), record=True)

    print_measures(console)

    printed = console.export_text()
    assert all(len(line) <= width for line in printed.splitlines())
    flowing = "".join(printed.split())
    for measure in measures():
        for said in (measure.name, measure.range, measure.formula, measure.source):
            assert "".join(said.split()) in flowing
        for told in (measure.meaning, measure.meaning_zh, *measure.needs):
            assert "".join(told.split()) in flowing


def test_another_name_is_told_once() -> None:
    console = Console(width=500, file=io.StringIO(), record=True)

    print_measures(console)

    lines = console.export_text().splitlines()
    at = next(i for i, line in enumerate(lines) if line.startswith("hit@k"))
    assert lines[at + 2].count("hit rate") == 1
    assert any("Also called reciprocal rank." in line for line in lines)
