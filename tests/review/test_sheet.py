import datetime as dt
from pathlib import Path
from tempfile import TemporaryDirectory

import openpyxl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.errors import InputError
from judge.inputs.tables import legible
from judge.messages import LANGS, Lang, use_language
from judge.records import (
    Chunk,
    Sample,
    SentenceResult,
    Support,
    Verdict,
)
from judge.review.sheet import (
    ParsedLabel,
    choices,
    ranked,
    read_label,
    read_sheet,
    row_of,
    write_sheet,
)

COLUMNS = ["review_id", "sentence", "human_support", "human_note"]
ROWS = [
    {"review_id": "r_1", "sentence": "=1+1, 是公式？", "human_support": "支持"},
    {"review_id": "r_2", "sentence": 'two\nlines, "quoted" 👩‍👩‍👧', "human_note": "-"},
]
ANY_TEXT = st.text(st.characters(codec=None, exclude_categories=()))


def cells(path: Path) -> list[dict[str, str]]:
    return [row.cells for row in read_sheet(path)]


def refusal(path: Path) -> str:
    with pytest.raises(InputError) as error:
        list(read_sheet(path))
    assert str(path) in str(error.value)
    assert "\n" not in str(error.value)
    return str(error.value)


def given_text(tmp_path: Path, text: str, name: str = "review.csv") -> Path:
    path = tmp_path / name
    path.write_bytes(text.encode())
    return path


def test_the_bytes_of_a_sheet(tmp_path: Path) -> None:
    with use_language("zh"):
        write_sheet(tmp_path / "a.csv", ROWS, COLUMNS)
    assert (tmp_path / "a.csv").read_bytes() == (
        b"\xef\xbb\xbf"
        + '"编号","句子","人工判断","备注"\r\n'
        '"r_1","\'=1+1, 是公式？","支持",""\r\n'
        '"r_2","two\nlines, ""quoted"" 👩‍👩‍👧","","\'-"\r\n'.encode()
    )


@pytest.mark.no_cover
@given(
    st.lists(ANY_TEXT | st.sampled_from(["#N/A", "_x0009_", "007"]), min_size=1, max_size=4),
    st.sampled_from(LANGS),
)
def test_any_text_survives_writing_and_reading(texts: list[str], lang: Lang) -> None:
    rows = [{"review_id": f"r_{i}", "human_note": text} for i, text in enumerate(texts)]
    with TemporaryDirectory() as folder:
        with use_language(lang):
            write_sheet(Path(folder, "a.csv"), rows, COLUMNS)
        found = [row["human_note"] for row in cells(Path(folder, "a.csv"))]
    assert found == [legible(text) for text in texts]


def test_columns_and_rows_in_any_order_among_others(tmp_path: Path) -> None:
    text = 'price;Human Note;人工判断;REVIEW-ID;price\n1;;否;r_2;\n;;;;\n2;"\'=x";Yes;r_1;3\n'
    found = list(read_sheet(given_text(tmp_path, text)))
    assert [row.number for row in found] == [2, 4]
    assert [row.cells for row in found] == [
        {"human_note": "", "human_support": "否", "review_id": "r_2"},
        {"human_note": "=x", "human_support": "Yes", "review_id": "r_1"},
    ]


def test_another_table_is_refused(tmp_path: Path) -> None:
    table = [
        ("", "is empty"),
        ("name,price\n1,2\n", "lacks review_id (编号) and human_support (人工判断)"),
        ("name,price\n1,2\n", "its first row holds 'name', 'price'"),
        ("编号,reviewer\n", "lacks human_support (人工判断)"),
        ("review_id,human_support,人工判断\n", "two columns human_support ('human_support', '人"),
        ("review_id,human_support\nr_1,a,b\n", "row 2: 3 cells"),
    ]
    for text, says in table:
        found = refusal(given_text(tmp_path, text))
        assert says in found
        assert len(found) < 400


def workbook(path: Path, *sheets: list[list[object]]) -> Path:
    book = openpyxl.Workbook()
    book.remove(book.active)
    for rows in sheets:
        sheet = book.create_sheet()
        for row in rows:
            sheet.append(row)
    book.save(path)
    return path


