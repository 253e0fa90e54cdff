import math
import re
import string
from collections import Counter

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
    answer_tokens,
    bleu,
    bleu_signature,
    exact_match,
    language_of,
    rouge,
    rouge_w,
    sentence_bleu,
    token_f1,
    wlcs,
    word_tokens,
)
from judge.overlap.records import Language

NAMES = ("rouge1", "rouge2", "rougeL", "rougeLsum")
ANY = st.text(st.one_of(st.sampled_from("the a An报销标准，。3Ａé"), st.characters()), max_size=20)
ASCII = st.text(st.characters(max_codepoint=127), max_size=40)
LANGUAGES = st.sampled_from(list(TOKENIZERS))

# Text and its words, then the tokens after SQuAD's normalisation where these differ.
TOKENS = [
    ("用kubectl部署v2.10", "用 kubectl 部 署 v2 10", "用 kubectl 部 署 v210"),
    ("東京へ行く。", "東 京 へ 行 く", None),
    ("서울시", "서 울 시", None),
    ("Москва, ГОРОД", "москва город", None),
    ("हिन्दी भाषा", "हिन्दी भाषा", None),
    ("مَدْرَسَة كبيرة", "مَدْرَسَة كبيرة", None),
    ("ไทย ง่าย", "ไ ท ย ง \u0e48 า ย", None),
    ("ខ្មែរ។", "ខ \u17d2 ម \u17c2 រ", None),
    ("让・雅克゠卢梭", "让 雅 克 卢 梭", None),
    ("ＡＢＣ　１２３", "abc 123", None),
    ("ﬁne so\u00adft", "fine soft", None),
    ("cafe\u0301 CAFÉ", "café café", None),
    ("👍 !? \0 — 。", "", "👍 \0"),
    # Beside Chinese, A is a name and no article.
    ("选 A。", "选 a", None),
    ("the 方法", "the 方 法", None),
    ("a cat, the 猫", "a cat the 猫", "cat the 猫"),
    ("an ant's", "an ant s", "ants"),
]


def test_words_and_characters_are_tokens() -> None:
    for text, words, normalised in TOKENS:
        assert word_tokens(text) == words.split(), text
        expected = words if normalised is None else normalised
        assert " ".join(answer_tokens(text)) == expected, text
    # Marks out of order are put in order in time that does not square with them.
    assert len(word_tokens("\u0323\u0301" * 20_000)[0]) == 40_000


@given(ASCII, ANY)
def test_ascii_text_has_the_tokens_of_rouge_score(text: str, other: str) -> None:
    assert word_tokens(text) == DefaultTokenizer().tokenize(text)
    for token in word_tokens(other):
        assert token.split() == [token]


def squad_tokens(text: str) -> list[str]:
    """As evaluate-v2.0.py of SQuAD has it."""
    bare = "".join(char for char in text.lower() if char not in set(string.punctuation))
    return re.sub(r"\b(a|an|the)\b", " ", bare).split()


def squad_f1(answer: str, gold: str) -> float:
    """Return token F1 as evaluate-v2.0.py of SQuAD computes it."""
    ours, theirs = squad_tokens(answer), squad_tokens(gold)
    same = sum((Counter(ours) & Counter(theirs)).values())
    if not ours or not theirs:
        return int(ours == theirs)
    if same == 0:
        return 0
    precision, recall = same / len(ours), same / len(theirs)
    return 2 * precision * recall / (precision + recall)


PARTS = st.one_of(st.characters(max_codepoint=127), st.sampled_from(["the ", " a ", "An", " "]))
ARTICLES = st.lists(PARTS, max_size=30).map("".join)


@given(ARTICLES, ARTICLES)
def test_ascii_text_scores_as_squad_scores_it(answer: str, gold: str) -> None:
    assert answer_tokens(gold) == squad_tokens(gold)
    assert exact_match(answer, gold) == (squad_tokens(answer) == squad_tokens(gold))
    assert token_f1(answer, gold) == pytest.approx(squad_f1(answer, gold), abs=1e-12)


