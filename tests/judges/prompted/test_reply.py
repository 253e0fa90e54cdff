import json
from collections.abc import Callable, Mapping, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.judges.prompted import Parsed, parse
from judge.records import Chunk, Evidence, JudgeRequest, Sentence, Support, Verdict
from tests.growth import LINEAR, growth

FULL, PARTIAL, NONE = Support.FULL, Support.PARTIAL, Support.NONE
CONTRADICTED, NO_CLAIM = Support.CONTRADICTED, Support.NO_CLAIM


def asked(
    ask: Sequence[int] = (0,),
    cites: Mapping[int, tuple[int, ...]] | None = None,
    chunks: Sequence[str] = ("a", "b", "c"),
) -> JudgeRequest:
    return JudgeRequest(
        query="",
        answer="",
        sentences=tuple(Sentence(index=i, start=0, end=1, text="x") for i in range(9)),
        ask=tuple(ask),
        chunks=tuple(Chunk(chunk_id=name, text=f"text of {name}") for name in chunks),
        cites=cites or {},
    )


def entry(number: int = 1, support: object = "full", **fields: object) -> dict[str, object]:
    return {"id": f"s{number}", "support": support, **fields}


def reply(*entries: object) -> str:
    return json.dumps({"verdicts": entries}, ensure_ascii=False)


def read(text: str, request: JudgeRequest | None = None) -> Parsed:
    return parse(text, request or asked(), "sig")


def one(given: Mapping[str, object], *cited: int) -> Verdict:
    parsed = read(reply(given), asked(cites={0: cited}))
    assert (parsed.missing, parsed.faulty) == ({}, {})
    return parsed.verdicts[0]


def fault(given: Mapping[str, object], *cited: int) -> str:
    parsed = read(reply(given), asked(cites={0: cited}))
    assert (parsed.verdicts, parsed.missing) == ({}, {})
    assert "\n" not in parsed.faulty[0]
    assert len(parsed.faulty[0]) < 160
    return parsed.faulty[0]


def test_a_right_reply_is_read_whole() -> None:
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


@pytest.mark.parametrize(
    "text",
    [
        '{"verdicts": [{"id": "s1", "support": "full"}, {"id": "s2", "support": "none"}]}',
        '[{"id": "s1", "support": "full"}, {"id": "s2", "support": "none"}]',
        '[{"verdicts": [{"id": "s1", "support": "full"}, {"id": "s2", "support": "none"}]}]',
        '{"id": "s1", "support": "full"}{"id": "s2", "support": "none"}',
        '{"verdicts": [{"id": "s1", "support": "full"}]}\n{"id": "s2", "support": "none"}',
        'Yes [1]!\n```json\n[{"id":"S1","support":" Full "},{"id":"s2","support":"NONE"}]\n```',
        '<think>{"id": "s1"}</think>[{"id":"s1","support":"full"},{"id":"s2","support":"none"}]',
    ],
)
def test_every_tolerated_shape(text: str) -> None:
    parsed = read(text, asked([0, 1]))
    assert {i: v.support for i, v in parsed.verdicts.items()} == {0: FULL, 1: NONE}


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", "it holds no JSON"),
        ("Yes", "it holds no JSON"),
        ("s1: full", "it holds no JSON"),
        ('{"verdicts": [{"id": "s1", "support": "full"}, {"id": "s2", "sup', "its JSON is broken"),
        ('{"verdicts": [{"id": "s1", "support": "full"},]}', "its JSON is broken"),
        (
            '{"verdicts": [{"id": "s1", "support": "none", "support": "full"}]}',
            "its JSON is broken",
        ),
        ("<think>full", "it ends inside its thoughts"),
        ('{"support": "full"}', 'its JSON has no list named "verdicts"'),
        ('{"verdicts": {"s1": {"support": "full"}}}', 'its JSON has no list named "verdicts"'),
    ],
)
def test_an_unreadable_reply_is_a_fault_of_every_sentence(text: str, fault: str) -> None:
    assert read(text, asked([0, 4])) == Parsed({}, {}, {0: fault, 4: fault})


