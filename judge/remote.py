"""A service in the place of an evaluator: a `Job` makes a run folder of what it says of a batch."""

import hashlib
import json
import time
from collections.abc import AsyncGenerator
from contextlib import aclosing
from pathlib import Path
from typing import Final, Self

from judge.client import AsyncJudgeClient, JudgeClient
from judge.config import Config
from judge.errors import InputError, RunError
from judge.files.objects import Samples, each
from judge.records import SampleResult
from judge.records.run import RunRecord
from judge.service.wire import OPEN, BatchStatus, Options

_FIRST: Final = 5.0
"""Seconds for the service to be reached at all."""
_LOOK: Final = 0.5
"""Seconds between two looks at a batch whose turn has not come."""


class RemoteEvaluator:
    """Scores the samples of one file as a batch of a service; a `judge.job.Scorer`.

    The same file and options are the same batch, however often they are sent.

    Args:
        url: of the service.
        source: the file.
        options: what it is judged with, beside the service's own settings.
    """

    def __init__(self, url: str, source: Path, options: Options) -> None:
        self._url = url
        self._source = source
        self._options = options
        asked = json.dumps(options.model_dump(mode="json"), sort_keys=True).encode()
        with source.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256")
        digest.update(asked)
        self.batch = f"f{digest.hexdigest()[:32]}"
        """Its id."""
        self.workers = 1
        """Here nothing is computed."""
        self.trouble = ""
        """Likewise nobody is asked."""
        self._client = AsyncJudgeClient(url)
        self._run: RunRecord | None = None

    def open(self) -> Config:
        """Send the batch, and wait for its turn; returns the settings it is judged with.

        Raises:
            InputError: a line is bad, as of `judge.files.samples.read_samples`.
            JudgeError: it cannot be judged.
        """
        with JudgeClient(self._url, patience=_FIRST) as client:
            client.check()
        with JudgeClient(self._url) as client:
            status = client.submit(self._source, batch=self.batch, **dict(self._options))
            while status.run is None and status.state in OPEN:
                time.sleep(_LOOK)
                status = client.status(self.batch)
        self._refuse(status)
        if status.run is None:
            raise RunError(f"batch {self.batch}: {status.state} before it began; send it again")
        self._run = status.run
        return Config.model_validate(status.run.config)

    @property
    def _record(self) -> RunRecord:
        if self._run is None:
            raise RunError("open it first")
        return self._run

    @property
    def signature(self) -> str:
        """How the service judges."""
        return self._record.signature

    @property
    def correctness_signature(self) -> str | None:
        """Likewise correctness."""
        return self._record.correctness

    @property
    def relevance_signature(self) -> str | None:
        """Likewise relevance."""
        return self._record.answer_relevance

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._client.close()

    async def evaluate(self, samples: Samples) -> AsyncGenerator[SampleResult]:
        """The service's results of these samples, which may begin anywhere in the file."""
        async with aclosing(self._client.results(self.batch)) as results:
            async for sample in each(samples):
                async for result in results:
                    if result.qid == sample.qid:
                        yield result
                        break
                else:
                    status = await self._client.status(self.batch)
                    self._refuse(status)
                    message = f"batch {self.batch} is {status.state}, without {sample.qid!r}"
                    raise RunError(f"{message}; send it again")

    def _refuse(self, status: BatchStatus) -> None:
        """Raise what a batch has failed of; a bad line is one of the file."""
        if status.problem is not None:
            error = status.problem.error()
            raise (
                error.at(str(self._source), error.line) if isinstance(error, InputError) else error
            )
