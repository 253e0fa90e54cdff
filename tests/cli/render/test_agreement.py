import re
from collections import Counter
from functools import partial
from pathlib import Path

import pytest
from rich.cells import cell_len

from judge.cli.render.agreement import print_agreement
from judge.messages import LANGS
from judge.records import Chunk, Sample, Summary
from judge.review.records import Agreement
from tests.paged import paged
from tests.pages.agreements import (
    BARE,
    FAITHFULNESS,
    HOSTILE,
    RICH,
    SIMILARITY,
    STRICT,
    of_run,
)


def printed(agreement: Agreement, summary: Summary | None = None, width: int = 80) -> list[str]:
    run, folder = summary or of_run(), Path("runs/today")
    text = paged(lambda page: print_agreement(agreement, run, folder, page), width)
    return text.splitlines()


def row(lines: list[str], name: str) -> list[str]:
    line = next(line for line in lines if line.strip().startswith(name))
    return line.strip().removeprefix(name).split()


@pytest.mark.parametrize("width", [80, 100, 200])
def test_all_fits_a_screen(width: int) -> None:
    lines = printed(RICH, width=width)
    assert len(lines) <= 30
    assert all(cell_len(line) <= width for line in lines)
    assert all(line == line.rstrip() for line in lines)


def test_the_finding_comes_first() -> None:
    lines = printed(RICH, width=200)
    assert lines[0] == "Faithfulness, checked by people"
    assert lines[1].endswith(
        "the judge said 82.4\N{NO-BREAK SPACE}%: it is too generous by 4.1 points."
    )
    assert "The judge left 3 of 120 claims open" in lines[2]
    assert lines[-1] == "written to runs/today/agreement.json and runs/today/agreement.html"


def test_scores_stand_beside_each_other() -> None:
    lines = printed(RICH)
    wanted = {
        "answers, partial counts half": "0.824 0.783 0.741–0.820 4.1 too high",
        "claims, partial counts half": "0.831 0.790 0.741–0.820 4.1 too high",
        "answers, full support only": "0.700 0.710 0.660–0.760 no difference",
        "claims, full support only": "– 0.710 0.660–0.760 not measured",
    }
    assert {name: " ".join(row(lines, name)) for name in wanted} == wanted
    assert any(line.startswith("mean over ") for line in lines)


def test_how_good_the_judge_is() -> None:
    text = "\n".join(printed(RICH)).replace("\N{NO-BREAK SPACE}", " ")
    said = " ".join(text.split())
    assert "mean over answers: agreement 0.884 (0.812–0.931) by 66 labels; Brier 0.081" in said
    assert "ECE 0.032; kappa 0.716 (people call 61.2 % full)" in said
    assert "all sentences alike: alpha 0.812 (of 12 sentences)" in said
    lines = text.splitlines()
    counts = ["30", "27", "0.857", "(0.700–0.940)", "0.963", "(0.820–0.990)"]
    full = next(line for line in lines if line.startswith("  full support  "))
    assert full.split()[2:] == counts
    assert row(lines, "contradicted")[:4] == ["0", "6", "not", "measured"]


def test_strata_that_move_the_score_most_come_first() -> None:
    lines = printed(RICH)
    start = next(i for i, line in enumerate(lines) if "(4 of 5)" in line)
    # .6 times .033 is more than .1 times .125, and that than .1 times .056.
    assert [line.split("  ")[1] for line in lines[start + 1 : start + 4]] == [
        "full support, nothing in doubt",
        "full support, but doubtful",
        "partial support",
    ]
    assert row(lines, "full support, but doubtful") == ["14", "12/12", "12.5", "too", "high"]
    assert row(lines, "not supported, but doubtful; not supported")[-1] == "right"


def test_the_worst_three_take_a_line_each() -> None:
    lines = printed(RICH)
    start = lines.index("Disagreements, worst first (3 of 35)")
    shown = lines[start + 1 : -1]
    assert len(shown) == 3
    assert shown[0].startswith("  judge full support, people contradicted / not supported: leave-3")