@pytest.mark.parametrize(
    ("entries", "missing"),
    [
        ([], "no verdict"),
        ([entry(2)], "no verdict"),
        ([entry(1), entry(1)], "more than one verdict"),
        ([entry(1), {**entry(1, "none"), "id": " S1"}], "more than one verdict"),
        ([entry(1), entry(1, "maybe")], "more than one verdict"),
        # A bare number may count the asked sentences, from 0 or from 1, as well as name one.
        ([{"id": 1, "support": "full"}], "no verdict"),
        ([{"id": "1", "support": "full"}], "no verdict"),
        ([{"id": "s01", "support": "full"}], "no verdict"),
        ([{"id": "sentence 1", "support": "full"}], "no verdict"),
        ([{"id": None, "support": "full"}], "no verdict"),
        ([{"id": ["s1"], "support": "full"}], "no verdict"),
        (["s1", 1, None, ["s1", "full"]], "no verdict"),
    ],
)
def test_absent_double_and_unknown_ids(entries: list[object], missing: str) -> None:
    assert read(reply(*entries)) == Parsed({}, {0: missing}, {})


def test_a_verdict_for_what_was_not_asked_is_ignored() -> None:
    parsed = read(reply(entry(1), entry(2), entry(5, "maybe")), asked([1]))
    assert {i: v.support for i, v in parsed.verdicts.items()} == {1: FULL}
    assert (parsed.missing, parsed.faulty) == ({}, {})


@pytest.mark.parametrize(
    "label",
    ["supported", "no claim", "fully", "full.", "yes", "", "full partial", 1, True, ["full"], {}],
)
def test_an_off_menu_label_is_a_fault(label: object) -> None:
    assert fault(entry(1, label)).startswith("support is ")


def test_a_fault_names_a_label_in_short_and_on_one_line() -> None:
    said = fault(entry(1, "完全\n" + "x" * 900))
    assert said.startswith(r"support is '完全\nxxx")
    assert said.endswith("…', not one of full, partial, none, contradicted, no_claim")


def test_an_absent_label_is_a_fault() -> None:
    assert fault({"id": "s1"}) == "support is absent"
    assert fault(entry(1, None)) == "support is absent"


@pytest.mark.parametrize("number", [1, 1.0, "1", " 1 "])
def test_chunk_numbers_as_weak_models_write_them(number: object) -> None:
    verdict = one(entry(1, supporting=[number], evidence=[{"chunk": number, "quote": "q"}]))
    assert verdict.supporting == ("a",)
    assert verdict.evidence == (Evidence(chunk_id="a", quote="q"),)


@pytest.mark.parametrize(
    "number", [0, 4, -1, 1.5, "0", "4", "a", "1st", "²", "", True, None, [1], {}, 1e400, 10**400]
)
@pytest.mark.parametrize("field", ["supporting", "evidence"])
def test_a_chunk_that_is_not_there_is_a_fault(number: object, field: str) -> None:
    value = [number] if field == "supporting" else [{"chunk": number, "quote": "q"}]
    text = reply(entry(1, **{field: value})).replace("Infinity", "1e400")
    assert read(text).faulty[0].startswith("there is no chunk ")


def test_the_missing_chunk_is_named() -> None:
    assert fault(entry(1, supporting=[1, 17])) == "there is no chunk 17"


@pytest.mark.parametrize(
    "fields",
    [
        {"evidence": "quote"},
        {"evidence": ["quote"]},
        {"evidence": {"chunk": 1, "quote": "q"}},
        {"evidence": [{"chunk": 1, "quote": 7}]},
        {"supporting": 1},
        {"supporting": "1"},
        {"reason": ["because"]},
    ],
)
def test_wrong_types_are_faults(fields: dict[str, object]) -> None:
    assert ", not " in fault(entry(1, **fields))


