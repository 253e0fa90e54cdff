import itertools
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.answer.citations import find, positions
from judge.answer.markers import MOST_MARKERS
from judge.answer.sentences import split
from judge.records import (
    Chunk,
    Citation,
    FlagName,
    Rules,
    Sample,
    Sentence,
    SentenceKind,
)

IDS = ("docA#sec3#chunk12", "docA#chunk4", "docB#1")
PLAIN = Rules()
PROSE = Rules(prose_citations=True)


def sentences_of(answer: str, *, code: Sequence[int] = ()) -> tuple[Sentence, ...]:
    """One sentence a line, line breaks between them belonging to none."""
    found: list[Sentence] = []
    start = 0
    for line in answer.split("\n"):
        if line.strip():
            kind = SentenceKind.CODE if len(found) in code else SentenceKind.CLAIM
            found.append(
                Sentence(index=len(found), start=start, end=start + len(line), text=line, kind=kind)
            )
        start += len(line) + 1
    return tuple(found)


def sample_of(answer: str, ids: Sequence[str] = IDS, retrieved: Sequence[str] = ()) -> Sample:
    chunks = tuple(Chunk(chunk_id=i, text="") for i in ids)
    return Sample(qid="q", answer=answer, chunks=chunks, retrieved=tuple(retrieved) or None)


def cite(
    answer: str, ids: Sequence[str] = IDS, rules: Rules = PLAIN, retrieved: Sequence[str] = ()
) -> str:
    """Each marker with the letter of the chunk that it names: A for the first, ? for none."""
    found = find(sample_of(answer, ids, retrieved), sentences_of(answer), rules).citations
    assert all(answer[c.start : c.end] == c.marker and c.status is None for c in found)
    letters = dict(zip(ids, "ABCDE", strict=False))
    return " ".join(c.marker + (letters[c.chunk_id] if c.chunk_id else "?") for c in found)


# fmt: off
SYNTAX: dict[str, str] = {
    "It is so [docA#sec3#chunk12].": "[docA#sec3#chunk12]A",
    "It is so (docA#chunk4).": "(docA#chunk4)B", "标准如此（docA#chunk4）。": "（docA#chunk4）B",
    "标准如此(docA#chunk4）。": "(docA#chunk4）B", "It is so [1].": "[1]A",
    "标准如此[1]。": "[1]A", "标准如此。[1]": "[1]A", "It is so [1, 2].": "[1, 2]A [1, 2]B",
    "It is so [1 and 2].": "[1 and 2]A [1 and 2]B", "标准如此[1、2]。": "[1、2]A [1、2]B",
    "It is so [1][3].": "[1]A [3]C", "It is so [1] [3].": "[1]A [3]C",
    "It is so [1-3].": "[1-3]A [1-3]B [1-3]C", "It is so [1–2].": "[1–2]A [1–2]B",
    "It is so [1-2, 5].": "[1-2, 5]A [1-2, 5]B [1-2, 5]?", "标准如此【2】。": "【2】B",
    "标准如此【2†source】。": "【2†source】B", "It is so【3†L10-L20】.": "【3†L10-L20】C",
    "It is so [^2].": "[^2]B", "标准如此［1］。": "［1］A", "标准如此［１］。": "［１］A",
    "标准如此[２]。": "[２]B", "It is so ([1], [2]).": "[1]A [2]B", "It is so [[1]].": "[1]A",
    "It is so <sup>[1]</sup>.": "[1]A", r"It is so \[1\].": r"\[1\]A", "It is so [0].": "[0]?",
    "It is so [4].": "[4]?", "It is so [999].": "[999]?", "It is so [0, 1].": "[0, 1]? [0, 1]A",
    "It is so [docA#chunk4, docB#1].": "[docA#chunk4, docB#1]B [docA#chunk4, docB#1]C",
    "如此（docA#chunk4；docB#1）。": "（docA#chunk4；docB#1）B （docA#chunk4；docB#1）C",
    "It is so [1, docB#1].": "[1, docB#1]A [1, docB#1]C", "It is so [docB#9].": "[docB#9]?",
    "如此（docQ#chunk7）。": "（docQ#chunk7）?", "如此[文档#7]。": "[文档#7]?",
    "It is so [DOCA#CHUNK4].": "[DOCA#CHUNK4]B",
    "It is so [1](https://a.org/x).": "[1](https://a.org/x)A",
    "It is so [1](#fn1), too.": "[1](#fn1)A", "It is so [1](see below).": "[1]A",
    "It is so [the rules](docA#chunk4).": "(docA#chunk4)B",
    "It is so [citation:3].": "[citation:3]C",
    "It is so [Source: docA#chunk4].": "[Source: docA#chunk4]B",
    "如此（来源：docA#chunk4）。": "（来源：docA#chunk4）B", "如此[来源2]。": "[来源2]B",
    "See https://example.com/page[1].": "[1]A", "《规定》[1]如此。": "[1]A",
    "It cost $5 [1] and then $6 [2].": "[1]A [2]B", "成本为$100[1]，收入为200$[2]。": "[1]A [2]B",
    "the policy[1].": "[1]A", "the policy[1], and a rule [2]": "[1]A [2]B", "标准[1]。": "[1]A",
    "in 2023[1].": "[1]A", "vitamin C[1] and CO2[2] and COVID-19[3]": "[1]A [2]B [3]C",
}
# fmt: on


