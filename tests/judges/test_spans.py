import re
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judge.backends.fake import FakeTokenClassifier
from judge.errors import ConfigError
from judge.judges.spans import SpanJudge
from judge.records import (
    Chunk,
    Flag,
    FlagName,
    JudgeRequest,
    Judgment,
    MarkedToken,
    Support,
    Unscored,
    UnscoredReason,
    UnsupportedSpan,
    Verdict,
)
from tests.requests import request

FIVE = Chunk(chunk_id="c", text="It costs 500 euros. It is red.")
Says = Callable[[str, str], Sequence[MarkedToken] | None]

# `million` is `mi`, `ll`, `io` and `n`; a Han character is a token, what nobody sees is none.
_TOKEN = re.compile(r"[一-鿿]|\w{1,2}|[^\w\s\u200b]")


def tokens(text: str, marks: Mapping[str, float], rest: float = 0.1) -> list[MarkedToken]:
    """Tokens of at most two letters; those inside a word of `marks` have its probability."""
    hits = [
        (m.start(), m.end(), p)
        for word, p in marks.items()
        for m in re.finditer(re.escape(word), text)
    ]
    return [
        MarkedToken(
            *m.span(), next((p for a, b, p in hits if a <= m.start() and m.end() <= b), rest)
        )
        for m in _TOKEN.finditer(text)
    ]


def says(marks: Mapping[str, float], most: int = 10_000) -> Says:
    """A marked word has its probability where the context does not hold it; else .1.

    A pair of more than `most` characters is too long.
    """

    def told(context: str, answer: str) -> list[MarkedToken] | None:
        if len(context) + len(answer) > most:
            return None
        return tokens(answer, {word: p for word, p in marks.items() if word not in context})

    return told


async def judged(asked: JudgeRequest, told: Says, threshold: float = 0.5) -> Judgment:
    return await SpanJudge(FakeTokenClassifier(told), threshold=threshold).judge(asked)


async def test_a_sentence_s_score_is_1_minus_its_worst_token_and_adjacent_ones_are_one_span() -> (
    None
):
    asked = request(
        ["It rose by 69 million. ", "Berlin is big. ", "北京有三千万人。"], ["It rose."]
    )
    marks = {"69": 0.9, "million": 0.75, "Berlin": 0.5, "三千": 0.625}
    judgment = await judged(asked, says(marks))
    first, second, third = judgment.outcomes.values()
    assert first == Verdict(
        support=Support.NONE,
        reason="the model calls unsupported: 69 million",
        score=0.1,
        source="span",
        signature="span:fake|w:0|form:lettucedetect-v1|t:0.5",
        spans=(UnsupportedSpan(text="69 million", start=11, end=21, probability=0.9),),
    )
    # Exactly one half is no hallucination: of two labels the first wins a tie.
    assert isinstance(second, Verdict)
    assert (second.support, second.score, second.spans) == (Support.FULL, 0.5, ())
    assert isinstance(third, Verdict)
    assert third.spans == (UnsupportedSpan(text="三千", start=41, end=43, probability=0.625),)
    assert (third.score, third.reason) == (0.375, "模型认为无依据：三千")
    assert judgment.flags == ()


async def test_the_threshold_is_the_least_score_that_is_full() -> None:
    # 1 - .9 and 1 - .8 are a little less than .1 and .2 to a machine.
    rows = [
        (0.5, 0.3, 0.7, Support.FULL, 0),
        (0.8, 0.3, 0.7, Support.NONE, 1),
        (0.7, 0.3, 0.7, Support.FULL, 0),
        (0.2, 0.8, 0.2, Support.FULL, 0),
        (0.1, 0.9, 0.1, Support.FULL, 0),
        (0.1, 0.9001, 0.0999, Support.NONE, 1),
    ]
    for threshold, marked, score, support, spans in rows:
        judgment = await judged(request(["A word."], ["x"]), says({"word": marked}), threshold)
        (verdict,) = judgment.outcomes.values()
        assert isinstance(verdict, Verdict)
        assert (verdict.support, len(verdict.spans), verdict.score) == (support, spans, score)
        assert f"|t:{threshold}" in verdict.signature
    for threshold in (0, 1, float("nan")):
        with pytest.raises(ConfigError, match="threshold"):
            SpanJudge(FakeTokenClassifier(says({})), threshold=threshold)


