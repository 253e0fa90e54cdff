from collections.abc import Mapping, Sequence
from itertools import permutations, product

from judge.backends.fake import FakeJudge
from judge.judges.windowed import WindowedJudge, merge
from judge.records import (
    Call,
    Evidence,
    Flag,
    FlagName,
    JudgeOutcome,
    JudgeRequest,
    Judgment,
    Reply,
    Support,
    Unscored,
    UnscoredReason,
    Verdict,
)
from tests.requests import request

LOST = Unscored(reason=UnscoredReason.TIMEOUT, detail="window")


def verdict(label: str, cited: str | None = None, name: str = "", *quotes: str) -> Verdict:
    return Verdict(
        support=Support(label),
        evidence=tuple(Evidence(chunk_id=name, quote=quote) for quote in quotes),
        supporting=(name,) if name else (),
        cited_support=Support(cited) if cited else None,
        reason=f"because {name}",
        source="llm",
        signature="s",
    )


def outcome(word: str) -> JudgeOutcome:
    return LOST if word == "unscored" else verdict(word)


def told(found: JudgeOutcome) -> str:
    return found.support.value if isinstance(found, Verdict) else "unscored"


ORDER = ("full", "unscored", "contradicted", "partial", "none", "no_claim")
"""The first that any window gives holds."""


def test_the_first_rule_that_holds_decides() -> None:
    wrong = []
    for count in (1, 2, 3, 4):
        for words in product(ORDER, repeat=count):
            found = told(merge([outcome(word) for word in words], [False] * count))
            if found != min(words, key=ORDER.index):
                wrong.append((words, found))
    assert wrong == []


BEST: list[tuple[list[str | None], str | None]] = [
    (["full", "none"], "full"),
    (["contradicted", "partial", "none"], "partial"),
    (["none", "contradicted"], "contradicted"),
    (["none", None], "none"),
    ([None, None], None),
]


def test_cited_support_is_the_best_of_the_windows_with_a_cited_chunk() -> None:
    for cited, best in BEST:
        windows = [verdict("full", each) for each in cited]
        holding = [True] * len(cited) + [False, False]
        found = merge([*windows, verdict("full", "full"), LOST], holding)
        assert isinstance(found, Verdict)
        assert found.cited_support == best


# What was said of the sentence, and of the cited chunks by the windows that hold one.
CITED: dict[tuple[tuple[str, str | None], ...], str] = {
    (("full", None), ("full", "full")): "full",
    (("full", None), ("unscored", None)): "full",
    (("full", None), ("unscored", "lost")): "unscored",
    (("full", "none"), ("unscored", None)): "full",
    (("full", "none"), ("unscored", "lost")): "unscored",
    (("full", "partial"), ("unscored", "lost")): "unscored",
    (("full", "contradicted"), ("unscored", "lost")): "unscored",
    # One of two cited chunks is not judged: its citation must not count as unsupported.
    (("full", "full"), ("unscored", "lost")): "unscored",
    (("full", "full"), ("unscored", None)): "full",
    (("full", "full"), ("unscored", "lost"), ("none", "none")): "unscored",
    (("full", None), ("none", "none"), ("unscored", None)): "full",
    (("none", "none"), ("unscored", "lost")): "unscored",
    (("no_claim", None), ("unscored", "lost")): "unscored",
}


def test_an_unscored_window_with_a_cited_chunk_comes_before_full() -> None:
    wrong = []
    for windows, merged in CITED.items():
        for order in permutations(windows):
            outcomes = [LOST if word == "unscored" else verdict(word, says) for word, says in order]
            if told(merge(outcomes, [says is not None for _, says in order])) != merged:
                wrong.append(order)
    assert wrong == []


def asked(
    chunks: Sequence[str], cites: Mapping[int, tuple[int, ...]] | None = None
) -> JudgeRequest:
    return request("xy", chunks, cites, query="q")


def always(label: str = "none") -> FakeJudge:
    return FakeJudge({"x": verdict(label), "y": verdict(label)})


