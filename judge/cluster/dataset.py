"""Rows of a Ray dataset scored in a pipeline of the user's."""

from typing import TYPE_CHECKING, Final

import ray.data

from judge.cluster.actors import Holder, config_of, cpus
from judge.cluster.blocks import sample_of
from judge.config import Config
from judge.files.fields import SCORE_NEEDS
from judge.files.shapes import Reader

if TYPE_CHECKING:
    from pyarrow import Table
    from ray.data import Dataset

_ROWS: Final = 256


def evaluate_dataset(
    ds: "Dataset", config: Config | None = None, *, replicas: int = 1
) -> "Dataset":
    """A row for each row of `ds`: `qid`, `status`, `faithfulness`, and the `result` as JSON.

    Lazy, as Ray Data is. A row of the wrong form ends the pipeline with an `InputError`. Rates and
    budgets of the settings hold for each replica.

    Args:
        ds: rows with the fields of a sample: a line of JSON has the same.
        config: settings; `concurrency` is that of each replica.
        replicas: actors that score.
    """
    config = config or Config()
    return ds.map_batches(
        _Rows,
        fn_constructor_args=(config.model_dump_json(),),
        batch_size=_ROWS,
        batch_format="pyarrow",
        compute=ray.data.ActorPoolStrategy(size=replicas),
        num_cpus=cpus(config),
    )


class _Rows(Holder):
    """Scores rows."""

    def __init__(self, settings: str) -> None:
        super().__init__(config_of(settings))

    async def __call__(self, batch: "Table") -> dict[str, list[object]]:
        """The columns of their results."""
        evaluator = await self._opened()
        reader = Reader(SCORE_NEEDS | {"qid"})
        samples = [sample_of(row, 0, reader) for row in batch.to_pylist()]
        results = [result async for result in evaluator.evaluate(samples)]
        return {
            "qid": [each.qid for each in results],
            "status": [each.status.value for each in results],
            "faithfulness": [each.scores.faithfulness for each in results],
            "result": [each.model_dump_json() for each in results],
        }
