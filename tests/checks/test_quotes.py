from hypothesis import given
from hypothesis import strategies as st

from judge.checks.quotes import find_quote, flag_quotes, verify
from judge.records import (
    Chunk,
    Evidence,
    Flag,
    FlagName,
    JudgeOutcome,
    Rules,
    Support,
    Unscored,
    UnscoredReason,
    Verdict,
)
from judge.text.fold import fold

EN = (
    "Refunds are paid within thirty days. A “gold” member pays no fee, up to 1,000.50 euros a year."
)
ZH = "差旅标准：一线城市每人每晚不超过600元，\n省会城市不超过450元。超出部分由员工本人承担。"

LOST = Evidence(chunk_id="a", quote="q")
FOUND = Evidence(chunk_id="a", quote="q", verified=True)


def verdict(*evidence: Evidence, support: Support = Support.FULL) -> Verdict:
    return Verdict(support=support, evidence=evidence, source="llm", signature="s")


def checked(outcome: JudgeOutcome, *chunks: Chunk, require: bool = False) -> JudgeOutcome:
    return verify({0: outcome}, chunks, Rules(require_quotes=require))[0]


QUOTES = (
    ("refunds are  PAID within", EN, "Refunds are paid within"),
    ('A "gold" member pays', EN, "A “gold” member pays"),
    ("Ｒｅｆｕｎｄｓ are paid within", EN, "Refunds are paid within"),
    ("Refunds are paid … member pays no fee", EN, EN[: EN.index(", up")]),
    ("Refunds are paid ... no fee", EN, None),  # no part is long enough
    ("Refunds are paid within [...] no fee", EN, EN[: EN.index(", up")]),
    ("…paid within thirty days…", EN, "paid within thirty days"),
    ("A gold member pays no fee … Refunds are paid within", EN, None),  # without its marks
    ("member pays no fee, up … Refunds are paid within", EN, None),  # out of order
    ("一线城市每人每晚不超过600元，省会城市", ZH, "一线城市每人每晚不超过600元，\n省会城市"),
    ("一线城市每人每晚不超过６００元", ZH, "一线城市每人每晚不超过600元"),
    ("一线城市每人每晚……由员工本人承担", ZH, ZH[ZH.index("一线") : -1]),
    ("由员工本人承担……一线城市每人每晚", ZH, None),
    ("省会城市", ZH, None),  # four characters could stand anywhere
    ("pays no fee", EN, None),
    ("省会城市", "省会城市", "省会城市"),
    ("thirty", "thirty days", None),
    ("fees are paid within 30", "fees are paid within 300 days", None),
    ("funds are paid within", EN, None),  # begins inside a word
    ("Refunds are paid wit", EN, None),  # ends inside one
    ("no fee, up to 1,000", EN, None),  # ends inside a number
    ("50 euros a year.", EN, None),
    ("一线城市每人每晚不超过60", ZH, None),
    ("", EN, None),
    ("", "", None),
    ("Refunds are paid within thirty days", "", None),
    # A bare chunk is quoted whole, with or without its full stop.
    ("Seven", "Seven.", "Seven."),
    ("Seven.", "Seven", "Seven"),
    ("seven!", "“Seven.”", None),
    ("5", ".5", None),
    (".", "。", None),
    # Where markers were blank.
    (
        "It opens at seven, daily.",
        "It opens at seven    , daily   .",
        "It opens at seven    , daily   .",
    ),
    ("It opens at seven .", "It opens at seven.", "It opens at seven."),
    ("version 7.5 is out now", "version 7 .5 is out now", None),
    # A number or a word that goes on behind a sign which folding changes.
    ("罚款金额为人民币10", "罚款金额为人民币10，000元", None),
    ("the new owner is in", "the new owner is in\u00advalid", None),
    ("we went to the old cafe", "we went to the old cafe\u0301", None),
    # An earlier place inside a word hides no later one.
    (
        "sell buy and keep",
        "They outsell buy and keep it. Sell buy and keep it.",
        "Sell buy and keep",
    ),
)


def test_a_quote_is_found_as_the_chunks_own_characters() -> None:
    def found(quote: str, chunk: str) -> str | None:
        span = find_quote(quote, chunk)
        return chunk[slice(*span)] if span else None

    assert [row for row in QUOTES if found(row[0], row[1]) != row[2]] == []


