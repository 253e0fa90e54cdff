from collections.abc import Iterable
from pathlib import Path
from typing import Final

import pytest
from rich.cells import cell_len

from judge.cli.render.quadrants import print_quadrants
from judge.messages import Lang
from judge.records import Flag, FlagName, Judgment, Quadrant, Sample, SampleResult
from judge.scores.answer import aggregate
from judge.scores.correctness import correctness
from judge.scores.totals import summarize
from tests.commands import judge, results
from tests.paged import paged

FIXTURES = Path(__file__).resolve().parents[3] / "fixtures"
SIGNATURE: Final = "cells:1|faithful:0.8|correct:0.75|gold:exact"
GOOD = Quadrant(
    answerable=True,
    retrieved=True,
    abstained=False,
    faithful=True,
    correct=True,
    signature=SIGNATURE,
)
WRONG = GOOD.model_copy(update={"correct": False})
MISSED = WRONG.model_copy(update={"retrieved": False})
CAUTIOUS = GOOD.model_copy(update={"abstained": True, "faithful": None, "correct": None})
HONEST = CAUTIOUS.model_copy(update={"answerable": False, "retrieved": None})
UNJUDGED = WRONG.model_copy(update={"faithful": None})
SILENT = CAUTIOUS.model_copy(update={"abstained": False, "silent": True})
UNCOMPARED = GOOD.model_copy(update={"correct": None})
UNFAITHFUL = UNCOMPARED.model_copy(update={"faithful": False})


CONFLICT = Flag(name=FlagName.CONFLICTING_GOLD)


def result(qid: str, cell: Quadrant | Flag | None, signature: str = "llm:m") -> SampleResult:
    """An answer in a cell, one whose gold contradicts itself, or one without gold."""
    flags = [cell] if isinstance(cell, Flag) else []
    made = aggregate(Sample(qid=qid), [], {}, [], flags=flags, signature=signature)
    return made.model_copy(update={"cell": None if flags else cell})


def printed(
    cells: Iterable[Quadrant | Flag | None],
    *,
    lang: Lang = "en",
    width: int = 100,
    names: str = "q{}",
    folder: str = "runs/today",
    signature: str = "llm:m",
) -> str:
    made = [result(names.format(i), cell, signature) for i, cell in enumerate(cells)]
    summary = summarize(made)
    return paged(lambda page: print_quadrants(summary, Path(folder), page, lang=lang), width)


def rows(text: str, header: str = "retrieved?") -> list[str]:
    """The header and the rows, their white space squeezed."""
    lines = [" ".join(line.split()) for line in text.splitlines()]
    first = next(i for i, line in enumerate(lines) if line.startswith(header))
    return [lines[first], *(line for line in lines[first:] if " % " in line)]


def test_a_row_for_each_cell() -> None:
    text = printed([GOOD, WRONG, WRONG, MISSED, CAUTIOUS, HONEST, UNJUDGED, None])
    assert text.startswith("\nWhich half is broken, of 7 answers with gold evidence\n")
    assert rows(text) == [
        "retrieved? faithful? correct? abstained? answers share broken",
        "yes yes yes no 1 14.3 % neither",
        "yes yes no no 2 28.6 % generation",
        "yes – – yes 1 14.3 % generation",
        "yes ? no no 1 14.3 % generation",
        "no yes no no 1 14.3 % retrieval",
        "– – – yes 1 14.3 % neither",
    ]
    flowing = " ".join(text.split())
    assert "found, kept to, and right (q0)" in flowing
    assert "scattered evidence (q1, q2)" in flowing
    assert "retrieval is broken in 1, generation in 4, neither in 2, unknown 0\n" in text
    assert "faithfulness 0.8 or more" in flowing
    assert "reference 0.75 or more" in flowing
    assert "left out: 1 without gold evidence\n" in text
    assert "contradicts" not in text
    assert "part of the gold" not in text
    command = "judge show runs/today --cell retrieved,faithful,wrong\n"
    assert text.endswith(f"walk through the largest broken cell: {command}")
    assert "similarity" not in text


