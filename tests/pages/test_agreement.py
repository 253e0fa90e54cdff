"""The page of an agreement: its sentences and figures, and texts that are no markup."""

import re
from html import unescape
from pathlib import Path
from typing import Literal

import pytest
from playwright.sync_api import Browser

from judge.messages import LANGS, Lang, use_language
from judge.pages.agreement import Findings, page
from judge.records import Summary, UnscoredReason
from judge.review.records import Agreement, BlankLimits, LabelledStratum
from tests.browser import DESK, PHONE, barriers, opened, overflow
from tests.commands import judge, line, write
from tests.pages.agreements import (
    BARE,
    FAITHFULNESS,
    HOSTILE,
    RICH,
    SIMILARITY,
    SUPPORTED,
    made,
    of_run,
)


def written(agreement: Agreement, summary: Summary | None = None, lang: Lang = "en") -> str:
    with use_language(lang):
        return page(agreement, summary or of_run())


def text_of(agreement: Agreement, **changes: object) -> str:
    """Return what a page says, on one line."""
    body = written(agreement.model_copy(update=changes)).partition("<main")[2]
    return " ".join(unescape(re.sub("<[^>]*>", " ", body)).split())


def findings_of(summary: Summary | None = None, **changes: object) -> Findings:
    return Findings(RICH.model_copy(update=changes), summary or of_run())


# People's score is .783, with the interval from .741 to .8199.
@pytest.mark.parametrize(
    ("raw", "shared", "bias"),
    [
        (0.9, 12, "generous"),
        (0.74, 12, "strict"),
        (0.741, 12, "same"),
        (0.8199, 12, "same"),
        (None, 12, None),
        # Labels of one person give no verdict on the judge.
        (0.9, 0, "above"),
        (0.74, 0, "below"),
    ],
)
def test_on_which_side_the_judge_errs(raw: float | None, shared: int, bias: str | None) -> None:
    score = FAITHFULNESS.model_copy(update={"raw": raw})
    with use_language("en"):
        found = findings_of(corrected=(score,), shared=shared)
        assert found.bias(score) == bias
        assert "78.3" in found.headline()
        assert raw is None or f"{100 * raw:.1f}" in found.headline()
        assert ("--reviewers 2 --overlap" in found.cautions()[0]) is (not shared)


def test_cautions_have_the_figures_of_the_run() -> None:
    doubtful = of_run(untrusted=True, unscored_share=0.31, signatures={"a": 1, "b": 2})
    with use_language("en"):
        for summary, figures in (
            (of_run(unscored={}), []),
            (doubtful, [["31.0"], ["2"], ["3", "120"]]),
            (of_run(unscored={UnscoredReason.UNDECIDED: 5}), [["5", "120"]]),
        ):
            cautions = findings_of(summary).cautions()
            assert [re.findall(r"\d+(?:\.\d)?", each) for each in cautions] == figures
        strata = {"units": 5, "share": 0.1, "drawn": 4, "labelled": 4, "error": 0.625}
        stratum = LabelledStratum.model_validate({"names": ("undecided",), **strata})
        assert "62.5" in findings_of().stratum_error(stratum)


@pytest.mark.parametrize("lang", LANGS)
def test_blank_rows_are_counted_with_what_they_could_change(lang: Lang) -> None:
    limits = BlankLimits(wrong=0.71, right=0.86, low=0.655, high=0.891, decides=True)
    score = FAITHFULNESS.model_copy(update={"blank": limits})
    with use_language(lang):
        said = " ".join(findings_of(corrected=(score,)).notes())
        assert len(findings_of(corrected=(score,)).cautions()) == 1 + len(findings_of().cautions())
    span = "65.5–89.1" if lang == "en" else "65.5%–89.1%"
    assert [each for each in ("71.0", "86.0", span) if each not in said] == []


def test_the_page_has_every_figure() -> None:
    said = text_of(RICH)
    figures = "82.4 % 78.3 % 74.1–82.0 % 71.0 % 88.4 % 0.716 61.2 % 0.812 0.081 0.032 85.7 %"
    assert [each for each in re.findall(r"[0-9.–]+", figures) if each not in said] == []
    for text in ("spring", RICH.signature, "ann, bo, unnamed reviewer"):
        assert text in said
    # What rounds to nothing has no sign.
    assert text_of(RICH, kappa=-0.0004, brier=0.0).count(" 0.000 ") == 2
    assert "0.0" not in text_of(BARE)
    strata = made(LabelledStratum, ((SUPPORTED,), 120, 1.0, 120, 120, -0.041))
    whole = FAITHFULNESS.model_copy(update={"low": 0.783, "high": 0.783})
    assert "78.3–78.3" not in text_of(RICH, strata=strata, corrected=(whole,))


def test_marks_of_the_chart_are_at_their_figures() -> None:
    chart = written(RICH).partition("<svg")[2].partition("</svg>")[0]
    assert re.findall('class="judge" x1="(.*?)"', chart) == ["82.40%"]
    assert re.findall('class="people" cx="(.*?)"', chart) == ["78.30%"]
    # From .741 to .8199.
    assert re.findall('class="band" x="(.*?)" .*?width="(.*?)"', chart) == [("74.10%", "7.89%")]


@pytest.fixture(scope="module", autouse=True)
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Judged before there is a browser, whose loop runs in this thread."""
    place = tmp_path_factory.mktemp("judged")
    source = write(place / "in.jsonl", [line("leave-3", "Ten days.", ["F&ve."], "How <many>?")])
    assert judge("score", source, "-o", place / "run").code == 0
    return place / "run"


def test_the_worst_thirty_disagreements_come_with_their_samples(run: Path) -> None:
    with use_language("en"):
        shown = page(RICH, of_run(), run)
    case = shown[shown.index("<article>") : shown.index("</article>")]
    for text in (
        "carry over ten days.",
        "The handbook says five.",
        "How &lt;many&gt;?",
        "F&amp;ve",
    ):
        assert text in case
    assert (shown.count("<summary>"), shown.count("<article>")) == (1, 30)
    assert shown.index("leave-3") < shown.index("q100<") < shown.index("q128<")


@pytest.mark.parametrize(
    ("agreement", "lang", "width", "theme"),
    [(RICH, "en", DESK, "light"), (HOSTILE, "zh", PHONE, "dark"), (BARE, "en", PHONE, "light")],
)
def test_the_page_is_usable_and_texts_are_no_markup(
    *,
    agreement: Agreement,
    lang: Lang,
    width: int,
    theme: Literal["light", "dark"],
    browser: Browser,
    tmp_path: Path,
) -> None:
    file = tmp_path / "page.html"
    html = written(agreement, of_run(SIMILARITY), lang)
    assert not set(html) & set("\u202e\u2066\x00\x1b\ud800")
    assert html.count("长") < 700
    file.write_text(html, "utf-8")
    with opened(browser, file.as_uri(), width=width, theme=theme) as seen:
        assert seen.inner_text("h1")
        assert seen.locator("script, img, iframe, [onmouseover]").count() == 0
        assert ("alert(1)" in seen.inner_text("main")) is (agreement is HOSTILE)
        assert (barriers(seen), overflow(seen)) == ([], 0)
