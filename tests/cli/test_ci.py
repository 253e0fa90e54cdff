import re
import shlex
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from markdown_it import MarkdownIt

from tests.chat_call import ChatCall
from tests.commands import cramped, judge, line, write
from tests.replies import Answer, Says, Status, right, verdicts
from tests.server import JudgeServer

ON_GITHUB = "GITHUB_ACTIONS"
MARKED = MarkdownIt("commonmark").enable(["table", "strikethrough"])
HOSTILE = (
    "<script>alert(1)</script> ]]> &amp; \x00\x1b[31m\ufffe\u202e ::error::owned ##[error]owned "
    "bears.x@evil.example "
    "*b* `c` [l](https://evil.example) ![i](//evil.example/i.png) @all #1 GH-12 | WWW.evil.example "
    f"{'w' * 2_000} 50%"
)


@pytest.fixture
def quiet(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.delenv(ON_GITHUB, raising=False)
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
        words = (*server.words, "--no-cache", "--junit", "junit.xml", "--markdown", "sum.md")
        ran = judge("score", source, "-o", "runs/en", *words)
    assert ran.code == 0, ran.err
    line_of = r"^\d+ calls in .+ s; .+ tokens in, .+ out$"
    (spent,) = re.findall(line_of, ran.out, re.MULTILINE)
    assert spent in (quiet / "sum.md").read_text("utf-8")
    assert judge("report", "runs/en", "-o", "report.html").code == 0
    head = (quiet / "report.html").read_text("utf-8").partition("</header>")[0]
    assert all(part in head for part in (spent, "llm:tiny@", "Started", "Finished"))
    root = ET.parse(quiet / "junit.xml").getroot()  # noqa: S314  written by us
    times = {case.get("name"): case.get("time") for case in root.iter("testcase")}
    assert {qid for qid, time in times.items() if time is None} == {"shy", "mute"}
    assert all(float(time) > 0 for time in times.values() if time)
    suite, found = cases(quiet / "junit.xml")
    assert suite["name"] == "en"
    told = {qid: None if case is None else case.tag for qid, case in found.items()}
    assert told == {qid: tag for qid, (_, tag) in CASES.items()}
    assert found["odd"] is not None
    assert "Contradicted by all." in f"{found['odd'].get('message')}"


def test_hostile_texts_are_shown_as_text(quiet: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(ON_GITHUB, "true")
    chunks = {HOSTILE[:90]: "The canteen opens at seven."}
    lines = [
        line(HOSTILE[:90], f"{HOSTILE}. Bears run {HOSTILE}.", chunks),
        line("long", f"Bears run {'w' * 1_000_000}.", chunks),
    ]
    source = write(quiet / "in.jsonl", lines)
    ran = judge(
        *("score", source, "-o", "run", "--junit", "junit.xml", "--markdown", "sum.md"),
        *("--fail-under", "faithfulness=1", "--expect", "similarity"),
    )
    assert ran.code == 1
    _, found = cases(quiet / "junit.xml")
    case, long = found.values()
    assert case is not None
    assert long is not None
    assert (case.tag, long.tag) == ("failure", "error")
    assert "<script>" in f"{case.get('message')}{case.text}"
    assert (quiet / "junit.xml").stat().st_size < 20_000
    shown = MARKED.render((quiet / "sum.md").read_text("utf-8"))
    assert "&lt;script&gt;" in shown
    markup = ("<script", "<a ", "<img", "<em>b", "<code>", "<del>")
    for active in (*markup, "@all", "@evil", "GH-12", "WWW.evil", "https://evil"):
        assert active not in shown, active
    assert len(shown) < 30_000
    # GitHub obeys lines that begin with `::`: only ours do, and none between stop and resume.
    commands = [each for each in ran.out.splitlines() if each.lstrip().startswith("::")]
    stop, *rest = commands
    token = stop.removeprefix("::stop-commands::")
    after = rest[rest.index(f"::{token}::") + 1 :]
    assert {each.split(" ")[0] for each in after} == {"::error", "::warning"}
    assert not any(sign in each for each in after for sign in "\r\x1b\u202e")


def test_annotations_name_the_file(quiet: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(ON_GITHUB, "true")
    (quiet / "data").mkdir()
    texts = ["The canteen opens at seven.", "Bears dance, 50% of them: badly."]
    lines = [line(f"q:{n}", text) for n, text in enumerate(texts)]
    source = write(quiet / "data" / "a,b.jsonl", lines)
    for root, place in ((quiet, "file=data/a%2Cb.jsonl,"), (quiet / "data" / "x", "")):
        monkeypatch.setenv("GITHUB_WORKSPACE", str(root))
        ran = judge("score", source, "-o", "run", "--force")
        (said,) = [each for each in ran.out.splitlines() if each.startswith("::warning ")]
        assert said.startswith(f"::warning {place}title=q%3A1::")
        assert "Bears dance, 50%25 of them: badly." in said
    assert "Bears" not in judge("score", source, "-o", "run", "--force", "--worst", "0").out
    monkeypatch.delenv(ON_GITHUB)
    assert "::" not in judge("score", source, "-o", "run", "--force").out


def test_a_file_that_cannot_be_written_costs_nothing(quiet: Path) -> None:
    source = write(quiet / "in.jsonl", [line("1", "The canteen opens at seven.")])
    (quiet / "taken").write_text("a file")
    assert judge("score", source, "-o", "other").code == 0
    for options in (
        "--junit other/results.jsonl",
        "--junit .",
        "--markdown taken/x.md",
        "--junit in.jsonl",
        "--junit run/results.jsonl",
        "--markdown run",
        "--junit run/review/one/labels.csv",
        "--junit one --markdown ./one",
    ):
        ran = judge("score", source, "-o", "run", *shlex.split(options))
        assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1), options
        assert not (quiet / "run").exists()
    assert source.read_text("utf-8").count("\n") == 1
    ran = judge("score", quiet / "in*.jsonl", "-o", "run", "--junit", source)
    assert (ran.code, source.read_text("utf-8").count("\n")) == (2, 1)
    source.write_text("{")
    assert judge("score", source, "-o", "run", "--junit", "new/folder/j.xml").code == 2
    assert not (quiet / "new").exists()
    source.write_text('{"answer": "It opens at seven.", "chunks": []}')
    assert judge("score", source, "-o", "run", "--junit", "new/folder/j.xml").code == 0
    assert cases(quiet / "new" / "folder" / "j.xml")[0]["failures"] == "1"


def test_an_old_report_never_stands_for_a_run_that_ended_early(quiet: Path) -> None:
    names = ("junit.xml", "sum.md")
    words = ("--junit", names[0], "--markdown", names[1])

    def old() -> None:
        for name in names:
            (quiet / name).write_text("of yesterday")

    old()
    source = write(quiet / "in.jsonl", [line("1", "Full room one.")])
    with JudgeServer(lambda _: Status(401, "{}")) as server:
        ran = judge("score", source, "-o", "run", *server.words, "--no-cache", *words)
    assert ran.code == 2, ran.err
    assert not any((quiet / name).exists() for name in names)
    source = write(quiet / "in.jsonl", [line(f"{n}", "It opens at seven.") for n in range(30)])
    for most in (6_000, 30_000):  # there is room for no report, or not for the results
        old()
        with cramped(most):
            ran = judge("score", source, "-o", f"{most}", *words)
        assert ran.code == 2, ran.err
        assert not any((quiet / name).exists() for name in names), most


def test_a_comparison_goes_into_a_pull_request_too(
    quiet: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(ON_GITHUB, "true")
    texts = {
        "good": "The canteen opens at seven.",
        "bad": "Green cheese covers <b>Jupiter</b> @all.",
    }
    for name, text in texts.items():
        lines = [line(f"q{n}", text if n else texts["good"]) for n in range(12)]
        source = write(quiet / f"{name}.jsonl", lines)
        assert judge("score", source, "-o", name).code == 0
    gate = ("--fail-if-worse", "faithfulness=0.02")
    ran = judge("compare", "good", "bad", *gate, "--markdown", "compared.md")
    assert ran.code == 1, ran.err
    assert sum(each.startswith("::error") for each in ran.out.splitlines()) == 1
    written = (quiet / "compared.md").read_text("utf-8")
    assert "| +0.917 |" in written  # as it is, to be copied into a sheet
    shown = MARKED.render(written)
    assert shown.splitlines()[0].startswith("<p><strong>")  # the gate
    assert "<table>" in shown
    assert "<b>" not in shown
    for wrong in ("good/results.jsonl", "good", "good/review/labels.csv"):
        assert judge("compare", "good", "bad", "--markdown", wrong).code == 2
