import json
from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judge.judges.prompted import Parsed, parse
from judge.judges.prompted.reply import FaultError, find_values, parse_parts
from judge.records import Evidence, JudgeRequest, PartsVerdict, SentenceKind, Support, Verdict
from tests.requests import request

FULL, PARTIAL, NONE = Support.FULL, Support.PARTIAL, Support.NONE
CONTRADICTED, NO_CLAIM = Support.CONTRADICTED, Support.NO_CLAIM
BROKEN = "its JSON is broken"
NO_JSON = "it holds no JSON"


# JSON in a reply.

VALUES: list[tuple[str, list[object]]] = [
    ('{"a": 1}', [{"a": 1}]),
    ('```json\n{"a": 1}\n```', [{"a": 1}]),
    ('结果如下:{"a": "支持"}。谢谢', [{"a": "支持"}]),
    ('See [1] and [2, 3]: {"a": 1}. Done [4]', [{"a": 1}]),
    ('{"a": 1}{"b": 2}\n[{"c": 3}]', [{"a": 1}, {"b": 2}, [{"c": 3}]]),
    ('{"a": "} ] [1] \\" {"}', [{"a": '} ] [1] " {'}]),
    ('{"a": {"b": [{}]}}}}', [{"a": {"b": [{}]}}]),
    ("{ }", [{}]),
    ('{"a": "one\nline"}', [{"a": "one\nline"}]),
    ('in the set {x, y}: {"a": 1}', [{"a": 1}]),
    ('\ufeff{"a": 1}', [{"a": 1}]),
    ('<think>maybe {"a": 0}</think>{"a": 1}', [{"a": 1}]),
    ('\n<think>maybe {"a": </think>\n\n{"a": 1}', [{"a": 1}]),
    ('maybe {"a": 0} or {"a": </think>{"a": 1}', [{"a": 1}]),
    ('<think>a</think>{"a": 0}<think>no</think>{"a": 1}', [{"a": 1}]),
    ('{"a": "</think>"}', [{"a": "</think>"}]),
    ('{"a": 1234567890123456789}', [{"a": 1234567890123456789}]),
]


@pytest.mark.parametrize(("text", "values"), VALUES)
def test_values_are_found_within_prose(text: str, values: list[object]) -> None:
    assert find_values(text) == values


def test_values_that_the_model_was_shown_are_no_reply() -> None:
    shown = 'Judge this: {"a": 1} and [{"b": 2}].'
    assert find_values('I see {"a": 1}, so {"c": 3}', shown) == [{"c": 3}]
    with pytest.raises(FaultError, match="only repeats the request"):
        find_values(shown, shown)


# Verdicts.


def asked(
    ask: Sequence[int] = (0,),
    cites: Mapping[int, tuple[int, ...]] | None = None,
    ids: Sequence[str] = "abc",
) -> JudgeRequest:
    return request("x" * 9, [f"text of {name}" for name in ids], cites, ask, ids=ids)


def entry(number: int = 1, support: object = "full", **fields: object) -> dict[str, object]:
    return {"id": f"s{number}", "support": support, **fields}


def reply(*entries: object) -> str:
    return json.dumps({"verdicts": entries}, ensure_ascii=False)


def read(text: str, about: JudgeRequest | None = None) -> Parsed:
    return parse(text, about or asked(), "sig")


def one(given: Mapping[str, object], *cited: int) -> Verdict:
    parsed = read(reply(given), asked(cites={0: cited}))
    assert (parsed.missing, parsed.faulty) == ({}, {})
    return parsed.verdicts[0]


