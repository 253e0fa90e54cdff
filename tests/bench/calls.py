"""What a language model's judgement costs: calls, tokens and time, beside the least possible.

    python tests/bench/calls.py [--easy]

The model is the test server in a process of its own. First 200 answers of 8 sentences and 5 chunks
of 120 words with 300 ms a call and 64 in flight, beside the floor (four waves of 300 ms) and beside
the bare `openai` client sending the same bodies. Then the same with no delay: what our own work
costs, of the nested judges on requests made before and of the whole path, cache on and off, and
again with all in the cache; three rounds, the best counts. Last, calls an answer on real answers,
where those are at hand. Read the ratios; the machine moves the rest. The sentences have figures,
dates and names to check; those of `--easy` are made up and have none.
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
from collections.abc import Awaitable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.request import urlopen

import httpx2
from openai import AsyncOpenAI, DefaultAioHttpClient
from openai.types.chat import ChatCompletion

# Run as a file, Python looks for modules beside it and not where `tests` stands.
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from judge import Config, Evaluator, JudgeRequest, Rules, Sample, read_samples
from judge.compose import compose
from judge.pipeline import asked
from tests.bench.workload import machine, samples
from tests.server import JudgeServer

ROOT: Final = Path(__file__).resolve().parents[2]
DELAY: Final = 0.3
ANSWERS: Final = 200
IN_FLIGHT: Final = 64
ROUNDS: Final = 3
REAL: Final = ROOT.parent / "shared" / "data" / "faithfulness" / "ragtruth_qa_dev.jsonl"

START: Final = """
import asyncio, sys
from judge import Config, Evaluator
async def start():
    async with Evaluator(Config(model="tiny", base_url=sys.argv[1], cache=False)):
        pass
