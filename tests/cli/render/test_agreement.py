from pathlib import Path

import pytest
from rich.cells import cell_len

from judge.cli.render.agreement import print_agreement
from judge.records import Summary
from judge.review.records import Agreement
from tests.paged import paged
from tests.pages.agreements import BARE, FAITHFULNESS, HOSTILE, RICH, SIMILARITY, STRICT, of_run


def printed(agreement: Agreement, summary: Summary | None = None, width: int = 80) -> list[str]:
    run, folder = summary or of_run(), Path("runs/today")
    text = paged(lambda page: print_agreement(agreement, run, folder, page), width)
    return text.splitlines()


@pytest.mark.parametrize("width", [80, 200])
def test_all_fits_a_screen(width: int) -> None:
    lines = printed(RICH, width=width)
    assert all(cell_len(line) <= width for line in lines)
    assert all(line == line.rstrip() for line in lines)


def test_nothing_measured_is_no_zero_and_no_empty_row() -> None:
    text = "\n".join(printed(BARE, of_run(untrusted=True), width=200))
    assert "0.0" not in text.replace("2.5\N{NO-BREAK SPACE}%", "")
    uneven = printed(RICH.model_copy(update={"corrected": (FAITHFULNESS, STRICT)}), width=200)
    assert not any(line.strip().startswith("claims,") for line in uneven)
    silent = STRICT.model_copy(update={"raw": None})
    (row,) = (
        line
        for line in printed(RICH.model_copy(update={"corrected": (silent,)}))
        if line.startswith(" answers,")
    )
    assert " – " in row


def test_hostile_texts_steer_nothing() -> None:
    for width in (80, 30):
        lines = printed(HOSTILE, of_run(SIMILARITY), width)
        assert not set("\n".join(lines)) & set("\u202e\u2066\x00\x1b\ud800")
        shown = [line for line in lines if line.startswith("  judge ")]
        assert len(shown) == 2
        assert all(cell_len(line) <= width for line in shown)
