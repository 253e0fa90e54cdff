"""The page through its DOM: what it says, and that no text from outside becomes markup."""

import re
from collections.abc import Sequence
from html.parser import HTMLParser

import hypothesis
from hypothesis import strategies as st

from judge.messages import LANGS, Lang, Messages
from judge.pages.agreement import page
from judge.records import Summary
from judge.review.records import Agreement
from tests.pages.agreements import (
    BARE,
    DATE,
    FAITHFULNESS,
    HOSTILE,
    RICH,
    SIMILARITY,
    STRICT,
    WHOLE,
    of_run,
)

CASES = {
    "rich": (RICH, of_run()),
    "bare": (BARE, of_run(untrusted=True)),
    "hostile": (HOSTILE, of_run(SIMILARITY)),
    "partly": (WHOLE.model_copy(update={"by": "answer", "partly": 3}), of_run()),
}
# Names of people and measures are the same in Chinese texts on statistics, files are what they are.
KEPT = {"Cohen", "Krippendorff", "Brier", "ECE", "Wilson", "agreement", "json"}
FOREIGN = {"script", "link", "img", "iframe", "object", "embed", "form", "base", "i", "b", "a"}
Tag = tuple[str, dict[str, str | None]]


class Reader(HTMLParser):
    """Balanced tags, and apart: what the page says itself, and what it quotes."""

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


def read(agreement: Agreement, summary: Summary | None = None, lang: Lang = "en") -> Reader:
    made = page(agreement, summary or of_run(), lang)
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


def test_the_page_is_whole_and_needs_nothing_else() -> None:
    for agreement, summary in CASES.values():
        for lang in LANGS:
            reader = read(agreement, summary, lang)
            assert not {name for name, _ in reader.tags} & FOREIGN
            attributes = {key for _, given in reader.tags for key in given}
            assert not any(key.startswith("on") or key in {"href", "src"} for key in attributes)
            assert reader.tags[0] == ("html", {"lang": {"en": "en", "zh": "zh-Hans"}[lang]})
            assert ("meta", {"charset": "utf-8"}) in reader.tags
            assert "url(" not in page(agreement, summary, lang)


def test_no_language_stands_in_the_others_page() -> None:
    for name, (agreement, summary) in CASES.items():
        chinese, english = read(agreement, summary, "zh"), read(agreement, summary, "en")
        labels = [str(given.get("data-label", "")) for _, given in chinese.tags]
        labels += [str(given.get("aria-label", "")) for _, given in chinese.tags]
        words = set(re.findall("[A-Za-z]{2,}", " ".join([*chinese.own, *labels])))
        assert words <= KEPT, name
        assert not re.search("[一-鿿]", " ".join(english.own)), name
    texts = Messages.of("agreement")
    for key in texts:  # those no case above shows, too
        chinese_text = re.sub(r"\{\w+\}", "", texts.template(key, "zh"))
        assert set(re.findall(r"[A-Za-z]{2,}", chinese_text)) <= KEPT, key
        assert not re.search(r"[一-鿿]", texts.template(key, "en")), key
        fields = [set(re.findall(r"\{(\w+)\}", texts.template(key, lang))) for lang in LANGS]
        assert fields[0] == fields[1], key


def test_it_goes_from_the_finding_to_how_it_was_made() -> None:
    order = [
        "Faithfulness, checked by people As people see it",
        "Scores of the run Score Judge People 95 % interval Judge's score is",
        "Support, partial counted half: mean over answers 82.4 % 78.3 % 74.1–82.0 % too high by",
        # The strict score lies in its interval; over claims there was no verdict to average.
        "Full support only: mean over answers 70.0 % 71.0 % 66.0–76.0 % no difference shown",
        "Full support only: all claims alike not measured: the judge gave no verdict that counts",
        "How good the judge is Agreement 88.4 % (81.2–93.1 %)",
        "over 66 labels; they tell as much as 40 drawn one by one",
        "Cohen's κ 0.716 Base rate 61.2 %",
        "Read κ with it",
        "Krippendorff's α 0.812",
        "where several labelled one sentence: 12 sentences.",
        "Brier score 0.081",
        "Calibration error 0.032",
        "By label",
        "full support 30 27 85.7 % (70.0–94.0 %)",
        "contradicted 0 6 not measured: the judge called nothing so",
        "no claim 4 0",
        "not measured: people called nothing so",
        "Where the errors are",
        "full support, but doubtful 14 12 12 too high by 12.5 points",
        "not supported, but doubtful; not supported 22 21 19 right",
        "no verdict 3 3 0 not measured: nothing labelled",
        "Disagreements worth a look Worst first. 5 more stand in agreement.json.",
        "How this was made Draw Drawn as sentence by sentence Run answers: 40; claims: 120",
        "Sentences drawn 60 Of these labelled 58 Not labelled 2 Labels 70",
        "difference estimator",
    ]
    said = own()
    places = [said.find(words) for words in order]
    assert -1 not in places, order[places.index(-1)]
    assert places == sorted(places)
    assert "The judge left 3 of 120 claims open" in said
    quoted = read(RICH).quoted
    assert {"spring", RICH.signature, "ann, bo, unnamed reviewer"} <= set(quoted)


