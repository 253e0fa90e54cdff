import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.records import (
    Chunk,
    Evidence,
    Excluded,
    Outcome,
    Sample,
    SentenceResult,
    Support,
    Unscored,
    UnscoredReason,
    Verdict,
)
from judge.review.cells import LONGEST, cell
from judge.review.row import BLIND, OPEN, judged, marked, ranked, row_of

QUOTES = (
    Evidence(chunk_id="b", quote="open on Monday", verified=True),
    Evidence(chunk_id="a", quote="开放"),
)
FULL = Verdict(support=Support.FULL, evidence=QUOTES, source="llm", signature="s", reason="why")
OUTCOMES: list[Outcome] = [
    FULL,
    Verdict(support=Support.CONTRADICTED, source="llm", signature="s", supporting=("c",)),
    Unscored(reason=UnscoredReason.REFUSED, detail="no"),
    Excluded(),
]


def sample(answer: str, *chunks: str) -> Sample:
    return Sample(
        qid="q",
        query="什么时候？",
        answer=answer,
        chunks=tuple(Chunk(chunk_id=chr(ord("a") + n), text=t) for n, t in enumerate(chunks)),
    )


def sentence(answer: str, text: str, outcome: Outcome = FULL) -> SentenceResult:
    start = answer.index(text)
    return SentenceResult(index=0, start=start, end=start + len(text), text=text, outcome=outcome)


ANSWER = "It rains. The café is open on Monday. 周一开放。"
CAFE = "The café is open on Monday."
CHUNKS = ("It rains a lot.", "On Monday the café is open.", "The bank is shut.")


def test_a_row_by_hand() -> None:
    row = row_of("r1-2", sample(ANSWER, *CHUNKS), sentence(ANSWER, CAFE))
    assert row == {
        "review_id": "r1-2",
        "query": "什么时候？",
        "answer": "It rains. ▶The café is open on Monday.◀ 周一开放。",
        "sentence": "The café is open on Monday.",
        "chunks": (
            "[2] b\nOn Monday the café is open.\n\n"
            "[3] c\nThe bank is shut.\n\n[1] a\nIt rains a lot."
        ),
        "judge_support": "full",
        "judge_quote": "[b] open on Monday\n[a] 开放",
    }
    assert tuple(row) == tuple(column for column in OPEN if column in row)


def test_columns_stand_in_reading_order_and_the_verdict_s_are_not_blind() -> None:
    assert BLIND == (
        "review_id",
        "query",
        "answer",
        "sentence",
        "chunks",
        "human_support",
        "human_note",
        "reviewer",
    )
    assert tuple(column for column in OPEN if column not in BLIND) == (
        "judge_support",
        "judge_quote",
    )
    assert tuple(column for column in OPEN if column in BLIND) == BLIND


@pytest.mark.parametrize("outcome", OUTCOMES)
def test_what_is_blind_does_not_depend_on_the_verdict(outcome: Outcome) -> None:
    there = sample(ANSWER, *CHUNKS)
    row = row_of("r", there, sentence(ANSWER, CAFE, outcome))
    other = row_of("r", there, sentence(ANSWER, CAFE))
    for column in BLIND:
        assert row.get(column) == other.get(column)


def test_what_is_shown_of_a_verdict() -> None:
    said = [judged(sentence(ANSWER, CAFE, outcome)) for outcome in OUTCOMES[1:]]
    assert [cells["judge_support"] for cells in said] == ["contradicted", "unscored", "excluded"]
    assert {cells["judge_quote"] for cells in said} == {""}


@pytest.mark.parametrize(
    ("text", "chunks", "order"),
    [
        ("周一上午九点开放。", ("今天下雨。", "上午九点，图书馆开放。", "周五关门。"), [1, 2, 0]),
        # The same characters, in another order: pairs tell.
        ("北京大学成立。", ("大京北学立成。", "北京大学成立。"), [1, 0]),
        ("The ＣＡＦÉ opened.", ("Rain fell.", "Cafes open early."), [1, 0]),
        # Nothing is shared, or all: they stand as the generator saw them.
        ("Snow melts.", ("周一。", "Rain fell.", ""), [0, 1, 2]),
        ("Rain fell.", ("Rain fell.", "Rain fell."), [0, 1]),
        # The rarer word tells more than words of grammar.
        ("It is the zygote.", ("It is the one.", "A zygote grows."), [1, 0]),
        ("", ("a", "b"), [0, 1]),
        ("Rain fell.", (), []),
    ],
)
def test_the_chunk_that_shares_most_comes_first(
    text: str, chunks: tuple[str, ...], order: list[int]
) -> None:
    found = SentenceResult(index=0, start=0, end=len(text), text=text, outcome=FULL)
    assert ranked(sample(text, *chunks), found) == order


def test_a_chunk_named_by_its_number_is_named_once() -> None:
    chunks = (Chunk(chunk_id="1", text="x"), Chunk(chunk_id="1", text="y"))
    there = Sample(qid="q", answer=CAFE, chunks=chunks)
    row = row_of("r", there, sentence(CAFE, CAFE))
    assert row["chunks"] == "[1]\nx\n\n[2] 1\ny"
    assert row["query"] == ""


@given(st.text(max_size=60), st.data())
def test_a_short_answer_is_all_there(answer: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(answer)))
    end = data.draw(st.integers(start, len(answer)))
    whole = f"{answer[:start]}▶{answer[start:end]}◀{answer[end:]}"
    assert marked(answer, start, end) == whole


@pytest.mark.parametrize("at", [0, 500, 20_000, 99_000, 99_990])
@pytest.mark.parametrize("character", ["x", "雨", "😀"])
def test_a_long_answer_is_cut_far_from_its_sentence(at: int, character: str) -> None:
    answer = character * 100_000
    shown = marked(answer, at, at + 10)
    assert len(shown) <= LONGEST
    before, rest = shown.split("▶")
    inside, after = rest.split("◀")
    assert inside == character * 10
    assert before.startswith("…") is (at > 15_000)
    assert after.endswith("…") is (at < 80_000)
    assert len(before) >= min(at, 14_000)
    assert len(after) >= min(100_000 - at - 10, 14_000)
    # What a cell holds of it has the sentence whole, emoji of two units among it.
    assert f"▶{inside}◀" in cell(shown, "zh")


def test_a_sentence_too_long_for_a_cell_is_shown_alone() -> None:
    answer = "a" * 10 + "b" * 40_000 + "c" * 10
    shown = marked(answer, 10, 40_010)
    assert shown == "…▶" + "b" * 40_000 + "◀…"
    assert len(cell(shown, "en")) <= LONGEST