@pytest.mark.parametrize("quote", ["", "  ", None, "…", "..."])
def test_an_empty_quote_is_no_evidence(quote: object) -> None:
    verdict = one(entry(1, evidence=[{"chunk": 0, "quote": quote}, {"chunk": 3, "quote": "q"}]))
    assert verdict.evidence == (Evidence(chunk_id="c", quote="q"),)


def test_what_may_be_absent_may_be_null() -> None:
    bare = one(entry(1, "partial"))
    assert bare == one(entry(1, "partial", evidence=None, supporting=None, reason=None))
    assert (bare.evidence, bare.supporting, bare.reason) == ((), (), "")


def test_supporting_chunks_come_once_in_their_order() -> None:
    request = asked(chunks=["x", "y", "x"])
    parsed = read(reply(entry(1, supporting=[3, 2, "2", 1])), request)
    assert parsed.verdicts[0].supporting == ("x", "y")


def test_what_supports_goes_with_no_none_and_is_told_of_the_contradicted() -> None:
    said = "supporting names chunks, but support is none"
    assert fault(entry(1, "none", supporting=[1])) == said
    assert fault(entry(1, "none", supporting=["2"], cited_support="none"), 1) == said
    assert one(entry(1, "none", supporting=[])).supporting == ()
    assert one(entry(1, "no_claim", supporting=[1])).supporting == ()
    assert one(entry(1, "contradicted", supporting=[1])).supporting == ("a",)


def test_reasons_are_one_short_line_and_empty_for_full() -> None:
    assert one(entry(1, "full", reason="because")).reason == ""
    assert one(entry(1, "none", reason=" not\n\tthere ")).reason == "not there"
    assert one(entry(1, "none", reason="因" * 300)).reason == "因" * 300
    assert one(entry(1, "none", reason="因" * 301)).reason == "因" * 299 + "…"


@pytest.mark.parametrize(
    ("support", "said", "cited"),
    [
        ("full", "full", FULL),
        ("full", "partial", PARTIAL),
        ("full", "none", NONE),
        ("full", "contradicted", CONTRADICTED),
        ("partial", "partial", PARTIAL),
        ("partial", "none", NONE),
        ("contradicted", "partial", PARTIAL),
        ("contradicted", " None", NONE),
        ("none", "none", NONE),
        ("none", None, NONE),
        ("no_claim", None, None),
        ("no_claim", "no_claim", None),
        ("no_claim", "full", None),
    ],
)
def test_what_the_cited_chunks_give(support: str, said: object, cited: Support | None) -> None:
    assert one(entry(1, support, cited_support=said), 1).cited_support is cited


@pytest.mark.parametrize(
    ("support", "said"),
    [
        ("full", None),
        ("partial", None),
        ("contradicted", None),
        ("full", "no_claim"),
        ("full", "yes"),
        ("partial", "full"),
        ("none", "full"),
        ("none", "partial"),
        ("none", "contradicted"),
        ("contradicted", "full"),
        ("none", "maybe"),
    ],
)
def test_what_they_cannot_give_is_a_fault(support: str, said: object) -> None:
    assert fault(entry(1, support, cited_support=said), 1).startswith("cited_support ")


@pytest.mark.parametrize("said", ["full", "none", "nonsense", None, 3])
def test_without_a_citation_there_is_no_cited_support(said: object) -> None:
    assert one(entry(1, "none", cited_support=said)).cited_support is None


@pytest.mark.parametrize(
    ("support", "fields", "label"),
    [
        ("none", {}, NONE),
        ("none", {"cited_support": "none", "supporting": [], "evidence": []}, NONE),
        ("no_claim", {}, NO_CLAIM),
        ("no_claim", {"cited_support": "no_claim"}, NO_CLAIM),
        ("no_claim", {"cited_support": "yes"}, NO_CLAIM),
    ],
)
def test_without_chunks_nothing_is_supported(
    support: str, fields: dict[str, object], label: Support
) -> None:
    verdict = read(reply(entry(1, support, **fields)), asked(chunks=[])).verdicts[0]
    assert (verdict.support, verdict.cited_support) == (label, None)


