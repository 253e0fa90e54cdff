"""Rows of a Ray dataset scored in a pipeline of the user's."""

from contextlib import aclosing
from typing import TYPE_CHECKING, Final

import pyarrow as pa
import ray.data

from judge.cluster.actors import Holder, Row, config_of, cpus, portable
from judge.config import Config
from judge.errors import ConfigError, InputError
from judge.inputs.fields import SCORE_NEEDS
from judge.inputs.rows import table_fields
from judge.inputs.shapes import RowReader
from judge.records import Sample, SampleResult

if TYPE_CHECKING:
    from ray.data import Dataset

_ROWS: Final = 256
_NEEDS: Final = SCORE_NEEDS | {"qid"}
_COLUMNS: Final = pa.schema(
    {
        "qid": pa.string(),
        "status": pa.string(),
        "faithfulness": pa.float64(),
        "result": pa.string(),
        "error": pa.string(),
    }
)


def evaluate_dataset(
    ds: "Dataset", config: Config | None = None, *, replicas: int = 1
) -> "Dataset":
    """Return a data set with a row for each row of `ds`; it is lazy, as Ray Data is.

    Its columns are `qid`, `status`, `faithfulness`, `result` as JSON, and `error`. A row of the
    wrong form has the status "rejected", and its error says what is wrong. The rates of the
    settings are divided evenly among the replicas.

    Args:
        ds: rows with the fields of a sample: a line of JSON has the same.
        config: settings; `concurrency` is that of each replica.
        replicas: actors that score.

    Raises:
        ConfigError: a setting works within one process only, or there is no replica.
    """
    if replicas < 1:
        raise ConfigError(f"replicas {replicas}: at least one must score")
    config = portable(config or Config(), replicas)
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
        config = config_of(settings)
        super().__init__(config)
        self._map = config.map

    async def __call__(self, batch: pa.Table) -> pa.Table:
        """Return a row for each row of a batch."""
        reader = RowReader(_NEEDS, self._map)
        read = [_read(row, reader) for row in batch.to_pylist()]
        evaluator = await self._opened()
        results = evaluator.evaluate(each for each in read if isinstance(each, Sample))
        async with aclosing(results):
            rows = [
                _row(await anext(results)) if isinstance(each, Sample) else each for each in read
            ]
        return pa.Table.from_pylist(rows, _COLUMNS)


def _read(row: Row, reader: RowReader) -> Sample | Row:
    try:
        return reader.sample(table_fields(row), 0)
    except InputError as error:
        qid = row.get("qid")
        named = None if qid is None else str(qid)
        return {"qid": named, "status": "rejected", "error": str(error)}


def _row(result: SampleResult) -> Row:
    return {
        "qid": result.qid,
        "status": result.status.value,
        "faithfulness": result.scores.faithfulness,
        "result": result.model_dump_json(),
    }