def test_question_and_chunks_stand_under_a_disagreement_the_quoted_chunk_first() -> None:
    quoted = f"{'No. ' * 9}Staff {RICH.disagreements[0].quote} now."
    chunks = [Chunk(chunk_id=f"c{n}", text=f"Text {n}.") for n in range(3)]
    chunks.insert(2, Chunk(chunk_id="it", text=quoted))
    sample = Sample(qid="leave-3", query="How\nmany?", chunks=tuple(chunks))
    run, folder = of_run(), Path("runs/today")
    show = partial(
        print_agreement, samples=lambda qids: {q: sample for q in qids if q == "leave-3"}
    )
    lines = paged(lambda page: show(RICH, run, folder, page)).splitlines()
    start = lines.index("Disagreements, worst first (3 of 35)")
    assert lines[start + 2 : start + 6] == [
        "    question  How many?",
        "    it  …may carry over days now.",
        "    c0  Text 0.",
        "    and 2 chunks more",
    ]
    assert len(lines[start + 1 : -1]) == 7


def test_nothing_measured_is_no_zero() -> None:
    text = "\n".join(printed(BARE, of_run(untrusted=True), width=200))
    assert "is not measured: at least two answers must have labels." in text
    assert "agreement not measured: no label stands beside a verdict of the judge;" in text
    assert "alpha not measured: no sentence was labelled by several reviewers" in text
    assert "9      0/5  not measured" in text
    assert "Disagreements" not in text
    assert "0.0" not in text.replace("2.5\N{NO-BREAK SPACE}%", "")


def test_a_missing_pooled_score_leaves_no_blank() -> None:
    uneven = RICH.model_copy(update={"corrected": (FAITHFULNESS, STRICT), "partly": 1})
    lines = printed(uneven, width=200)
    assert "is not measured: the answers differ too much in length" in lines[3]
    assert lines[4].startswith("1 answer is labelled only in part")
    assert row(lines, "answers, partial counts half")[:2] == ["0.824", "0.783"]
    assert not any(line.strip().startswith("claims,") for line in lines)


def test_pooled_alone_and_a_judge_that_said_nothing() -> None:
    micro = STRICT.model_copy(update={"average": "micro"})
    lines = printed(RICH.model_copy(update={"corrected": (micro,)}))
    assert "(mean over claims;" in " ".join(lines[1:3])
    assert row(lines, "claims, full support only")[:3] == ["0.700", "0.710", "0.660–0.760"]
    silent = STRICT.model_copy(update={"raw": None})
    lines = printed(RICH.model_copy(update={"corrected": (silent,)}))
    assert " ".join(row(lines, "answers, full")) == "support only – 0.710 0.660–0.760 not measured"


def test_similarity_is_named_and_hostile_texts_steer_nothing() -> None:
    lines = printed(HOSTILE, of_run(SIMILARITY))
    text = "\n".join(lines)
    assert lines[0] == "Share of sentences that look supported (similarity), checked by people"
    assert "partial counts half" not in text
    assert not set(text) & set("\u202e\u2066\x00\x1b\ud800")
    assert all(cell_len(line) <= 80 for line in lines)
    shown = [line for line in lines if line.startswith("  judge ")]
    assert len(shown) == 2
    assert "年假\ufffd问答 <script>" in shown[0]
    assert shown[1].rstrip("… ").endswith("长")


def test_a_long_name_leaves_the_line_one_line() -> None:
    lines = printed(HOSTILE, of_run(SIMILARITY), width=30)
    assert all(cell_len(line) <= 30 for line in lines if line.startswith("  judge "))


def test_in_chinese_it_says_the_same() -> None:
    """Figures and ids stand in both; a line is as wide as its letters, and nothing is English."""
    english, chinese = (
        paged(lambda page: print_agreement(RICH, of_run(), Path("run"), page), 200, lang=lang)
        for lang in LANGS
    )
    figures = re.compile(r"\d+\.\d+")
    assert Counter(figures.findall(english)) == Counter(figures.findall(chinese))
    rows = [line for line in chinese.splitlines() if re.match("  (各回答|各论断)，", line)]
    assert len({cell_len(line.partition("0.")[0]) for line in rows if " –" not in line}) == 1
    for word in (
        "各回答平均：一致率 0.884",
        "分歧，最严重的在前",
        "自动评判：",
        "已写入 run/agree",
    ):
        assert word in chinese
    for word in ("judge", "people", "labelled", "mean over", "written", "too high", "claims"):
        assert word not in chinese, word
