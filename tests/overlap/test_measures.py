import math
import re
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

# The reference libraries take a second or so to import; the tests themselves are quick.
from rouge_score.rouge_scorer import RougeScorer
from rouge_score.tokenizers import DefaultTokenizer
from sacrebleu.metrics.bleu import BLEU

from judge.overlap.measures import (
    TOKENIZERS,
    BleuCounts,
    Language,
    answer_tokens,
    bleu,
    bleu_counts,
    bleu_signature,
    exact_match,
    language_of,
    rouge,
    token_f1,
    word_tokens,
)

NAMES = ("rouge1", "rouge2", "rougeL", "rougeLsum")
ANY = st.text(st.one_of(st.sampled_from("the a An报销标准，。3Ａé"), st.characters()), max_size=20)
ASCII = st.text(st.characters(max_codepoint=127), max_size=40)

# Text and its words, then the tokens after SQuAD's normalisation where these differ.
TOKENS = [
    ("用kubectl部署v2.10", "用 kubectl 部 署 v2 10", "用 kubectl 部 署 v210"),
    ("東京へ行く。", "東 京 へ 行 く", None),
    ("Москва, ГОРОД", "москва город", None),
    ("让・雅克゠卢梭", "让 雅 克 卢 梭", None),
    ("ＡＢＣ　１２３", "abc 123", None),
    ("ﬁne so\u00adft", "fine soft", None),
    ("cafe\u0301 CAFÉ", "café café", None),
    ("👍 !? \0 — 。", "", "👍 \0"),
    # Beside Chinese, A is a name and no article.
    ("选 A。", "选 a", None),
    ("a cat, the 猫", "a cat the 猫", "cat the 猫"),
    ("an ant's", "an ant s", "ants"),
]


def test_words_and_characters_are_tokens() -> None:
    for text, words, normalised in TOKENS:
        assert word_tokens(text) == words.split(), text
        expected = words if normalised is None else normalised
        assert " ".join(answer_tokens(text)) == expected, text


def squad_tokens(text: str) -> list[str]:
    """Return the tokens of a text as evaluate-v2.0.py of SQuAD does."""
    plain = "".join(char for char in text.lower() if char not in set(string.punctuation))
    return re.sub(r"\b(a|an|the)\b", " ", plain).split()


PARTS = st.one_of(st.characters(max_codepoint=127), st.sampled_from(["the ", " a ", "An", " "]))
ARTICLES = st.lists(PARTS, max_size=30).map("".join)


@given(ARTICLES, ARTICLES)
def test_ascii_text_scores_as_squad_scores_it(answer: str, gold: str) -> None:
    assert answer_tokens(gold) == squad_tokens(gold)
    assert exact_match(answer, gold) == (squad_tokens(answer) == squad_tokens(gold))


# Answer, gold answer, exact match, and token F1 by hand.
ANSWERS = [
    ("报销由部门经理审批。", "报销由部门经理和财务审批", 0, 18 / 21),
    ("“５００元”", "500 元。", 1, 1),
    ("北京市", "京北", 0, 0.8),  # the order does not count
    ("哈哈哈", "哈", 0, 0.5),  # as often as both have it
    ("《三体》（第一部）", "三体第一部", 1, 1),
    ("The!", "…", 1, 1),  # neither has a token
]


def test_exact_match_and_token_f1_by_hand() -> None:
    for answer, gold, match, f1 in ANSWERS:
        assert exact_match(answer, gold) == match, answer
        assert token_f1(answer, gold) == pytest.approx(f1), answer


WORDS = st.lists(st.sampled_from(["the", "Cats", "sat-on", "mats.", "3.2", "\n", "_"]), max_size=12)


@given(st.one_of(WORDS.map(" ".join), ASCII), st.one_of(WORDS.map(" ".join), ASCII))
def test_ascii_text_scores_as_rouge_score_scores_it(answer: str, gold: str) -> None:
    assert word_tokens(answer) == DefaultTokenizer().tokenize(answer)
    theirs = RougeScorer(list(NAMES)).score(gold, answer)
    assert rouge(answer, gold) == {name: theirs[name].fmeasure for name in NAMES}