def test_a_correct_reply() -> None:
    text = reply(
        {
            "id": "s1",
            "evidence": [{"chunk": 2, "quote": "费用为十元"}, {"chunk": 1, "quote": " ten } [1] "}],
            "supporting": [2, 1],
            "support": "partial",
            "cited_support": "none",
            "reason": "日期\n未说明",
        },
        entry(3, "full", reason="all there", cited_support=None),
    )
    parsed = read(text, asked([0, 2], {0: (2,)}))
    assert parsed.verdicts == {
        0: Verdict(
            support=PARTIAL,
            evidence=(
                Evidence(chunk_id="b", quote="费用为十元"),
                Evidence(chunk_id="a", quote="ten } [1]"),
            ),
            supporting=("a", "b"),
            cited_support=NONE,
            reason="日期 未说明",
            source="llm",
            signature="sig",
        ),
        2: Verdict(support=FULL, source="llm", signature="sig"),
    }
    assert (parsed.missing, parsed.faulty) == ({}, {})


SHAPES = [
    '{"verdicts": [{"id": "s1", "support": "full"}, {"id": "s2", "support": "none"}]}',
    '[{"id": "s1", "support": "full"}, {"id": "s2", "support": "none"}]',
    '[{"verdicts": [{"id": "s1", "support": "full"}, {"id": "s2", "support": "none"}]}]',
    '{"id": "s1", "support": "full"}{"id": "s2", "support": "none"}',
    '{"verdicts": [{"id": "s1", "support": "full"}]}\n{"id": "s2", "support": "none"}',
    'Yes [1]!\n```json\n[{"id":"S1","support":" Full "},{"id":"s2","support":"NONE"}]\n```',
    '<think>{"id": "s1"}</think>[{"id":"s1","support":"full"},{"id":"s2","support":"none"}]',
]
UNREADABLE = [
    ("", NO_JSON),
    ("s1: full", NO_JSON),
    ('{"verdicts": [{"id": "s1", "support": "full"}, {"id": "s2", "sup', BROKEN),
    ('{"verdicts": [{"id": "s1", "support": "full"},]}', BROKEN),
    ('{"verdicts": [{"id": "s1", "support": "none", "support": "full"}]}', BROKEN),
    ("<think>full", "it ends inside its thoughts"),
    ('{"support": "full"}', 'its JSON has no list named "verdicts"'),
    ('{"verdicts": {"s1": {"support": "full"}}}', 'its JSON has no list named "verdicts"'),
    ("[{'a': 1}]", BROKEN),
    ('{"a": NaN}', BROKEN),
    ('{"a": 1} {"b', BROKEN),
    ('{"a": ' * 1_000_000 + "1" + "}" * 1_000_000, BROKEN),
    # The model forgot to escape a quotation that is itself JSON.
    ('{"quote": "{"id": "s2", "support": "full"}", "id": "s1"}', BROKEN),
]


def test_accepted_and_rejected_shapes() -> None:
    wrong = []
    for text in SHAPES:
        parsed = read(text, asked([0, 1]))
        if {i: v.support for i, v in parsed.verdicts.items()} != {0: FULL, 1: NONE}:
            wrong.append(text)
    for text, fault in UNREADABLE:
        if read(text, asked([0, 4])) != Parsed({}, {}, {0: fault, 4: fault}):
            wrong.append(text)
    assert wrong == []


IDS: list[tuple[list[object], str]] = [
    ([], "no verdict"),
    ([entry(2)], "no verdict"),
    ([entry(1), entry(1)], "more than one verdict"),
    ([entry(1), {**entry(1, "none"), "id": " S1"}], "more than one verdict"),
    ([entry(1), entry(1, "maybe")], "more than one verdict"),
    # A bare number may count the asked sentences, from 0 or from 1, as well as name one.
    ([{"id": 1, "support": "full"}], "no verdict"),
    ([{"id": "s01", "support": "full"}], "no verdict"),
    ([{"id": None, "support": "full"}], "no verdict"),
    (["s1", 1, None, ["s1", "full"]], "no verdict"),
]


def test_absent_double_and_unknown_ids() -> None:
    wrong = [
        entries for entries, missing in IDS if read(reply(*entries)) != Parsed({}, {0: missing}, {})
    ]
    assert wrong == []


NO_CHUNKS: list[object] = [0, 4, -1, "4"]
NO_NUMBERS: list[object] = [1.5, "a", "²", [1]]
NAMES_CHUNKS = "supporting names chunks, but support is none"