asyncio.run(start())
"""


Stats = Counter[str]
"""What a server has seen: `calls`, `probes`, `prompt_tokens` and `reply_tokens`."""


@dataclass(frozen=True)
class Ran:
    """One run of the judge."""

    start: float
    """Seconds until it was ready: imports, cache, probe."""
    seconds: float
    """From there to the last result."""
    judged: int
    """Sentences with a verdict."""
    saw: Stats


@contextmanager
def served(delay: float) -> Iterator[str]:
    """The test server as a process; its base URL."""
    command = [sys.executable, "-m", "tests.server", "--delay", str(delay)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip()
        finally:
            process.terminate()


def stats(url: str) -> Stats:
    with urlopen(url.removesuffix("/v1") + "/stats") as page:  # noqa: S310  our own server
        return Stats(json.load(page))


def settings(url: str, in_flight: int, cache: Path | None) -> Config:
    return Config(
        model="tiny", base_url=url, concurrency=in_flight, cache=cache is not None, cache_dir=cache
    )


def started(url: str) -> float:
    """Seconds of a process that gets ready and ends."""
    began = time.perf_counter()
    subprocess.run([sys.executable, "-c", START, url], cwd=ROOT, check=True)
    return time.perf_counter() - began


async def judged(samples: Sequence[Sample], config: Config) -> Ran:
    url = config.base_url or ""
    before = stats(url)
    began = time.perf_counter()
    async with Evaluator(config) as evaluator:
        ready = time.perf_counter()
        results = [result async for result in evaluator.evaluate(samples)]
        ended = time.perf_counter()
    outcomes = [each.outcome.type for result in results for each in result.sentences]
    return Ran(ready - began, ended - ready, outcomes.count("verdict"), stats(url) - before)


async def alone(requests: Sequence[JudgeRequest], config: Config) -> float:
    """Seconds of the nested judges, without what stands before and behind them on the path."""
    gate = asyncio.Semaphore(config.concurrency)
    async with compose(config) as (judge, *_):

        async def judge_one(request: JudgeRequest) -> None:
            async with gate:
                await judge.judge(request)

        began = time.perf_counter()
        await asyncio.gather(*map(judge_one, requests))
        return time.perf_counter() - began


async def bare(url: str, bodies: Sequence[dict[str, object]], in_flight: int) -> float:
    """Seconds for the same requests, sent by the client alone."""
    gate = asyncio.Semaphore(in_flight)
    # As many sockets as requests in flight: at its default it would wait for its own.
    http = DefaultAioHttpClient(limits=httpx2.Limits(max_connections=in_flight))
    async with AsyncOpenAI(api_key="none", base_url=url, max_retries=0, http_client=http) as client:

        async def send(body: dict[str, object]) -> None:
            async with gate:
                reply = await client.post("/chat/completions", cast_to=ChatCompletion, body=body)
                assert reply.choices[0].message.content

        began = time.perf_counter()
        await asyncio.gather(*map(send, bodies))
        return time.perf_counter() - began


async def path(samples: Sequence[Sample], config: Config) -> float:
    """Seconds of the whole path."""
    return (await judged(samples, config)).seconds


async def counted(work: Awaitable[float]) -> tuple[float, float]:
    """The seconds it tells, and those that this process computes."""
    began = time.process_time()
    return await work, time.process_time() - began


async def recorded(samples: Sequence[Sample]) -> list[dict[str, object]]:
    """The bodies that the judge sends for these."""
    with JudgeServer() as server:
        await judged(samples, settings(server.base_url, IN_FLIGHT, None))
        return [dict(each.body) for each in server.requests if not each.is_probe]


async def with_delay(samples: Sequence[Sample], folder: Path) -> None:
    bodies = await recorded(samples)
    floor = math.ceil(len(samples) / IN_FLIGHT) * DELAY
    with served(DELAY) as url:
        start = started(url)
        ran = await judged(samples, settings(url, IN_FLIGHT, folder / "delayed"))
        plain = await bare(url, bodies, IN_FLIGHT)
    print(f"{len(samples)} answers, {DELAY * 1000:.0f} ms a call, {IN_FLIGHT} in flight")
    tell(ran, len(samples))
    print(f"  start-up {start:.2f} s for a process that starts, probes and ends;")
    print(f"           {ran.start:.2f} s of opening the cache and probing in the run itself")
    print("  first request to last result")
    for name, seconds in (("floor", floor), ("bare openai", plain), ("judge", ran.seconds)):
        print(f"    {name:12}{seconds:6.2f} s  {seconds / floor:5.2f} × floor")


def tell(ran: Ran, answers: int) -> None:
    saw = ran.saw
    print(
        f"  {saw['calls']} calls ({saw['calls'] / answers:.3f} an answer), {saw['probes']} probes, "
        f"{saw['prompt_tokens'] / answers:.0f} + {saw['reply_tokens'] / answers:.0f} tokens "
        f"an answer, "
        f"{ran.judged} sentences judged"
    )


async def without_delay(samples: Sequence[Sample], folder: Path) -> None:
    bodies = await recorded(samples)
    requests = [asked(sample, Rules()) for sample in samples]
    best: dict[str, tuple[float, float]] = {}
    again = 0
    with served(0) as url:
        uncached = settings(url, IN_FLIGHT, None)
        for number in range(ROUNDS):
            nested = settings(url, IN_FLIGHT, folder / f"nested-{number}")
            whole = settings(url, IN_FLIGHT, folder / f"whole-{number}")
            took = {
                "bare openai": await counted(bare(url, bodies, IN_FLIGHT)),
                "judge, no cache": await counted(alone(requests, uncached)),
                "judge, new cache": await counted(alone(requests, nested)),
                "whole path, no cache": await counted(path(samples, uncached)),
                "whole path, new cache": await counted(path(samples, whole)),
            }
            before = stats(url)
            took["judge, warm cache"] = await counted(alone(requests, nested))
            took["whole path, warm cache"] = await counted(path(samples, whole))
            again += (stats(url) - before)["calls"]
            best = {name: min(best.get(name, own), own) for name, own in took.items()}
    print(f"{len(samples)} answers, no delay, {IN_FLIGHT} in flight, best of {ROUNDS}")
    print(f"  {'':24}{'answers/s':>10}{'× bare':>8}{'CPU ms':>8}{'× bare':>8}")
    least, own = best["bare openai"]
    for name, (seconds, computed) in best.items():
        print(
            f"  {name:24}{len(samples) / seconds:>10.0f}{least / seconds:>8.2f}"
            f"{1000 * computed / len(samples):>8.1f}{computed / own:>8.1f}"
        )
    print(f"  calls with a warm cache: {again}")


async def real(folder: Path) -> None:
    if not REAL.is_file():
        print(f"{REAL.name}: not at hand, skipped")
        return
    samples = list(read_samples(REAL))
    with served(0) as url:
        ran = await judged(samples, settings(url, IN_FLIGHT, folder / "real"))
    print(f"{REAL.stem}: {len(samples)} answers")
    tell(ran, len(samples))


async def main() -> None:
    reading = argparse.ArgumentParser(prog="calls.py")
    reading.add_argument("--easy", action="store_true", help="answers with little to check")
    read = samples(easy=reading.parse_args().easy, answers=ANSWERS)
    # A key of the user's has no business with a test server.
    os.environ.pop("OPENAI_API_KEY", None)
    with tempfile.TemporaryDirectory() as name:
        print(machine())
        await with_delay(read, Path(name))
        await without_delay(read, Path(name))
        await real(Path(name))


if __name__ == "__main__":
    asyncio.run(main())
