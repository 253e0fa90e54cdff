import time
from itertools import islice, pairwise, permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judge.records import Chunk
from judge.retrieval.pairs import ChunkPair, pairs

POLICY = (
    "Staff may work from home on two days a week, agreed with the head of their team. Each team"
    " keeps a calendar that shows who is in the office. New staff spend the first month on site."
)
RULES = (
    "员工每周可居家办公两天，须与团队负责人商定。各团队须维护日历，标明在岗人员。新员工首月须到岗。"
)


def _pairs(*texts: str, k: int = 20) -> tuple[ChunkPair, ...]:
    return pairs([Chunk(chunk_id=f"c{at}", text=text) for at, text in enumerate(texts, 1)], k)


def _kinds(*texts: str) -> list[str]:
    return [pair.kind for pair in _pairs(*texts)]


@pytest.mark.parametrize("text", [POLICY, RULES, "Fees", "费用"])
def test_identical_texts_under_two_ids_are_duplicates(text: str) -> None:
    assert _pairs(text, "Something else.", text) == (ChunkPair("c1", "c3", 1, 3, "duplicate", 1.0),)


def test_case_width_and_layout_make_no_difference() -> None:
    assert _kinds(POLICY, POLICY.upper().replace(". ", ".\n\n")) == ["duplicate"]
    assert _kinds("费用ＡＢＣ", "费用abc") == ["duplicate"]


@pytest.mark.parametrize("text", [POLICY, RULES])
def test_a_chunk_within_another_is_its_duplicate_whichever_ranks_first(text: str) -> None:
    longer = f"Before it stands a title.\n{text}\nBehind it a closing line."

    assert [pair.similarity for pair in _pairs(text, longer)] == [1.0]
    assert [pair.similarity for pair in _pairs(longer, text)] == [1.0]


def test_the_share_is_that_of_runs_of_three_words() -> None:
    # Of 22 words a to v, 20 runs; the changed last one is in one of them: 19 / 20.
    words = [f"{letter}{letter}" for letter in "abcdefghijklmnopqrstuv"]
    changed = [*words[:-1], "other"]

    (pair,) = _pairs(" ".join(words), " ".join(changed))

    assert pair.similarity == pytest.approx(0.95)


@pytest.mark.parametrize(("changed", "share"), [(1, 0.9), (2, 0.8), (3, None)])
def test_a_duplicate_shares_at_least_four_fifths(changed: int, share: float | None) -> None:
    # Of 12 words, 10 runs; with the last n changed, n runs are lost.
    words = [f"{letter}{letter}" for letter in "abcdefghijkl"]
    others = [*words[:-changed], *("other", "words", "here")[:changed]]

    found = _pairs(" ".join(words), " ".join(others))

    assert [pair.similarity for pair in found] == [pytest.approx(share)] * (share is not None)


@pytest.mark.parametrize(("length", "found"), [(9, []), (10, ["duplicate"])])
def test_a_text_of_under_eight_runs_stands_in_others_by_chance(
    length: int, found: list[str]
) -> None:
    # Of n words, n - 2 runs.
    text = " ".join(f"{letter}{letter}" for letter in "abcdefghij"[:length])

    assert _kinds(text, f"A title: {text}, and so on") == found
    assert _kinds(text, text) == ["duplicate"]


@pytest.mark.parametrize(("same", "whole"), [(19_999, False), (20_000, True)])
def test_of_a_chunk_so_many_characters_are_read(same: int, whole: bool) -> None:  # noqa: FBT001  a table's column
    text = "".join(f"w{number} " for number in range(5000))[:same]

    (pair,) = (pair for pair in _pairs(f"{text}甲", f"{text}乙") if pair.kind == "duplicate")

    assert (pair.similarity == 1) is whole


COVERED, DENIED = "Dental care is covered.", "Dental care is not covered."


@pytest.mark.parametrize(("before", "found"), [(399, ["conflict"]), (400, [])])
def test_of_a_chunk_so_many_sentences_are_compared(before: int, found: list[str]) -> None:
    other = "".join(f"Fact{number} stands.\n" for number in range(before))

    assert _kinds(other + COVERED, DENIED) == found
    assert _kinds(COVERED, other + DENIED) == found


def _shuffled(words: str, count: int) -> list[str]:
    """So many sentences of the same words, none in conflict with another."""
    return [
        " ".join(order).capitalize() + "." for order in islice(permutations(words.split()), count)
    ]


@pytest.mark.parametrize(("more", "found"), [(19, ["conflict"]), (20, [])])
def test_so_many_times_two_sentences_are_laid_side_by_side(more: int, found: list[str]) -> None:
    # 20 sentences beside 99 are 1 980 times two, and 1 beside n are n: the next is the last.
    many = _shuffled("amber birch cedar delta ember flint", 20 + 99)
    few = _shuffled("harbor island jungle kettle ladder", 1 + more)
    one = "\n".join([*many[:20], few[0], COVERED])
    other = "\n".join([*many[20:], *few[1:], DENIED])

    assert [kind for kind in _kinds(one, other) if kind == "conflict"] == found


