from judge.pages.findings import (
    Words,
    bias,
    cautions,
    difference,
    headline,
    leading,
    stratum_bias,
    stratum_error,
    title,
)
from judge.records import Support
from judge.review.records import LabelledStratum, StratumName
from judge.review.sheet import read_label
from tests.pages.agreements import (
    BARE,
    FAITHFULNESS,
    RICH,
    SIMILARITY,
    STRICT,
    of_run,
    share,
)

ENGLISH = Words("en")
CHINESE = Words("zh")


def plain(words: str) -> str:
    return words.replace("\N{NO-BREAK SPACE}", " ")


def stratum(error: float | None) -> LabelledStratum:
    names = (StratumName.PARTIAL, StratumName.UNSCORED)
    return LabelledStratum(names=names, units=9, drawn=5, labelled=5, error=error)


def test_the_headline_says_what_people_found_what_the_judge_said_and_the_difference() -> None:
    # .824 - .783 = .041, and .824 is over .8199.
    assert plain(headline(RICH, of_run(), ENGLISH)) == (
        "As people see it, the chunks support 78.3 % of what the answers claim"
        " (95 % interval 74.1–82.0 %); the judge said 82.4 %: it is too generous by 4.1 points."
    )
    assert headline(RICH, of_run(), CHINESE) == (
        "按人工判断，回答中的论断有 78.3% 得到检索片段支持（95% 置信区间 74.1%–82.0%）；"
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
        assert plain(headline(found, of_run(), ENGLISH)).endswith(said)
        assert told in difference(score, ENGLISH)


def test_what_similarity_says_is_not_called_faithfulness() -> None:
    run = of_run(SIMILARITY)
    assert run.by_similarity
    assert title(run, ENGLISH).startswith("Share of sentences that look supported (similarity)")
    assert title(of_run(), ENGLISH).startswith("Faithfulness")
    assert "by similarity, 82.4 % looks supported" in plain(headline(RICH, run, ENGLISH))
    assert "按相似度，82.4% 看似有依据，偏宽" in headline(RICH, run, CHINESE)


def test_why_nothing_could_be_corrected() -> None:
    claims = "at least two claims must have labels.", "至少需要两条论断有标签。"
    answers = "at least two answers must have labels.", "至少需要两篇回答有标签。"
    nothing = "people found no claim in what they labelled.", "未见论断。"
    table = [
        ("sentence", 9, 0, claims),
        ("sentence", 9, 1, claims),
        ("answer", 9, 1, answers),
        ("sentence", 9, 2, nothing),
        ("answer", 1, 1, nothing),
    ]
    for by, units, labelled, (why, chinese) in table:
        part = stratum(None).model_copy(update={"units": units, "labelled": labelled})
        found = RICH.model_copy(update={"by": by, "corrected": (), "strata": (part,)})
        assert headline(found, of_run(), ENGLISH).endswith(f"is not measured: {why}")
        assert headline(found, of_run(), CHINESE).endswith(chinese)


def test_the_score_to_name_first() -> None:
    assert leading(RICH) is FAITHFULNESS
    assert leading(RICH.model_copy(update={"corrected": RICH.corrected[::-1]})) is FAITHFULNESS
    strict = RICH.model_copy(update={"corrected": (STRICT,)})
    assert leading(strict) is STRICT
    assert "the chunks fully support 71.0 %" in plain(headline(strict, of_run(), ENGLISH))
    assert leading(BARE) is None
    assert "not measured" in headline(BARE, of_run(), ENGLISH)


def test_what_must_be_known_of_the_run() -> None:
    assert cautions(RICH, of_run(unscored={}), ENGLISH) == []
    assert cautions(RICH, of_run(), CHINESE) == [
        "120 条论断中有 3 条自动评判未作判断；只有人工校正后的分数涵盖它们。"
    ]
    doubtful = of_run(untrusted=True, unscored_share=0.31, signatures={"a": 1, "b": 2})
    said = [plain(words) for words in cautions(RICH, doubtful, ENGLISH)]
    assert "no verdict on 31.0 % of the claims" in said[0]
    assert "in 2 different ways" in said[1]
    assert "3 of 120 claims open; only the people's score covers them" in said[2]
    # Nor does any, where there is none.
    assert cautions(BARE, of_run(), ENGLISH) == ["The judge left 3 of 120 claims open."]


def test_where_the_errors_are() -> None:
    table: dict[float | None, tuple[str | None, str]] = {
        -0.125: ("generous", "too high by 12.5 points"),
        0.8: ("strict", "too low by 80.0 points"),
        0.0004: ("same", "right"),
        None: (None, "not measured: nothing labelled"),
    }
    for error, (way, said) in table.items():
        assert stratum_bias(stratum(error)) == way
        assert stratum_error(stratum(error), ENGLISH) == said


def test_figures_are_written_as_the_language_does() -> None:
    assert ENGLISH.percent(0.9166) == "91.7\N{NO-BREAK SPACE}%"
    assert CHINESE.percent(1) == "100.0%"
    assert ENGLISH.span(0.0, 0.12345) == "0.0–12.3\N{NO-BREAK SPACE}%"
    assert CHINESE.span(0.0, 0.12345) == "0.0%–12.3%"
    assert ENGLISH.points(-0.041) == "4.1 points"
    assert CHINESE.points(0.041) == "4.1 个百分点"
    assert CHINESE.share(share(0.5, 0.25, 0.75)) == "50.0%（25.0%–75.0%）"
    assert ENGLISH.coefficient(-0.7164) == "\N{MINUS SIGN}0.716"
    assert CHINESE.coefficient(-0.0001) == "0.000"


def test_a_label_reads_on_a_sheet_as_it_does_on_the_page() -> None:
    for words in (ENGLISH, CHINESE):
        for support in (*Support, None):
            word = words.named("label", "rest" if support is None else support.value)
            assert read_label(word) == (support, support is Support.FULL)
        assert len({words(f"stratum.{name.value}") for name in StratumName}) == len(StratumName)
