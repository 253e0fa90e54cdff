"""What a notebook shows of results, among other things: in their language, and text stays text."""

from pathlib import Path
from typing import Literal

import pytest
from playwright.sync_api import Browser

from judge import JudgeRequest, Judgment, Results, evaluate
from judge.messages import Messages
from judge.reports.totals import score_tables
from tests.browser import PHONE, barriers, opened, overflow
from tests.comparisons import outcome

EVIL = "</div></style><style>*{display:none}</style><img src=x onerror=alert(1)>"
CHUNK = "Breakfast is served from seven, and <b>lunch</b> at noon."


class Marking:
    """A judge who gives one mark after the other."""

    signature = "llm:m"

    async def judge(self, request: JudgeRequest) -> Judgment:
        outcomes = zip(request.ask, map(outcome, "fpncy?-"), strict=True)
        return Judgment(outcomes=dict(outcomes))


@pytest.fixture(scope="module")
def results() -> Results:
    answer = "It is paid. " * 6 + f"It is {EVIL}\u202e."
    return evaluate({"qid": EVIL, "answer": answer, "contexts": [CHUNK]}, judge=Marking())


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_results_show_the_terminals_table_and_the_worst_first(
    theme: Literal["light", "dark"], browser: Browser, tmp_path: Path, results: Results
) -> None:
    path = tmp_path / "notebook.html"
    head = '<!DOCTYPE html><html lang="en"><meta charset="utf-8"><title>n</title><main><h1>n</h1>'
    outer = '<p id="outer" class="full said note">other</p><svg class="bar"></svg>'
    path.write_text(f"{head}{outer}{results._repr_html_()}</main></html>", encoding="utf-8")
    with opened(browser, path.as_uri(), width=PHONE, theme=theme) as seen:
        assert (barriers(seen), overflow(seen)) == ([], 0)
        assert "\u202e" not in seen.content()
        text = seen.locator(".judge").inner_text()
        for title, rows in score_tables(results.summary):
            assert Messages.of("totals", "title")(title) in text
            labels = [Messages.of("totals", "score")(row.label).strip() for row in rows]
            assert [label for label in labels if label not in text] == []
        worst = seen.locator("details > summary")
        names = [each.get_attribute("class") for each in worst.locator(".said").all()]
        assert names[:3] == ["said contradicted", "said none", "said partial"]
        assert all(EVIL in each for each in worst.all_inner_texts())
        # Nothing of it reaches what is beside it.
        plain = "getComputedStyle(document.getElementById('outer')).backgroundColor"
        assert seen.evaluate(plain) == "rgba(0, 0, 0, 0)"


def test_results_speak_the_language_of_the_first_answer() -> None:
    shown = evaluate({"answer": "早餐七点开始[1]。", "contexts": ["早餐七点开始。"]})._repr_html_()
    assert 'lang="zh-Hans"' in shown
    assert "95% 置信区间" in shown
