"""Examinees that know the right labels of an exam, and what they make of them."""

import re
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import NamedTuple

from pydantic import JsonValue

from judge.exam.items import ExamItem, ExamItems
from judge.records import SUPPORTED, Support
from judge.review.golden import Golden, GoldenLabel, golden_lines
from tests.chat_call import ChatCall
from tests.replies import Answer, Says, Script, packed, right


class Known(NamedTuple):
    """A sentence whose right label is known."""

    item: ExamItem
    label: GoldenLabel


Choose = Callable[[Known], Support]
"""The label that the judge gives it."""


def items_file(path: Path, *items: ExamItem) -> Path:
    """Write items as a golden set."""
    lines = golden_lines(Golden(item.sample, item.labels) for item in items)
    path.write_text("".join(lines), "utf-8")
    return path


def truth(known: Known) -> Support:
    return known.label.support or (Support.FULL if known.label.supported else Support.NONE)


def always(support: Support) -> Choose:
    return lambda _: support


def obedient(known: Known) -> Support:
    return known.item.demanded or truth(known)


def erring(share: float, seed: int) -> Choose:
    """Wrong of a share of the sentences, whenever it is asked."""

    def choose(known: Known) -> Support:
        dice = Random(f"{seed} {known.item.sample.qid} {known.label.sentence}")  # noqa: S311  again
        right, wrong = truth(known), dice.random() < share
        others = [each for each in Support if each is not right]
        return dice.choice(others) if wrong else right

    return choose


def oracle(items: ExamItems, choose: Choose = truth) -> Script:
    """Says what is chosen of each sentence, and all that is right beside it."""
    known = {
        (item.sample.query, label.text): Known(item, label)
        for item in items.items
        for label in item.labels
    }

    def script(call: ChatCall) -> Answer:
        if call.is_probe:
            return right(call)
        found = {name: known.get((call.question, call.sentences[name])) for name in call.ids}
        return Says(packed([_verdict(call, name, each, choose) for name, each in found.items()]))

    return script


def _verdict(
    call: ChatCall, name: str, known: Known | None, choose: Choose
) -> dict[str, JsonValue]:
    if known is None:  # a hidden order has no label
        nothing: dict[str, JsonValue] = {"evidence": [], "supporting": [], "cited_support": None}
        return {"id": name, "support": "no_claim", "reason": ""} | nothing
    support, label = choose(known), known.label
    shown = [_letters(text) for text in call.chunks]
    texts = {chunk.chunk_id: _letters(chunk.text) for chunk in known.item.sample.chunks}
    places = [shown.index(texts[each]) + 1 for each in label.supporting or ()]
    cited: str | None = label.cited_support
    if support is not truth(known):
        places = [1] if support in SUPPORTED else []
        cited = "none" if call.cites.get(name) else None
    tells = support in {Support.FULL, Support.PARTIAL, Support.CONTRADICTED}
    number = places[0] if places else 1
    evidence: JsonValue = [{"chunk": number, "quote": call.chunks[number - 1]}] if tells else []
    return {
        "id": name,
        "evidence": evidence,
        "supporting": list[JsonValue](places),
        "support": support.value,
        "cited_support": cited,
        "reason": "" if support is Support.FULL else "stated otherwise",
    }


def _letters(text: str) -> str:
    """Letters and digits: a chunk is asked about without what a chat template is made of."""
    return re.sub(r"\W", "", text)