def test_the_first_sheet_of_a_workbook_comes_back_as_text(tmp_path: Path) -> None:
    ours: list[list[object]] = [
        [],
        ["", "编号", "Human Support", "sentence", "human_note", "reviewer"],
        [None, "r_1", True, 7, dt.datetime(2021, 5, 3), "a\nb"],  # noqa: DTZ001
        [" "],
        [None, "r_2", 1.0, 0.5, None, "#N/A"],
    ]
    path = workbook(tmp_path / "a.xlsx", ours, [["notes"]])
    assert [(row.number, list(row.cells.values())) for row in read_sheet(path)] == [
        (3, ["r_1", "true", "7", "2021-05-03", "a\nb"]),
        (5, ["r_2", "1", "0.5", "", "#N/A"]),
    ]


def asked(answer: str, text: str, *chunks: str) -> tuple[Sample, SentenceResult]:
    """Return an answer with its chunks a, b, …, and one sentence of it."""
    named = tuple(Chunk(chunk_id=chr(ord("a") + n), text=chunk) for n, chunk in enumerate(chunks))
    outcome = Verdict(support=Support.FULL, source="llm", signature="s")
    start = answer.index(text)
    return (
        Sample(qid="q", query="什么时候？", answer=answer, chunks=named),
        SentenceResult(index=0, start=start, end=start + len(text), text=text, outcome=outcome),
    )


def test_a_row_by_hand() -> None:
    text = "The café is open on Monday."
    chunks = ("It rains a lot.", "On Monday the café is open.", "The bank is shut.")
    assert row_of("r1-2", *asked(f"It rains. {text} 周一开放。", text, *chunks)) == {
        "review_id": "r1-2",
        "query": "什么时候？",
        "answer": "It rains. ▶The café is open on Monday.◀ 周一开放。",
        "sentence": text,
        "chunks": (
            "[2] b\nOn Monday the café is open.\n\n"
            "[3] c\nThe bank is shut.\n\n[1] a\nIt rains a lot."
        ),
    }


def test_the_chunk_that_shares_most_comes_first() -> None:
    table: list[tuple[str, tuple[str, ...], list[int]]] = [
        ("周一上午九点开放。", ("今天下雨。", "上午九点，图书馆开放。", "周五关门。"), [1, 2, 0]),
        ("The ＣＡＦÉ opened.", ("Rain fell.", "Cafes open early."), [1, 0]),
        # With nothing shared, or everything, the order is that of the sample.
        ("Snow melts.", ("周一。", "Rain fell.", ""), [0, 1, 2]),
        # The rarer word tells more than words of grammar.
        ("It is the zygote.", ("It is the one.", "A zygote grows."), [1, 0]),
        ("Rain fell.", (), []),
    ]
    for text, chunks, order in table:
        assert ranked(*asked(text, text, *chunks)) == order


TYPED = {
    Support.FULL: "是,yes,TRUE,1.0,✔️,完全支持,fully_supported, 是的。,“支持”,'full',\ufeffyes",
    Support.PARTIAL: "部分,PARTIALLY,partially_supported,Ｐａｒｔｉａｌ, 部分。\n",
    Support.NONE: "不支持,not_supported,Not Support, 沒有支持,Not  Supported.",
    Support.CONTRADICTED: "矛盾,contradicted, conflict, 與原文矛盾",
    Support.NO_CLAIM: "no_claim,no-claim,无论断, no claim,no\u3000claim！",
    None: "否,no,FALSE,０,0.0,✗, Not full., 非完全支持,\u200bno",
}


def test_words_for_labels_in_either_language() -> None:
    table = {
        text: ParsedLabel(support, support is Support.FULL)
        for support, texts in TYPED.items()
        for text in texts.split(",")
    }
    assert {text: read_label(text) for text in table} == table
    assert [read_label(blank) for blank in ("", "  ", "\n\t", "\u3000", "\u200b")] == [None] * 5
    for lang in LANGS:  # those that a drop-down offers
        with use_language(lang):
            readings = [read_label(word) for word in choices()]
        assert [reading and reading.support for reading in readings] == list(Support)