class InTurn:
    """Judges window after window by a script."""

    signature = "in turn"

    def __init__(self, *judgments: Judgment) -> None:
        self.judgments = list(judgments)

    async def judge(self, request: JudgeRequest) -> Judgment:
        assert request.chunks
        return self.judgments.pop(0)


async def test_short_evidence_is_one_unchanged_request() -> None:
    for count in (0, 1, 10):
        # Ten chunks of ten tokens: 100, the limit.
        whole = asked(["说" * 10] * count, {0: (0,)} if count else {})
        inner = always()
        judgment = await WindowedJudge(inner, max_evidence_tokens=100).judge(whole)
        assert [each is whole for each in inner.requests] == [True]
        assert len(judgment.outcomes) == 2


async def test_long_evidence_is_packed_in_order() -> None:
    sizes = [60, 40, 30, 80, 10, 10, 90, 20]
    whole = asked([str(i) + "说" * (size - 1) for i, size in enumerate(sizes)])
    inner = always()
    await WindowedJudge(inner, max_evidence_tokens=100).judge(whole)
    windows = [[chunk.chunk_id for chunk in each.chunks] for each in inner.requests]
    assert windows == [["c0", "c1"], ["c2"], ["c3", "c4", "c5"], ["c6"], ["c7"]]
    assert [c for each in inner.requests for c in each.chunks] == list(whole.chunks)
    for each in inner.requests:
        rest: dict[str, object] = {"chunks": (), "cites": {}}
        assert each.model_copy(update=rest) == whole.model_copy(update=rest)


async def test_citations_point_into_their_window() -> None:
    # Windows: (0, 1), (2, 3), (4,).
    inner = always()
    whole = asked(["说" * 50] * 5, {0: (1, 2, 4), 1: (3,)})
    await WindowedJudge(inner, max_evidence_tokens=100).judge(whole)
    assert [each.cites for each in inner.requests] == [{0: (1,)}, {0: (0,), 1: (1,)}, {0: (0,)}]


def call(name: str) -> Call:
    return Call(model=name, prompt_tokens=1, reply_tokens=2, seconds=0.1)


def window(name: str, first: JudgeOutcome, second: JudgeOutcome, *flags: Flag) -> Judgment:
    return Judgment(
        outcomes={0: first, 1: second},
        calls=(call(name),),
        replies=(Reply(text=name, call=call(name), sentences=(0, 1)),),
        flags=flags,
    )


async def test_windows_are_merged_sentence_by_sentence_and_conflicts_flagged() -> None:
    seen = Flag(name=FlagName.INJECTION_SUSPECTED)
    inner = InTurn(
        window("a", verdict("contradicted", None, "c0"), verdict("partial", "partial", "c0"), seen),
        window("b", verdict("full", "full", "c1"), verdict("contradicted", "none"), seen),
        window("c", LOST, verdict("none")),
    )
    judge = WindowedJudge(inner, max_evidence_tokens=100)
    judgment = await judge.judge(asked(["说" * 90] * 3, {0: (1,), 1: (0, 1)}))
    assert {i: told(each) for i, each in judgment.outcomes.items()} == {
        0: "full",
        1: "contradicted",
    }
    first, second = judgment.outcomes[0], judgment.outcomes[1]
    assert isinstance(first, Verdict)
    assert isinstance(second, Verdict)
    assert (first.supporting, first.cited_support) == (("c1",), Support.FULL)
    assert (second.supporting, second.cited_support) == (("c0",), Support.PARTIAL)
    conflict, unjudged = FlagName.CONFLICTING_EVIDENCE, FlagName.UNJUDGED_EVIDENCE
    assert judgment.flags == (seen, *(Flag(name=name, sentence=0) for name in (conflict, unjudged)))
    assert [each.model for each in judgment.calls] == ["a", "b", "c"]
    assert [each.text for each in judgment.replies] == ["a", "b", "c"]