async def test_spans_end_at_what_is_supported_at_sentences_and_at_citations() -> None:
    asked = request(["aa bb cc [1] dd aa. ", "aa bb. "], ["x"])
    asked = asked.model_copy(update={"markers": ((9, 12),)})
    marks = {"aa": 0.6, "cc": 0.7, "dd": 0.8, "1": 1.0, "bb.": 0.9}
    judgment = await judged(asked, says(marks))
    spans = [
        [(each.text, each.probability) for each in outcome.spans]
        for outcome in judgment.outcomes.values()
        if isinstance(outcome, Verdict)
    ]
    # What a citation marker is made of is no token of the claim.
    assert spans == [[("aa", 0.6), ("cc", 0.7), ("dd aa", 0.8)], [("aa bb.", 0.9)]]


async def test_bytes_of_a_character_and_blanks_before_a_word_are_parts_of_it() -> None:
    def told(_: str, __: str) -> list[MarkedToken]:
        # As byte-level tokenizers tell it: " 𠮷" in three tokens, and blanks of their own.
        return [
            MarkedToken(0, 2, 0.1),
            MarkedToken(2, 4, 0.6),
            MarkedToken(2, 4, 0.9),
            MarkedToken(2, 4, 0.2),
            MarkedToken(4, 6, 1.0),
        ]

    judgment = await judged(request(["It 𠮷  "], ["x"]), told)
    (verdict,) = judgment.outcomes.values()
    assert isinstance(verdict, Verdict)
    assert (verdict.score, verdict.spans) == (
        0.1,
        (UnsupportedSpan(text="𠮷", start=3, end=4, probability=0.9),),
    )


async def test_a_sentence_without_a_token_is_unscored() -> None:
    judgment = await judged(request(["A word. ", "\u200b\u200b ", "B."], ["x"]), says({}))
    reasons = [getattr(each, "reason", "") for each in judgment.outcomes.values()]
    assert reasons == ["", UnscoredReason.MISSING, ""]


async def test_without_a_passage_nothing_is_supported_and_nobody_is_asked() -> None:
    for chunks in ([], ["", " \n"]):
        classifier = FakeTokenClassifier(says({}))
        asked = request(["It is so.", "下雨了。"], chunks, {0: (0,)} if chunks else {})
        first, second = (await SpanJudge(classifier).judge(asked)).outcomes.values()
        assert isinstance(first, Verdict)
        assert (first.support, first.score, first.reason) == (Support.NONE, 0.0, "no chunks")
        assert first.cited_support == (Support.NONE if chunks else None)
        assert getattr(second, "reason", "") == "没有段落"
        assert classifier.pairs == []


async def test_what_a_model_reads_is_what_it_was_trained_on() -> None:
    classifier = FakeTokenClassifier(says({}))
    asked = request(["It is 5 [1]."], ["One {x}.", "", "Two.", "One {x}."], query="How many?")
    await SpanJudge(classifier).judge(asked.model_copy(update={"markers": ((8, 11),)}))
    told = """Briefly answer the following question:
How many?
Bear in mind that your response should be strictly based on the following 2 passages:
passage 1: One {x}.
passage 2: Two.
In case the passages do not contain the necessary information to answer the question, \
please reply with: "Unable to answer based on given passages."
output:"""
    assert classifier.pairs == [(told, "It is 5    .")]
    classifier = FakeTokenClassifier(says({}))
    await SpanJudge(classifier).judge(request(["五。"], ["一。"], query=" "))
    await SpanJudge(classifier).judge(request(["五。"], ["一。"], query="几？"))
    first, second = (context for context, _ in classifier.pairs)
    assert first == "请总结以下文本：\n段落 1: 一。\n输出："
    assert second.startswith("请简短回答以下问题：\n几？\n")


