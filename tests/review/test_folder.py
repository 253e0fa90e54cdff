from pathlib import Path

import pytest

from judge.errors import RunError
from judge.records import Support, Verdict
from judge.review.folder import (
    check_output,
    read_draw,
    read_labels,
    write_draw,
    write_findings,
    write_whole,
)
from judge.review.records import Draw, DrawnSentence, Label
from tests.drawn import stratum, sums
from tests.pages.agreements import BARE

TEXT = "周一 “开放” 😀\n=1+1\t\u2028\x85,;'"
SENTENCE = DrawnSentence(
    review_id="r1a2b3c4d-a",
    qid=TEXT,
    sentence=3,
    text=TEXT,
    stratum=0,
    probability=1 / 3,
    weight=0.1,
    outcome=Verdict(support=Support.FULL, source="llm", signature="s"),
)
NAME = "r1a2b3c4d"
DRAW = Draw(
    draw="r1a2b3c4d",
    seed=0,
    size=1,
    results="abc",
    signature="s",
    strata=(stratum("supported", sums(10, 10), 1),),
    sentences=(SENTENCE,),
)
LABELS = [
    Label(
        review_id=f"r1a2b3c4d-{n}", qid=TEXT, sentence=n, supported=True, note=TEXT, reviewer="王"
    )
    for n in range(3)
]
AGREEMENT = BARE.model_copy(update={"signature": TEXT})


def test_a_link_that_was_planted_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "victim").write_text("precious")
    (tmp_path / "review").mkdir()
    names = ("agreement.json", "agreement.html", "review/r1a2b3c4d.json")
    for name in names:
        (tmp_path / name).symlink_to(tmp_path / "victim")
    write_findings(tmp_path, AGREEMENT, "<html>")
    write_draw(tmp_path, DRAW)
    assert (tmp_path / "victim").read_text() == "precious"
    assert not any((tmp_path / name).is_symlink() for name in names)
    assert read_draw(tmp_path, "r1a2b3c4d") == DRAW


def test_what_is_damaged(tmp_path: Path) -> None:
    (tmp_path / "review").mkdir()
    for data in (b"", b"{", b"{}", b"\xff", b"\x00" * 9, b"[]"):
        (tmp_path / "review" / f"{NAME}.json").write_bytes(data)
        (tmp_path / "review" / f"{NAME}.labels.jsonl").write_bytes(b"\n" + data)
        with pytest.raises(RunError, match=r"r1a2b3c4d\.json: damaged"):
            read_draw(tmp_path, NAME)
        with pytest.raises(RunError, match=r"labels\.jsonl, line 1: damaged"):
            read_labels(tmp_path, NAME)


def test_a_draw_edited_by_hand_is_refused(tmp_path: Path) -> None:
    edits = [
        ('"probability": 0.33', '"probability": 0'),
        ('"probability": 0.33', '"probability": NaN'),
        ('"stratum": 0', '"stratum": 1'),
        ('"stratum": 0', '"stratum": -1'),
        ('"weight": 0.1', '"weight": 0'),
        ('"drawn": 1', '"drawn": 0'),
        ('"weight": 10.0', '"weight": NaN'),
        ('"draw": "r1a2b3c4d"', '"draw": "../../evil"'),
        ('"draw": "r1a2b3c4d"', '"draw": "r00000000"'),
    ]
    path = write_draw(tmp_path, DRAW)
    text = path.read_text(encoding="utf-8")
    for before, after in edits:
        assert before in text
        path.write_text(text.replace(before, after), encoding="utf-8")
        with pytest.raises(RunError, match=r"r1a2b3c4d\.json: .*; remove it, and make the same"):
            read_draw(tmp_path, NAME)


def test_nothing_is_written_over(tmp_path: Path) -> None:
    path = tmp_path / "golden.jsonl"
    check_output(path, [tmp_path / "in.jsonl"], force=False)
    path.write_text("mine")
    with pytest.raises(RunError, match=r"golden\.jsonl: .*--force"):
        check_output(path, [], force=False)
    check_output(path, [], force=True)
    with pytest.raises(RunError, match="made from, or would lie in it; name another -o"):
        check_output(tmp_path / "x" / ".." / "golden.jsonl", [path], force=True)
    with pytest.raises(RunError, match="would lie in it"):
        check_output(tmp_path / "review" / "new" / "x.jsonl", [tmp_path / "review"], force=True)
    check_output(tmp_path / "review2.jsonl", [tmp_path / "review"], force=False)
    with pytest.raises(RunError, match="is no file that could be replaced"):
        check_output(tmp_path, [path], force=True)
    (tmp_path / "a").symlink_to(tmp_path / "b")
    (tmp_path / "b").symlink_to(tmp_path / "a")
    for odd in ("a", "长" * 200):
        with pytest.raises(RunError, match="cannot be written"):
            check_output(tmp_path / odd, [path], force=True)
    assert path.read_text() == "mine"


def test_what_cannot_be_written_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(RunError, match=r"golden\.jsonl: cannot be written .*; name another -o"):
        write_whole(tmp_path / "file" / "golden.jsonl", ["a\n"])
    (tmp_path / "folder").mkdir()
    with pytest.raises(RunError, match=r"folder: is no file .*; name another -o"):
        write_whole(tmp_path / "folder", ["a\n"])
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "folder"]
