import re
from html.parser import HTMLParser

import pytest

from judge.pages.agreement import Lang, page
from judge.records import Summary
from judge.review.records import Agreement
from tests.pages.agreement.findings import (
    BARE,
    FAITHFULNESS,
    HOSTILE,
    RICH,
    SIMILARITY,
    STRICT,
    WHOLE,
    of_run,
)

CASES = [
    (RICH, of_run()),
    (BARE, of_run(untrusted=True)),
    (HOSTILE, of_run(SIMILARITY)),
    (WHOLE.model_copy(update={"by": "answer", "partly": 3}), of_run()),
]
NAMES = ["rich", "bare", "hostile", "partly"]
KEPT = {"Cohen", "Krippendorff", "Brier", "ECE", "Wilson", "agreement", "json"}


class Reader(HTMLParser):
    """Balanced tags, and apart: what the page says itself, and what it quotes."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.own: list[str] = []
        self.quoted: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if not {"style", "title"} & set(self.open):
            (self.quoted if {"bdi", "blockquote"} & set(self.open) else self.own).append(data)


def read(agreement: Agreement, summary: Summary, lang: Lang) -> Reader:
    made = page(agreement, summary, lang)
    made.encode("utf-8")
    assert made.startswith("<!DOCTYPE html>\n<html lang=")
    reader = Reader()
    reader.feed(made)
    reader.close()
    assert not reader.open
    return reader


def own(agreement: Agreement, lang: Lang = "en", **changes: object) -> str:
    said = " ".join(read(agreement, of_run(**changes), lang).own)  # type: ignore[arg-type]
    return re.sub(r"\s+", " ", said)


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize(("agreement", "summary"), CASES, ids=NAMES)
def test_the_page_is_whole_and_needs_nothing_else(
    agreement: Agreement, summary: Summary, lang: Lang
) -> None:
    reader = read(agreement, summary, lang)
    names = {name for name, _ in reader.tags}
    assert not names & {"script", "link", "img", "iframe", "object", "i", "b", "a"}
    attributes = {key for _, given in reader.tags for key in given}
    assert not any(key.startswith("on") or key in {"href", "src"} for key in attributes)
    assert reader.tags[0] == ("html", {"lang": {"en": "en", "zh": "zh-Hans"}[lang]})
    assert ("meta", {"charset": "utf-8"}) in reader.tags
    assert "url(" not in page(agreement, summary, lang)


@pytest.mark.parametrize(("agreement", "summary"), CASES, ids=NAMES)
def test_no_language_stands_in_the_others_page(agreement: Agreement, summary: Summary) -> None:
    chinese, english = read(agreement, summary, "zh"), read(agreement, summary, "en")
    labels = [str(given.get("data-label", "")) for _, given in chinese.tags]
    labels += [str(given.get("aria-label", "")) for _, given in chinese.tags]
    words = set(re.findall("[A-Za-z]{2,}", " ".join([*chinese.own, *labels])))
    assert words <= KEPT
    assert not re.search("[一-鿿]", " ".join(english.own))


def test_it_goes_from_the_finding_to_how_it_was_made() -> None:
    said = own(RICH)
    order = [
        "Faithfulness, checked by people",
        "As people see it",
        "Scores of the run",
        "How good the judge is",
        "Where the errors are",
        "Disagreements worth a look",
        "How this was made",
    ]
    places = [said.index(words) for words in order]
    assert places == sorted(places)


def test_scores_and_strata_stand_in_their_rows() -> None:
    said = own(RICH)
    mean = "Support, partial counted half: mean over answers"
    assert f"{mean} 82.4 % 78.3 % 74.1–82.0 % too high by 4.1 points" in said
    # The strict score lies in its interval; over claims there was no verdict to average.
    assert "Full support only: mean over answers 70.0 % 71.0 % 66.0–76.0 % no diff" in said
    assert (
        "Full support only: all claims alike not measured: the judge gave no verdict that" in said
    )
    assert "full support, but doubtful 14 12 12 too high by 12.5 points" in said
    assert "not supported, but doubtful; not supported 22 21 19 right" in said
    assert "no verdict 3 3 0 not measured: nothing labelled" in said
    assert "The judge left 3 of 120 claims open" in said


def test_how_it_was_made() -> None:
    said = own(RICH)
    assert "Sentences drawn 60 Of these labelled 58 Not labelled 2 Labels 70" in said
    assert "sentence by sentence" in said
    assert "answers: 40; claims: 120" in said
    assert "difference estimator" in said
    quoted = read(RICH, of_run(), "en").quoted
    assert {"spring", RICH.signature, "ann, bo, unnamed reviewer"} <= set(quoted)


def test_bare_yes_and_no_and_half_labelled_answers_are_owned_up_to() -> None:
    changed = {
        "by": "answer",
        "partly": 4,
        "scale": "full_or_rest",
        "corrected": RICH.corrected[2:],
    }
    said = own(RICH.model_copy(update=changed))
    assert "4 answers are labelled only in part; their labelled claims stand for the others" in said
    assert "full support against the rest: some labels were a bare no, so only the score" in said
    assert "Kind of answer, by its most doubtful claim Answers Drawn" in said


@pytest.mark.parametrize("corrected", [RICH.corrected, ()])
def test_a_judge_that_never_says_partial_is_no_bare_no(corrected: tuple[object, ...]) -> None:
    said = own(RICH.model_copy(update={"scale": "full_or_rest", "corrected": corrected}))
    assert "agreement is counted as full support against the rest Made by" in said


def test_a_missing_pooled_score_is_owned_up_to() -> None:
    said = own(RICH.model_copy(update={"corrected": (FAITHFULNESS, STRICT)}))
    assert "over all claims alike is not measured: the answers differ too much in length" in said
    assert "is not measured" not in own(RICH)


def test_where_all_was_labelled_no_interval_is_shown() -> None:
    said = own(WHOLE)
    assert "mean over answers 82.4 % 78.3 % all were labelled too high by 4.1 points" in said
    assert "78.3–78.3" not in said


def test_nothing_measured_is_no_zero() -> None:
    said = own(BARE)
    assert "is not measured: at least two answers must have labels." in said
    assert "<svg" not in page(BARE, of_run(), "en")
    assert "Reviewers none" in said
    assert "difference estimator" not in said
    assert "0.0" not in said


def test_a_draws_name_is_text_in_the_title_too() -> None:
    made = page(HOSTILE, of_run(SIMILARITY), "zh")
    assert "<title>自动评判有多可靠？ 春季&lt;/title&gt;&lt;script&gt;</title>" in made
    assert not set(made) & set("\u202e\u2066\x00\x1b\ud800")
