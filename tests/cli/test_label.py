"""`judge label`: what it prints, and how it ends."""

import os
import signal
import webbrowser
from pathlib import Path
from typing import ClassVar

import httpx

from judge import review
from tests.commands import judge
from tests.review_runs import score


class FakeBrowser(webbrowser.BaseBrowser):
    """A browser that looks once, presses a key, and has the command end."""

    codes: ClassVar[list[int]] = []

    def open(self, url: str, new: int = 0, autoraise: bool = True) -> bool:  # noqa: ARG002, FBT001, FBT002
        try:
            page, _, query = url.partition("?")
            with httpx.Client(trust_env=False) as http:
                rows = http.get(f"{page}/rows?{query}").json()["rows"]
                http.put(f"{page}/rows/{rows[0]['review_id']}?{query}", json={"label": "full"})
                for headers in ({}, {"Host": "evil.example"}, {"Origin": "http://evil.example"}):
                    self.codes.append(http.get(url, headers=headers).status_code)
        finally:
            os.kill(os.getpid(), signal.SIGINT)
        return True


def test_it_opens_the_page_and_says_at_the_end_what_is_labelled(place: Path) -> None:
    run = score(place, [("supported", "unsupported")])
    webbrowser.register("opened", None, FakeBrowser(), preferred=True)
    ran = judge("label", run, "--reviewer", "Ann", "--lang", "zh")
    assert FakeBrowser.codes == [200, 400, 403]
    assert ran.code == 130
    (sheet,) = run.rglob("*.ann.csv")
    assert str(sheet) in ran.out.replace("\n", "")
    assert f"judge label {run} --reviewer Ann --lang zh" in ran.out


def test_what_cannot_be_labelled_is_one_line(place: Path) -> None:
    run = score(place, [("supported",)])
    review.draw(run, size=1)
    for words in (
        (place / "no",),
        (run, "--draw", "r00000000"),
        (run, "--draw", "../run"),
        (run, "--reviewer", "x" * 101),
        (run, "--reviewer", "a\x07b"),
    ):
        ran = judge("label", *words, "--no-open")
        assert (ran.code, ran.err.count("\n")) == (2, 1), words
    (place / "in.jsonl").unlink()
    ran = judge("label", run, "--no-open")
    assert (ran.code, ran.err.count("\n")) == (2, 1)
