from collections.abc import Mapping, Sequence
from itertools import permutations, product

import pytest

from judge.backends.fake import FakeJudge
from judge.errors import ConfigError
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
from judge.text.fold import estimate_tokens
from judge.text.pieces import pieces
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


def test_the_first_that_holds_decides_wherever_it_stands() -> None:
    wrong = []
    for count in (1, 2, 3, 4):
        for words in product(ORDER, repeat=count):
            found = told(merge([outcome(word) for word in words], [False] * count))
            if found != min(words, key=ORDER.index):
                wrong.append((words, found))
    assert wrong == []


def test_what_the_winners_said_is_kept_and_all_that_supports_is_named() -> None:
    windows = [
        verdict("contradicted", None, "a", "no"),
        verdict("partial", None, "b", "one", "two"),
        verdict("none", None, "", "nothing"),
        verdict("partial", None, "b", "two", "three"),
        verdict("partial", None, "c", "four"),
    ]
    found = merge(windows[1:], [False] * 4)
    assert isinstance(found, Verdict)
    assert [e.quote for e in found.evidence] == ["one", "two", "three", "four"]
    assert found.supporting == ("b", "c")
    assert (found.reason, found.source, found.signature) == ("because b", "llm", "s")
    found = merge(windows, [False] * 5)
    assert isinstance(found, Verdict)
    assert [e.quote for e in found.evidence] == ["no"]
    assert found.supporting == ("b", "c")
    assert found.reason == "because a"


BEST: list[tuple[list[str | None], str | None]] = [
    (["full", "none"], "full"),
    (["contradicted", "partial", "none"], "partial"),
    (["none", "contradicted"], "contradicted"),
    (["none", None], "none"),
    ([None, None], None),
]


def test_cited_support_is_the_best_of_the_windows_that_hold_a_cited_chunk() -> None:
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


def test_a_full_does_not_hide_that_what_is_cited_was_not_judged() -> None:
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


async def test_what_fits_is_one_request_unchanged() -> None:
    for count in (0, 1, 10):
        # Ten chunks of ten tokens: 100, the limit.
        whole = asked(["说" * 10] * count, {0: (0,)} if count else {})
        inner = always()
        judgment = await WindowedJudge(inner, max_evidence_tokens=100).judge(whole)
        assert [each is whole for each in inner.requests] == [True]
        assert len(judgment.outcomes) == 2


def test_a_window_has_room_and_the_judge_within_its_own_signature() -> None:
    assert WindowedJudge(always(), max_evidence_tokens=100).signature == always().signature
    with pytest.raises(ConfigError, match="must be at least 100, not 99"):
        WindowedJudge(always(), max_evidence_tokens=99)


async def test_what_does_not_fit_is_packed_in_order() -> None:
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


async def test_an_over_long_chunk_is_shown_in_pieces() -> None:
    text = "".join(f"The hotel costs {price} euros. " for price in range(100, 300))
    whole = asked(["Before.", text, "After."], {0: (1,)})
    inner = always()
    await WindowedJudge(inner, max_evidence_tokens=250).judge(whole)
    shown = []
    for each in inner.requests:
        assert sum(estimate_tokens(chunk.text) for chunk in each.chunks) <= 250
        own = [chunk.text for chunk in each.chunks if chunk.chunk_id == "c1"]
        assert len(own) == bool(each.cites)
        shown += own
    assert shown == [text[start:end] for start, end, _ in pieces(text, 250)]


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


async def test_a_window_without_an_outcome_is_a_failure_of_it() -> None:
    whole, gap = window("a", verdict("none"), verdict("full")), Judgment()
    judge = WindowedJudge(InTurn(whole, gap), max_evidence_tokens=100)
    judgment = await judge.judge(asked(["说" * 90] * 2))
    lost = judgment.outcomes[0]
    assert isinstance(lost, Unscored)
    assert lost.reason is UnscoredReason.MISSING
    assert told(judgment.outcomes[1]) == "full"
    assert judgment.flags == (Flag(name=FlagName.UNJUDGED_EVIDENCE, sentence=1),)


async def test_a_full_beside_a_failed_window_and_nothing_else_is_marked() -> None:
    unjudged = {FlagName.UNJUDGED_EVIDENCE}
    rows = {
        ("full", "unscored"): unjudged,
        ("unscored", "full"): unjudged,
        ("full", "contradicted", "unscored"): unjudged | {FlagName.CONFLICTING_EVIDENCE},
        ("full", "none"): set[FlagName](),
        ("partial", "unscored"): set[FlagName](),  # that is the failure itself
        ("unscored", "unscored"): set[FlagName](),
    }
    for words, flags in rows.items():
        inner = InTurn(*(window("w", outcome(word), verdict("none")) for word in words))
        judge = WindowedJudge(inner, max_evidence_tokens=100)
        judgment = await judge.judge(asked(["说" * 90] * len(words)))
        assert {flag.name for flag in judgment.flags if flag.sentence == 0} == flags, words
