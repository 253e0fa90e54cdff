"""The sentences about a judge, the DOM of the page, and texts from outside that are no markup."""

import re
from collections.abc import Collection, Iterator, Sequence
from html.parser import HTMLParser
from pathlib import Path
from typing import Literal

import hypothesis
import pytest
from hypothesis import strategies as st
from playwright.sync_api import Browser

from judge.messages import LANGS, LANGUAGE, Lang, use_language
from judge.pages.agreement import Findings, page
from judge.records import Chunk, Sample, Summary, UnscoredReason
from judge.review.records import Agreement, BlankLimits, LabelledStratum
from tests.browser import DESK, PHONE, barriers, opened, overflow
from tests.pages.agreements import (
    BARE,
    DATE,
    FAITHFULNESS,
    HOSTILE,
    RICH,
    SIMILARITY,
    WHOLE,
    of_run,
)

CASES = {
    "rich": (RICH, of_run()),
    "bare": (BARE, of_run(untrusted=True)),
    "hostile": (HOSTILE, of_run(SIMILARITY)),
    "whole": (WHOLE, of_run()),
}
FOREIGN = {"script", "link", "img", "iframe", "object", "embed", "form", "base", "i", "b", "a"}
Tag = tuple[str, dict[str, str | None]]


class Reader(HTMLParser):
    """A parser that checks the tags, and keeps the page's own texts and quoted texts apart."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[Tag] = []
        self.own: list[str] = []
        self.quoted: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if not {"style", "title"} & set(self.open) and data.strip():
            (self.quoted if {"bdi", "blockquote"} & set(self.open) else self.own).append(data)

    def found(self, tag: str, class_: str) -> list[dict[str, str | None]]:
        return [given for name, given in self.tags if name == tag and given.get("class") == class_]


@pytest.fixture(autouse=True)
def _language() -> Iterator[None]:
    with use_language("en"):
        yield


def written(agreement: Agreement, summary: Summary | None = None, lang: Lang = "en") -> str:
    with use_language(lang):
        return page(agreement, summary or of_run())


def read(agreement: Agreement, summary: Summary | None = None, lang: Lang = "en") -> Reader:
    made = written(agreement, summary, lang)
    made.encode("utf-8")
    assert made.startswith("<!DOCTYPE html>\n<html lang=")
    reader = Reader()
    reader.feed(made)
    reader.close()
    assert not reader.open
    return reader


def joined(texts: Sequence[str]) -> str:
    return re.sub(r"\s+", " ", " ".join(texts))


def own(**changes: object) -> str:
    return joined(read(RICH.model_copy(update=changes)).own)


def plain(words: str) -> str:
    return words.replace("\N{NO-BREAK SPACE}", " ")


def said_of(agreement: Agreement, summary: Summary | None = None, lang: Lang = "en") -> Findings:
    LANGUAGE.set(lang)
    return Findings(agreement, summary or of_run())


WAYS = {0.9: "generous", 0.74: "strict", 0.741: "same", 0.8199: "same", None: None}
"""The bias by the judge's score; people's score is .783, with the interval from .741 to .8199."""


@pytest.mark.parametrize(("raw", "way"), WAYS.items())
def test_which_way_the_judge_errs(raw: float | None, way: str | None) -> None:
    score = FAITHFULNESS.model_copy(update={"raw": raw})
    found = said_of(RICH.model_copy(update={"corrected": (score,)}))
    assert found.bias(score) == way
    assert "78.3" in found.headline()
    assert raw is None or f"{100 * raw:.1f}" in found.headline()


def test_labels_of_one_person_give_no_verdict_on_the_judge() -> None:
    ways = {0.9: "above", 0.74: "below", 0.741: "same", None: None}
    for raw, way in ways.items():
        score = FAITHFULNESS.model_copy(update={"raw": raw})
        found = said_of(RICH.model_copy(update={"corrected": (score,), "shared": 0}))
        assert found.bias(score) == way
        assert "--reviewers 2 --overlap" in found.cautions()[0]
    wrong = RICH.strata[0]
    assert said_of(RICH.model_copy(update={"shared": 0})).stratum_bias(wrong) == "above"
    assert said_of(RICH).stratum_bias(wrong) == "generous"


def test_what_must_be_known_of_the_run() -> None:
    assert said_of(RICH, of_run(unscored={})).cautions() == []
    doubtful = of_run(untrusted=True, unscored_share=0.31, signatures={"a": 1, "b": 2})
    figures = [re.findall(r"\d+(?:\.\d)?", said) for said in said_of(RICH, doubtful).cautions()]
    assert figures == [["31.0"], ["2"], ["3", "120"]]


def test_of_undecided_claims_it_says_how_many_people_support() -> None:
    findings = said_of(RICH, of_run(unscored={UnscoredReason.UNDECIDED: 5}))
    assert [re.findall(r"\d+", said) for said in findings.cautions()] == [["5", "120"]]
    strata = {"units": 5, "share": 0.1, "drawn": 4, "labelled": 4, "error": 0.625}
    stratum = LabelledStratum.model_validate({"names": ("undecided",), **strata})
    assert "62.5" in findings.stratum_error(stratum)
    assert findings.words("stratum.undecided") == findings.stratum(stratum)


def test_the_page_is_whole_and_needs_nothing_else() -> None:
    for agreement, summary in CASES.values():
        for lang in LANGS:
            reader = read(agreement, summary, lang)
            assert not {name for name, _ in reader.tags} & FOREIGN
            attributes = {key for _, given in reader.tags for key in given}
            assert not any(key.startswith("on") or key in {"href", "src"} for key in attributes)
            assert reader.tags[0] == ("html", {"lang": {"en": "en", "zh": "zh-Hans"}[lang]})
            assert ("meta", {"charset": "utf-8"}) in reader.tags
            assert "url(" not in written(agreement, summary, lang)


def test_every_figure_stands_on_the_page() -> None:
    said = joined(read(RICH).own)
    figures = "82.4 % 78.3 % 74.1–82.0 % 71.0 % 88.4 % 0.716 61.2 % 0.812 0.081 0.032 85.7 %"
    assert [each for each in re.findall(r"[0-9.–]+", figures) if each not in said] == []
    quoted = read(RICH).quoted
    assert {"spring", RICH.signature, "ann, bo, unnamed reviewer"} <= set(quoted)
    assert own(kappa=0.0, brier=0.0).count(" 0.000 ") == 2
    # What rounds to nothing has no sign.
    negative = own(kappa=-0.125, alpha=-0.0004)
    assert " \N{MINUS SIGN}0.125 " in negative
    assert " 0.000 " in negative


def test_nothing_measured_is_no_zero_and_no_interval_stands_where_all_was_labelled() -> None:
    bare = read(BARE)
    assert "0.0" not in joined(bare.own)
    assert "svg" not in {name for name, _ in bare.tags}
    whole = joined(read(WHOLE).own)
    assert "82.4 % 78.3 %" in whole
    assert "78.3–78.3" not in whole


def test_marks_of_the_chart_stand_where_the_figures_say() -> None:
    reader = read(RICH)
    (judge,), (people,) = reader.found("line", "judge"), reader.found("circle", "people")
    (band,) = reader.found("rect", "band")
    assert (judge["x1"], people["cx"]) == ("82.40%", "78.30%")
    # From .741 to .8199.
    assert (band["x"], band["width"]) == ("74.10%", "7.89%")
    (svg,) = (given for tag, given in reader.tags if tag == "svg")
    assert svg["role"] == "img"
    assert re.findall(r"\d\d\.\d", svg["aria-label"] or "") == ["82.4", "78.3", "74.1", "82.0"]
    silent = read(RICH.model_copy(update={"corrected": RICH.corrected[3:]}))
    assert not silent.found("line", "judge")
    assert not silent.found("text", "judge")


def test_disagreements_are_told_whole_the_worst_thirty_first() -> None:
    made = page(RICH.model_copy(update={"disagreements": (DATE,)}), of_run())
    case = made[made.index("<article>") : made.index("</article>")]
    assert "Staff may carry over ten days." in case
    assert "The handbook says five." in case
    sample = Sample(
        qid="leave-3", query="How <many>?", chunks=(Chunk(chunk_id="h#1", text="F&ve."),)
    )
    asked: list[set[str]] = []

    def samples(qids: Collection[str]) -> dict[str, Sample]:
        asked.append(set(qids))
        return {sample.qid: sample}

    made = page(RICH, of_run(), samples)
    assert [len(qids) for qids in asked] == [30]
    case = made[made.index("<article>") : made.index("</article>")]
    assert "How &lt;many&gt;?" in case
    assert re.findall(r"h#1.*?<dd>.*?>(.*?)<", case) == ["F&amp;ve."]
    assert made.count("<summary>") == 1
    made = page(RICH, of_run())
    assert made.count("<article>") == 30
    assert "<summary>" not in made
    assert made.index("leave-3") < made.index("q100<") < made.index("q128<")
    assert "q129<" not in made


def test_texts_that_want_to_be_markup_stay_texts() -> None:
    made = written(HOSTILE, of_run(SIMILARITY), "zh")
    assert "春季&lt;/title&gt;&lt;script&gt;</title>" in made
    assert "<script" not in made
    assert "&lt;script&gt;alert(1)&lt;/script&gt; 员工每年可休假十天。" in made
    assert '"onmouseover' not in made
    assert "&amp;lt;not markup&amp;gt;" in made
    assert "{raw} {0} %s" in made
    assert not set(made) & set("\u202e\u2066\x00\x1b\ud800")
    assert made.count("长") < 700


@pytest.mark.no_cover
@hypothesis.given(
    st.text(st.characters(exclude_categories=[])) | st.text("<>&\"'/!-{%#}=\u202e\n s")
)
def test_whatever_is_quoted_the_page_has_the_same_elements(text: str) -> None:
    fields = {"text": text, "qid": text, "quote": text, "reason": text, "notes": (text,)}
    case = DATE.model_copy(update=fields | {"judge": text, "people": {text: text}})
    changes: dict[str, object] = {"draw": text, "reviewers": (text,), "signature": text}
    hostile = read(RICH.model_copy(update=changes | {"disagreements": (case,)}))
    tame = read(RICH.model_copy(update={"disagreements": (DATE,)}))
    # One that is blank is left out.
    assert {name for name, _ in hostile.tags} <= {name for name, _ in tame.tags}
    assert {str(given) for _, given in hostile.tags} <= {str(given) for _, given in tame.tags}


def test_what_blank_rows_hide_is_told_where_it_is_known() -> None:
    limits = BlankLimits(wrong=0.71, right=0.86, low=0.655, high=0.891)
    score = FAITHFULNESS.model_copy(update={"blank": limits})
    strata = [
        each.model_copy(update={"drawn": 9, "labelled": 9 - n})
        for n, each in enumerate(RICH.strata)
    ]
    changes = {"corrected": (score,), "strata": tuple(strata[:3]), "labelled": 57}
    known = RICH.model_copy(update=changes)
    for lang in LANGS:
        found = said_of(known, lang=lang)
        said = plain(" ".join((*found.cautions(), *found.notes())))
        figures = ("71.0", "86.0", "65.5–89.1" if lang == "en" else "65.5%–89.1%")
        assert [each for each in figures if each not in said] == [], said


@pytest.mark.parametrize(
    ("agreement", "lang", "width", "theme"),
    [(RICH, "en", DESK, "light"), (HOSTILE, "zh", PHONE, "dark")],
)
def test_agreement_page_is_usable_and_runs_nothing(
    *,
    agreement: Agreement,
    lang: Lang,
    width: int,
    theme: Literal["light", "dark"],
    browser: Browser,
    tmp_path: Path,
) -> None:
    file = tmp_path / "page.html"
    file.write_text(written(agreement, of_run(SIMILARITY), lang), "utf-8")
    with opened(browser, file.as_uri(), width=width, theme=theme) as seen:
        assert seen.inner_text("h1")
        assert (barriers(seen), overflow(seen)) == ([], 0)
