"""What a cluster reads: an address stands for the files that a path stands for."""

from pathlib import Path

import pytest

from judge import InputError
from judge.cluster.blocks import Source, blocks, sources, tasks


def test_an_address_names_the_same_files_as_a_path(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    for name in ("b.jsonl", "a.csv", "deep/c.jsonl", ".hidden.jsonl", "_SUCCESS.json", "notes.txt"):
        (tmp_path / name).write_text('{"qid": "q", "answer": "a", "chunks": []}', encoding="utf-8")
    for name, expected in {
        "": ["a.csv", "b.jsonl", "deep/c.jsonl"],
        "/*.csv": ["a.csv"],
        "/b.jsonl": ["b.jsonl"],
    }.items():
        here = [str(each) for each in sources(f"{tmp_path}{name}")]
        away = [str(each) for each in sources(f"file://{tmp_path}{name}")]
        assert here == [f"{tmp_path}/{each}" for each in expected]
        assert away == [f"file://{each}" for each in here]
        assert tasks(sources(f"{tmp_path}{name}")) == 1
    (source,) = sources(f"file://{tmp_path}/b.jsonl")
    (block,) = blocks(source, 0, max_line=1.0, skip=False, named=True)
    assert [sample.qid for sample in block.samples] == ["q"]
    (tmp_path / "b.jsonl").unlink()  # between the listing and the reading
    with pytest.raises(InputError):
        list(blocks(source, 0, max_line=1.0, skip=False, named=True))
    home = f"file://{tmp_path}"
    for name in (f"{home}/*.parquet", f"{home}/absent", f"{home}/deep/.*", "nowhere://a"):
        with pytest.raises(InputError):
            sources(name)


def test_many_small_files_are_read_by_few_tasks() -> None:
    for sizes, count in {
        (0,): 1,
        (1 << 20,) * 40: 3,
        (1 << 30,): 1,
        (1 << 30, 1): 2,
        (None,) * 9: 9,
    }.items():
        assert (
            tasks([Source(f"{number}.jsonl", size) for number, size in enumerate(sizes)]) == count
        )
