from pathlib import Path

from rich.cells import cell_len

from judge.cli.render.agreement import print_agreement
from judge.records import Summary
from judge.review.records import Agreement
from tests.pages.agreements import HOSTILE, SIMILARITY, of_run
from tests.terminal_page import paged


def printed(agreement: Agreement, summary: Summary | None = None, width: int = 80) -> list[str]:
    run, folder = summary or of_run(), Path("runs/today")
    text = paged(lambda page: print_agreement(agreement, run, folder, page), width)
    return text.splitlines()


def test_hostile_texts_steer_nothing() -> None:
    for width in (80, 30):
        lines = printed(HOSTILE, of_run(SIMILARITY), width)
        assert not set("\n".join(lines)) & set("\u202e\u2066\x00\x1b\ud800")
        shown = [line for line in lines if line.startswith("  judge ")]
        assert len(shown) == 2
        assert all(cell_len(line) <= width for line in shown)
