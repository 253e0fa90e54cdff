from collections.abc import Sequence

from judge.answer.citations import audit
from judge.records import (
    Chunk,
    Citation,
    JudgeOutcome,
    JudgeRequest,
    Sentence,
    Support,
    Unscored,
    UnscoredReason,
    Verdict,
)

TIMEOUT = Unscored(reason=UnscoredReason.TIMEOUT)


def verdict(
    support: Support,
    *supporting: str,
    cited: Support | None = None,
    fallback_from: Unscored | None = None,
) -> Verdict:
    return Verdict(
        support=support,
        supporting=supporting,
        cited_support=cited,
        source="llm",
        signature="s",
        fallback_from=fallback_from,
    )


FULL, PARTIAL, NONE = Support.FULL, Support.PARTIAL, Support.NONE
CONTRADICTED, NO_CLAIM = Support.CONTRADICTED, Support.NO_CLAIM


# An outcome, and the citations of its sentence as they are audited: `b unsupported c` names c
# instead of b, `?` resolves to nothing.
AUDITS: dict[str, tuple[JudgeOutcome | None, str]] = {
    "a supporting chunk is valid, another is not": (
        verdict(FULL, "a", cited=FULL),
        "a valid, b unsupported",
    ),
    "the first supporting chunk that is not cited is suggested": (
        verdict(PARTIAL, "a", "c", "d"),
        "a valid, b unsupported c, ? dangling c",
    ),
    "the only citation stands with the cited support": (verdict(FULL, cited=PARTIAL), "b valid"),
    "and falls with none": (verdict(FULL, cited=NONE), "b unsupported"),
    "or contradicted": (verdict(FULL, cited=CONTRADICTED), "b unsupported"),
    "the same chunk twice is still the only one": (verdict(FULL, cited=FULL), "b valid, b valid"),
    "beside one that dangles, too": (verdict(FULL, "c", cited=FULL), "b valid, ? dangling c"),
    "cited support tells of several together, where none of them holds alone": (
        verdict(FULL, "c", cited=FULL),
        "a valid, b valid",
    ),
    "nothing is valid or suggested where nothing supports": (
        verdict(NONE, "a", "c", cited=FULL),
        "a unsupported, ? dangling",
    ),
    "nor where something contradicts": (
        verdict(CONTRADICTED, "a", "c", cited=FULL),
        "a unsupported, ? dangling",
    ),
    "no verdict": (TIMEOUT, "a unjudged, ? dangling"),
    "a fallback's verdict": (
        verdict(FULL, "a", "b", cited=FULL, fallback_from=TIMEOUT),
        "a unjudged, ? dangling",
    ),
    "a fallback that sees no claim": (
        verdict(NO_CLAIM, "a", fallback_from=TIMEOUT),
        "a unjudged, ? dangling",
    ),
    "no claim is listed and never counted": (verdict(NO_CLAIM, "a"), "a -, ? -"),
    "nor is what was not asked": (None, "a -, ? -"),
}


ASKED = JudgeRequest(
    query="",
    answer="It is so.",
    sentences=tuple(Sentence(index=n, start=0, end=9, text="It is so.") for n in range(5)),
    ask=(0, 1, 4),
    chunks=tuple(Chunk(chunk_id=name, text="") for name in "abcd"),
)


def audited(named: Sequence[str], outcomes: dict[int, JudgeOutcome], sentence: int = 4) -> str:
    citations = [
        Citation(
            sentence=sentence,
            marker="[x]",
            start=place,
            end=place + 3,
            chunk_id=None if name == "?" else name,
        )
        for place, name in enumerate(named)
    ]
    found = audit(citations, outcomes, ASKED)
    assert all(bool(c.reason) == (c.status not in {None, "valid"}) for c in found)
    assert [c.start for c in found] == list(range(len(named)))
    return ", ".join(
        " ".join([c.chunk_id or "?", c.status or "-", *([c.suggested] if c.suggested else [])])
        for c in found
    )


def test_an_audit_holds_citations_against_the_verdict() -> None:
    found = {}
    for case, (outcome, wanted) in AUDITS.items():
        named = [one[0] for one in wanted.split(", ")]
        found[case] = (outcome, audited(named, {4: outcome} if outcome else {}))
    assert found == AUDITS