# Answer, gold answer, exact match, and token F1 by hand.
ANSWERS = [
    ("报销由部门经理审批。", "报销由部门经理和财务审批", 0, 18 / 21),
    ("“５００元”", "500 元。", 1, 1),
    ("北京市", "京北", 0, 0.8),  # a bag: the order does not count
    ("使用 kubectl", "使用kubectl。", 1, 1),
    ("哈哈哈", "哈", 0, 0.5),  # as often as both have it
    ("Москва!", "москва", 1, 1),
    ("《三体》（第一部）", "三体第一部", 1, 1),
    # Nothing is left of either.
    *((one, other, 1, 1) for one, other in (("The!", "…"), ("", ""))),
]


def test_exact_match_and_token_f1_by_hand() -> None:
    for answer, gold, match, f1 in ANSWERS:
        assert exact_match(answer, gold) == match, answer
        assert token_f1(answer, gold) == pytest.approx(f1), answer


WORDS = st.lists(st.sampled_from(["the", "Cats", "sat-on", "mats.", "3.2", "\n", "_"]), max_size=12)


@given(st.one_of(WORDS.map(" ".join), ASCII), st.one_of(WORDS.map(" ".join), ASCII))
def test_ascii_text_scores_as_rouge_score_scores_it(answer: str, gold: str) -> None:
    for stem in (False, True):
        theirs = RougeScorer(list(NAMES), use_stemmer=stem).score(gold, answer)
        assert rouge(answer, gold, stem=stem) == {name: theirs[name].fmeasure for name in NAMES}


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
    ("reports 报", "reporting 报", "rouge1", 0.5),
    # Lines without a word cost nothing.
    ("a" + "\n!" * 10_000, "a" + "\n?" * 10_000, "rougeLsum", 1),
    *((*pair, name, 0) for pair in (("", "a b"), ("a b", ""), ("👍", "👍")) for name in NAMES),
]


def test_rouge_by_hand() -> None:
    for answer, gold, name, f in ROUGES:
        assert rouge(answer, gold)[name] == pytest.approx(f), (answer[:60], name)
    assert rouge("reports 报", "reporting 报", stem=True)["rouge1"] == 1


def test_too_long_is_none_and_no_hang() -> None:
    found = rouge("a " * 2_001, "a " * 2_000)
    assert (found["rougeL"], found["rougeLsum"]) == (None, None)
    assert found["rouge1"] == pytest.approx(4_000 / 4_001)
    assert rouge_w("a " * 2_001, "报" * 2_000) is None


LIN, RUN, APART = "A B C D E F G", "A B C D H I K", "A H B K C I D"


def test_rouge_w_by_hand() -> None:
    # Four in a row, f(4), against four alone, 4·f(1); with f(k) = k², as in the paper.
    assert wlcs(LIN.split(), RUN.split(), 2) == 16
    assert wlcs(LIN.split(), APART.split(), 2) == 4
    # At 1.2: (4^1.2)^(1/1.2) = 4 of 7, against 4^(1/1.2) = 3.1748 of 7.
    assert rouge_w(RUN, LIN) == pytest.approx(4 / 7)
    assert rouge_w(APART, LIN) == pytest.approx(0.453543, abs=1e-6)
    # "the cat is on" and "mat": 4^1.2 + 1 = 6.278032, whose root is 4.622245; of 5 and of 6.
    assert rouge_w(*THE_CAT) == pytest.approx(0.840408, abs=1e-6)
    # 差旅, 标准: 2·2^1.2 = 4.594793, whose root is 3.563595; of 4 and of 5.
    assert rouge_w(*TRAVEL) == pytest.approx(0.791910, abs=1e-6)
    assert rouge_w("", "a") == rouge_w("a", "") == rouge_w("👍", "👍") == 0