# Answer, reference, which ROUGE, and its F by hand.
THE_CAT = ("the cat is on mat", "the cat is on the mat")
TRAVEL = ("差旅标准", "差旅费标准。")
ROUGES = [
    (*TRAVEL, "rouge1", 8 / 9),
    (*TRAVEL, "rouge2", 4 / 7),  # 差旅, 标准
    (*TRAVEL, "rougeL", 8 / 9),
    # One subsequence over the whole: three of five; sentence by sentence all are found.
    ("第二句\n第一", "第一\n第二句", "rougeL", 0.6),
    ("第二句\n第一", "第一\n第二句", "rougeLsum", 1),
    ("Москва столица", "Столица — Москва", "rouge1", 1),
    # Lines without a word cost nothing.
    ("a" + "\n!" * 10_000, "a" + "\n?" * 10_000, "rougeLsum", 1),
    *((*pair, name, 0) for pair in (("", "a b"), ("a b", ""), ("👍", "👍")) for name in NAMES),
    # Too long for a common subsequence.
    ("a " * 2_001, "a " * 2_000, "rouge1", 4_000 / 4_001),
    ("a " * 2_001, "a " * 2_000, "rougeL", None),
]


def test_rouge_by_hand() -> None:
    for answer, gold, name, f in ROUGES:
        assert rouge(answer, gold)[name] == (f if f is None else pytest.approx(f)), name


def counted(language: Language, *pairs: tuple[str, str]) -> BleuCounts:
    return sum((bleu_counts(*pair, language) for pair in pairs), BleuCounts())


# Language, answers with their references, and corpus BLEU by hand as a share.
BLEUS: list[tuple[Language, list[tuple[str, str]], float]] = [
    # Precisions 5/5, 3/4, 2/3, 1/2, whose product is 1/4; brevity exp(1 - 6/5).
    ("other", [THE_CAT], 0.25**0.25 * math.exp(-0.2)),
    # By order: 5 + 4 of 9, 3 + 3 of 7, 2 + 2 of 5, 1 + 1 of 3; 9 tokens against 10.
    (
        "other",
        [THE_CAT, ("it rained all day", "it rained all day")],
        (6 / 7 * 4 / 5 * 2 / 3) ** 0.25 * math.exp(1 - 10 / 9),
    ),
    # 4/4, 2/3 (差旅, 标准), then none of 2 and of 1, each smoothed to 1/4; brevity exp(1 - 5/4).
    ("zh", [("差旅标准", "差旅费标准")], (2 / 3 / 4 / 4) ** 0.25 * math.exp(-0.25)),
    ("other", [("Paris", "Paris")], 0),  # no answer has four tokens
    ("other", [("", "Paris")], 0),
    ("other", [], 0),
]


def test_bleu_by_hand() -> None:
    for language, pairs, share in BLEUS:
        assert bleu(counted(language, *pairs), language) == pytest.approx(100 * share), pairs


@given(st.lists(st.tuples(ANY, ANY), min_size=1, max_size=6), st.sampled_from(list(TOKENIZERS)))
def test_sums_give_what_sacrebleu_gives(pairs: list[tuple[str, str]], language: Language) -> None:
    reference = BLEU(tokenize=TOKENIZERS[language])
    expected = reference.corpus_score([pair[0] for pair in pairs], [[pair[1] for pair in pairs]])
    found = counted(language, *pairs)
    assert bleu(found, language) == pytest.approx(expected.score)
    assert 0 <= bleu(found, language) <= 100
    assert bleu_signature(language) == str(reference.get_signature())


LANGUAGES_OF = [
    ("住宿费每晚500元。", "zh"),
    ("用 kubectl get pods 看", "other"),  # two characters, three words
    ("使用 get pods", "zh"),  # as many as there are words
    ("The word 你好 means hello", "other"),
    ("Москва", "other"),
    ("193.8亿", "zh"),  # digits are of no script
    ("193.8 billion", "other"),
    ("10:30 — ٣", None),
    ("👍 … !", None),
]


def test_the_script_of_a_text_says_its_language() -> None:
    assert [(text, language_of(text)) for text, _ in LANGUAGES_OF] == LANGUAGES_OF
