"""The blocks of a cluster job."""

from judge.cluster.blocks import tasks
from judge.inputs.files import InputFile


def test_many_small_files_are_read_by_few_tasks() -> None:
    for sizes, count in {
        (0,): 1,
        (1 << 20,) * 40: 3,
        (1 << 30,): 1,
        (1 << 30, 1): 2,
        (None,) * 9: 9,
    }.items():
        files = [InputFile(f"{number}.jsonl", size) for number, size in enumerate(sizes)]
        assert tasks(files) == count
