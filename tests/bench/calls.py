"""What a language model's judgement costs: calls, tokens and time, beside the least possible.

    python tests/bench/calls.py [--easy] [--workers N] [--profile]

The model is the test server in a process of its own; it quotes the chunks' sentence that a claim
was made from. First 200 answers of 8 sentences and 5 chunks of 120 words with 300 ms a call and 64
in flight: the floor (four waves of 300 ms), the bare `openai` client sending the same bodies, ours
from first request to last result, and `judge score` as a whole process. Then the same with no
delay: what our own work costs, of the nested judges on requests made before and of the whole path,
cache on and off, and again with all in the cache; three rounds, the best counts. Each is a process
of its own that other answers warmed up, beside the processor time that it takes. Last, calls an
answer on real answers, where those are at hand. Read the ratios; the machine moves the rest. The
sentences have figures, dates and names to check; those of `--easy` are made up and have none.
With `--workers` the whole path runs in so many processes, too.
`--profile` tells where it spends its time, in seconds of a slowed run.
"""

import argparse
import asyncio
import json
import math
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final
from urllib.request import urlopen

import httpx2
from openai import AsyncOpenAI, DefaultAioHttpClient
from openai.types.chat import ChatCompletion

# Run as a file, Python looks for modules beside it and not where `tests` stands.
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from judge import Config, Evaluator, JudgeRequest, Rules, Sample, SampleResult, read_samples
from judge.compose import compose
from judge.pipeline import asked
from tests.bench.workload import (
    computed,
    forked,
    machine,
    other,
    profiled,
    samples,
)
from tests.server import JudgeServer

ROOT: Final = Path(__file__).resolve().parents[2]
DELAY: Final = 0.3
ANSWERS: Final = 200
IN_FLIGHT: Final = 64
ROUNDS: Final = 3
REAL: Final = ROOT.parent / "shared" / "data" / "faithfulness" / "ragtruth_qa_dev.jsonl"

Stats = Counter[str]
"""What a server has seen: `calls`, `probes`, `prompt_tokens` and `reply_tokens`."""


@dataclass(frozen=True)
class Took:
    """What one run took, from first request to last result."""

    seconds: float
    computed: float
    """Seconds of the processor, of this process and its own."""
    judged: int = 0
    """Sentences with a verdict."""
    saw: Stats = field(default_factory=Counter)