# An entry on a sentence that cites chunk 2, and the beginning of the fault.
FAULTS: Sequence[tuple[Mapping[str, object], str]] = [
    *(
        ({"support": label}, "support should be 'full', ")
        for label in (None, "supported", "no claim", "full.", 1)
    ),
    *(({"support": "none", "supporting": [number]}, "there is no chunk ") for number in NO_CHUNKS),
    *(
        ({"support": "none", "evidence": [{"chunk": number, "quote": "q"}]}, "there is no chunk ")
        for number in NO_CHUNKS
    ),
    *(({"supporting": [number]}, "supporting.0 should be ") for number in NO_NUMBERS),
    ({"supporting": [1, 17]}, "there is no chunk 17"),
    ({"evidence": "quote"}, "evidence should be a valid list, not 'quote'"),
    ({"evidence": ["quote"]}, "evidence.0 should be "),
    ({"evidence": {"chunk": 1, "quote": "q"}}, "evidence should be a valid list, not a dict"),
    ({"evidence": [{"chunk": 1, "quote": 7}]}, "evidence.0.quote should be a valid string, not 7"),
    ({"supporting": 1}, "supporting should be a valid list, not 1"),
    ({"reason": ["because"]}, "reason should be a valid string, not a list"),
    ({"support": "none", "supporting": ["2"], "cited_support": "none"}, NAMES_CHUNKS),
    *(
        ({"support": support, "cited_support": said}, "cited_support ")
        for support, wrong in {
            "full": (None, "no_claim", "yes"),
            "partial": (None, "full"),
            "contradicted": (None, "full"),
            "none": ("full", "partial", "contradicted"),
        }.items()
        for said in wrong
    ),
]


def test_a_fault_is_one_short_line() -> None:
    wrong = []
    for fields, begins in FAULTS:
        given = {"id": "s1", "support": "full", "cited_support": "full", **fields}
        parsed = read(reply(given), asked(cites={0: (1,)}))
        said = parsed.faulty.get(0, "")
        if not said.startswith(begins) or "\n" in said or len(said) > 160 or parsed.verdicts:
            wrong.append((fields, said))
    assert wrong == []
    (said,) = read(reply(entry(1, "完全\n" + "x" * 900))).faulty.values()
    assert said.startswith("support should be 'full', 'partial', 'none', 'contradicted' or ")
    assert said.endswith("…")


def test_chunk_numbers_as_weak_models_write_them() -> None:
    for number in (1, 1.0, "1", " 1 "):
        verdict = one(entry(1, supporting=[number], evidence=[{"chunk": number, "quote": "q"}]))
        assert verdict.supporting == ("a",), number
        assert verdict.evidence == (Evidence(chunk_id="a", quote="q"),), number


def test_an_empty_quote_is_no_evidence() -> None:
    for quote in ("", "  ", None, "…", "..."):
        verdict = one(entry(1, evidence=[{"chunk": 0, "quote": quote}, {"chunk": 3, "quote": "q"}]))
        assert verdict.evidence == (Evidence(chunk_id="c", quote="q"),), quote


def test_reasons_are_one_short_line_and_empty_for_full() -> None:
    assert one(entry(1, "full", reason="because")).reason == ""
    assert one(entry(1, "none", reason=" not\n\tthere ")).reason == "not there"
    assert one(entry(1, "none", reason="因" * 300)).reason == "因" * 300
    assert one(entry(1, "none", reason="因" * 301)).reason == "因" * 299 + "…"


CITED: list[tuple[str, object, Support | None]] = [
    ("full", "full", FULL),
    ("full", "partial", PARTIAL),
    ("full", "none", NONE),
    ("full", "contradicted", CONTRADICTED),
    ("partial", "partial", PARTIAL),
    ("partial", "none", NONE),
    ("contradicted", " None", NONE),
    ("none", "none", NONE),
    ("none", None, NONE),
    ("no_claim", None, None),
    ("no_claim", "full", None),
]


