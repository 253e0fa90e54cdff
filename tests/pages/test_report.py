"""The page of a run in a browser: filtered, read by keyboard; and hostile texts stay text."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final

import pytest
from playwright.sync_api import Browser, Page
from pydantic import JsonValue

from judge.config import Config
from judge.evaluator import Evaluator
from judge.jobs.job import Job
from judge.records import (
    Call,
    Evidence,
    JudgeOutcome,
    JudgeRequest,
    Judgment,
    Support,
    Unscored,
    UnscoredReason,
    Verdict,
)
from tests.browser import PHONE, barriers, opened, overflow
from tests.commands import judge, line, write
from tests.review_runs import fill

ROOMS: Final = 30
"""Answers that are supported: two pages of them."""
OPENS: Final = "The canteen opens at seven."
CHUNK: Final = f"😀 Welcome. {OPENS} It is closed on Sundays."
SAID: Final = {
    "seven": Support.FULL,
    "partly": Support.PARTIAL,
    "invented": Support.NONE,
    "otherwise": Support.CONTRADICTED,
    "dawn": Support.FULL,
    "room": Support.FULL,
}
EVIL: Final = (
    "</script><script>alert(1)</script><img src=x onerror=alert(2)>\" onclick='alert(3)' "
    "{x} {{ 7*7 }}"
)
BIDI: Final = "abc\u202egnp.exe\u2066\x1b[2J"
CALL: Final = Call(model=EVIL, prompt_tokens=1, reply_tokens=1, seconds=0.0)
WORD: Final = "W" * 1_000_000


class WordJudge:
    """A judge who goes by words of the sentence, quotes the canteen, and names things badly."""

    signature = f"llm:{EVIL}"

    async def judge(self, request: JudgeRequest) -> Judgment:
        outcomes = {index: self._said(request, index) for index in request.ask}
        return Judgment(outcomes=outcomes, calls=(CALL,))

    def _said(self, request: JudgeRequest, index: int) -> JudgeOutcome:
        text = request.sentences[index].text
        if "lost" in text:
            return Unscored(reason=UnscoredReason.TIMEOUT, detail=f"{EVIL} {BIDI}")
        found = [said for word, said in SAID.items() if word in text]
        support = found[0] if found else Support.NONE
        verdict = Verdict(support=support, source="llm", signature=self.signature)
        chunk = request.chunks[0].chunk_id
        there = support is not Support.NONE and "dawn" not in text
        quote = OPENS if there else f"{EVIL} {BIDI}"
        evidence = (Evidence(chunk_id=chunk, quote=quote),)
        reason = "" if support is Support.FULL else f"because {EVIL} {BIDI}"
        changes: dict[str, object] = {"evidence": evidence, "reason": reason}
        changes |= {"supporting": (chunk,)}
        if support is Support.PARTIAL:
            changes["askings"] = (Support.PARTIAL, Support.PARTIAL, UnscoredReason.TIMEOUT)
        return verdict.model_copy(update=changes)


def samples() -> Iterator[Mapping[str, JsonValue]]:
    for number in range(ROOMS):
        yield line(f"room-{number:02}", f"The room {chr(97 + number % 26)} is open.", [CHUNK])
    mixed = (
        f"# Hours\n\n{OPENS} [a#1] It partly opens. [b#1] This is invented. [zz#9] "
        "It says 😀 otherwise. This is lost. At dawn it is shut."
    )
    yield line("mixed", mixed, {"a#1": CHUNK, "b#1": "😀 Another chunk."})
    hostile = f"This is invented: {EVIL} {BIDI}\n\nIt partly opens: {EVIL}"
    yield line(EVIL, hostile, {EVIL: f"{EVIL} {CHUNK}"}, query=f"{EVIL} {BIDI}")
    yield line("word", f"It partly says {WORD}.", [f"{WORD} {CHUNK}"], query=WORD)
    said = "食堂七点开门，这是 invented 的。"
    given: dict[str, JsonValue] = {"sentences": [said]}
    yield line("食堂", f"{said}再见。", [CHUNK], query="食堂几点开门？") | given


def score(place: Path, lines: Iterable[Mapping[str, JsonValue]]) -> Path:
    """A run of these samples, which lie beside it."""
    place.mkdir()
    source = write(place / "in.jsonl", lines)
    Job(source, place / "run", Config(), evaluator=Evaluator(judge=WordJudge())).run()
    return place / "run"


@pytest.fixture(scope="module", autouse=True)
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """All runs are made before the browser starts, whose loop runs in this thread."""
    place = tmp_path_factory.mktemp("report")
    labelled = score(place / "labelled", [line(f"q{n}", OPENS, [CHUNK]) for n in range(6)])
    sheet = place / "sheet.csv"
    assert judge("review", "draw", labelled, "-o", sheet).code == 0
    fill(sheet, "none")
    assert judge("review", "import", labelled, sheet).code == 0
    (labelled.parent / "in.jsonl").unlink()
    return {
        "mixed": score(place / "mixed", samples()),
        "labelled": labelled,
    }


@pytest.fixture
def run(runs: Mapping[str, Path]) -> Path:
    return runs["mixed"]


def page(run: Path, *options: str) -> str:
    """The address of the report of a run."""
    file = run.parent / "report.html"
    assert judge("report", run, "-o", file, *options).code == 0
    return file.as_uri()


def found(page: Page, words: str) -> None:
    """See that so many answers are listed, by and by."""
    page.locator("#found", has_text=words).wait_for()


def test_undecided_claims_have_a_heading_and_a_list_and_are_no_failures(tmp_path: Path) -> None:
    texts = [f"{OPENS} It has a pool.", "It has a garden and a pool."]
    source = write(tmp_path / "in.jsonl", [line(text, text, [CHUNK]) for text in texts])
    assert judge("score", source, "-o", tmp_path / "run").code == 0
    for lang, heading, failed in (
        ("en", "Undecided claims", "failed on"),
        ("zh", "未决的论断", "失败"),
    ):
        file = tmp_path / f"{lang}.html"
        assert judge("report", tmp_path / "run", "-o", file, "--lang", lang).code == 0
        body = file.read_text("utf-8").partition("<main")[2].partition('type="application/json"')[0]
        assert body.count(f"<h2>{heading}</h2>") == 1
        section = body.partition(f"<h2>{heading}</h2>")[2].partition("</section>")[0]
        assert section.count('class="said undecided"') == 2
        assert "It has a pool." in section
        assert failed not in body.partition("<section")[0]


@pytest.mark.no_cover
def test_answers_are_filtered_searched_and_paged(run: Path, browser: Browser) -> None:
    with opened(browser, page(run)) as seen:
        found(seen, "34 of 34 answers")
        assert "95 % interval" in seen.inner_text("header").replace("\xa0", " ")
        assert seen.locator("article h3").count() == 25
        assert not seen.is_visible("#worst")
        table = seen.inner_text("main").replace("\xa0", " ")
        for words in ("faithfulness", "timeout", "language model", "unverified_quote"):
            assert words in table
        order = seen.locator("main h2").evaluate_all("all => all.map(each => each.textContent)")
        assert order[:4] == [
            "Scores",
            "Answers, worst first",
            "The worst sentences",
            "Tables and charts",
        ]
        assert seen.inner_text("header dl").startswith("Input")
        assert barriers(seen) == []

        # Filters narrow one another; clearing brings all back.
        seen.select_option("[data-kind=support]", label="contradicted (1)")
        found(seen, "1 of 34 answers")
        assert seen.inner_text("article h3") == "mixed"
        seen.fill("#search", "room-29")
        found(seen, "0 of 34 answers")
        assert "No answer fits." in seen.inner_text("#list")
        seen.click("button[type=reset]")
        found(seen, "34 of 34 answers")
        seen.select_option("[data-kind=citation]", label="dangling (1)")
        found(seen, "1 of 34 answers")
        seen.click("button[type=reset]")
        found(seen, "34 of 34 answers")

        # Search is of the whole run, whatever the page; `/` goes there.
        seen.keyboard.press("/")
        seen.keyboard.type("ROOM-29")
        found(seen, "1 of 34 answers")
        seen.fill("#search", "几点开门")
        found(seen, "1 of 34 answers")
        seen.fill("#search", "再见")  # behind the sentences that were given
        found(seen, "1 of 34 answers")
        assert seen.inner_text(".answer").endswith("再见。")
        seen.fill("#search", "")
        found(seen, "34 of 34 answers")

        # Pages.
        seen.locator("#found").click()
        seen.keyboard.press("ArrowRight")
        seen.locator("#page", has_text="page 2 of 2").wait_for()
        assert seen.locator("article h3").count() == 9
        assert seen.is_disabled("#next")
        seen.click("#previous")
        seen.locator("#page", has_text="page 1 of 2").wait_for()
        seen.focus("#next")
        seen.keyboard.press("Enter")
        seen.locator("#page", has_text="page 2 of 2").wait_for()
        seen.locator("#answers:focus").wait_for()


def test_sentences_are_read_by_keyboard(run: Path, browser: Browser) -> None:
    with opened(browser, page(run)) as seen:
        seen.fill("#search", "otherwise")
        found(seen, "1 of 34 answers")
        seen.locator("#found").click()
        labels = [each.get_attribute("class") for each in seen.locator(".answer .said").all()]
        kinds = ("excluded", "full", "partial", "none", "contradicted", "unscored", "full")
        assert labels == [f"said {kind}" for kind in kinds]
        told = []
        for _ in kinds:
            seen.keyboard.press("j")
            seen.locator(".detail").wait_for()
            told.append(seen.inner_text(".detail"))
        wanted = (
            ("heading",),
            ("full", "[a#1] valid", "Welcome."),
            ("partial · partial · timeout", "because", "[b#1] unsupported", "Another chunk"),
            ("none", "dangling"),
            ("contradicted", "because"),
            ("timeout",),
            ("unverified_quote", "a#1"),
        )
        for said, words_of in zip(told, wanted, strict=True):
            for words in words_of:
                assert words in said, (said, words)
        for _ in range(2):
            seen.keyboard.press("k")
        seen.locator(".detail mark").wait_for()
        assert seen.inner_text(".detail mark") == OPENS
        assert barriers(seen) == []
        seen.keyboard.press("Escape")
        assert seen.locator(".detail").count() == 0
        focused = seen.evaluate("document.activeElement.className")
        assert focused == "said contradicted"
        seen.keyboard.press("Enter")
        assert seen.locator(".detail").count() == 1


def test_hostile_texts_are_shown_as_text(run: Path, browser: Browser) -> None:
    address = page(run, "--lang", "zh")
    with opened(browser, address, width=PHONE, theme="dark") as seen:
        found(seen, "34")
        for wanted, qid, sentences in (("wwww", "word", 1), ("{{ 7*7 }}", EVIL, 2)):
            seen.fill("#search", wanted)
            found(seen, "找到 1 篇")
            seen.locator("article h3", has_text=qid).wait_for()
            spans = seen.locator(".answer .said")
            assert spans.count() == sentences
            for each in range(sentences):
                spans.nth(each).click()
                seen.locator(".detail").wait_for()
                assert overflow(seen) == 0
        text = seen.inner_text("article")
        assert text.count(EVIL) >= 5  # qid, question, sentence twice, reason, quote
        assert "abc\ufffdgnp.exe\ufffd␛[2J" in text
        whole = seen.content()
        assert "\u202e" not in whole
        assert seen.locator("img, [onclick], [onerror]").count() == 0
        assert seen.locator("script:not([type])").count() == 1
        assert barriers(seen) == []
    with opened(browser, address, width=PHONE, scripts=False) as seen:
        assert seen.is_visible("#worst")
        assert not seen.is_visible("#explorer")
        assert seen.locator("#worst article").count() == 7
        assert EVIL in seen.inner_text("#worst")
        assert "忠实度" in seen.inner_text("main")
        assert overflow(seen) == 0
    with opened(browser, address) as seen:  # a browser from before 2023
        seen.add_init_script("delete window.DecompressionStream")
        seen.reload()
        assert "DecompressionStream" in seen.inner_text("#worst")
        assert seen.locator("#worst article").count() == 7


def test_report_has_what_labels_say_and_does_without_samples(
    runs: Mapping[str, Path], browser: Browser
) -> None:
    with opened(browser, page(runs["labelled"]), theme="dark") as seen:
        found(seen, "6 of 6 answers")
        text = seen.inner_text("main").replace("\xa0", " ")
        assert "0.0 %" in text
        assert "100.0 %" in text
        seen.keyboard.press("j")
        seen.locator(".detail").wait_for()
        assert OPENS in seen.inner_text(".detail")
        assert overflow(seen) == 0