def test_syntax() -> None:
    assert {answer: cite(answer) for answer in SYNTAX} == SYNTAX


# fmt: off
LOOK_ALIKES = (
    "如此[注]。", "It is [sic] so.", "It was so [2023].", "那是[2023]年。",
    "It was so [2019-2023].", "So [text](https://a.org/1).", "So [docB#9](https://a.org/1).",
    "So ![1](https://a.org/1.png).", "Call arr[0] first.", "Call rows[2] first.",
    "Call my_list[3] first.", "Call x2[1] first.",
    "The policy[0].", "数组arr[1]的值。", "Run `print([1])` now.", "Run ``print(`[1]`)`` now.",
    "运行`a[1]`。", "```python\nprint([1])\n```", "~~~\n[1]\n~~~", "```\n[1]", "根据第[3]条规定。",
    "根据第【3】章规定。", "《报销规定[1]》如此。", "《报销规定（docA#chunk4）》如此。",
    "See Table 3 and (Table 3).", "见表3。", "- [ ] one\n- [x] two", "It is [-1].", "It is [1.5].",
    "It is [1, sic].", "It is [docA#chunk4, sic].", "It is $x[1]$ here.",
    "It is $$x[1]$$ here.", r"It is \(x + [1]\) here.", r"It is \[x + [1]\] here.",
    "It is (1) or (2).", "第一（1），第二（2）。", "It is (1, 2).", "It is [一].",
    "It is so (docs/intro).", "[" * 50, "] 1 [",
)
# fmt: on


def test_look_alikes_are_text() -> None:
    assert [answer for answer in LOOK_ALIKES if cite(answer)] == []


# fmt: off
BY_ID: dict[tuple[tuple[str, ...], str], str] = {
    (("2", "1"), "So [1]."): "[1]B", (("2", "7"), "So [1] and [2]."): "[1]A [2]A",
    (("202301150001",), "So [202301150001]."): "[202301150001]A", (("1", "2"), "So (1)."): "",
    (("(1)", "b"), "So (1)."): "(1)A", (("0", "1"), "So [0]."): "[0]A",
    (("r (2023).pdf#3",), "So [r (2023).pdf#3]."): "[r (2023).pdf#3]A",
    (("Doc#1", "doc#1"), "So [doc#1]."): "[doc#1]B",
    (("文档一",), "如此[文档一]，[注释三]。"): "[文档一]A",
    (("12-3",), "So [12-3], [45-6], [2019-2023]."): "[12-3]A [45-6]?",
    (("d1", "d2"), "So [d1], [d9], (d9), [Q3]."): "[d1]A [d9]? (d9)?",
    (("doc-1",), "So (doc-7), (COVID-19), [GPT-4]."): "(doc-7)?",
    (("doc1", "doc3"), "So [doc2]."): "[doc2]?",
    (("SARS-CoV-2", "a-b"), "A (well-known) thing"): "",
    (("https://a.org/d1",), "So [https://a.org/d1]."): "[https://a.org/d1]A",
    (("x",), "done [x]"): "[x]A", ((), "So [1]."): "[1]?",
    (("文件/制度/3",), "如此【文件/制度/8】。"): "【文件/制度/8】?",
}
# fmt: on


def test_ids_decide() -> None:
    assert {(ids, answer): cite(answer, ids) for ids, answer in BY_ID} == BY_ID


