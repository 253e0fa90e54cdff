from statistics import median as known_median

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judge.advice.profile import median, profile
from judge.errors import ConfigError, InputError
from judge.records import Chunk, Sample

CHUNK = Chunk(chunk_id="a", text="住宿费每晚500元。")


def test_relevant_are_those_graded_above_0_and_those_that_gold_names() -> None:
    sample = Sample(
        qid="q",
        retrieved=("a", "x", "y", "x"),
        gold_evidence=("a", "b"),
        relevance={"c": 2, "x": 0},
    )
    found = profile([sample], {})
    # a, b and c are relevant; x (twice) and y are not.
    assert (found.relevant, found.irrelevant, found.counted) == (3, 2, "ranking")
    assert found.longest == 3
    assert found.graded is True


def test_medians_are_over_queries_with_something_relevant() -> None:
    samples = [
        Sample(qid="1", retrieved=("x",), gold_evidence=()),
        Sample(qid="2", retrieved=("x",)),
        Sample(qid="3", retrieved=("a", "x"), gold_evidence=("a",)),
        Sample(qid="4", retrieved=("x", "y", "z"), gold_evidence=("a", "b")),
        Sample(qid="5", retrieved=(), gold_evidence=("a", "b", "c")),
    ]
    found = profile(samples, {})
    assert (found.samples, found.queries, found.without_relevant) == (5, 3, 1)
    assert found.relevant == 2
    # Of q3 one, of q4 three; for q5 nothing was ranked.
    assert found.irrelevant == 2
    assert found.share["gold"] == 0.8
    assert found.share["retrieved"] == 0.8


def test_a_corpus_counts_instead_of_the_ranking() -> None:
    samples = [
        Sample(qid="1", gold_evidence=("a",)),
        Sample(qid="2", retrieved=("x",), gold_evidence=("a", "b")),
    ]
    found = profile(samples, {}, corpus_size=1000)
    assert (found.irrelevant, found.counted) == (998.5, "corpus")
    assert found.ratio == pytest.approx(998.5 / 1.5)


def test_what_is_not_there_is_not_known() -> None:
    found = profile([Sample(qid="1", retrieved=("x",))], {}, corpus_size=9)
    assert (found.relevant, found.irrelevant, found.ratio) == (None, None, None)
    assert (found.graded, found.counted) == (None, None)
    # The order of the chunks serves for a ranking; what is blank is not there.
    found = profile([Sample(qid="1", chunks=(CHUNK,), gold_evidence=("b",))], {})
    assert (found.irrelevant, found.share["retrieved"]) == (1, 1)
    found = profile([Sample(qid="1", answer=" \n", gold_answer="　")], {})
    assert set(found.share.values()) == {0}
    with pytest.raises(InputError, match="holds no sample"):
        profile([], {})
    sample = Sample(qid="问1", retrieved=("x", "y"), gold_evidence=("a",))
    assert profile([sample], {}, corpus_size=3).irrelevant == 2
    with pytest.raises(ConfigError, match="--corpus-size 2: query '问1' alone has 3 "):
        profile([sample], {}, corpus_size=2)


# Grades, gold evidence, and whether there are degrees: two grades above 0 in one query.
GRADED: list[tuple[tuple[float, ...], tuple[str, ...], bool]] = [
    ((1, 2), (), True),
    ((0.5, 1, 0), (), True),
    ((2,), ("z",), True),
    ((2, 2, 0), (), False),
    ((1, -1), (), False),
    ((1, 0), ("z",), False),
    ((0.5,), (), False),
    ((), ("z",), False),
]


def test_degrees_are_two_grades_above_0() -> None:
    for grades, gold, graded in GRADED:
        relevance = dict(zip("abc", grades, strict=False))
        sample = Sample(qid="1", relevance=relevance, gold_evidence=gold)
        assert profile([sample], {}).graded is graded, (grades, gold)
    samples = [Sample(qid="1", relevance={"a": 1}), Sample(qid="2", relevance={"a": 2})]
    assert profile(samples, {}).graded is False


def test_citations_are_those_of_the_pipeline() -> None:
    for answer, cites in (
        ("住宿费每晚500元[1]。", True),
        ("It is 500 yuan [a].", True),
        ("第[3]条规定如此[注]。", False),
        ("See:\n```\nrows [1]\n```\n", False),
        ("See:\n```\nrows\n```\nSo it is [1].", True),
        ("", False),
    ):
        found = profile([Sample(qid="1", answer=answer, chunks=(CHUNK,))], {})
        assert found.share["citations"] == cites, answer


def test_a_family_fits_where_one_sample_has_all_it_needs() -> None:
    families = {
        "overlap": {"answer", "gold_answer"},
        "citation": {"answer", "chunks", "citations"},
        "agreement": {"labels"},
        "retrieval": {"gold_evidence", "retrieved"},
    }
    samples = [
        Sample(qid="1", answer="五百元[1]。", chunks=(CHUNK,), relevance={"a": 1}),
        Sample(qid="2", answer="五百元。", gold_answer="500元"),
        Sample(qid="3", gold_answer="500元"),
    ]
    found = profile(samples, families).fitting
    assert found == {"overlap": 1, "citation": 1, "agreement": 0, "retrieval": 1}


@settings(deadline=None)
@given(st.lists(st.integers(0, 9), min_size=1))
def test_the_median_of_counts_is_that_of_the_numbers(numbers: list[int]) -> None:
    counts = {number: numbers.count(number) for number in numbers}
    assert median(counts) == known_median(numbers)


IDS = st.lists(st.sampled_from(["a", "b", "档#1", ""]), max_size=4).map(tuple)
SAMPLES = st.builds(
    Sample,
    qid=st.text(max_size=3),
    answer=st.text(max_size=9),
    retrieved=st.none() | IDS,
    gold_evidence=st.none() | IDS,
    relevance=st.none() | st.dictionaries(st.sampled_from("abc"), st.floats(-1, 3)),
)


@settings(deadline=None)
@given(st.lists(SAMPLES, min_size=1, max_size=4))
def test_any_samples_can_be_counted(samples: list[Sample]) -> None:
    found = profile(samples, {})
    assert found.queries + found.without_relevant <= found.samples == len(samples)
    assert (found.relevant is None) == (found.queries == 0)
    assert found.relevant is None or 1 <= found.relevant <= 5
    assert found.irrelevant is None or 0 <= found.irrelevant <= found.longest <= 4
    # The order of the samples is nothing to it.
    assert profile(reversed(samples), {}) == found