def test_the_support_by_the_cited_chunks() -> None:
    wrong = [
        (support, said)
        for support, said, cited in CITED
        if one(entry(1, support, cited_support=said), 1).cited_support is not cited
    ]
    assert wrong == []
    for said in ("full", "none", "nonsense", None, 3):
        assert one(entry(1, "none", cited_support=said)).cited_support is None


@pytest.mark.parametrize(
    ("support", "fields", "expected"),
    [
        ("none", {"cited_support": "none", "supporting": [], "evidence": []}, "none"),
        ("no_claim", {"cited_support": "yes"}, "no_claim"),
        ("full", {}, "no chunk has any text"),
        ("none", {"cited_support": "full"}, "no chunk has any text"),
        ("none", {"supporting": [1]}, "there is no chunk 1"),
    ],
)
def test_without_chunks_nothing_is_supported(
    support: str, fields: dict[str, object], expected: str
) -> None:
    parsed = read(reply(entry(1, support, **fields)), asked(ids=""))
    verdict = parsed.verdicts.get(0)
    assert (verdict.support.value if verdict else parsed.faulty[0]).startswith(expected)


labels = st.sampled_from([*(each.value for each in Support), "maybe", "FULL ", 1, None])
names = st.sampled_from(["s1", "s2", "S2", "s3", 1, "1", None])
entries = st.fixed_dictionaries({"id": names, "support": labels})


@settings(deadline=None)
@given(st.lists(entries, max_size=5))
def test_each_sentence_has_exactly_one_outcome(
    said: list[dict[str, object]],
) -> None:
    parsed = read(reply(*said), asked([0, 1]))
    fates = [parsed.verdicts.keys(), parsed.missing.keys(), parsed.faulty.keys()]
    assert sorted(index for fate in fates for index in fate) == [0, 1]
    for index, verdict in parsed.verdicts.items():
        (mine,) = [e for e in said if str(e["id"]).lower() == f"s{index + 1}"]
        assert str(mine["support"]).strip().lower() == verdict.support.value


# Parts of a question.

TWO = "When does it open? (And when does it close?) Thanks."


def of_question(question: str, *parts: str) -> Parsed:
    said = [{"part": each, "evidence": [], "answered": "full", "reason": ""} for each in parts]
    about = request([question], kinds={0: SentenceKind.QUESTION})
    return parse_parts(json.dumps({"parts": said}), about, "s")


def test_each_question_has_parts_of_its_own() -> None:
    rows = (
        (("When does it open", "when does it close"), None),
        (("When", "does it open?", "when does it close"), None),
        (("When does it open", "Thanks"), "no part of '(And when does it close?)'"),
        (("close", "When", "When"), "part 'When' is there twice"),
    )
    for parts, fault in rows:
        parsed = of_question(TWO, *parts)
        told = {**parsed.missing, **parsed.faulty}.get(0)
        assert (told, bool(parsed.verdicts)) == (fault, fault is None), parts


PART = {
    "part": "When does it open",
    "evidence": ["at nine", "…"],
    "answered": " Full",
    "reason": "r",
}


def test_a_part_is_read_or_its_fault_is_named() -> None:
    about = request(["When does it open?"], kinds={0: SentenceKind.QUESTION})
    verdict = parse_parts(json.dumps({"parts": [PART]}), about, "s").verdicts[0]
    assert isinstance(verdict, PartsVerdict)
    (part,) = verdict.parts
    assert (part.answered, part.quotes, part.reason) == (FULL, ("at nine",), "")
    for said, fault in (
        ({"parts": 1}, "parts should be a valid list, not 1"),
        ({"parts": [1]}, "parts.0 should be "),
        ({"parts": [PART | {"answered": "no_claim"}]}, "parts.0.answered should be 'full', "),
        (
            {"parts": [PART | {"evidence": [7]}]},
            "parts.0.evidence.0 should be a valid string, not 7",
        ),
        ({"parts": [PART | {"part": None}]}, "parts.0.part should be a valid string, not null"),
        ({"verdicts": []}, 'its JSON is not one object with a list named "parts"'),
    ):
        assert parse_parts(json.dumps(said), about, "s").faulty[0].startswith(fault), fault
