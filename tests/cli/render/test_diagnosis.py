import io
import re
from collections.abc import Mapping
from pathlib import Path

import pytest
from pydantic import JsonValue
from rich.console import Console

from judge.cli.render.diagnosis import Reading, print_reading
from judge.messages import Lang
from judge.retrieval.records import RankingReport
from tests.advised import report
from tests.commands import judge, write

PLAIN = Reading()
BURIED = {"recall@20": 0.9, "mrr@5": 0.3}


def told(found: RankingReport, asked: Reading = PLAIN, width: int = 200) -> str:
    out = io.StringIO()
    print_reading(found, asked, Console(file=out, width=width, highlight=False))
    return out.getvalue()


def row(text: str, *begin: str) -> list[str]:
    (line,) = [line.split() for line in text.splitlines() if line.split()[: len(begin)] == [*begin]]
    return line[len(begin) :]


def test_bands_stand_under_their_cut_offs() -> None:
    means = {"mrr": 0.5, "recall@5": 0.6, "recall@20": 0.9, "precision@5": 0.2, "ndcg@20": None}
    text = told(report(means))
    assert row(text, "band") == ["whole", "@5", "@20"]
    assert row(text, "mrr", "fair") == []
    assert row(text, "recall", "fair") == ["excellent"]
    assert row(text, "precision") == ["poor"]
    assert row(text, "recall@5", "0.600") == ["–", "below", "minimum"]
    assert row(text, "mrr", "0.500") == ["–", "minimum"]
    assert "not measured, so in no band: ndcg@20" in text
    assert "rules of thumb" in text
    assert "95 % interval reaches" not in text


def test_what_its_interval_leaves_is_doubtful() -> None:
    doubt = "?: the 95 % interval reaches beyond the limit"
    text = told(report({"recall@5": 0.74, "mrr": 0.5}, 0.05))
    assert row(text, "recall") == ["fair?"]
    assert row(text, "mrr", "fair") == []
    assert row(text, "mrr", "0.500") == ["0.450–0.550", "minimum?"]
    assert doubt in text
    # All of it is fair (.60 to .75), and production's minimum of .70 lies within.
    text = told(report({"recall@5": 0.72}, 0.025))
    assert row(text, "recall") == ["fair"]
    assert row(text, "recall@5", "0.720") == ["0.695–0.745", "minimum?"]
    assert doubt in text


def test_targets_of_a_use() -> None:
    means = {"mrr": 0.9, "hit@3": 0.7}
    text = told(report(means, 0.1), Reading(use="faq"))
    assert "for FAQ" in text
    assert row(text, "mrr", "0.900", "0.800–1.000", "0.850") == ["yes?"]
    assert row(text, "hit@3") == ["0.700", "0.600–0.800", "0.900", "no"]
    assert row(text, "precision@3") == ["–", "–", "0.800", "not", "measured"]
    assert row(told(report(means), Reading(use="monitoring")), "mrr", "0.900", "–", "none")
    # .667 is a fair precision, and the target .8.
    found = report({"precision@3": 0.6}, ceiling={"precision@3": 2 / 3})
    before, _, after = told(found, Reading(use="faq")).partition("for FAQ")
    assert "precision@3 0.667" not in before
    assert "no ranking could exceed precision@3 0.667" in after


def test_diagnoses_with_their_evidence() -> None:
    text = told(report(BURIED, 0.05))
    assert "- what is relevant is found, and does not stand on top" in text
    assert "because recall@20 0.900 (0.850–0.950) is high: 0.800 or more" in text
    assert "because mrr@5 0.300 (0.250–0.350) is low: under 0.500" in text
    assert "next: rerank" in text
    assert "a hint only" not in text
    hint = "a hint only: the 95 % intervals do not settle it"
    assert hint in told(report(BURIED, 0.15))
    assert "a hint only: not all of these numbers have an interval" in told(report(BURIED))


def test_what_was_not_judged_and_why() -> None:
    text = told(report({"recall@20": 0.9}))
    assert "No rule applies" in text
    assert "not judged, whether what is relevant is found" in text
    assert "needs one of mrr@5, mrr" in text
    deep = {"recall@100": 0.25}
    text = told(report({**deep, "mrr": 1}, ceiling=deep))
    assert "reranking these cannot mend it: recall@100 can be 0.250 at most here" in text
    assert "needs one of" not in text


def test_a_perfect_ranking_of_many_is_not_called_low(tmp_path: Path) -> None:
    ids = [f"c{i}" for i in range(50)]
    lines: list[Mapping[str, JsonValue]] = [
        {"qid": f"q{i}", "query": "问", "retrieved": [*ids], "gold_evidence": [*ids]}
        for i in range(60)
    ]
    ran = judge("retrieval", write(tmp_path / "in.jsonl", lines), "--use", "documents")
    text = " ".join(ran.out.split())
    assert "next:" not in text
    assert "not judged, whether much of what is relevant is not among the first k" in text
    assert "needs one of recall@100, recall@50" in text
    assert "no ranking could exceed recall@1 0.020, recall@3 0.060, recall@5 0.100" in text


def test_levels_are_coloured() -> None:
    for value, words, colour in (
        (0.1, ("poor", "below minimum"), "31"),
        (0.9, ("excellent", "excellent"), "32"),
    ):
        out = io.StringIO()
        console = Console(file=out, width=80, force_terminal=True, color_system="standard")
        print_reading(report({"recall@5": value}), PLAIN, console)
        painted = re.findall(r"\x1b\[(3\d)m([a-z ]+)\x1b", out.getvalue())
        assert painted[:2] == [(colour, word) for word in words]


def test_a_change_with_its_interval() -> None:
    now = report({"ndcg@10": 0.7, "recall@20": 0.75}, 0.02)
    before = report({"ndcg@10": 0.6, "recall@20": 0.76}, 0.02)
    text = told(now, Reading(before=before))
    assert "ndcg@10 rose from 0.600 to 0.700 (difference +0.072 to +0.128)" in text
    assert "recall@20 stands: 0.760 before, 0.750 now (difference −0.038 to +0.018)" in text
    chinese = told(report(BURIED, 0.02), Reading(before=report(BURIED, 0.02), lang="zh"))
    assert "recall@20 0.900（0.880–0.920）较高：不低于 0.800" in chinese
    assert "两组相互独立的问题" in chinese


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_every_line_is_in_the_language(lang: Lang) -> None:
    now = report({"ndcg@10": 0.7, "recall@20": 0.6, "mrr": 0.3, "precision@5": 0.1}, 0.1)
    asked = Reading(use="faq", before=report({"ndcg@10": 0.5}, queries=7), lang=lang)
    text = told(now.model_copy(update={"ceiling": {"precision@5": 0.2}}), asked, 400)
    for line in text.splitlines():
        if line.strip(" ─") and "@" not in line and line.split()[0] not in ("mrr", "ndcg"):
            assert any("\u4e00" <= char <= "\u9fff" for char in line) is (lang == "zh"), line


@pytest.mark.parametrize("width", [20, 40])
def test_lines_fit_the_terminal(width: int) -> None:
    text = told(report({"recall@20": 0.4, "mrr@5": 0.3}), PLAIN, width)
    assert "embedding" in text
    prose = [line for line in text.splitlines() if line.startswith("  ")]
    assert max(map(len, prose)) <= width
