import re
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from tests.chat_call import ChatCall
from tests.commands import judge, line, refused, write
from tests.replies import Answer, Says, Status, right, verdicts
from tests.server import JudgeServer


@pytest.fixture
def quiet(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("JUDGE_ATTEMPTS", "1")
    return tmp_path


def cases(path: Path) -> tuple[dict[str, str], dict[str, ET.Element | None]]:
    """The counts of a report, and by qid what became of the case."""
    root = ET.parse(path).getroot()  # noqa: S314  written by us
    (suite,) = root
    assert [each.tag for each in (root, suite)] == ["testsuites", "testsuite"]
    found = {case.get("name", ""): next(iter(case), None) for case in suite.iter("testcase")}
    tags = [None if each is None else each.tag for each in found.values()]
    counts = {"failures": "failure", "errors": "error", "skipped": "skipped"}
    for name in (root, suite):
        assert {key: int(name.get(key, "")) for key in counts} == {
            key: tags.count(tag) for key, tag in counts.items()
        }
        assert int(name.get("tests", "")) == len(tags)
        assert float(name.get("time", "")) > 0
    return dict(suite.attrib), found


def answered(asked: ChatCall) -> Answer:
    """Each sentence has the label that it names; the server fails at those that name none."""
    if asked.is_probe:
        return right(asked)
    labels = {}
    for name, text in asked.sentences.items():
        word = text.split()[0].casefold()
        if word == "broken":
            return Status(500, "")
        labels[name] = word
    return Says(verdicts(asked, **labels))


CASES = {
    # Answers, and what becomes of the case.
    "good": ("Full room one.", None),
    "bad": ("Full room two. None of it.", "failure"),
    "odd": ("Contradicted by all.", "failure"),
    "half": ("Partial truth here.", "failure"),
    "down": ("Broken line to it.", "error"),
    "shy": ("I cannot answer that.", "skipped"),
    "mute": ("", "skipped"),
}


def test_an_answer_is_a_case_and_none_passes_without_a_verdict(quiet: Path) -> None:
    source = write(quiet / "in.jsonl", [line(qid, text) for qid, (text, _) in CASES.items()])
    with JudgeServer(answered) as server:
        words = (*server.words, "--no-cache", "--junit", "junit.xml")
        ran = judge("score", source, "-o", "runs/en", *words)
    assert ran.code == 0, ran.err
    line_of = r"^\d+ calls in .+ s; .+ tokens in, .+ out$"
    (spent,) = re.findall(line_of, ran.out, re.MULTILINE)
    assert judge("report", "runs/en", "-o", "report.html").code == 0
    head = (quiet / "report.html").read_text("utf-8").partition("</header>")[0]
    assert all(part in head for part in (spent, "llm:tiny@", "Started", "Finished"))
    root = ET.parse(quiet / "junit.xml").getroot()  # noqa: S314  written by us
    times = {case.get("name"): case.get("time") for case in root.iter("testcase")}
    assert {qid for qid, time in times.items() if time is None} == {"shy", "mute"}
    assert all(float(time) > 0 for time in times.values() if time)
    suite, found = cases(quiet / "junit.xml")
    assert suite["name"] == "en"
    tags = {qid: None if case is None else case.tag for qid, case in found.items()}
    assert tags == {qid: tag for qid, (_, tag) in CASES.items()}
    assert found["odd"] is not None
    assert "Contradicted by all." in f"{found['odd'].get('message')}"


def test_hostile_texts_are_text_in_the_report(quiet: Path) -> None:
    text = "<script>alert(1)</script> ]]> &amp; \x00\x1b[31m\ufffe\u202e Bears dance"
    lines = [line(text, f"{text}."), line("long", f"Bears run {'w' * 1_000_000}.")]
    source = write(quiet / "in.jsonl", lines)
    assert judge("score", source, "-o", "run", "--junit", "junit.xml").code == 0
    _, found = cases(quiet / "junit.xml")
    assert [name[:8] for name in found] == ["<script>", "long"]
    assert (quiet / "junit.xml").stat().st_size < 20_000


def test_a_report_that_would_replace_a_file_of_the_run_is_refused(quiet: Path) -> None:
    source = write(quiet / "in.jsonl", [line("1", "The canteen opens at seven.")])
    for path in (".", "in.jsonl", "run/results.jsonl", "run/review/one/labels.csv"):
        refused(judge("score", source, "-o", "run", "--junit", path))
        assert not (quiet / "run").exists()
    assert judge("score", source, "-o", "run", "--junit", "run/new/j.xml").code == 0
    assert cases(quiet / "run" / "new" / "j.xml")[0]["failures"] == "0"


def test_the_summary_for_a_job_is_a_block_of_code(quiet: Path) -> None:
    source = write(quiet / "in.jsonl", [line("````", "Bears <b>dance</b> at night ```` https://x")])
    words = ("--markdown", "new/job.md", "--fail-under", "faithfulness=0.5")
    assert judge("score", source, "-o", "run", *words).code == 1
    first, _, fence, *lines, last = (quiet / "new" / "job.md").read_text().splitlines()
    assert first == "**gate faithfulness >= 0.5: 0.000 (mean over answers), failed**"
    assert (fence, last) == ("`````text", "`````")
    assert "looks supported" in "\n".join(lines)
    refused(judge("score", source, "-o", "two", "--markdown", "in.jsonl"))


def test_an_old_report_never_stands_for_a_run_that_ended_early(quiet: Path) -> None:
    report, summary = quiet / "junit.xml", quiet / "summary.md"
    for path in (report, summary):
        path.write_text("of yesterday")
    source = write(quiet / "in.jsonl", [line("1", "Full room one.")])
    with JudgeServer(lambda _: Status(401, "{}")) as server:
        words = (*server.words, "--no-cache", "--junit", report, "--markdown", summary)
        assert judge("score", source, "-o", "run", *words).code == 2
    assert not report.exists()
    assert not summary.exists()
