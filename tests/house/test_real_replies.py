"""Real replies of real judges, asked in other words than ours: the parser invents no label."""

import json
from pathlib import Path

import pytest

from judge.judges.prompted import parse
from judge.records import Chunk, JudgeRequest, Sentence, Support

DATA = Path(__file__).resolve().parents[3] / "shared" / "data" / "judges"
ASKED = JudgeRequest(
    query="",
    answer="x",
    sentences=(Sentence(index=0, start=0, end=1, text="x"),),
    ask=(0,),
    chunks=(Chunk(chunk_id="a", text="x"),),
)
# How WiCE's labels are called here: "not supported" is `none` or `contradicted`.
MEANS = {
    "supported": {Support.FULL},
    "partially_supported": {Support.PARTIAL},
    "not_supported": {Support.NONE, Support.CONTRADICTED},
}


def rows(name: str) -> list[dict[str, str]]:
    path = DATA / f"{name}_replies.jsonl"
    if not path.exists():
        pytest.skip("no shared data beside this checkout")
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


@pytest.mark.parametrize(
    ("name", "field", "count"),
    [("wice", "raw_response", 986), ("halueval", "judgement_raw", 807)],
)
def test_a_reply_in_another_form_is_no_verdict(name: str, field: str, count: int) -> None:
    parsed = [parse(row[field], ASKED, "s") for row in rows(name)]
    assert len(parsed) == count
    assert [each.verdicts for each in parsed] == [{}] * count
    assert {fault for each in parsed for fault in each.faulty.values()} == {"it holds no JSON"}


def test_the_same_judgements_in_our_form_are_read_right() -> None:
    for row in rows("wice"):
        label = max(MEANS[row["verdict"]]).value
        said = {"id": "s1", "support": label, "reason": row["explanation"]}
        # With the judge's own words around it, which name other labels, too.
        text = f"{row['raw_response']}\n{json.dumps({'verdicts': [said]})}"
        verdict = parse(text, ASKED, "s").verdicts[0]
        assert verdict.support in MEANS[row["verdict"]]
        assert len(verdict.reason) <= 300
