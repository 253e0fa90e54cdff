from collections import defaultdict
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.answer.kinds import classify
from judge.answer.sentences import split
from judge.records import SentenceKind
from judge.text.fold import CJK_CHAR

# A claim left out hides a mistake, so that claims have the higher floor.
CLAIMS_KEPT, OTHERS_KNOWN = 0.995, 0.97

# Sentences labelled by hand, with their place: between two claims, alone in an answer, or both.
_, *ROWS = (
    line.replace("\\n", "\n").split("\t")
    for line in (Path(__file__).with_name("kinds.tsv").read_text("utf-8").splitlines())
)


def kinds(answer: str) -> list[str]:
    return [sentence.kind.value for sentence in classify(split(answer))]


def between(sentence: str) -> str:
    """Kind of a sentence in the middle of an answer."""
    first, found, last = kinds(f"Rome is old.\n\n{sentence}\n\nRome is big.")
    assert (first, last) == ("claim", "claim")
    return found


@pytest.mark.no_cover
def test_each_kind_is_known_by_its_wording_in_both_languages() -> None:
    right: dict[tuple[str, str], list[bool]] = defaultdict(list)
    wrong: list[tuple[str, str, str]] = []
    for kind, place, sentence in ROWS:
        found = {
            **({"between": between(sentence)} if place != "alone" else {}),
            **({"alone": kinds(sentence)[0]} if place != "between" else {}),
        }
        language = "zh" if CJK_CHAR.search(sentence) else "en"
        right[kind, language] += [name == kind for name in found.values()]
        wrong += [(sentence, where, name) for where, name in found.items() if name != kind]
    shares = {group: sum(each) / len(each) for group, each in right.items()}
    assert min(share for (kind, _), share in shares.items() if kind == "claim") >= CLAIMS_KEPT, (
        wrong
    )
    assert min(shares.values()) >= OTHERS_KNOWN, wrong


HALVES_KNOWN = 0.95


def test_headings_and_lead_ins_are_known_from_claims_that_look_alike() -> None:
    """The even rows of each language and kind were set aside while the rules were written."""
    seen: dict[tuple[str, str], int] = defaultdict(int)
    right: dict[tuple[str, bool], list[bool]] = defaultdict(list)
    lost = []
    for line in Path(__file__).with_name("headings.tsv").read_text("utf-8").splitlines():
        kind, text = line.split("\t")
        chinese = bool(CJK_CHAR.search(text))
        below = "住宿费不超过500元。" if chinese else "The limit is 500 yuan."
        found = kinds(f"Rome is old.\n\n{text}\n{below}\n\nRome is big.")[1]
        group = ("zh" if chinese else "en", kind)
        right["held" if seen[group] % 2 else "learn", chinese].append(found == kind)
        seen[group] += 1
        lost += [text] if kind == "claim" != found else []
    assert lost == []
    halves = {half: right[half, False] + right[half, True] for half in ("learn", "held")}
    assert {half: len(each) for half, each in halves.items()} == {"learn": 60, "held": 60}
    assert min(sum(each) / len(each) for each in halves.values()) >= HALVES_KNOWN


LISTS = {
    "Parts:\n1. Cards\n2. Application terms\nBring both.": "heading claim claim claim",
    "一、总则\n（一）范围\n适用于员工。\n二、附则\n即日施行。": "heading heading claim heading"
    " claim",
    "Cost\nTime\nScope\nThese three matter.": "claim claim claim claim",
    "Installation\n- Turn off power\n- Open the lid": "heading claim claim",
}


def test_an_item_of_a_list_is_no_heading() -> None:
    assert {answer: " ".join(kinds(answer)) for answer in LISTS} == LISTS