def test_a_row_for_each_cell_in_chinese() -> None:
    text = printed([GOOD, WRONG, MISSED, HONEST, None], lang="zh")
    assert text.startswith("\n4 条有标注证据的答案：问题出在哪一半\n")
    assert rows(text, "检索到") == [
        "检索到？ 忠于片段？ 正确？ 拒答？ 答案数 占比 问题在",
        "是 是 是 否 1 25.0 % 无",
        "是 是 否 否 1 25.0 % 生成",
        "否 是 否 否 1 25.0 % 检索",
        "– – – 是 1 25.0 % 无",
    ]
    assert "检索到证据，忠于片段，答案正确（q0）" in text
    assert "检索有问题 1 条，生成有问题 1 条，都没有问题 2 条，未知 0 条\n" in text
    assert "未计入：1 条" in text
    assert text.endswith("judge show runs/today --cell retrieved,faithful,wrong --lang zh\n")


def test_without_gold_nothing_is_printed() -> None:
    assert printed([]) == printed([None, None]) == ""


def test_what_the_marks_mean_stands_under_the_table_where_they_occur() -> None:
    assert "\n? not known  – does not apply\n" in printed([UNJUDGED, HONEST])
    assert "\n? not known\n" in printed([UNJUDGED, GOOD])
    assert "\n– does not apply\n" in printed([GOOD, HONEST])
    assert "not known\n" not in printed([GOOD])
    # What was not compared at all has no column, and so no mark.
    assert "\n? " not in printed([UNCOMPARED, UNFAITHFUL])
    assert "\n? 不清楚  – 不适用\n" in printed([UNJUDGED, HONEST], lang="zh")


def test_an_answer_that_claims_nothing_neither_abstains_nor_answers() -> None:
    missed = SILENT.model_copy(update={"retrieved": False})
    nothing = missed.model_copy(update={"retrieved": None, "answerable": False})
    text = printed([GOOD, SILENT, SILENT, missed, nothing])
    assert rows(text)[2:] == [
        "yes – – silent 2 40.0 % generation",
        "no – – silent 1 20.0 % retrieval",
        "– – – silent 1 20.0 % neither",
    ]
    assert text.endswith("--cell retrieved,silent\n")
    assert "是 – – 无结论 1 50.0 % 生成" in rows(printed([SILENT, GOOD], lang="zh"), "检索到")


def test_evidence_that_was_seen_in_part_leaves_retrieval_suspect() -> None:
    part, found = (cell.model_copy(update={"partly": True}) for cell in (WRONG, UNCOMPARED))
    text = " ".join(printed([part, WRONG, part, found, GOOD]).split())
    said = "part of the gold was missed in {} of them: there retrieval may be at fault"
    assert f"(q0, q1, q2); {said.format(2)}" in text
    assert f"(q3); {said.format(1)}" in text
    assert "其中 1 条只检索到部分标注证据" in printed([part], lang="zh", width=200)
    # Nothing is broken: nothing is suspect.
    assert "part of" not in printed([GOOD.model_copy(update={"partly": True})])


def test_gold_that_contradicts_itself_is_told_apart_and_named() -> None:
    text = " ".join(printed([GOOD, None, *[CONFLICT] * 5]).split())
    assert "left out: 1 without gold evidence" in text
    assert "left out: 5 whose gold contradicts itself" in text
    assert "(q2, q3, q4, …). Name the chunks" in text
    assert "of 1 answer with gold evidence" in text
    zh = printed([GOOD, CONFLICT], lang="zh")
    assert "未计入：1 条标注自相矛盾" in zh
    assert "（q1）" in zh
    assert "没有标注证据" not in zh


@pytest.mark.parametrize(("lang", "said"), [("en", "contradicts itself"), ("zh", "自相矛盾")])
def test_where_all_gold_contradicts_itself_that_is_said_without_a_table(
    lang: Lang, said: str
) -> None:
    text = printed([CONFLICT, None], lang=lang)
    assert said in text
    assert " % " not in text
    assert "judge show" not in text
    assert "--correctness" not in text
    assert "gold-match" not in text


def test_what_was_not_asked_has_no_column() -> None:
    text = printed([UNCOMPARED, UNFAITHFUL, UNFAITHFUL])
    assert rows(text) == [
        "retrieved? faithful? abstained? answers share broken",
        "yes no no 2 66.7 % generation",
        "yes yes no 1 33.3 % unknown",
    ]
    assert "--correctness adds it" in text
    assert "reference" not in text
    assert text.endswith("--cell retrieved,unfaithful\n")
    assert "--correctness" in printed([UNCOMPARED], lang="zh")