# fmt: off
PHRASES: dict[str, str] = {
    "As passage 2 says": "passage 2B", "Passage 2": "Passage 2B", "See document 3.": "document 3C",
    "See doc 3, source 1 and chunk 4": "doc 3C source 1A chunk 4?",
    "passages 1 and 3": "passages 1 and 3A passages 1 and 3C",
    "passages 1, 2 and 3": "passages 1, 2 and 3A passages 1, 2 and 3B passages 1, 2 and 3C",
    "根据段落 3，": "段落 3C", "资料1指出": "资料1A", "文档1和3": "文档1和3A 文档1和3C",
    "[Passage 2]": "[Passage 2]B", "In passage 2, 3 people": "passage 2B",
    "(Passage 1:4)": "Passage 1A", "passage 0": "passage 0?",
    "encompassage 2, subsource 1, docA#chunk4": "",
    "document 2023, source 1.5, doc 3rd, passages": "", "文档3份，来源2种，资料2个": "",
    "Table 3, page 2, 第3段": "", "`passage 2` and passage 3": "passage 3C",
    "```\npassage 1\n```\npassage 2": "passage 2B",
}
# fmt: on


def test_prose() -> None:
    assert {answer: cite(answer, rules=PROSE) for answer in PHRASES} == PHRASES
    assert cite("doc1 and doc3, not doc2", ["doc3", "doc1"], PROSE) == "doc1B doc3A doc2?"


# fmt: off
PATTERNS: dict[tuple[str, str], str] = {
    (r"<ref>(\w+)</ref>", "So <ref>2</ref>."): "<ref>2</ref>B",
    (r"##(\d+)\$\$", "So ##9$$ and [1]."): "##9$$? [1]A",
    (r"doc\w#\w+", "So docA#chunk4, docX#1."): "docA#chunk4B docX#1?",
    (r"【\d+:(\d+)†[^】]*】", "如此【4:2†源】。"): "【4:2†源】B",
    (r"\[(\d+)\]", "So [1][2023]."): "[1]A [2023]?", (r"(p\d)?#(\d)", "So #2."): "#2?",
    ("x*", "So [1]."): "[1]A",
}
# fmt: on


def test_pattern_of_the_users_own() -> None:
    assert {
        (pattern, answer): cite(answer, rules=Rules(citation_pattern=pattern))
        for pattern, answer in PATTERNS
    } == PATTERNS


def test_a_marker_belongs_where_it_starts_or_to_the_sentence_before() -> None:
    answer = "One [1].  [2]\n\nThree [3]. [9]"
    one, three = answer.index("One"), answer.index("Three")
    sentences = (
        Sentence(index=0, start=one, end=8, text="One [1]."),
        Sentence(index=1, start=three, end=three + 10, text="Three [3]."),
    )
    found = find(sample_of(answer), sentences, PLAIN).citations
    assert [f"{c.marker} {c.sentence}" for c in found] == ["[1] 0", "[2] 0", "[3] 1", "[9] 1"]


# What looks like a citation over chunks called 1 and 2, and what is text.
UNMATCHED = [
    "Nine [doc:plans].", "[doc:plans] Nine.", "Nine [Source: plans.md].", "Nine [plans.md].",
    "Nine [cli.md, section 4.2].", "Nine [docX].", "Nine [docX, docY].", "Nine [docA#3].",
    "Nine [kb:plans].", "Nine [kb_7].", "Nine [a1b2c3d4-e5f6].", "Nine (see cli.md, section 4.2).",
    "Nine (see passage 2).", "Nine (Passage 1, step 6).", "九元[来源：差旅制度]。",
    "九元[文档_3]。",    "九元（文档2）。", "九元（见文档2）。", "九元【doc:plans】。",
]  # fmt: skip
TEXT = [
    "Nine [注] and [sic].", "Nine in [2023].", "Nine [GPT-4].", "Nine [COVID-19].", "Nine [utf-8].",
    "Nine [citation needed].", "Nine [plans](plans.md).", "Nine `[doc:plans]`.", "[x] Nine [A-Z].",
    "Nine xs[start:end].", "Nine [12:30].", "Nine [your name].", "Nine [insert doc here].",
    "Nine (judge.toml).", "Nine (see section 4.2).", "The source (a river).",
    "The document (3 pages).", "九元（见下文）。", "资料（共3份）。", "九元[注]。",
    "[emphasis added]", "Nine (see [1]).", "Nine [type:str].", "The plans (document 7 pages).",
    "Nine (source 2 of 5).",
]  # fmt: skip