@pytest.mark.parametrize(("before", "found"), [(31, ["conflict"]), (32, [])])
def test_of_sentences_with_one_word_in_common_so_many_are_looked_at(
    before: int, found: list[str]
) -> None:
    crowd = "\n".join(_shuffled("dental care covered amber birch", before))

    assert (
        _kinds(
            f"{crowd}\nBirch amber dental care is covered.",
            "Birch amber dental care is not covered.",
        )
        == found
    )


def test_texts_on_one_subject_and_headings_are_no_duplicates() -> None:
    assert _kinds(POLICY, "Staff who work from home agree it with their team first.") == []
    assert _kinds("Work from home", f"Work from home. {POLICY}") == []


@pytest.mark.parametrize(
    ("one", "other", "detail"),
    [
        ("The standard is 500 yuan.", "The standard is 600 yuan.", "500 yuan / 600 yuan"),
        ("差旅标准为500元。", "差旅标准为600元。", "500元 / 600元"),
        ("Dental care is covered.", "Dental care is not covered.", "covered / not covered"),
        ("该功能支持离线导出。", "该功能不支持离线导出。", "支持 / 不支持"),
    ],
)
def test_a_conflict_shows_what_each_says(one: str, other: str, detail: str) -> None:
    lead, tail = "An opening line on travel. ", " 其他事项另行通知。"

    (pair,) = _pairs(lead + one, "A chunk between them.", other + tail)

    assert (pair.first, pair.second) == ("c1", "c3")
    assert (pair.first_rank, pair.second_rank) == (1, 3)
    assert (pair.kind, pair.detail) == ("conflict", detail)
    assert pair.sentences == (one, other)
    assert 0.5 <= pair.similarity <= 1


def test_two_chunks_may_be_duplicates_in_conflict() -> None:
    one, other = (f"{POLICY} The limit is {days} days." for days in (30, 60))

    found = _pairs(one, other)

    assert [(pair.kind, pair.detail) for pair in found] == [
        ("duplicate", ""),
        ("conflict", "30 days / 60 days"),
    ]


def test_several_differences_of_two_chunks_are_one_conflict() -> None:
    one = "Claims close after 30 days. Parking is free of charge. Dental care is covered."
    other = "Claims close after 60 days. Parking is free of charge. Dental care is not covered."

    details = [pair.detail for pair in _pairs(one, other) if pair.kind == "conflict"]

    assert details == ["30 days / 60 days; covered / not covered"]


def test_what_one_chunk_says_in_several_ways_is_a_list() -> None:
    second, sixth, ninth = (f"本省考生总人数位居全国第{place}。" for place in "二六九")

    assert "conflict" in _kinds(second, ninth)
    assert "conflict" not in _kinds(f"{second}\n{sixth}", ninth)


def test_only_the_first_k_are_looked_at() -> None:
    assert _pairs(POLICY, RULES, POLICY, k=2) == ()
    assert len(_pairs(POLICY, RULES, POLICY, k=3)) == 1
    assert _pairs(POLICY, k=5) == ()
    assert _pairs(k=5) == ()


def test_pairs_stand_by_rank() -> None:
    found = _pairs(*(f"{POLICY} The limit is {days} days." for days in (30, 60, 90, 30)))

    order = [(pair.first_rank, pair.second_rank) for pair in found]
    assert order == sorted(order)
    assert all(one < two for one, two in order)
    assert (1, 4) in order


SENTENCES = st.sampled_from(
    [POLICY, RULES, "The rate is 5 %.", "The rate is 6 %.", "费用为5元。", "费用不是5元。", "…\n"]
)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.lists(st.one_of(SENTENCES, st.text(max_size=20))).map(" ".join), max_size=5))
def test_whatever_the_texts_pairs_are_ordered_distinct_and_in_range(texts: list[str]) -> None:
    found = _pairs(*texts)

    keys = [(p.first_rank, p.second_rank, p.kind == "conflict") for p in found]
    assert all(before < after for before, after in pairwise(keys))
    assert all(1 <= p.first_rank < p.second_rank <= len(texts) for p in found)
    assert all(0.5 <= p.similarity <= 1 for p in found)
    assert all((p.sentences is not None) == (p.kind == "conflict") for p in found)
    for pair in found:
        one, other = pair.sentences or ("", "")
        assert one in texts[pair.first_rank - 1]
        assert other in texts[pair.second_rank - 1]


@pytest.mark.parametrize(
    "texts",
    [
        ["a" * 2_000_000, "a" * 2_000_001],
        ["e" + "\u0301" * 500_000] * 2,
        ["不" * 1_000_000, "不二" * 500_000],
        ["".join(f"The rate is {at + more} yuan. " for at in range(20_000)) for more in range(4)],
        ["1," * 500_000, "[" * 1_000_000],
    ],
)
def test_chunks_of_any_size_take_bounded_time(texts: list[str]) -> None:
    start = time.perf_counter()

    _pairs(*texts)

    assert time.perf_counter() - start < 5


def test_texts_that_are_not_known_are_no_copies_of_each_other() -> None:
    unknown = [Chunk(chunk_id=name, text=text) for name, text in (("a", ""), ("b", ""), ("c", " "))]
    assert pairs(unknown, 3) == ()