async def test_citations_are_read_by_themselves_where_the_sentence_is_full() -> None:
    chunks = ["aa", "bb", "aa bb"]
    marks = {"aa": 0.9, "bb": 0.9, "zz": 0.9}
    rows: list[tuple[str, tuple[int, ...], Support | None, tuple[str, ...]]] = [
        ("aa.", (), None, ()),
        ("aa.", (0,), Support.FULL, ("c0",)),
        ("aa.", (1,), Support.NONE, ()),
        ("aa bb.", (0, 1), Support.FULL, ()),
        ("aa bb.", (1, 2), Support.FULL, ("c2",)),
        ("aa zz.", (0, 1), Support.NONE, ()),
    ]
    asked = request(
        [f"{text} " for text, *_ in rows],
        chunks,
        {index: row[1] for index, row in enumerate(rows) if row[1]},
    )
    classifier = FakeTokenClassifier(says(marks))
    judgment = await SpanJudge(classifier).judge(asked)
    found = [
        (verdict.cited_support, verdict.supporting)
        for verdict in judgment.outcomes.values()
        if isinstance(verdict, Verdict)
    ]
    assert found == [(support, supporting) for *_, support, supporting in rows]
    # All; then each set of cited chunks once: c0, c1, c0 c1, c1 c2, c2.
    assert len(classifier.pairs) == 6
    classifier = FakeTokenClassifier(says(marks))
    await SpanJudge(classifier).judge(request(["aa."], ["aa"], {0: (0,)}))
    assert len(classifier.pairs) == 1


async def test_a_token_that_any_window_supports_is_supported() -> None:
    # Together 60 characters of chunks are too long for `most`, each half is not.
    chunks = [f"{word} " + "x " * 150 for word in ("aa", "bb", "cc", "yy")]
    prompt = len("Summarize the following text:\n\noutput:")
    classifier = FakeTokenClassifier(says({"aa": 0.9, "cc": 0.8, "zz": 0.7}, most=prompt + 700))
    asked = request(["aa cc. ", "aa zz."], chunks)
    first, second = (await SpanJudge(classifier).judge(asked)).outcomes.values()
    assert isinstance(first, Verdict)
    assert isinstance(second, Verdict)
    assert (first.support, first.score) == (Support.FULL, 0.9)
    assert (second.support, second.score) == (Support.NONE, 0.3)
    assert [span.text for span in second.spans] == ["zz"]
    # All four, then two and two.
    assert [context.count("passage") for context, _ in classifier.pairs] == [4, 2, 2]


async def test_windows_that_tell_tokens_apart_otherwise_are_compared_by_characters() -> None:
    def told(context: str, answer: str) -> list[MarkedToken] | None:
        # As byte-level tokenizers do: a word at the beginning is not the one behind a blank.
        if "snow" in context and len(answer) > 9:
            return None
        probability = 0.1 if "abcd" in context else 0.9
        at = answer.find("abcd")
        cuts = [at, at + 2, at + 4] if at == 0 else [max(at - 1, 0), at + 4]
        places = pairwise(cuts) if at >= 0 else [(0, 2)]
        return [MarkedToken(*place, probability) for place in places]

    chunks = ["abcd " + "x " * 30, "snow " + "x " * 30]
    judgment = await judged(request(["It is. ", "abcd too."], chunks), told)
    second = judgment.outcomes[1]
    assert isinstance(second, Verdict)
    assert (second.support, second.score, second.spans) == (Support.FULL, 0.9, ())


async def test_a_long_answer_is_cut_between_sentences_and_no_sentence_is_lost() -> None:
    words = [f"w{n:02}" for n in range(40)]
    asked = request([f"{word} is so. " for word in words], ["w07 w31 and more"])
    classifier = FakeTokenClassifier(says(dict.fromkeys(words, 0.9), most=200))
    judgment = await SpanJudge(classifier).judge(asked)
    full = [i for i, each in judgment.outcomes.items() if getattr(each, "score", 0) == 0.9]
    assert full == [7, 31]
    assert len(judgment.outcomes) == 40
    read = [answer for context, answer in classifier.pairs if len(context) + len(answer) <= 200]
    assert "".join(read) == asked.answer


async def test_what_does_not_fit_beside_a_passage_is_unscored_never_cut() -> None:
    lone = "雨" * 300 + "。"
    asked = request([lone, "下雪。"], ["雪" * 30 + "。", "雪"])
    long, short = (await judged(asked, says({"雨": 0.9}, most=300))).outcomes.values()
    assert isinstance(long, Unscored)
    assert long.reason is UnscoredReason.TRUNCATED
    assert isinstance(short, Verdict)
    assert short.support is Support.FULL


async def test_a_sentence_that_never_fits_costs_little() -> None:
    # 10 000 Han characters are as many estimated tokens, beside which 625 are the least: 20 000
    # are halved five times at most. 20 000 are too many to be tried.
    for length, most in ((10_000, 2**6), (20_000, 0)):
        classifier = FakeTokenClassifier(says({}, most=300))
        asked = request(["雨" * length], ["雪" * 20_000])
        (outcome,) = (await SpanJudge(classifier).judge(asked)).outcomes.values()
        assert getattr(outcome, "reason", None) is UnscoredReason.TRUNCATED
        assert len(classifier.pairs) <= most


