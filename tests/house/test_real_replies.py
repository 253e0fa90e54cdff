"""Real replies of real judges: in another form they give no label, in ours they are read right."""

import json
from pathlib import Path

import pytest

from judge.judges.prompted import parse
from judge.pipeline import evaluate_sample
from judge.records import (
    Chunk,
    FlagName,
    JudgeRequest,
    Judgment,
    Rules,
    Sentence,
    Unscored,
    UnscoredReason,
    Verdict,
)
from tests.bench import labelled

DATA = Path(__file__).resolve().parents[3] / "shared" / "data" / "judges"
ASKED = JudgeRequest(
    query="",
    answer="x",
    sentences=(Sentence(index=0, start=0, end=1, text="x"),),
    ask=(0,),
    chunks=(Chunk(chunk_id="a", text="x"),),
)


def rows(name: str, kind: str = "replies") -> list[dict[str, str]]:
    path = DATA / f"{name}_{kind}.jsonl"
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


class Replying:
    """Answers a request about one row with the model's own replies."""

    signature = "llm:m@h"

    def __init__(self, replies: list[str]) -> None:
        self._replies = replies

    async def judge(self, request: JudgeRequest) -> Judgment:
        """Count the labels of the replies. A sentence without a label counts as missing."""
        found = [parse(reply, request, self.signature).verdicts for reply in self._replies]
        labels = {index: verdict for verdicts in found for index, verdict in verdicts.items()}
        missing = Unscored(reason=UnscoredReason.MISSING)
        return Judgment(outcomes={index: labels.get(index, missing) for index in request.ask})


@pytest.mark.parametrize(("name", "count"), [("ragtruth_qa_dev", 32), ("rgb_zh_en", 28)])
async def test_real_replies_to_our_prompt_are_read_whole_and_raise_no_flag(
    name: str, count: int
) -> None:
    replies: dict[str, list[str]] = {}
    for row in rows("llm", "replies_v2"):
        if row["set"] == name:
            replies.setdefault(row["id"], []).append(row["reply"])
    read = [row for row in labelled.rows(name) if row["id"] in replies]
    assert len(read) == count
    quotes = 0
    for row in read:
        judge = Replying(replies[row["id"]])
        result = await evaluate_sample(labelled.sample(row), judge, Rules())
        claims = [each.outcome for each in result.sentences if each.kind == "claim"]
        verdicts = [each for each in claims if isinstance(each, Verdict)]
        assert len(verdicts) == len(claims)
        assert all(quote.verified for each in verdicts for quote in each.evidence)
        # Some answers name passages in words, which only `--prose-citations` reads.
        assert {flag.name for flag in result.flags} <= {FlagName.UNMATCHED_MARKER}
        quotes += sum(len(each.evidence) for each in verdicts)
    assert quotes >= count