ANSWERS: dict[str, str] = {
    # Tables: a header, unless it states, and the row of dashes below it.
    "| City | Limit |\n|:---|---:|\n| Beijing | 500 |\n| Xi'an | 300 |": "heading meta claim claim",
    "| Plan | Is required |\n|---|---|\n| Basic | no |": "heading meta claim",
    "| 项目 | 是否可以 |\n|---|---|\n| 打印 | 是 |": "heading meta claim",
    "| Plan | Storage is 5 TB |\n|---|---|\n| Basic | no |": "claim meta claim",
    "| The limit is 500 yuan |\n|---|\n| Beijing |": "claim meta claim",
    "| 上限为500元 |\n|---|\n| Beijing |": "claim meta claim",
    # A reference list ends with the first line that is no entry; what an entry says is a claim.
    "References:\n[1] Smith 2020\n2. Passage 2\n- https://a.b/c\n《办法》": "heading" + " meta" * 4,
    "## Sources\n[1] Smith 2020": "heading meta",
    "**参考文献**\n[1] Smith 2020": "heading meta",
    "参考资料：\n[1] 《差旅管理办法》": "heading meta",
    "Sources:\n[1] Smith 2020\nThe limit is 500 yuan.\n1. Passage 3 says so.": "heading meta claim"
    " claim",
    "Sources:\n- Meat is rich in iron.\n- So are beans.": "heading claim claim",
    "References:\n[1] Smith 2020 found that aspirin cures cancer.": "heading claim",
    "Sources:\n[1] The refund takes 5 days.": "heading claim",
    "Sources:\n[1] Refunds are free.": "heading claim",
    "参考资料：\n[1] 研究表明该药有效。": "heading claim",
    "参考资料：\n[1] 上限为500元。": "heading claim",
    "References:\n[1] Smith 2020, Attention is all you need, Journal of Tests": "heading meta",
    "Rome is old.\n\n[^1]: Refunds take 5 days.": "claim claim",
    "Rome is old.\n\n[^1]: 上限为500元。": "claim claim",
    "Rome is old.\n\n[^1]: https://a.b/c": "claim meta",
    # Polite words around a refusal say nothing; what cites has found something.
    "Sorry!\n\nUnknown.": "pleasantry abstention",
    "Not mentioned in the documents. Let me know if you have any other questions.": "abstention"
    " pleasantry",
    "The documents do not mention this. I cannot answer.": "abstention abstention",
    "不知道。如有其他问题，请随时提问。": "abstention pleasantry",
    "文档中未提及。我无法回答。": "abstention abstention",
    "Unknown. Rome is old.": "claim claim",
    "未知。罗马很古老。": "claim claim",
    "## Author\n\nUnknown": "heading claim",
    "Who built it? Unknown.": "question claim",
    "Unknown [1].": "claim",
    "未知[1]。": "claim",
    # Advice and sources around an abstention say nothing either; what turns and asserts does.
    "I don't have information about that. Please contact support.": "abstention pleasantry",
    "根据提供的资料,无法确定该产品的保修期。建议您联系客服咨询。": "abstention pleasantry",
    "The sources do not say when, so please ask the seller.": "abstention",
    "The sources do not say when, so please pay at the desk.": "claim",
    "The documents do not mention that the fee was doubled to 90 euros.": "claim",
    "The report does not say when, but it was in March.": "claim",
    "According to the documents, breakfast is not included.": "claim",
    "根据资料，公司没有说明原因。": "claim",
    "申请人提供的材料没有说明收入来源。": "claim",
    "The plan has 10 GB. The documents do not mention the price. Source: [plans]": "claim"
    " abstention meta",
    "Unknown. Not mentioned.": "abstention abstention",
    # Backticks that open no fence.
    "```500``` is the limit.\n\n```500``` is the limit.": "claim claim",
    "": "",
}


def test_a_kind_depends_on_what_stands_around() -> None:
    assert {answer: " ".join(kinds(answer)) for answer in ANSWERS} == ANSWERS


@given(st.text(alphabet="ab 是。.?？#*|-[]1:\n`I don't know", max_size=60))
def test_only_the_kind_is_set(answer: str) -> None:
    sentences = split(answer)
    found = classify(sentences)
    assert [s.model_copy(update={"kind": SentenceKind.CLAIM}) for s in found] == list(sentences)
    assert classify(found) == found
