from pathlib import Path

import pytest

from judge.errors import InputError
from judge.records import Support
from judge.review.labels import Filled, folded, labels_of
from judge.review.records import Draw
from judge.review.sheet import Row
from tests.drawn import DRAW, draw, row, stratum, sums, verdict

SHEET = Path("s.csv")


@pytest.fixture
def drawn() -> Draw:
    rows = [
        row("a", verdict("full"), text="It opens at 7.50, 每天。"),
        row("b", verdict("none"), text="It closes at three."),
    ]
    return draw([stratum("supported", sums(2, 1), 2)], rows)


def filled(name: str, said: str, number: int = 2, **cells: str) -> Filled:
    return Filled(SHEET, Row(number, {"review_id": name, "human_support": said, **cells}))


def refused(drawn: Draw, *rows: Filled) -> str:
    with pytest.raises(InputError) as error:
        labels_of(drawn, rows)
    return str(error.value)


def test_sorted_texts_without_their_ids_are_seen(drawn: Draw) -> None:
    a, b = (sentence.review_id for sentence in drawn.sentences)
    rows = [
        filled(a, "full", 2, sentence="It closes at three."),
        filled(b, "none", 3, sentence="It opens at 7.50, 每天。"),
    ]
    said = refused(drawn, *rows)
    assert "2 rows cannot be right" in said
    assert f"s.csv, row 2: holds another sentence than {a!r} was drawn for" in said


@pytest.mark.parametrize(
    "text", ["", "It opens at 7.50, 每天。", " it opens at 7.50 每天 ", "'It opens\nat 7.50, 每天｡"]
)
def test_what_spreadsheets_do_to_a_text_is_no_other_text(drawn: Draw, text: str) -> None:
    name = drawn.sentences[0].review_id
    if text.strip().startswith("it"):
        assert "another sentence" in refused(drawn, filled(name, "full", sentence=text))
    else:
        assert len(labels_of(drawn, [filled(name, "full", sentence=text)])) == 1


def test_a_long_text_may_be_cut(drawn: Draw) -> None:
    long = row("c", verdict("full"), text="word " * 8000)
    drawn = drawn.model_copy(update={"sentences": (long,)})
    cut = long.text[:29_000] + "… [cut: 11 000 characters more]"
    assert len(labels_of(drawn, [filled(long.review_id, "full", sentence=cut)])) == 1


@pytest.mark.parametrize("other", ["ann", "ANN", "Ａnn", "An\u200bn", "  Ann "])
def test_one_reviewer_by_any_spelling(drawn: Draw, other: str) -> None:
    name = drawn.sentences[0].review_id
    first = filled(name, "full", 2, reviewer="Ann")
    assert "both of reviewer" in refused(drawn, first, filled(name, "none", 3, reviewer=other))
    labels = labels_of(drawn, [first, filled(name, "yes", 3, reviewer=other)])
    assert [label.reviewer for label in labels] == ["Ann"]


def test_notes_on_one_row_are_joined(drawn: Draw) -> None:
    name = drawn.sentences[0].review_id
    rows = [filled(name, "no", human_note="见 3 页"), filled(name, "none", human_note="twice")]
    (label,) = labels_of(drawn, [*rows, filled(name, "no", human_note="twice")])
    assert (label.support, label.note) == (Support.NONE, "见 3 页\ntwice")


def test_an_id_of_another_run_like_it_is_told_apart(drawn: Draw) -> None:
    said = refused(drawn, filled(f"{DRAW}-0000", "full"), filled("r" * 10_000, "full", 3))
    assert "is no row of this run: it was changed, or is of another run like it" in said
    assert "is a row of another draw or run" in said
    assert len(said) < 1_000


def test_folded_names_keep_different_people_apart() -> None:
    assert len({folded(name) for name in ("李雷", "韩梅梅", "Ann", "Anne", "")}) == 5


@pytest.mark.parametrize("text", ["It opens at 7.50, ???", "It opens at 7.50, ?天?"])
def test_letters_that_a_code_page_lacks_are_forgiven(drawn: Draw, text: str) -> None:
    first, second = (sentence.review_id for sentence in drawn.sentences)
    assert len(labels_of(drawn, [filled(first, "full", sentence=text)])) == 1
    assert "another sentence" in refused(drawn, filled(second, "full", sentence=text))
