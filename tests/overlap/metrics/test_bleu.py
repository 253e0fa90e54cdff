import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.tokenizers.tokenizer_re import TokenizerRegexp
from sacrebleu.tokenizers.tokenizer_zh import TokenizerZh

from judge.overlap.metrics import TOKENIZERS, CorpusBleu, Language, bleu, sentence_bleu

TEXTS = st.text(st.one_of(st.sampled_from("the cat报销标准。か가. "), st.characters()), max_size=20)
PAIRS = st.lists(st.tuples(TEXTS, TEXTS), min_size=1, max_size=6)
LANGUAGES = st.sampled_from(list(TOKENIZERS))


def test_the_cat_by_hand() -> None:
    # Precisions 5/5, 3/4, 2/3, 1/2, whose product is 1/4; brevity exp(1 - 6/5).
    found = bleu(["the cat is on mat"], ["the cat is on the mat"], "other")
    assert found.score == pytest.approx(100 * 0.25**0.25 * math.exp(-0.2))
    assert found.answers == 1


def test_counts_are_pooled_and_no_mean_of_scores() -> None:
    # By order: 5 + 4 of 9, 3 + 3 of 7, 2 + 2 of 5, 1 + 1 of 3; 9 tokens against 10.
    found = bleu(
        ["the cat is on mat", "it rained all day"],
        ["the cat is on the mat", "it rained all day"],
        "other",
    )
    product = 9 / 9 * 6 / 7 * 4 / 5 * 2 / 3
    assert found.score == pytest.approx(100 * product**0.25 * math.exp(1 - 10 / 9))


def test_chinese_by_hand() -> None:
    # 4/4, 2/3 (差旅, 标准), then none of 2 and of 1, each smoothed to 1/4; brevity exp(1 - 5/4).
    expected = 100 * (2 / 3 / 4 / 4) ** 0.25 * math.exp(-0.25)
    assert bleu(["差旅标准"], ["差旅费标准"], "zh").score == pytest.approx(expected)
    assert sentence_bleu("差旅标准", "差旅费标准", "zh").score == pytest.approx(expected)


@pytest.mark.parametrize(("language", "tokenizer"), TOKENIZERS.items())
def test_the_signature_is_sacrebleus(language: Language, tokenizer: str) -> None:
    tail = f"|tok:{tokenizer}|smooth:exp|version:"
    assert bleu(["a"], ["a"], language).signature.startswith(f"nrefs:1|case:mixed|eff:no{tail}")
    assert sentence_bleu("a", "a", language).signature.startswith(
        f"nrefs:1|case:mixed|eff:yes{tail}"
    )


def test_japanese_and_korean_by_character() -> None:
    assert bleu(["東京へ行く"], ["東京へ行く"], "ja").score == 100
    assert sentence_bleu("서울로 간다", "서울로간다", "ko").score == 100


@pytest.mark.parametrize(
    ("answer", "gold", "language"),
    [
        ("東京へ行く", "東京に行く", "ja"),
        ("서울에간다", "서울로간다", "ko"),
        ("ไปวัด", "ไปขัด", "unspaced"),
    ],
)
def test_by_character_by_hand(answer: str, gold: str, language: Language) -> None:
    # All but the third of five: 4/5, 2/4, then none of 3 and of 2, smoothed to 1/6 and 1/8.
    expected = 100 * (4 / 5 * 2 / 4 / 6 / 8) ** 0.25
    assert bleu([answer], [gold], language).score == pytest.approx(expected)


def test_runs_of_four_are_counted() -> None:
    assert bleu(["a b c", "a b"], ["a b c"] * 2, "other").fourgrams == 0
    assert bleu(["a b c d e", "a b c d"], ["a"] * 2, "other").fourgrams == 3
    assert sentence_bleu("差旅标准", "差", "zh").fourgrams == 1


@given(PAIRS, PAIRS, LANGUAGES)
def test_joined_is_as_if_added_here(
    ours: list[tuple[str, str]], theirs: list[tuple[str, str]], language: Language
) -> None:
    whole, first, second = (CorpusBleu(language) for _ in range(3))
    for pair in ours:
        first.add(*pair)
    for pair in theirs:
        second.add(*pair)
    for pair in (*ours, *theirs):
        whole.add(*pair)
    first.join(second)
    assert first.total() == whole.total()


def test_tokens_of_another_tokenizer_do_not_add() -> None:
    CorpusBleu("ja").join(CorpusBleu("ko"))
    with pytest.raises(ValueError, match="'zh' do not add to those of 'other'"):
        CorpusBleu("other").join(CorpusBleu("zh"))


def test_short_and_empty_answers() -> None:
    assert sentence_bleu("Paris", "Paris", "other").score == 100
    assert bleu(["Paris"], ["Paris"], "other").score == 0  # no answer has four tokens
    assert bleu([""], ["Paris"], "other").score == 0
    assert bleu([], [], "other").score == 0


def test_lengths_that_differ() -> None:
    with pytest.raises(ValueError, match="shorter"):
        bleu(["a", "b"], ["a"], "other")


@given(PAIRS, LANGUAGES)
def test_sums_give_what_sacrebleu_gives(pairs: list[tuple[str, str]], language: Language) -> None:
    answers, references = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    reference = BLEU(tokenize=TOKENIZERS[language])
    expected = reference.corpus_score(answers, [references])
    found = bleu(answers, references, language)
    assert found.score == pytest.approx(expected.score)
    assert found.signature == str(reference.get_signature())
    assert 0 <= found.score <= 100


@given(TEXTS, TEXTS, LANGUAGES)
def test_one_answer_gives_what_sacrebleu_gives(answer: str, gold: str, language: Language) -> None:
    reference = BLEU(tokenize=TOKENIZERS[language], effective_order=True)
    expected = reference.sentence_score(answer, [gold])
    found = CorpusBleu(language).add(answer, gold)
    assert found.score == pytest.approx(expected.score)
    assert found.signature == str(reference.get_signature())


@given(PAIRS, LANGUAGES)
def test_order_does_not_count(pairs: list[tuple[str, str]], language: Language) -> None:
    forth, back = CorpusBleu(language), CorpusBleu(language)
    for pair in pairs:
        forth.add(*pair)
    for pair in reversed(pairs):
        back.add(*pair)
    assert forth.total() == back.total()


def test_what_was_seen_is_not_kept() -> None:
    CorpusBleu("zh").add("一句话。", "一句。")
    caches: list[Any] = [TokenizerZh.__call__, TokenizerRegexp.__call__]
    assert [cache.cache_info().currsize for cache in caches] == [0, 0]
