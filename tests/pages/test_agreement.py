"""What is said of the judge; the page by its DOM; and that no text from outside is markup."""

import json
import re
from collections.abc import Collection, Sequence
from html.parser import HTMLParser

import hypothesis
import pytest
from hypothesis import strategies as st

from judge.messages import LANGS, Lang, Messages
from judge.pages.agreement import Findings, Words, bias, page
from judge.records import Chunk, Sample, Summary, Support
from judge.review.records import Agreement, BlankLimits, LabelledStratum, StratumName
from judge.review.sheet import read_label
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
    share,
)

ENGLISH, CHINESE = Words("en"), Words("zh")

CASES = {
    "rich": (RICH, of_run()),
    "bare": (BARE, of_run(untrusted=True)),
    "hostile": (HOSTILE, of_run(SIMILARITY)),
    "whole": (WHOLE, of_run()),
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


def plain(words: str) -> str:
    return words.replace("\N{NO-BREAK SPACE}", " ")


def said_of(agreement: Agreement, summary: Summary | None = None, lang: Lang = "en") -> Findings:
    return Findings(agreement, summary or of_run(), CHINESE if lang == "zh" else ENGLISH)


def headline(agreement: Agreement, summary: Summary | None = None, lang: Lang = "en") -> str:
    return plain(said_of(agreement, summary, lang).headline())


def stratum(error: float | None) -> LabelledStratum:
    names = (StratumName.PARTIAL, StratumName.UNSCORED)
    return LabelledStratum(names=names, units=9, share=0.2, drawn=5, labelled=5, error=error)


def test_the_headline_says_what_people_found_what_the_judge_said_and_the_difference() -> None:
    # .824 - .783 = .041, and .824 is over .8199.
    assert headline(RICH) == (
        "As people see it, the chunks support 78.3 % of what an answer claims"
        " (mean over answers; 95 % interval 74.1–82.0 %); the judge said 82.4 %: it is too"
        " generous by 4.1 points."
    )
    assert headline(RICH, lang="zh") == (
        "按人工判断，回答中的论断有 78.3% 得到检索片段支持（各回答平均；"
        "95% 置信区间 74.1%–82.0%）；"
        "自动评判给出 82.4%，偏宽 4.1 个百分点。"
    )


def test_which_way_the_judge_errs() -> None:
    same = ("same", "no difference that these labels can show.", "no difference shown")
    table: dict[float | None, tuple[str | None, str, str]] = {
        0.9: ("generous", "judge said 90.0 %: it is too generous by 11.7 points.", "too high"),
        0.74: ("strict", "judge said 74.0 %: it is too strict by 4.3 points.", "too low by 4.3"),
        0.741: same,
        0.8199: same,
        None: (None, "is not measured, for it gave no verdict that counts.", "not measured"),
    }
    for raw, (way, said, told) in table.items():
        score = FAITHFULNESS.model_copy(update={"raw": raw})
        found = RICH.model_copy(update={"corrected": (score,)})
        assert bias(score) == way
        assert headline(found).endswith(said)
        assert told in ENGLISH.difference(score)


def test_what_similarity_says_is_not_called_faithfulness() -> None:
    run = of_run(SIMILARITY)
    assert run.by_similarity
    assert said_of(RICH, run).title.startswith(
        "Share of sentences that look supported (similarity)"
    )
    assert said_of(RICH).title.startswith("Faithfulness")
    assert "by similarity, 82.4 % looks supported" in headline(RICH, run)
    assert "按相似度，82.4% 看似有依据，偏宽" in headline(RICH, run, "zh")


def test_why_nothing_could_be_corrected() -> None:
    claims = "at least two claims must have labels.", "至少需要两条论断有标签。"
    nothing = "people found no claim in what they labelled.", "未见论断。"
    table = [
        (9, 0, claims),
        (9, 1, claims),
        (9, 2, nothing),
        (1, 1, nothing),
    ]
    for units, labelled, (why, chinese) in table:
        part = stratum(None).model_copy(update={"units": units, "labelled": labelled})
        found = RICH.model_copy(update={"corrected": (), "strata": (part,)})
        assert headline(found).endswith(f"is not measured: {why}")
        assert headline(found, lang="zh").endswith(chinese)


def test_the_score_to_name_first() -> None:
    assert said_of(RICH).leading is FAITHFULNESS
    assert (
        said_of(RICH.model_copy(update={"corrected": RICH.corrected[::-1]})).leading is FAITHFULNESS
    )
    strict = RICH.model_copy(update={"corrected": (STRICT,)})
    assert said_of(strict).leading is STRICT
    assert "the chunks fully support 71.0 %" in headline(strict)
    assert said_of(BARE).leading is None
    assert "not measured" in headline(BARE)


def test_what_must_be_known_of_the_run() -> None:
    assert said_of(RICH, of_run(unscored={})).cautions() == []
    assert said_of(RICH, lang="zh").cautions() == [
        "120 条论断中有 3 条自动评判未作判断；只有人工校正后的分数涵盖它们。"
    ]
    doubtful = of_run(untrusted=True, unscored_share=0.31, signatures={"a": 1, "b": 2})
    said = [plain(words) for words in said_of(RICH, doubtful).cautions()]
    assert "no verdict on 31.0 % of the claims" in said[0]
    assert "in 2 different ways" in said[1]
    assert "3 of 120 claims open; only the people's score covers them" in said[2]
    # Nor does any, where there is none.
    assert said_of(BARE).cautions() == ["The judge left 3 of 120 claims open."]


def test_figures_are_written_as_the_language_does() -> None:
    table = {
        ENGLISH.percent(0.9166): "91.7 %",
        CHINESE.percent(1): "100.0%",
        ENGLISH.span(0.0, 0.12345): "0.0–12.3 %",
        CHINESE.span(0.0, 0.12345): "0.0%–12.3%",
        ENGLISH.points(-0.041): "4.1 points",
        CHINESE.points(0.041): "4.1 个百分点",
        CHINESE.share(share(0.5, 0.25, 0.75)): "50.0%（25.0%–75.0%）",
        ENGLISH.coefficient(-0.7164): "\N{MINUS SIGN}0.716",
        CHINESE.coefficient(-0.0001): "0.000",
        ENGLISH.stratum_error(stratum(0.8)): "too low by 80.0 points",
        ENGLISH.stratum_error(stratum(0.0004)): "right",
    }
    assert {plain(said): wanted for said, wanted in table.items() if plain(said) != wanted} == {}
    assert "\N{NO-BREAK SPACE}%" in ENGLISH.percent(0.5)  # no line breaks between them


def test_a_label_reads_on_a_sheet_as_it_does_on_the_page() -> None:
    for words in (ENGLISH, CHINESE):
        for support in (*Support, None):
            word = words.named("label", "rest" if support is None else support.value)
            assert read_label(word) == (support, support is Support.FULL)
        assert len({words(f"stratum.{name.value}") for name in StratumName}) == len(StratumName)


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


def test_it_goes_from_the_finding_to_how_it_was_made() -> None:
    order = [
        "Faithfulness, checked by people As people see it",
        "Scores of the run Score Judge People 95 % interval Judge's score is",
        "Support, partial counted half: mean over answers 82.4 % 78.3 % 74.1–82.0 % too high by",
        # The strict score lies in its interval; over claims there was no verdict to average.
        "Full support only: mean over answers 70.0 % 71.0 % 66.0–76.0 % no difference shown",
        "Full support only: mean over claims not measured: the judge gave no verdict that counts",
        "How good the judge is Agreement 88.4 % (81.2–93.1 %)",
        "over 66 labels; they tell as much as 40 drawn one by one",
        "Cohen's κ 0.716 Base rate 61.2 %",
        "Read κ with it",
        "Krippendorff's α 0.812",
        "where several labelled one sentence: 12 sentences.",
        "Brier score 0.081",
        "Calibration error 0.032",
        "These figures are means over answers, as the headline is",
        "By label: precision and recall are means over answers",
        "full support 30 27 85.7 % (70.0–94.0 %)",
        "contradicted 0 6 not measured: the judge called nothing so",
        "no claim 4 0",
        "not measured: people called nothing so",
        "Where the errors are",
        "full support, but doubtful 14 10.0 % 12 12 too high by 12.5 points",
        "not supported, but doubtful; not supported 22 17.0 % 21 19 right",
        "no verdict 3 3.0 % 3 0 not measured: nothing labelled",
        "Disagreements worth a look Worst first. 5 more stand in agreement.json.",
        "How this was made Draw Run answers: 40; claims: 120",
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
    half = own(scale="full_or_rest", corrected=RICH.corrected[2:])
    assert "full support against the rest: some labels were a bare no, so only the score" in half
    # A judge that never says partial is no bare no.
    for corrected in (RICH.corrected, ()):
        said = own(scale="full_or_rest", corrected=corrected)
        assert "agreement is counted as full support against the rest Made by" in said
    uneven = own(corrected=(FAITHFULNESS, STRICT))
    assert "mean over claims is not measured: the answers differ too much in length" in uneven
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
    assert "is not measured: at least two claims must have labels." in said
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
    roles = {"table": "table", "thead": "rowgroup", "tbody": "rowgroup"}
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
    sample = Sample(
        qid="leave-3", query="How <many>?", chunks=(Chunk(chunk_id="h#1", text="F&ve."),)
    )
    asked: list[set[str]] = []

    def samples(qids: Collection[str]) -> dict[str, Sample]:
        asked.append(set(qids))
        return {sample.qid: sample}

    made = page(RICH, of_run(), "en", samples)
    assert [len(qids) for qids in asked] == [30]
    case = made[made.index("<article>") : made.index("</article>")]
    assert re.findall(r"<dt>Question</dt><dd>.*?>(.*?)<", case) == ["How &lt;many&gt;?"]
    assert "<summary>1 chunk</summary>" in case
    assert re.findall(r"h#1.*?<dd>.*?>(.*?)<", case) == ["F&amp;ve."]
    assert made.count("<summary>") == 1
    made = page(RICH, of_run(), "en")
    assert made.count("<article>") == 30
    assert "<summary>" not in made
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
    limits = BlankLimits(wrong=0.71, right=0.86, low=0.655, high=0.891, decides=True)
    score = FAITHFULNESS.model_copy(update={"blank": limits})
    strata = [each.model_copy(update={"rows": 9, "blank": n}) for n, each in enumerate(RICH.strata)]
    changes = {"corrected": (score,), "strata": tuple(strata[:3]), "labelled": 57}
    known = RICH.model_copy(update=changes)
    told: dict[Lang, tuple[str, ...]] = {
        "en": (
            "What the blank rows hold may decide: fill them in before you quote the corrected",
            "3 of 60 rows are blank; the labelled ones stand for them (",
            ": 1 of 9; ",
            "none of the blank rows the score would be 71.0 %, if all of them 86.0 %",
            "65.5–89.1 %",
        ),
        "zh": ("空着的行可能左右结论", "60 行中有 3 行空着", "9 行中 1 行；", "为 71.0%"),
    }
    for lang, words in told.items():
        found = said_of(known, lang=lang)
        said = plain(" ".join((*found.cautions(), *found.notes())))
        assert [each for each in words if each not in said] == [], said
        assert plain(joined(read(known, lang=lang).own)).count(words[0]) == 1
    # A file of before there were such fields, as it stands on a disk.
    older = json.loads(known.model_dump_json())
    for each in (*older["corrected"], *older["strata"]):
        for field in ("rows", "blank"):
            each.pop(field, None)
    found = said_of(Agreement.model_validate(older))
    assert found.notes()[1:] == ["3 of 60 rows are blank; the labelled ones stand for them."]
    assert not any("decide" in said for said in found.cautions())
