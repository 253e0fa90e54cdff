from collections.abc import Sequence

import pytest
from pydantic import JsonValue

from judge import Chunk, Flag, FlagName, JudgeRequest, Judgment, Sentence, Support, Verdict
from judge.compose import compose
from judge.judges.repeated import RepeatedJudge
from tests.chat_call import ChatCall
from tests.replies import Answer, Says, packed, right, verdict
from tests.server import JudgeServer

pytestmark = pytest.mark.usefixtures("place")

ROOMS = tuple(f"Room {number} opens at {number + 6} in the morning." for number in range(1, 4))


def request(chunks: Sequence[str] = ROOMS) -> JudgeRequest:
    """Two sentences, of which the second cites the third chunk."""
    texts = ("Room 2 opens at 8.", "Room 3 opens at 9 [3].")
    return JudgeRequest(
        query="When?",
        answer=" ".join(texts),
        sentences=tuple(Sentence(index=i, start=0, end=1, text=t) for i, t in enumerate(texts)),
        ask=(0, 1),
        chunks=tuple(Chunk(chunk_id=f"doc{at}", text=text) for at, text in enumerate(chunks)),
        cites={1: (2,)},
    )


def pointing(asked: ChatCall) -> Answer:
    """Quote the chunk of the sentence's own room, by the number under which it was shown."""
    if asked.is_probe:
        return right(asked)
    listed: list[dict[str, JsonValue]] = []
    for name in asked.ids:
        room = asked.sentences[name][:6]
        number, text = next(each for each in enumerate(asked.chunks, 1) if room in each[1])
        evidence: JsonValue = [{"chunk": number, "quote": text}]
        listed.append(verdict(asked, name) | {"evidence": evidence, "supporting": [number]})
    return Says(packed(listed))


async def test_a_repeat_has_its_own_seed_and_order_and_means_the_same_chunks() -> None:
    with JudgeServer(pointing) as server:
        async with compose(server.config(cache=True)) as judges:
            assert judges.repeat_judge is not None
            for _ in range(2):  # past the cache, the second time as well
                for seed, order in ((0, 0), (1, 0), (0, 1), (1, 1), (2, 2)):
                    judgment = await judges.repeat_judge(seed, order).judge(request())
                    for index, name in enumerate(("doc1", "doc2")):
                        outcome = judgment.outcomes[index]
                        assert isinstance(outcome, Verdict)
                        assert outcome.supporting == (name,)
                        assert [each.chunk_id for each in outcome.evidence] == [name]
                        assert f"|seed:{7 + seed}|" in outcome.signature
        asked = server.requests[1:]
    assert [each.body["seed"] for each in asked] == [7, 8, 7, 8, 9] * 2
    shown = [each.chunks for each in asked]
    assert shown[0] == shown[1] == list(ROOMS)
    assert shown[2] == shown[3]
    assert len({tuple(each) for each in shown}) == 3
    # What is cited is the same text, whatever its number.
    assert all(each.chunks[each.cites["s2"][0] - 1] == ROOMS[2] for each in asked)


class Scripted:
    """Says such a label of the first sentence, and raises such a flag."""

    signature = "llm:m@host|seed:7"

    def __init__(self, label: str, flag: FlagName | None = None) -> None:
        outcome = Verdict(support=Support(label), source="llm", signature=self.signature)
        flags = (Flag(name=flag, sentence=0),) if flag else ()
        self._judgment = Judgment(outcomes={0: outcome}, flags=flags)

    async def judge(self, _: JudgeRequest) -> Judgment:
        return self._judgment


async def test_flags_are_those_of_the_verdict_that_is_kept() -> None:
    conflict, unjudged = FlagName.CONFLICTING_EVIDENCE, FlagName.UNJUDGED_EVIDENCE
    first, other = Scripted("partial", unjudged), Scripted("none", conflict)
    for others, names in (
        ((other, other), [conflict, FlagName.FLIPPED]),
        ((other,), [unjudged, FlagName.FLIPPED]),
        ((first, first), [unjudged]),
    ):
        judge = RepeatedJudge(first, *others)
        asked = request().model_copy(update={"ask": (0,)})
        assert [flag.name for flag in (await judge.judge(asked)).flags] == names
        assert judge.signature == f"llm:m@host|seed:7|repeat:{1 + len(others)}"