async def test_a_question_that_fills_the_model_is_found_out_at_once() -> None:
    # All; then the question alone. What no model takes nobody is asked.
    for length, most, asked in ((4000, 10_000, 1), (4000, 3000, 2), (16_385, 100_000, 0)):
        classifier = FakeTokenClassifier(says({}, most))
        judgment = await SpanJudge(classifier).judge(
            request(["下雨。", "下雪。"], ["雪" * 900, "x"], query="问" * length)
        )
        reasons = [getattr(each, "detail", "") for each in judgment.outcomes.values()]
        assert len(classifier.pairs) == asked
        said = [each.startswith("the question leaves no room") for each in reasons]
        assert said == [asked != 1] * 2
    # One that leaves some room is read beside parts of the chunks.
    judged_all = await judged(
        request(["下雨。", "下雪。"], ["雪" * 900, "x"], query="问" * 900), says({}, most=1500)
    )
    assert {type(each) for each in judged_all.outcomes.values()} == {Verdict}
    lost = Unscored(reason=UnscoredReason.SERVER_ERROR)
    judgment = await SpanJudge(Failing(says({}, most=100))).judge(
        request(["下雨。"], ["x"], query="问" * 900)
    )
    assert judgment.outcomes == {0: lost}


async def test_full_by_what_fits_is_full_and_flagged() -> None:
    def told(context: str, answer: str) -> list[MarkedToken] | None:
        return None if "yy" in context else tokens(answer, {} if "aa" in context else {"aa": 0.9})

    asked = request(["aa. ", "bb aa."], ["aa", "yy"], {0: (0,), 1: (1,)})
    judgment = await judged(asked, told)
    first, second = judgment.outcomes.values()
    assert getattr(first, "support", None) is Support.FULL
    # Whether what it cites supports it nobody knows.
    assert getattr(second, "reason", None) is UnscoredReason.TRUNCATED
    assert judgment.flags == (Flag(name=FlagName.UNJUDGED_EVIDENCE, sentence=0),)


async def test_a_model_s_failure_is_that_of_every_sentence() -> None:
    lost = Unscored(reason=UnscoredReason.SERVER_ERROR, detail="out of memory")
    asked = request(["aa. ", "bb."], ["aa", "x"], {0: (0,)})
    judgment = await SpanJudge(FakeTokenClassifier(lost)).judge(asked)
    assert judgment.outcomes == {0: lost, 1: lost}


class Failing(FakeTokenClassifier):
    """Reads one request, and fails over the next."""

    async def classify(
        self, pairs: Sequence[tuple[str, str]]
    ) -> list[Sequence[MarkedToken] | None] | Unscored:
        if self.pairs:
            return Unscored(reason=UnscoredReason.SERVER_ERROR)
        return await super().classify(pairs)


async def test_so_is_one_that_comes_with_the_citations() -> None:
    asked = request(["aa. ", "bb."], ["aa", "x"], {0: (0,)})
    judgment = await SpanJudge(Failing(says({}))).judge(asked)
    assert {type(each) for each in judgment.outcomes.values()} == {Unscored}


TEXTS = st.lists(
    st.sampled_from(["ab cd. ", "下雨了。", "x" * 40 + " ", "\n", "雨" * 30]), max_size=6
)


@settings(deadline=None)
@given(TEXTS.map(lambda each: [t for t in each if t.strip()]), TEXTS, st.integers(60, 600))
async def test_every_sentence_has_an_outcome_and_every_span_stands_in_it(
    said: list[str], chunks: list[str], most: int
) -> None:
    asked = request(said, chunks)
    judgment = await judged(asked, says({"cd": 0.9, "雨": 0.8, "xx": 0.7}, most))
    assert list(judgment.outcomes) == list(range(len(said)))
    for index, outcome in judgment.outcomes.items():
        sentence = asked.sentences[index]
        for span in outcome.spans if isinstance(outcome, Verdict) else ():
            assert sentence.start <= span.start < span.end <= sentence.end
            assert span.text == asked.answer[span.start : span.end]
            assert span.text == span.text.strip() != ""
