"""The guide: its curl lines do what it says, and its example in Python runs."""

import contextlib
import io
import json
import re
import subprocess
from pathlib import Path

import pytest

from judge.service.wire import KINDS
from tests.service_process import ROOT, Serving

GUIDE = (ROOT / "judge" / "service" / "README.md").read_text("utf-8")
SAID = "http://127.0.0.1:8080"


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", GUIDE, re.MULTILINE | re.DOTALL)


@pytest.mark.no_cover
def test_the_lines_of_the_guide_run_as_they_stand(tmp_path: Path) -> None:
    (tmp_path / "fixtures").symlink_to(ROOT / "fixtures")
    (python,) = blocks("python")
    lines = "".join(each for each in blocks("bash") if "curl" in each)
    commands = re.findall(r"^curl .*?(?=^curl |\Z)", lines, re.MULTILINE | re.DOTALL)
    with Serving(tmp_path / "data") as serving:
        said = []
        for command in commands:
            ran = subprocess.run(
                ["/bin/bash", "-c", command.replace(SAID, serving.url)],
                cwd=tmp_path,
                check=True,
                capture_output=True,
                text=True,
            )
            said.append(ran.stdout)
            if "nightly?" in command:
                serving.until("nightly")
        one, sent, status, read, listed = said
        assert json.loads(one)["scores"]["faithfulness"] == 0
        assert json.loads(sent)["name"] == json.loads(status)["name"] == "Quickstart"
        assert len(read.splitlines()) == 16
        assert [each["id"] for each in json.loads(listed)["batches"]] == ["nightly"]
        out = io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.chdir(tmp_path):
            exec(python.replace(SAID, serving.url), {})  # noqa: S102  our own guide
        assert "macro=0." in out.getvalue()


def test_every_problem_stands_in_the_guide_with_its_status() -> None:
    rows = re.findall(r"^\| ([\d ·]+) \| (.*?) \|$", GUIDE, re.MULTILINE)
    told = {
        name: int(status)
        for left, right in rows
        for status, names in zip(left.split(" · "), right.split(" · "), strict=True)
        for name in re.findall("`(.*?)`", names)
    }
    assert told == {name: status for name, (status, *_) in KINDS.items()}
