"""People's review of a batch, over HTTP."""

import csv
import io
import tempfile
from collections.abc import Iterator

import openpyxl
import pytest

from judge import review
from judge.files.runs import AGREEMENT
from tests.serving import Serving, judged

XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"


@pytest.fixture(scope="module")
def serving(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    data = tmp_path_factory.mktemp("data")
    judged(data, "a")
    with Serving(data) as serving:
        yield serving


def test_a_sheet_is_drawn_in_three_forms_and_its_labels_come_back(serving: Serving) -> None:
    path = "/v1/batches/a/draws?size=8"
    rows = serving.http.post(path).json()["rows"]
    assert len(rows) == 8
    table = serving.http.post(path, headers={"Accept": "text/csv"})
    read = list(csv.DictReader(io.StringIO(table.content.decode("utf-8-sig"))))
    assert [row["review_id"] for row in read] == [row["review_id"] for row in rows]
    book = serving.http.post(path, headers={"Accept": f"{XLSX};q=0.9"})
    assert openpyxl.load_workbook(io.BytesIO(book.content)).active.max_row == 9
    assert serving.http.post(path, headers={"Accept": "image/png"}).status_code == 406

    for number, row in enumerate(rows):
        row["human_support"] = "no" if number % 2 else "yes"
    answer = serving.http.post("/v1/batches/a/labels", json={"rows": rows})
    assert answer.status_code == 200, answer.text
    folder = serving.data / "a"
    kept = (folder / AGREEMENT).read_text()
    assert (
        answer.json()["agreement"]["draw"]
        == review.records.Agreement.model_validate_json(kept).draw
    )
    assert (folder / "agreement.html").exists()


def test_errors_of_a_sheet_name_the_row_and_no_place_of_the_machine(serving: Serving) -> None:
    rows = serving.http.post("/v1/batches/a/draws?size=3").json()["rows"]
    lines = [f"{row['review_id']},perhaps" for row in rows]
    sheet = "review_id,human_support\n" + "\n".join(lines)
    for body, media, status, said in (
        (sheet.encode(), "text/csv", 422, "labels.csv, row 2"),
        (b"review_id,human_support\nr00000000-1,yes\n", "text/csv", 409, "another run"),
        (b"nothing", "text/csv", 422, "review_id"),
        (b"nothing", XLSX, 422, "labels.xlsx"),
        (b"nothing", "image/png", 415, "text/csv"),
        (b"nothing", "application/json", 422, "rows"),
        (b'{"rows": [{"review_id": 5}]}', "application/json", 422, "rows"),
    ):
        headers = {"Content-Type": media}
        answer = serving.http.post("/v1/batches/a/labels", content=body, headers=headers)
        assert (answer.status_code, said in answer.json()["detail"]) == (status, True), answer.text
        assert tempfile.gettempdir() not in answer.text
        assert str(serving.data) not in answer.text