@pytest.mark.parametrize("answer", [*UNMATCHED, *TEXT])
def test_what_looks_like_a_citation_and_names_no_chunk_is_flagged(answer: str) -> None:
    found = find(sample_of(answer, ["1", "2"]), sentences_of(answer), PLAIN)
    assert [flag.name for flag in found.flags] == [FlagName.UNMATCHED_MARKER] * (
        answer in UNMATCHED
    )
    assert all(flag.detail in answer and flag.sentence is None for flag in found.flags)
    prose = find(sample_of(answer, ["1", "2"]), sentences_of(answer), Rules(prose_citations=True))
    assert (len(prose.citations), prose.flags) in {(0, found.flags), (1, found.flags), (1, ())}


def test_the_place_in_a_document_is_no_part_of_its_name() -> None:
    for answer in (
        "Nine (see cli.md, section 4.2).",
        "Nine [cli.md, p. 3].",
        "九元[cli.md，第3页]。",
    ):
        (found,) = find(sample_of(answer, ["cli.md"]), sentences_of(answer), PLAIN).citations
        assert found.chunk_id == "cli.md"


def test_behind_twenty_unmatched_markers_one_flag_counts_the_others() -> None:
    def details(count: int) -> list[str]:
        answer = " ".join(f"Nine [doc:p{n}]." for n in range(count))
        found = find(sample_of(answer, ["1"]), sentences_of(answer), PLAIN)
        assert {flag.name for flag in found.flags} == {FlagName.UNMATCHED_MARKER}
        return [flag.detail for flag in found.flags]

    shown = [f"[doc:p{n}]" for n in range(20)]
    assert details(20) == shown
    assert details(1100) == [*shown, "and 1,080 more"]


@pytest.mark.no_cover
@pytest.mark.parametrize("marker", ["[1-3]", "文档1、", "[["])
def test_only_so_many_markers_are_read_and_a_flag_says_so(marker: str) -> None:
    rules = Rules(prose_citations=True, citation_pattern="<[^>]+>")
    answer = marker * (MOST_MARKERS + 1)
    found = find(sample_of(answer), sentences_of(answer), rules)
    assert len(found.citations) <= MOST_MARKERS
    assert [flag.name for flag in found.flags] == [FlagName.CITATIONS_CUT]
    few = marker * 10
    assert find(sample_of(few), sentences_of(few), rules).flags == ()


def test_positions() -> None:
    def citation(sentence: int, chunk_id: str | None) -> Citation:
        return Citation(sentence=sentence, marker="[]", start=0, end=2, chunk_id=chunk_id)

    chunks = [Chunk(chunk_id=i, text="") for i in ("a", "b", "a", "c")]
    named = [(2, "c"), (0, "b"), (0, "a"), (0, "b"), (1, None)]
    cites = [citation(sentence, chunk_id) for sentence, chunk_id in named]
    assert positions(cites, chunks) == {0: (0, 1, 2), 2: (3,)}


PIECES = st.lists(
    st.sampled_from([*"[]()【】［《》120-,、 \n第`$\\†^!=．²①"])
    | st.sampled_from(["docA#chunk4", "docB#9", "```", "arr", "标准", "policy"])
    | st.sampled_from(["passage ", "文档", "https://a.org/", "区间"])
).map("".join)


@given(PIECES | st.text(), st.booleans())
def test_offsets_are_exact_and_ascending(answer: str, prose: bool) -> None:  # noqa: FBT001
    sentences = sentences_of(answer)
    found = find(sample_of(answer), sentences, Rules(prose_citations=prose)).citations
    for citation in found:
        assert answer[citation.start : citation.end] == citation.marker != ""
        assert citation.chunk_id is None or citation.chunk_id in IDS
        assert sentences[citation.sentence].start <= citation.start
    for one, two in itertools.pairwise(found):
        assert (one.start, one.end) == (two.start, two.end) or one.end <= two.start


def test_an_invented_citation_is_told_from_text() -> None:
    lines = (Path(__file__).parent / "invented.tsv").read_text("utf-8").splitlines()
    table = [line.split("\t") for line in lines if line and not line.startswith("#")]
    found = []
    for known, answer, _ in table:
        text = answer.replace("\\n", "\n")
        cited = find(sample_of(text, [known]), split(text), PLAIN).citations
        found.append([known, answer, " ".join(c.marker for c in cited if c.chunk_id is None)])
    assert found == table
