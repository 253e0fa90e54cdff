from collections.abc import Callable
from pathlib import Path

import pytest

from judge.errors import RunError
from judge.records import Support, Verdict
from judge.review.folder import (
    discard_findings,
    draw_names,
    read_agreement,
    read_draw,
    read_labels,
    write_agreement,
    write_draw,
    write_labels,
    write_page,
)
from judge.review.records import Agreement, Draw, DrawnSentence, Label
from tests.drawn import stratum, sums

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
DRAW = Draw(
    draw="r1a2b3c4d",
    by="sentence",
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
AGREEMENT = Agreement.model_validate(
    dict.fromkeys(("agreement", "kappa", "base_rate", "alpha", "brier", "calibration_error"))
    | dict.fromkeys(("drawn", "labelled", "partly", "labels", "compared", "shared"), 0)
    | dict.fromkeys(("reviewers", "accuracy", "corrected", "strata", "disagreements"), ())
    | {"draw": "r1a2b3c4d", "by": "sentence", "signature": TEXT, "scale": "labels"}
)


def test_what_is_written_is_read(tmp_path: Path) -> None:
    path = write_draw(tmp_path, DRAW)
    assert path == tmp_path / "review" / "r1a2b3c4d.json"
    assert read_draw(tmp_path, "r1a2b3c4d") == DRAW
    write_labels(tmp_path, "r1a2b3c4d", LABELS)
    assert read_labels(tmp_path, "r1a2b3c4d") == LABELS
    assert write_agreement(tmp_path, AGREEMENT) == tmp_path / "agreement.json"
    assert read_agreement(tmp_path) == AGREEMENT
    # For people, too.
    assert "周一 “开放” 😀" in path.read_text(encoding="utf-8")


def test_what_is_not_there(tmp_path: Path) -> None:
    assert read_draw(tmp_path, "r1a2b3c4d") is None
    assert read_labels(tmp_path, "r1a2b3c4d") == []
    assert draw_names(tmp_path) == []
    with pytest.raises(RunError, match="no labels were imported; judge review import"):
        read_agreement(tmp_path)


def test_labels_take_the_place_of_those_before(tmp_path: Path) -> None:
    write_labels(tmp_path, "r1a2b3c4d", LABELS)
    write_labels(tmp_path, "r2", LABELS[:1])
    write_labels(tmp_path, "r1a2b3c4d", LABELS[2:])
    assert read_labels(tmp_path, "r1a2b3c4d") == LABELS[2:]
    assert read_labels(tmp_path, "r2") == LABELS[:1]
    write_labels(tmp_path, "r1a2b3c4d", [])
    assert read_labels(tmp_path, "r1a2b3c4d") == []


def test_draws_are_named_without_their_labels(tmp_path: Path) -> None:
    for name in ("rb", "ra"):
        write_draw(tmp_path, DRAW.model_copy(update={"draw": name}))
        write_labels(tmp_path, name, LABELS)
    assert draw_names(tmp_path) == ["ra", "rb"]
    assert len(list((tmp_path / "review").iterdir())) == 4


def write(path: Path, data: bytes) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(data)


@pytest.mark.parametrize("data", [b"", b"{", b"{}", b"\xff", b"\x00" * 9, b"[]"])
def test_what_is_damaged(tmp_path: Path, data: bytes) -> None:
    write(tmp_path / "review" / "r1a2b3c4d.json", data)
    write(tmp_path / "agreement.json", data)
    write(tmp_path / "review" / "r1a2b3c4d.labels.jsonl", b"\n" + data)
    with pytest.raises(RunError, match=r"r1a2b3c4d\.json: damaged"):
        read_draw(tmp_path, "r1a2b3c4d")
    with pytest.raises(RunError, match=r"agreement\.json: damaged"):
        read_agreement(tmp_path)
    with pytest.raises(RunError, match=r"labels\.jsonl, line 1: damaged"):
        read_labels(tmp_path, "r1a2b3c4d")


WRITES: list[Callable[[Path], Path]] = [
    lambda run: write_draw(run, DRAW),
    lambda run: write_labels(run, "r1a2b3c4d", LABELS),
]


@pytest.mark.parametrize("kept", WRITES)
def test_where_nothing_can_be_written(tmp_path: Path, kept: Callable[[Path], Path]) -> None:
    (tmp_path / "review").write_text("a file")
    with pytest.raises(RunError, match=r"r1a2b3c4d\..*: cannot be written \("):
        kept(tmp_path)
    with pytest.raises(RunError, match="cannot be written"):
        kept(tmp_path / "nowhere" / "run")
    assert (tmp_path / "review").read_text() == "a file"


@pytest.mark.parametrize("read", [read_draw, read_labels])
def test_where_nothing_can_be_read(tmp_path: Path, read: Callable[[Path, str], object]) -> None:
    for name in ("r1a2b3c4d.json", "r1a2b3c4d.labels.jsonl"):
        (tmp_path / "review" / name).mkdir(parents=True)
    with pytest.raises(RunError, match="cannot be read"):
        read(tmp_path, "r1a2b3c4d")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('"probability": 0.33', '"probability": 0'),
        ('"probability": 0.3', '"probability": -0.3'),
        ('"probability": 0.33', '"probability": 5.'),
        ('"probability": 0.33', '"probability": NaN'),
        ('"stratum": 0', '"stratum": 1'),
        ('"stratum": 0', '"stratum": -1'),
        ('"weight": 0.1', '"weight": 0'),
        ('"drawn": 1', '"drawn": 0'),
        ('"weight": 10.0', '"weight": NaN'),
        ('"draw": "r1a2b3c4d"', '"draw": "../../evil"'),
        ('"draw": "r1a2b3c4d"', '"draw": "r00000000"'),
    ],
)
def test_a_draw_edited_by_hand_is_refused(tmp_path: Path, before: str, after: str) -> None:
    path = write_draw(tmp_path, DRAW)
    text = path.read_text(encoding="utf-8")
    assert before in text
    path.write_text(text.replace(before, after), encoding="utf-8")
    with pytest.raises(RunError, match=r"r1a2b3c4d\.json: .*; remove it, and make the same draw"):
        read_draw(tmp_path, "r1a2b3c4d")


def test_what_labels_said_can_be_taken_back(tmp_path: Path) -> None:
    write_agreement(tmp_path, AGREEMENT)
    write_page(tmp_path, "<p>")
    discard_findings(tmp_path)
    assert list(tmp_path.iterdir()) == []
    discard_findings(tmp_path)
    (tmp_path / "agreement.json").mkdir()
    with pytest.raises(RunError, match="cannot be removed"):
        discard_findings(tmp_path)