def test_chunks_without_text_are_none() -> None:
    request = asked(chunks=["a", "b"])
    blank = tuple(chunk.model_copy(update={"text": " \n"}) for chunk in request.chunks)
    parsed = read(reply(entry(1, "full")), request.model_copy(update={"chunks": blank}))
    assert parsed.faulty[0].startswith("no chunk has any text")


@pytest.mark.parametrize(
    ("support", "fields", "said"),
    [
        ("full", {}, "no chunk has any text"),
        ("partial", {}, "no chunk has any text"),
        ("contradicted", {}, "no chunk has any text"),
        ("full", {"supporting": [1]}, "no chunk has any text"),
        ("none", {"cited_support": "full"}, "no chunk has any text"),
        ("none", {"cited_support": "no_claim"}, "no chunk has any text"),
        ("none", {"cited_support": "yes"}, "cited_support is 'yes'"),
        ("none", {"supporting": [1]}, "there is no chunk 1"),
        ("no_claim", {"evidence": [{"chunk": 1, "quote": "q"}]}, "there is no chunk 1"),
    ],
)
def test_without_chunks_whatever_is_said_to_be_in_them_is_a_fault(
    support: str, fields: dict[str, object], said: str
) -> None:
    parsed = read(reply(entry(1, support, **fields)), asked(chunks=[]))
    assert (parsed.verdicts, parsed.missing) == ({}, {})
    assert parsed.faulty[0].startswith(said)


def test_half_a_character_in_a_reply_can_be_written_to_a_file() -> None:
    text = (
        r'{"id":"s1","support":"none","reason":"a\ud800","evidence":[{"chunk":1,"quote":"\udfff"}]}'
    )
    verdict = read(text).verdicts[0]
    assert "\\u" not in verdict.model_dump_json()
    assert verdict.reason == "a?"
    assert fault({"id": "s1", "support": "\ud800"}).isascii()


def test_a_deep_reply_is_faulty() -> None:
    deep = "[" * 900 + "]" * 900
    assert read(f'{{"verdicts": [{{"id": "s1", "support": {deep}}}]}}').faulty


@pytest.mark.parametrize(
    "make",
    [
        lambda size: reply(entry(1, "x" * size)),
        lambda size: reply(entry(1, "none", reason="x " * (size // 2))),
        lambda size: reply(*[entry(1)] * (size // 30)),
        lambda size: reply(*(entry(n) for n in range(size // 30))),
        lambda size: reply(entry(1, supporting=[1] * (size // 3))),
        lambda size: reply(entry(1, evidence=[{"chunk": 1, "quote": "q"}] * (size // 30))),
    ],
    ids=["label", "reason", "one id", "many ids", "supporting", "evidence"],
)
def test_reading_a_long_reply_is_linear(make: Callable[[int], str]) -> None:
    assert growth(read, make, 25_000) < LINEAR


labels = st.sampled_from([*(each.value for each in Support), "maybe", "FULL ", 1, None])
names = st.sampled_from(["s1", "s2", "S2", "s3", 1, "1", None])
entries = st.fixed_dictionaries({"id": names, "support": labels})


@given(st.lists(entries, max_size=5))
def test_a_verdict_is_what_one_entry_said_and_each_sentence_has_one_fate(
    said: list[dict[str, object]],
) -> None:
    parsed = read(reply(*said), asked([0, 1]))
    fates = [parsed.verdicts.keys(), parsed.missing.keys(), parsed.faulty.keys()]
    assert sorted(index for fate in fates for index in fate) == [0, 1]
    for index, verdict in parsed.verdicts.items():
        (mine,) = [e for e in said if str(e["id"]).lower() == f"s{index + 1}"]
        assert str(mine["support"]).strip().lower() == verdict.support.value


@given(st.text(max_size=200))
def test_prose_is_never_a_verdict(text: str) -> None:
    assert read(text).verdicts == {}