@given(st.lists(st.sampled_from("abcd"), max_size=20), st.lists(st.sampled_from("abcd")))
def test_at_weight_one_it_is_rouge_l(answer: list[str], gold: list[str]) -> None:
    theirs = RougeScorer(["rougeL"]).score(" ".join(gold), " ".join(answer))["rougeL"]
    assert wlcs(gold, answer, 1) == pytest.approx(theirs.recall * len(gold))


def counted(language: Language, *pairs: tuple[str, str]) -> BleuCounts:
    return sum((sentence_bleu(*pair, language)[1] for pair in pairs), BleuCounts())


# Language, answers with their references, and corpus BLEU by hand as a share.
BY_CHARACTER = (4 / 5 * 2 / 4 / 6 / 8) ** 0.25
"""All but the third of five: 4/5, 2/4, then none of 3 and of 2, smoothed to 1/6 and 1/8."""
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
    ("unspaced", [("東京へ行く", "東京に行く")], BY_CHARACTER),
    ("unspaced", [("서울로 간다", "서울로간다")], 1),
    ("other", [("Paris", "Paris")], 0),  # no answer has four tokens
    ("other", [("", "Paris")], 0),
    ("other", [], 0),
]


def test_bleu_by_hand() -> None:
    for language, pairs, share in BLEUS:
        assert bleu(counted(language, *pairs), language) == pytest.approx(100 * share), pairs
    assert sentence_bleu("Paris", "Paris", "other")[0] == 100
    score, counts = sentence_bleu("差旅标准", "差旅费标准", "zh")
    assert score == bleu(counts, "zh")
    assert counted("other", ("a b c", "a"), ("a b c d e", "a"), ("a b c d", "a"))["given4"] == 3


PAIRS = st.lists(st.tuples(ANY, ANY), min_size=1, max_size=6)


@given(PAIRS, LANGUAGES)
def test_sums_give_what_sacrebleu_gives(pairs: list[tuple[str, str]], language: Language) -> None:
    reference = BLEU(tokenize=TOKENIZERS[language])
    expected = reference.corpus_score([pair[0] for pair in pairs], [[pair[1] for pair in pairs]])
    found = counted(language, *pairs)
    assert bleu(found, language) == pytest.approx(expected.score)
    assert 0 <= bleu(found, language) <= 100
    assert bleu_signature(language) == str(reference.get_signature())
    assert counted(language, *reversed(pairs)) == found
    own = BLEU(tokenize=TOKENIZERS[language], effective_order=True)
    for answer, gold in pairs:
        score, _ = sentence_bleu(answer, gold, language)
        assert score == pytest.approx(own.sentence_score(answer, [gold]).score)


LANGUAGES_OF = [
    ("住宿费每晚500元。", "zh"),
    ("用 kubectl get pods 看", "other"),  # two characters, three words
    ("使用 kubectl get pods 命令", "zh"),
    ("使用 get pods", "zh"),  # as many as there are words
    ("The word 你好 means hello", "other"),
    ("優の良品是一個品牌的名稱而已", "zh"),  # one kana among many
    ("の一二三四五六七八九", "unspaced"),  # a tenth
    ("の一二三四五六七八九十", "zh"),
    ("東京へ行きます。", "unspaced"),
    ("ｶﾀｶﾅ ｶﾞ", "unspaced"),
    ("회의는 서울에서 열린다.", "unspaced"),
    ("Москва", "other"),
    ("ภาษาไทย", "unspaced"),
    ("བོད་ཡིག", "unspaced"),
    ("ใช้คำสั่ง kubectl get pods", "unspaced"),
    ("193.8亿", "zh"),  # digits are of no script
    ("193.8 billion", "other"),
    ("让・雅克・卢梭", "zh"),  # the dot is no kana
    ("10:30 — ٣", None),
    ("👍 … !", None),
]


def test_the_language_is_what_the_script_tells() -> None:
    assert [(text, language_of(text)) for text, _ in LANGUAGES_OF] == LANGUAGES_OF
