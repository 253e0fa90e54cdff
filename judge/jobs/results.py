"""Samples in memory, judged in one call: their results, with totals, tables and a run folder."""

import json
import time
from collections.abc import AsyncGenerator, Iterable
from contextlib import suppress
from importlib import import_module
from itertools import zip_longest
from pathlib import Path
from tempfile import TemporaryFile
from typing import TYPE_CHECKING

from judge.config import Config
from judge.errors import ConfigError, InputError, RunError
from judge.evaluator import Evaluator, complete
from judge.inputs.fields import sample_from
from judge.inputs.runs import INPUT, RunFolder, misplaced
from judge.inputs.samples import check_samples, each
from judge.jobs.job import now, priced, run_record
from judge.protocols import Judge
from judge.records import Sample, SampleResult, Summary
from judge.records.run import RunInput, RunRecord
from judge.reports.rows import Level, to_frame
from judge.scores.totals import Totals
from judge.text.visible import counted

if TYPE_CHECKING:
    import pandas as pd  # type: ignore[import-untyped]


class Results(list[SampleResult]):
    """The results of `evaluate`: a list in input order, which a notebook shows as a table."""

    def __init__(
        self, results: Iterable[SampleResult], samples: Iterable[Sample], record: RunRecord
    ) -> None:
        super().__init__(results)
        self.samples = list(samples)
        """The samples that were judged, in the same order."""
        self.record = record
        """Settings, signature, versions and times; `save` fills in the input."""

    @property
    def summary(self) -> Summary:
        """The totals, computed anew each time."""
        config = Config.model_validate(self.record.config)
        totals = Totals(max_unscored=config.max_unscored, limited=config.limited)
        for result in self:
            totals.add(result)
        return priced(totals.summary(), config)

    def to_pandas(self, level: Level = "sentences") -> "pd.DataFrame":
        """Return a row for each sentence or answer, as a DataFrame; see `to_rows`."""
        return to_frame(self, level)

    def save(self, folder: str | Path, *, force: bool = False) -> None:
        """Write a run folder that `judge show`, `report` and `compare` read.

        It also holds the samples, so that evidence can be shown in its chunks. `force` replaces a
        run that is there.

        Raises:
            RunError: the folder holds a run or files of yours, or the list was changed.
            InputError: a qid is not unique, or metadata has the name of a field.
        """
        for number, (result, sample) in enumerate(zip_longest(self, self.samples), 1):
            if result is None or misplaced(number, result, sample):
                what = f"result {number} is not of sample {number}"
                raise RunError(f"{folder}: {what}; save the list as evaluate made it")
        with TemporaryFile() as lines, RunFolder(folder, force=force) as run:
            lines.writelines(map(_line_of, self.samples))
            lines.seek(0)
            checked = check_samples(run.take(lines))
            path = str(run.input.absolute())
            made_from = RunInput(path=path, sha256=checked.sha256, samples=checked.samples)
            # The lines are in judge's own form, for which a map of other fields would be wrong.
            config = self.record.config | {"map": None}
            record = self.record.model_copy(update={"input": made_from, "config": config})
            run.begin(record.model_copy(update={"finished": None}))
            run.cut(0)
            for result in self:
                run.append(result)
            run.finish(self.summary, record)

    def __repr__(self) -> str:
        return f"<Results of {counted(len(self), 'answer')}>"

    def _repr_html_(self) -> str:
        """Return the scores and the worst sentences as HTML for a notebook."""
        # The pages are on a higher floor, so that they are imported here only when called.
        page: str = import_module("judge.pages.notebook").results(self, self.summary)
        return page


def _line_of(sample: Sample) -> bytes:
    """Return a sample as a line of JSON that `read_samples` reads; errors as `Results.save`."""
    fields = sample.model_dump(mode="json", exclude={"metadata"}, exclude_none=True)
    row = sample.metadata | fields
    again = None
    with suppress(InputError):
        again = sample_from(row, line=0, needs=())
    if again != sample:
        what = "its metadata has the name of a field, such as gold_answer"
        raise InputError(f"sample {sample.qid!r}: {what}; rename it")
    return json.dumps(row).encode() + b"\n"


def evaluate(
    samples: object,
    config: Config | None = None,
    *,
    judge: Judge | str | None = None,
    evaluator: Evaluator | None = None,
    **settings: object,
) -> Results:
    """Score samples and return their results. The errors are those of `Evaluator.evaluate`.

    This also works in a notebook, where an event loop is running.

    Args:
        samples: as `Evaluator.evaluate`.
        config: as `Evaluator`.
        judge: a judge of your own, as `Evaluator` takes it. A text is the setting `judge`.
        evaluator: used in the place of one made of `config`, `judge` and `settings`.
        settings: settings of `Config` by name, such as `model="gpt-5-mini"`. They replace those of
            `config`.
    """
    if isinstance(judge, str):
        settings["judge"], judge = judge, None
    if settings:
        if evaluator is not None:
            raise ConfigError(f"{', '.join(settings)}: give the evaluator its settings as a Config")
        own = {name: getattr(config, name) for name in config.model_fields_set} if config else {}
        config = Config.model_validate(own | settings)
    scorer = evaluator or Evaluator(config, judge=judge)
    results, judged = list[SampleResult](), list[Sample]()
    mapping = scorer.config.map
    started, began = now(), time.monotonic()

    async def kept() -> AsyncGenerator[Sample]:
        async for sample in each(samples, mapping):
            judged.append(sample)
            yield sample

    async def collect() -> None:
        async for result in scorer.evaluate(kept()):
            results.append(result)

    # The coroutine returns nothing: Python 3.11 renders what a loop returns, and drops the text.
    complete(collect())
    record = run_record(scorer, scorer.config, RunInput(path=INPUT, sha256="", samples=len(judged)))
    seconds = round(time.monotonic() - began, 3)
    times = {"started": started, "finished": now(), "seconds": seconds}
    return Results(results, judged, record.model_copy(update=times))
