"""What a notebook shows, among other things: in both languages, and text stays text."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser

from judge import (
    JudgeRequest,
    Judgment,
    Results,
    Run,
    SampleResult,
    Summary,
    evaluate,
    summarize,
)
from judge.messages import Messages
from judge.reports.totals import score_tables
from tests.browser import PHONE, barriers, opened, overflow
from tests.comparisons import outcome

LABELS = ["full", "partial", "none", "contradicted", "unscored", "unscored", "no_claim"]
EVIL = "</div></style><style>*{display:none}</style><img src=x onerror=alert(1)>"
CHUNK = "Breakfast is served from seven, and <b>lunch</b> at noon."
ANSWER = f"Breakfast is served from seven [1][9]. {EVIL} is paid.\u202e"
ROWS = [
    {"qid": EVIL, "answer": ANSWER, "contexts": [CHUNK]},
    {"qid": "二", "answer": "早餐七点开始[1]。谢谢！", "contexts": ["早餐七点开始。"]},
    {"qid": "3", "answer": "", "contexts": []},
]


class Marking:
    """A judge who gives one mark after the other."""

    signature = "llm:m"

    async def judge(self, request: JudgeRequest) -> Judgment:
        outcomes = zip(request.ask, map(outcome, "fpncy?-"), strict=True)
        return Judgment(outcomes=dict(outcomes))


@pytest.fixture(scope="module")
def results() -> list[SampleResult]:
    every = {"qid": "all", "answer": "It is paid. " * 7, "contexts": ["It is paid."]}
    return [*evaluate(ROWS), *evaluate(every, judge=Marking())]


def page(folder: Path, *shown: SampleResult | Summary | Run | Results) -> str:
    """A page of a notebook's, on which other things stand, too; its address."""
    cells = "".join(f"<div>{each._repr_html_()}</div>" for each in shown)
    path = folder / "notebook.html"
    outer = '<p id="outer" class="full said note">other</p><svg id="mine" class="bar"></svg>'
    head = '<!DOCTYPE html><html lang="en"><meta charset="utf-8"><title>n</title><main><h1>n</h1>'
    path.write_text(f"{head}{outer}{cells}</main></html>", encoding="utf-8")
    return path.as_uri()


def test_a_notebook_shows_answers_and_totals(
    browser: Browser, tmp_path: Path, results: list[SampleResult]
) -> None:
    shown = page(tmp_path, *results, summarize(results))
    for theme in ("light", "dark"):
        with opened(browser, shown, width=PHONE, theme=theme) as seen:
            assert barriers(seen) == []
            assert overflow(seen) == 0
            answers = seen.locator(".judge")
            assert answers.count() == len(results) + 1
            assert EVIL in answers.nth(0).locator(".headline").inner_text()
            assert "\u202e" not in seen.content()
            texts = answers.nth(0).locator("summary").all_inner_texts()
            assert [text.partition(" ")[0].split("\n")[0][:1] for text in texts] == ["✓", "✗"]
            # What is sound is closed, but for a citation of what is not there.
            assert answers.nth(0).locator("details[open]").count() == 2
            assert answers.nth(1).get_attribute("lang") == "zh-Hans"
            assert answers.nth(1).locator("details[open]").count() == 0
            assert "100.0%" in answers.nth(1).inner_text()
            labels = answers.nth(3).locator("details > summary .said")
            classes = [each.get_attribute("class") for each in labels.all()]
            assert classes == [f"said {name}" for name in LABELS]
            assert "timeout" in answers.nth(3).inner_text()
            assert "7.2–96" in answers.nth(4).inner_text()
            # Nothing of it reaches what stands beside.
            plain = "getComputedStyle(document.getElementById('outer')).backgroundColor"
            assert seen.evaluate(plain) == "rgba(0, 0, 0, 0)"


def test_results_show_the_terminals_table_and_the_worst_first(
    browser: Browser, tmp_path: Path
) -> None:
    answer = "It is paid. " * 6 + f"It is {EVIL}."
    made = evaluate({"qid": EVIL, "answer": answer, "contexts": [CHUNK]}, judge=Marking())
    with opened(browser, page(tmp_path, made), width=PHONE) as seen:
        assert barriers(seen) == []
        assert overflow(seen) == 0
        text = seen.locator(".judge").inner_text()
        for title, rows in score_tables(made.summary):
            assert Messages.of("totals", "title")(title) in text
            labels = [Messages.of("totals", "score")(row.label).strip() for row in rows]
            assert [label for label in labels if label not in text] == []
        worst = seen.locator("details > summary")
        names = [each.get_attribute("class") for each in worst.locator(".said").all()]
        assert names[:3] == ["said contradicted", "said none", "said partial"]
        assert all(EVIL in each for each in worst.all_inner_texts())


def test_a_long_answer_is_cut_and_says_so() -> None:
    (result,) = evaluate({"answer": "It is paid. " * 300, "contexts": ["It is paid."]})
    shown = result._repr_html_()
    assert shown.count("<details") == 200