def test_what_must_be_owned_up_to() -> None:
    half = own(by="answer", partly=4, scale="full_or_rest", corrected=RICH.corrected[2:])
    for words in (
        "4 answers are labelled only in part; their labelled claims stand for the others",
        "full support against the rest: some labels were a bare no, so only the score",
        "Kind of answer, by its most doubtful claim Answers Drawn",
    ):
        assert words in half
    # A judge that never says partial is no bare no.
    for corrected in (RICH.corrected, ()):
        said = own(scale="full_or_rest", corrected=corrected)
        assert "agreement is counted as full support against the rest Made by" in said
    uneven = own(corrected=(FAITHFULNESS, STRICT))
    assert "over all claims alike is not measured: the answers differ too much in length" in uneven
    one = own(compared=1, shared=1)
    assert "over 1 label;" in one
    assert "one sentence: 1 sentence." in one
    same = own(kappa=None, alpha=None)
    assert "not measured: judge and people always say one and the same label" in same
    assert "not measured: all reviewers always say one and the same label" in same


def test_where_all_was_labelled_no_interval_is_shown() -> None:
    reader = read(WHOLE)
    said = joined(reader.own)
    assert "mean over answers 82.4 % 78.3 % all were labelled too high by 4.1 points" in said
    assert "78.3–78.3" not in said
    assert "Line: the judge. Dot: people." in said
    (svg,) = (given for tag, given in reader.tags if tag == "svg")
    assert (svg["aria-label"] or "").endswith("People: 78.3\N{NO-BREAK SPACE}%, all were labelled.")


def test_nothing_measured_is_no_zero_and_nought_is_a_figure() -> None:
    reader = read(BARE)
    said = joined(reader.own)
    assert "is not measured: at least two answers must have labels." in said
    assert said.count("not measured: no label stands beside a verdict of the judge") == 4
    assert said.count("not measured: the judge gave no probability") == 2
    assert "no sentence was labelled by several reviewers" in said
    assert "Reviewers none" in said
    assert "difference estimator" not in said
    assert "0.0" not in said
    assert "svg" not in {name for name, _ in reader.tags}
    assert own(kappa=0.0, brier=0.0).count(" 0.000 ") == 2
    # What rounds to nothing has no sign.
    negative = own(kappa=-0.125, alpha=-0.0004)
    assert " \N{MINUS SIGN}0.125 " in negative
    assert " 0.000 " in negative


def test_marks_of_the_chart_stand_where_the_figures_say() -> None:
    reader = read(RICH)
    (judge,), (people,) = reader.found("line", "judge"), reader.found("circle", "people")
    (band,) = reader.found("rect", "band")
    assert (judge["x1"], people["cx"]) == ("82.40%", "78.30%")
    # From .741 to .8199.
    assert (band["x"], band["width"]) == ("74.10%", "7.89%")
    (svg,) = (given for tag, given in reader.tags if tag == "svg")
    assert svg["role"] == "img"
    label = (svg["aria-label"] or "").replace("\N{NO-BREAK SPACE}", " ")
    assert "Judge: 82.4 %. People: 78.3 %, 95 % interval 74.1–82.0 %." in label
    for at, anchor in {0.0: "start", 0.5: "middle", 1.0: "end"}.items():
        score = FAITHFULNESS.model_copy(update={"raw": at, "corrected": at, "low": at, "high": at})
        there = read(RICH.model_copy(update={"corrected": (score,)}))
        for class_ in ("judge", "people"):
            assert [text["text-anchor"] for text in there.found("text", class_)] == [anchor]
    silent = read(RICH.model_copy(update={"corrected": RICH.corrected[3:]}))
    assert not silent.found("line", "judge")
    assert not silent.found("text", "judge")


def test_a_table_shown_as_blocks_is_a_table_to_a_screen_reader() -> None:
    roles = {"table": "table", "caption": "caption", "thead": "rowgroup", "tbody": "rowgroup"}
    roles |= {"tr": "row", "td": "cell"}
    for tag, given in read(RICH).tags:
        if tag == "th":
            wanted = {"col": "columnheader", "row": "rowheader"}
            assert given["role"] == wanted[given["scope"] or ""]
        elif tag in roles:
            assert given["role"] == roles[tag]
        if tag == "td":
            assert given["data-label"]


def test_disagreements_are_told_whole_the_worst_thirty_first() -> None:
    made = page(RICH.model_copy(update={"disagreements": (DATE,)}), of_run(), "en")
    case = made[made.index("<article>") : made.index("</article>")]
    pairs = re.findall(r"<dt>(.*?)</dt><dd>(.*?)</dd>", case)
    assert {name: re.sub("<.*?>", "", value) for name, value in pairs} == {
        "Judge": "full support",
        "People": "contradicted (ann), not supported (unnamed reviewer)",
        "Note": "The handbook says five.",
        "Judge&#39;s quote": "may carry over days",
        "Answer": "leave-3",
        "Row": "spring-017",
    }
    assert "Staff may carry over ten days." in case
    made = page(RICH, of_run(), "en")
    assert made.count("<article>") == 30
    assert made.index("leave-3") < made.index("q100<") < made.index("q128<")
    assert "q129<" not in made
    assert "people say what the judge says" in own(disagreements=())


def test_texts_that_want_to_be_markup_stay_texts() -> None:
    made = page(HOSTILE, of_run(SIMILARITY), "zh")
    assert "<title>自动评判有多可靠？ 春季&lt;/title&gt;&lt;script&gt;</title>" in made
    assert "<script" not in made
    assert "&lt;script&gt;alert(1)&lt;/script&gt; 员工每年可休假十天。" in made
    assert '"onmouseover' not in made
    assert "&amp;lt;not markup&amp;gt;" in made
    assert "{raw} {0} %s" in made
    assert not set(made) & set("\u202e\u2066\x00\x1b\ud800")
    assert made.count("长") < 700


@hypothesis.settings(deadline=None, max_examples=50)
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
