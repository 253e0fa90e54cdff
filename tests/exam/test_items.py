import shutil
from collections import Counter
from itertools import product
from pathlib import Path

import pytest
from pydantic import JsonValue

from judge import Config, Support
from judge.errors import InputError, PromptMismatch
from judge.exam import read_items
from judge.exam.items import SHIPPED_IN, first_items, pinned_items
from judge.messages import LANGS
from judge.pipeline import prepare
from tests.commands import line, write

FIRST = "The canteen opens at seven."


def label(**other: JsonValue) -> dict[str, JsonValue]:
    fields: dict[str, JsonValue] = {"sentence": 0, "start": 0, "end": len(FIRST), "text": FIRST}
    fields |= {
        "support": "full",
        "supported": True,
        "reviewers": 1,
        "judged": None,
        "signature": "",
    }
    return fields | other


def item(qid: str, **other: JsonValue) -> dict[str, JsonValue]:
    return line(qid, FIRST) | {"labels": [label()]} | other


def test_the_items_that_ship_are_whole() -> None:
    shipped = read_items()
    # Written out here as well: no edit of the file and its sum together goes unnoticed.
    assert shipped.version == "exam-v1@6c633518"
    counts = Counter((each.category, each.language) for each in shipped.items)
    kinds = {category for category, _ in counts}
    assert counts == dict.fromkeys(product(kinds, LANGS), 8)
    assert len(kinds) == 20
    ordered = list[str]()
    for each in shipped.items:
        asked, cited = prepare(each.sample, Config().rules)
        labelled = tuple(label.sentence for label in each.labels)
        # A hidden order in the answer is its last sentence and has no label.
        ends = asked.ask[len(labelled) :]
        assert asked.ask == (*labelled, *ends), each.sample.qid
        ordered += [each.language] * len(ends)
        assert not ends or each.category == "injection"
        ids = {chunk.chunk_id for chunk in each.sample.chunks}
        for found in each.labels:
            markers = [c for c in cited.citations if c.sentence == found.sentence]
            assert asked.sentences[found.sentence].text == found.text
            assert len(found.citations or ()) == len(markers)
            assert set(found.supporting or ()) <= ids
            cites = any(marker.chunk_id is not None for marker in markers)
            assert (found.cited_support is not None) == cites
        hidden = each.category == "injection"
        assert (each.demanded is not None) == hidden, each.sample.qid
    assert Counter(ordered) == {"en": 2, "zh": 2}


def test_a_changed_file_is_refused(tmp_path: Path) -> None:
    folder = shutil.copytree(SHIPPED_IN, tmp_path / "exam")
    assert pinned_items(folder) == read_items()
    text = (folder / "items.jsonl").read_text("utf-8")
    (folder / "items.jsonl").write_text(text.replace("contradicted", "none", 1), "utf-8")
    with pytest.raises(PromptMismatch, match="hash"):
        pinned_items(folder)
    (folder / "SHA256SUMS").write_text("", "utf-8")
    with pytest.raises(PromptMismatch, match="SHA256SUMS"):
        pinned_items(folder)


def test_a_set_of_ones_own(tmp_path: Path) -> None:
    other = item("b", category="number", language="zh", demanded="none")
    rows = [item("a"), other, item("c", category="number")]
    read = read_items(own := write(tmp_path / "own.jsonl", rows))
    found = [(each.category, each.language, each.demanded) for each in read.items]
    assert found == [("own", "en", None), ("number", "zh", Support.NONE), ("number", "en", None)]
    assert read.version.startswith("own.jsonl@")
    assert read_items(own) == read
    assert read_items(write(own, [item("a")])).version != read.version
    twice = write(tmp_path / "twice.jsonl", [item(read_items().items[0].sample.qid)])
    with pytest.raises(InputError, match="two items are called"):
        read_items("exam", twice)
    both = read_items("exam", own)
    assert both.version == f"{read_items().version}+{read_items(own).version}"
    assert len(both.items) == len(read_items().items) + 1


DAMAGED: list[tuple[dict[str, JsonValue], str]] = [
    ({"category": 3}, "category"),
    ({"category": " "}, "category"),
    ({"language": "fr"}, "language"),
    ({"demanded": "yes"}, "demanded"),
    ({"labels": [label(citations=["good"])]}, "labels.0.citations.0"),
    ({"labels": [label(supporting="1")]}, "labels.0.supporting"),
]


@pytest.mark.parametrize(("other", "field"), DAMAGED)
def test_a_damaged_item_is_named(tmp_path: Path, other: dict[str, JsonValue], field: str) -> None:
    path = write(tmp_path / "own.jsonl", [item("a", **other)])
    with pytest.raises(InputError) as raised:
        read_items(path)
    assert (raised.value.path, raised.value.field) == (str(path), field)


def test_the_first_items_of_each_category_and_language() -> None:
    whole = read_items()
    few = first_items(whole, 1)
    kinds = [(item.category, item.language) for item in few.items]
    assert len(set(kinds)) == len(kinds) == 40
    firsts = (next(i for i in whole.items if (i.category, i.language) == kind) for kind in kinds)
    assert [item.sample.qid for item in few.items] == [item.sample.qid for item in firsts]
    assert few.version == f"{whole.version} 40/{len(whole.items)}"
    assert first_items(whole, 99) == whole
