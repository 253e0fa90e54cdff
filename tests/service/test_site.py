"""The site over HTTP: logging in, who may label, and what pages say in their headers."""

from collections.abc import Iterator

import httpx
import pytest

from tests.service_process import Serving, judged

KEY = "0123456789abcdef"
BEARER = {"Authorization": f"Bearer {KEY}"}


@pytest.fixture(scope="module")
def serving(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    data = tmp_path_factory.mktemp("data")
    judged(data, "a")
    with Serving(data, tokens=f"web:{KEY}") as serving:
        serving.http.headers.update(BEARER)
        yield serving


def test_a_page_of_another_site_may_not_use_the_password_of_the_browser(serving: Serving) -> None:
    known = ("", KEY)
    for method, origin, status in (
        ("GET", serving.url, 200),
        ("DELETE", "http://127.0.0.1:1", 403),
        ("POST", "null", 403),
        ("GET", "https://evil.example", 403),
        ("GET", "http://[", 403),
    ):
        path = "/v1/batches/a" if method == "DELETE" else "/v1/batches"
        headers = {"Origin": origin}
        with httpx.Client(base_url=serving.url, auth=known, trust_env=False) as other:
            assert other.request(method, path, headers=headers).status_code == status, origin
            home = other.get("/")
    assert "frame-ancestors 'none'" in home.headers["content-security-policy"]


def test_a_batch_is_labelled_imported_and_shown(
    serving: Serving, capfd: pytest.CaptureFixture[str]
) -> None:
    http, base = serving.http, "/v1/batches/a/label"
    assert http.get("/v1/batches/a/agreement").status_code == 404
    assert http.post("/v1/batches/a/labels").status_code == 409
    assert http.get(base).text.count("canteen") == 0
    found = http.get(f"{base}/rows?reviewer=Ann").json()
    assert found["fresh"] is True
    rows = [row["review_id"] for row in found["rows"]]
    question = http.get(f"{base}/rows/{rows[0]}?lang=zh").json()
    assert set(question) == {"query", "claim", "evidence"}
    said = {"label": "full", "skip": False, "note": "a secret comment"}
    assert len(rows) == 60
    for row in rows[:6]:
        kept = http.put(f"{base}/rows/{row}?reviewer=Ann", json=said)
        assert (kept.status_code, kept.json()) == (200, said)
    again = http.get(f"{base}/rows?reviewer=ann").json()
    assert again["fresh"] is False
    assert [row["label"] for row in again["rows"]] == ["full"] * 6 + [""] * 54
    assert {row["label"] for row in http.get(f"{base}/rows?reviewer=Bo").json()["rows"]} == {""}

    for path, body, status in (
        (f"{base}/rows/{rows[0]}", {"label": "perhaps"}, 422),
        (f"{base}/rows/{rows[0]}", {"label": "full", "more": 1}, 422),
        (f"{base}/rows/{rows[0]}?reviewer=%00", said, 422),
        (f"{base}/rows/{rows[0][:-1]}0x", said, 422),
        (f"{base}/rows/{rows[0][:9]}-000000000000", said, 404),
        (f"{base}/rows/r00000000-000000000000", said, 409),
        ("/v1/batches/b/label/rows/r00000000-000000000000", said, 404),
    ):
        assert http.put(path, json=body).status_code == status, path
    assert http.get(f"{base}/rows?draw=r00000000").status_code == 409

    imported = http.post("/v1/batches/a/labels").json()
    assert (imported["labels"], imported["reviewers"]) == (6, ["Ann"])
    assert http.get("/v1/batches/a").json()["labelled"] is True
    page = http.get("/v1/batches/a/agreement")
    assert "<!DOCTYPE html>" in page.text
    assert "frame-ancestors 'none'" in page.headers["content-security-policy"]
    report = http.get("/v1/batches/a/report?lang=zh")
    assert (report.status_code, "zh-Hans" in report.text) == (200, True)
    assert http.get("/v1/batches/b/report").status_code == 404
    compared = http.get("/v1/batches/a/comparison?first=a&lang=zh")
    assert (compared.status_code, "zh-Hans" in compared.text) == (200, True)
    assert str(serving.data) not in compared.text
    for first, status in (("b", 404), ("", 422), ("..", 422)):
        assert http.get(f"/v1/batches/a/comparison?first={first}").status_code == status
    http.put("/v1/batches/bad", content=b'{"qid": "no answer"}')
    serving.until("bad", "failed")
    for path in ("report", "comparison?first=a", "label", "label/rows"):
        refused = http.get(f"/v1/batches/bad/{path}")
        assert (refused.status_code, refused.json()["detail"][:13]) == (409, "it is failed;"), path
    log = capfd.readouterr().err
    assert "secret" not in log
    assert question["query"] not in log
