from judge.overlap.lowest import Lowest
from judge.records import Sample


def kept(size: int, *scores: tuple[str, float, float | None]) -> list[str]:
    lowest = Lowest(size)
    for qid, token_f1, rouge_l in scores:
        lowest.add(Sample(qid=qid, answer="a", gold_answer="b"), token_f1, rouge_l)
    return [item.qid for item in lowest.answers()]


def test_token_f1_then_rouge_l_then_the_first() -> None:
    scores = [("a", 0.5, 0.5), ("b", 0.2, 0.9), ("c", 0.5, 0.1), ("d", 0.5, 0.1), ("e", 0.9, 0.0)]
    assert kept(4, *scores) == ["b", "c", "d", "a"]
    assert kept(1, *reversed(scores)) == ["b"]
    assert kept(9, *scores) == ["b", "c", "d", "a", "e"]
    assert kept(0, *scores) == []


def test_what_has_all_tokens_is_not_low() -> None:
    assert kept(3, ("a", 1.0, 0.2), ("b", 0.9999, 1.0)) == ["b"]


def test_of_equals_the_first() -> None:
    equals = [(qid, 0.5, 0.5) for qid in "abcd"]
    assert kept(2, *equals) == ["a", "b"]
    assert kept(2, ("x", 0.5, 0.6), *equals) == ["a", "b"]
    assert kept(9, *equals) == ["a", "b", "c", "d"]


def test_too_long_says_nothing_against_it() -> None:
    assert kept(2, ("long", 0.5, None), ("short", 0.5, 0.4)) == ["short", "long"]


def test_of_long_texts_the_beginning() -> None:
    lowest = Lowest(1)
    lowest.add(Sample(qid="q", answer="报" * 5_000, gold_answer="b" * 5_000), 0.0, 0.0)
    (item,) = lowest.answers()
    assert item.answer == "报" * 199 + "…"
    assert item.gold_answer == "b" * 199 + "…"