@contextmanager
def served(delay: float) -> Iterator[str]:
    """The test server as a process; its base URL."""
    command = [sys.executable, "-m", "tests.server", "--apt", "--delay", str(delay)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip()
        finally:
            process.terminate()


def stats(url: str) -> Stats:
    with urlopen(url.removesuffix("/v1") + "/stats") as page:  # noqa: S310  our own server
        return Stats(json.load(page))


def settings(url: str, cache: Path | None = None, workers: int = 1) -> Config:
    return Config(
        model="tiny",
        base_url=url,
        concurrency=IN_FLIGHT,
        cache=cache is not None,
        cache_dir=cache,
        workers=workers,
    )


async def timed(work: Callable[[], Awaitable[object]]) -> Took:
    began, before = time.perf_counter(), computed()
    await work()
    return Took(time.perf_counter() - began, computed() - before)


def path(read: Sequence[Sample], before: Sequence[Sample], config: Config) -> Took:
    """The whole path, warmed up by the samples before."""

    async def run() -> Took:
        results: list[SampleResult] = []
        async with Evaluator(config) as evaluator:

            async def judge(samples: Sequence[Sample]) -> None:
                results[:] = [result async for result in evaluator.evaluate(samples)]

            await judge(before)
            saw = stats(config.base_url or "")
            took = await timed(lambda: judge(read))
        judged = [each.outcome.type for result in results for each in result.sentences]
        saw = stats(config.base_url or "") - saw
        return replace(took, judged=judged.count("verdict"), saw=saw)

    return asyncio.run(run())


def alone(read: Sequence[Sample], before: Sequence[Sample], config: Config) -> Took:
    """The nested judges, without what stands before and behind them on the path."""
    warm, made = ([asked(each, Rules()) for each in some] for some in (before, read))

    async def run() -> Took:
        gate = asyncio.Semaphore(IN_FLIGHT)
        async with compose(config) as (judge, *_):

            async def judge_one(request: JudgeRequest) -> None:
                async with gate:
                    await judge.judge(request)

            await asyncio.gather(*map(judge_one, warm))
            return await timed(lambda: asyncio.gather(*map(judge_one, made)))

    return asyncio.run(run())


def bare(url: str, bodies: Sequence[dict[str, object]]) -> Took:
    """The same requests, sent by the client alone."""

    async def run() -> Took:
        gate = asyncio.Semaphore(IN_FLIGHT)
        # As many sockets as requests in flight: at its default it would wait for its own.
        http = DefaultAioHttpClient(limits=httpx2.Limits(max_connections=IN_FLIGHT))
        async with AsyncOpenAI(
            api_key="none", base_url=url, max_retries=0, http_client=http
        ) as client:

            async def send(body: dict[str, object]) -> None:
                async with gate:
                    reply = await client.post(
                        "/chat/completions", cast_to=ChatCompletion, body=body
                    )
                    assert reply.choices[0].message.content

            await asyncio.gather(*map(send, bodies[:IN_FLIGHT]))
            return await timed(lambda: asyncio.gather(*map(send, bodies)))

    return asyncio.run(run())


def command(read: Sequence[Sample], url: str, folder: Path) -> Took:
    """`judge score` as a whole process."""
    source = folder / "samples.jsonl"
    source.write_text("".join(f"{each.model_dump_json()}\n" for each in read), encoding="utf-8")
    words = ["-m", "judge", "score", str(source), "-o", str(folder / "run"), "--no-cache"]
    words += ["--model", "tiny", "--base-url", url, "--concurrency", str(IN_FLIGHT)]
    began, before = time.perf_counter(), computed()
    done = subprocess.run([sys.executable, *words], cwd=ROOT, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    return Took(time.perf_counter() - began, computed() - before)


def recorded(samples: Sequence[Sample]) -> list[dict[str, object]]:
    """The bodies that the judge sends for these."""
    with JudgeServer() as server:
        path(samples, (), settings(server.base_url))
        return [dict(each.body) for each in server.requests if not each.is_probe]


def with_delay(read: Sequence[Sample], folder: Path, workers: int) -> None:
    bodies = forked(recorded, read)
    floor = math.ceil(len(read) / IN_FLIGHT) * DELAY
    with served(DELAY) as url:
        took = {
            "floor": Took(floor, 0),
            "bare openai": forked(bare, url, bodies),
            "whole path": forked(path, read, other(read), settings(url, folder / "delayed")),
            "judge score": forked(command, read, url, folder),
        }
        if workers > 1:
            many = settings(url, folder / "many", workers)
            took[f"whole path, {workers} workers"] = forked(path, read, other(read), many)
    print(f"{len(read)} answers, {DELAY * 1000:.0f} ms a call, {IN_FLIGHT} in flight")
    tell(took["whole path"], len(read))
    print(f"  {'':24}{'seconds':>10}{'× floor':>8}{'CPU ms':>8}{'× bare':>8}")
    own = took["bare openai"].computed
    for name, each in took.items():
        print(
            f"  {name:24}{each.seconds:>10.2f}{each.seconds / floor:>8.2f}"
            f"{1000 * each.computed / len(read):>8.1f}{each.computed / own:>8.1f}"
        )


def tell(ran: Took, answers: int) -> None:
    saw = ran.saw
    print(
        f"  {saw['calls']} calls ({saw['calls'] / answers:.3f} an answer), "
        f"{saw['prompt_tokens'] / answers:.0f} + {saw['reply_tokens'] / answers:.0f} tokens "
        f"an answer, {ran.judged} sentences judged"
    )


def without_delay(read: Sequence[Sample], folder: Path, workers: int) -> None:
    bodies, before = forked(recorded, read), other(read)
    best: dict[str, tuple[float, float]] = {}
    with served(0) as url:
        for number in range(ROUNDS):
            nested = settings(url, folder / f"nested-{number}")
            whole = settings(url, folder / f"whole-{number}")
            took = {
                "bare openai": forked(bare, url, bodies),
                "judge, no cache": forked(alone, read, before, settings(url)),
                "judge, new cache": forked(alone, read, before, nested),
                "judge, warm cache": forked(alone, read, before, nested),
                "whole path, no cache": forked(path, read, before, settings(url)),
                "whole path, new cache": forked(path, read, before, whole),
                "whole path, warm cache": forked(path, read, before, whole),
            }
            if workers > 1:
                many = settings(url, workers=workers)
                took[f"whole path, {workers} workers"] = forked(path, read, before, many)
            for name, each in took.items():
                seconds, cpu = best.get(name, (math.inf, math.inf))
                best[name] = min(seconds, each.seconds), min(cpu, each.computed)
    print(f"{len(read)} answers, no delay, {IN_FLIGHT} in flight, best of {ROUNDS}")
    print(f"  {'':24}{'answers/s':>10}{'× bare':>8}{'CPU ms':>8}{'× bare':>8}")
    least, own = best["bare openai"]
    for name, (seconds, cpu) in best.items():
        print(
            f"  {name:24}{len(read) / seconds:>10.0f}{least / seconds:>8.2f}"
            f"{1000 * cpu / len(read):>8.1f}{cpu / own:>8.1f}"
        )
    print(f"  calls with a warm cache: {took['whole path, warm cache'].saw['calls']}")


def real() -> None:
    if not REAL.is_file():
        print(f"{REAL.name}: not at hand, skipped")
        return
    samples = list(read_samples(REAL))
    with served(0) as url:
        ran = forked(path, samples, (), settings(url))
    print(f"{REAL.stem}: {len(samples)} answers")
    tell(ran, len(samples))


def main() -> None:
    reading = argparse.ArgumentParser(prog="calls.py")
    reading.add_argument("--easy", action="store_true", help="answers with little to check")
    reading.add_argument("--workers", type=int, default=1, help="the whole path in so many, too")
    reading.add_argument("--profile", action="store_true", help="where the whole path spends it")
    options = reading.parse_args()
    read = samples(easy=options.easy, answers=ANSWERS)
    # A key of the user's has no business with a test server.
    os.environ.pop("OPENAI_API_KEY", None)
    print(machine())
    if options.profile:
        with served(0) as url:
            path(other(read), (), settings(url))
            profiled(lambda: path(read, (), settings(url)))
        return
    with tempfile.TemporaryDirectory() as name:
        with_delay(read, Path(name), options.workers)
        without_delay(read, Path(name), options.workers)
    real()


if __name__ == "__main__":
    main()