def test_what_was_asked_and_not_found_out_has_its_column() -> None:
    compared = correctness([], [], Judgment(), Judgment(), signature="s")
    one = result("q", UNCOMPARED).model_copy(update={"correctness": compared})
    text = paged(lambda page: print_quadrants(summarize([one]), Path("r"), page), 100)
    assert rows(text)[1] == "yes yes ? no 1 100.0 % unknown"
    assert "--correctness" not in text


def test_of_equal_cells_the_first_is_walked_through_and_of_good_ones_none() -> None:
    text = printed([MISSED, MISSED, CAUTIOUS, CAUTIOUS, GOOD, GOOD, GOOD])
    assert text.endswith("--cell retrieved,abstained\n")
    answered = HONEST.model_copy(update={"abstained": False, "faithful": True})
    assert printed([answered]).endswith("--cell unanswerable,faithful\n")
    assert "judge show" not in printed([GOOD, HONEST, UNCOMPARED])


def test_gold_that_names_no_chunk_at_all_is_pointed_out() -> None:
    hint = "--gold-match=prefix"
    assert hint in printed([MISSED, HONEST])
    assert "no letter or digit: --gold-match" in " ".join(printed([MISSED]).split())
    zh = "".join(printed([MISSED], lang="zh").split())
    assert hint in zh
    assert "非字母、非数字" in zh
    assert hint not in printed([MISSED, GOOD])
    assert hint not in printed([HONEST])
    by_document = MISSED.model_copy(update={"signature": SIGNATURE.replace("exact", "prefix")})
    text = printed([by_document])
    assert hint not in text
    assert "the documents that gold" in " ".join(text.split())
    assert "no letter or digit" in " ".join(text.split())


def test_cells_that_were_made_otherwise_show_their_limits() -> None:
    other = GOOD.model_copy(update={"signature": SIGNATURE.replace("0.8", "0.9")})
    text = printed([GOOD, other])
    assert "faithfulness 0.8 or more" in text
    assert "faithfulness 0.9 or more" in text


@pytest.mark.parametrize("made", ["by hand", "", "cells:1|faithful:0.8|gold"])
def test_cells_of_a_signature_without_limits_are_shown_all_the_same(made: str) -> None:
    text = printed([GOOD.model_copy(update={"signature": made})])
    assert f"faithfulness {'0.8' if made.startswith('cells') else '?'} or more" in text
    assert "gold matched: ?" in text


def test_similarity_says_what_looks_so() -> None:
    assert "by similarity" in printed([GOOD], signature="similarity:lexical-v1")


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("width", [20, 80, 200])
def test_names_from_outside_and_narrow_terminals(lang: Lang, width: int) -> None:
    text = printed([WRONG] * 9, lang=lang, width=width, names="差旅\x1b[31m\n" * 30 + "{}")
    assert "\x1b" not in text
    assert text.count("…") >= 4
    if width >= 80:
        assert max(map(cell_len, text.splitlines()[:-1])) <= width


def test_a_folder_is_quoted_for_the_shell() -> None:
    assert "judge show 'my runs/today' --cell" in printed([WRONG], folder="my runs/today")


@pytest.mark.parametrize("encoding", ["latin-1", "gbk"])
def test_what_is_not_asked_is_told_from_what_is_not_known(encoding: str) -> None:
    summary = summarize([result("q", CAUTIOUS), result("r", UNJUDGED)])
    text = paged(lambda page: print_quadrants(summary, Path("r"), page), encoding=encoding)
    assert rows(text)[1:] == [
        "yes - - yes 1 50.0 % generation",
        "yes ? no no 1 50.0 % generation",
    ]


@pytest.mark.no_cover
def test_every_line_of_the_fixture_stands_in_the_cell_it_is_named_after(tmp_path: Path) -> None:
    run = tmp_path / "run"
    assert judge("score", FIXTURES / "cells.jsonl", "--correctness", "-o", run).code == 0
    found = results(run)
    assert len(found) == 22
    for each in found:
        assert each.cell is not None
        words = [word for word in each.cell.words if word not in {"answerable", "answered"}]
        assert "-".join(words) == each.qid