def test_a_verdict_gets_the_chunks_characters_and_their_offsets() -> None:
    given_ = verdict(Evidence(chunk_id="b", quote="一线城市每人每晚不超过６００元，省会"))
    outcome = checked(given_, Chunk(chunk_id="a", text=EN), Chunk(chunk_id="b", text=ZH))
    assert isinstance(outcome, Verdict)
    (found,) = outcome.evidence
    assert found.verified
    assert ZH[found.start : found.end] == found.quote == "一线城市每人每晚不超过600元，\n省会"
    assert outcome.support is Support.FULL


def test_what_evidence_says_of_itself_is_not_believed() -> None:
    quote = "Refunds are paid within"
    for start, end in ((5, 9), (0, 4000), (-4, 23), (23, 0), (0, None), (None, 23)):
        lie = Evidence(chunk_id="a", quote=quote, start=start, end=end)
        outcome = checked(verdict(lie), Chunk(chunk_id="a", text=EN))
        assert outcome == verdict(
            Evidence(chunk_id="a", quote=quote, start=0, end=23, verified=True)
        )
    lie = Evidence(chunk_id="a", quote="short one", start=0, end=99)
    outcome = checked(verdict(lie), Chunk(chunk_id="a", text="short one"))
    assert isinstance(outcome, Verdict)
    assert outcome.evidence[0].end == 9
    lie = Evidence(chunk_id="a", quote="never said in it", start=0, end=16, verified=True)
    outcome = checked(verdict(lie), Chunk(chunk_id="a", text=EN))
    assert outcome == verdict(Evidence(chunk_id="a", quote="never said in it"))


REQUIRED = (
    (Support.FULL, "never said in the chunk", False),
    (Support.PARTIAL, "never said in the chunk", False),
    (Support.FULL, None, False),
    (Support.FULL, "refunds are paid within", True),
    (Support.NONE, None, True),
    (Support.CONTRADICTED, "never said in the chunk", True),
    (Support.NO_CLAIM, None, True),
)


def test_quotes_can_be_required() -> None:
    for support, quote, kept in REQUIRED:
        evidence = (Evidence(chunk_id="a", quote=quote),) if quote else ()
        given_ = verdict(*evidence, support=support)
        outcome = checked(given_, Chunk(chunk_id="a", text=EN), require=True)
        if kept:
            assert isinstance(outcome, Verdict)
            assert outcome.support is support
        else:
            assert isinstance(outcome, Unscored)
            assert outcome.reason is UnscoredReason.UNVERIFIED


_WORDS = st.lists(st.text(st.sampled_from("abcdeé'“ß"), min_size=1), min_size=4)
_HAN = st.text(st.sampled_from("差旅标准规定，。 \n一二三"), min_size=8)


@given(
    st.tuples(_WORDS, _WORDS, _WORDS).map(
        lambda each: (
            "\n ".join([*each[0], *each[1], "four words at least", *each[2]]),
            " ".join([*each[1], "four words at least"]),
        )
    )
    | st.tuples(_HAN, _HAN, _HAN).map(
        lambda each: (f"{each[0]}{each[1]}一线城市每人每晚{each[2]}", f"{each[1]}一线城市每人每晚")
    )
)
def test_what_is_cut_out_of_a_chunk_is_found(row: tuple[str, str]) -> None:
    chunk, quote = row
    span = find_quote(quote, chunk)
    assert span is not None
    assert fold(chunk[slice(*span)]).text == fold(quote).text


def test_support_without_a_found_quote_is_flagged_in_the_order_of_the_sentences() -> None:
    outcomes: dict[int, JudgeOutcome] = {
        7: verdict(LOST, support=Support.PARTIAL),
        0: verdict(LOST),
        1: verdict(FOUND),
        2: verdict(LOST, support=Support.NONE),
        3: verdict(LOST, support=Support.CONTRADICTED),
        4: verdict(LOST, support=Support.NO_CLAIM),
        5: Unscored(reason=UnscoredReason.TIMEOUT),
        6: verdict(),
    }
    assert flag_quotes(outcomes) == tuple(
        Flag(name=FlagName.UNVERIFIED_QUOTE, sentence=index) for index in (0, 6, 7)
    )
