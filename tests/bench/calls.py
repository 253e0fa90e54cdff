"""Measure what a language-model judge costs: calls, tokens, wall time and processor time.

    python tests/bench/calls.py

The model is the test server in a process of its own. It finds the sentence of the chunks that a
claim was made from, and quotes its first 12 to 15 words. There are 200 answers of 8 sentences over
5 chunks of 120 words, full of figures, dates and names. Each claim is worded otherwise than its
chunk, and no text is seen twice in a round: what warms a process up is made of other words.

The first table has 300 ms a call and 64 calls in flight: the floor (four waves of 300 ms), the bare
`openai` client sending the same bodies, `Evaluator` from first request to last result, and `judge
score` as a whole process. The second has no delay: what our own work costs beside the bare client,
without a cache, with an empty one and with a full one. Three rounds are run, and the best of each
counts. Then come `judge score` of one answer as a process, the path by similarity on one core, and
both paths on real answers, where those are at hand. Read the ratios; the machine moves the rest.
"""

import asyncio
import gc
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
from resource import RUSAGE_CHILDREN, getrusage
from typing import Final
from urllib.request import urlopen

import httpx2
from openai import AsyncOpenAI, DefaultAioHttpClient
from openai.types.chat import ChatCompletion

# Python looks for modules beside a file that is run, and not at the top of the checkout.
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from judge import Config, Evaluator, Rules, Sample, SampleResult, evaluate, read_samples
from judge.compose import offline
from judge.pipeline import evaluate_sample
from tests.bench.workload import FULL, computed, forked, machine, other, reworded, samples
from tests.server import JudgeServer

ROOT: Final = Path(__file__).resolve().parents[2]
DELAY_SECONDS: Final = 0.3
IN_FLIGHT: Final = 64
ROUNDS: Final = 3
REAL: Final = FULL.parents[1] / "faithfulness" / "ragtruth_qa_dev.jsonl"

Stats = Counter[str]
"""The counts of a server: `calls`, `probes`, `prompt_tokens` and `reply_tokens`."""


@dataclass(frozen=True)
class Cost:
    """The time and the calls of one run, from the first request to the last result."""

    seconds: float
    cpu: float
    """Seconds of processor time of this process and its children."""
    judged: int = 0
    """Sentences with a verdict."""
    stats: Stats = field(default_factory=Counter)


@contextmanager
def served(delay: float) -> Iterator[str]:
    """Run the test server in a process; the value is its base URL."""
    command = [sys.executable, "-m", "tests.server", str(delay)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip()
        finally:
            process.terminate()


def stats(url: str) -> Stats:
    with urlopen(url.removesuffix("/v1") + "/stats") as page:  # noqa: S310  our own server
        return Stats(json.load(page))


def settings(url: str, cache: Path | None = None) -> Config:
    return Config(
        model="tiny",
        base_url=url,
        concurrency=IN_FLIGHT,
        cache=cache is not None,
        cache_dir=cache,
    )


async def timed(work: Callable[[], Awaitable[object]]) -> Cost:
    gc.collect()  # otherwise what the imports left is collected in one of the runs, by chance
    started, before = time.perf_counter(), computed()
    await work()
    return Cost(time.perf_counter() - started, computed() - before)


def path(read: Sequence[Sample], config: Config) -> Cost:
    """Return what `Evaluator` takes for these answers, after it judged others."""

    async def run() -> Cost:
        results: list[SampleResult] = []
        async with Evaluator(config) as evaluator:

            async def judge(samples: Sequence[Sample]) -> None:
                results[:] = [result async for result in evaluator.evaluate(samples)]

            await judge(other(read, IN_FLIGHT))
            before = stats(config.base_url or "")
            cost = await timed(lambda: judge(read))
        judged = [each.outcome.type for result in results for each in result.sentences]
        seen = stats(config.base_url or "") - before
        return replace(cost, judged=judged.count("verdict"), stats=seen)

    return asyncio.run(run())


def bare(url: str, bodies: Sequence[dict[str, object]]) -> Cost:
    """Return what the `openai` client alone takes to send these requests and read the replies."""

    async def run() -> Cost:
        gate = asyncio.Semaphore(IN_FLIGHT)
        # One socket per request in flight; at its default the client would wait for its own.
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

            await asyncio.gather(*map(send, bodies[-IN_FLIGHT:]))
            return await timed(lambda: asyncio.gather(*map(send, bodies)))

    return asyncio.run(run())


def command(read: Sequence[Sample], folder: Path, *options: str) -> Cost:
    """Return what `judge score` takes as a whole process."""
    source = folder / "samples.jsonl"
    source.write_text("".join(f"{each.model_dump_json()}\n" for each in read), encoding="utf-8")
    words = ["-m", "judge", "score", str(source), "-o", str(folder / "run"), "--force"]
    started, before = time.perf_counter(), getrusage(RUSAGE_CHILDREN)
    # An installed package has byte code: without it, each process would compile all modules anew.
    env = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    done = subprocess.run(
        [sys.executable, *words, "--no-cache", *options],
        cwd=ROOT,
        env=env,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    seconds, after = time.perf_counter() - started, getrusage(RUSAGE_CHILDREN)
    return Cost(seconds, after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime)


def asking(url: str) -> tuple[str, ...]:
    """Return the options that name the test server's model."""
    return ("--model", "tiny", "--base-url", url, "--concurrency", str(IN_FLIGHT))


def recorded(samples: Sequence[Sample]) -> list[dict[str, object]]:
    """Return the bodies that the judge sends for these answers."""
    with JudgeServer() as server:
        evaluate(samples, settings(server.base_url))
        return [dict(each.body) for each in server.requests if not each.is_probe]


def with_delay(read: Sequence[Sample], folder: Path) -> None:
    bodies = forked(recorded, read)
    floor = math.ceil(len(read) / IN_FLIGHT) * DELAY_SECONDS
    with served(DELAY_SECONDS) as url:
        costs = {
            "floor": Cost(floor, 0),
            "bare openai": forked(bare, url, bodies),
            "whole path": forked(path, read, settings(url, folder / "delayed")),
            "judge score": min(
                (command(read, folder, *asking(url)) for _ in range(2)),
                key=lambda cost: cost.seconds,
            ),
        }
    print(f"{len(read)} answers, {DELAY_SECONDS * 1000:.0f} ms a call, {IN_FLIGHT} in flight")
    print_calls(costs["whole path"], len(read))
    print(f"  {'':24}{'seconds':>10}{'× floor':>8}{'CPU ms':>8}{'× bare':>8}")
    least = costs["bare openai"].cpu
    for name, cost in costs.items():
        print(
            f"  {name:24}{cost.seconds:>10.2f}{cost.seconds / floor:>8.2f}"
            f"{1000 * cost.cpu / len(read):>8.1f}{cost.cpu / least:>8.1f}"
        )


def print_calls(cost: Cost, answers: int) -> None:
    seen = cost.stats
    print(
        f"  {seen['calls']} calls ({seen['calls'] / answers:.3f} an answer), "
        f"{seen['prompt_tokens'] / answers:.0f} + {seen['reply_tokens'] / answers:.0f} tokens "
        f"an answer, {cost.judged} sentences judged"
    )


def without_delay(read: Sequence[Sample], folder: Path) -> None:
    bodies = forked(recorded, read)
    best: dict[str, tuple[float, float]] = {}
    with served(0) as url:
        for number in range(ROUNDS):
            cached = settings(url, folder / f"cache-{number}")
            costs = {
                "bare openai": forked(bare, url, bodies),
                "whole path, no cache": forked(path, read, settings(url)),
                "whole path, new cache": forked(path, read, cached),
                "whole path, warm cache": forked(path, read, cached),
            }
            for name, cost in costs.items():
                seconds, cpu = best.get(name, (math.inf, math.inf))
                best[name] = min(seconds, cost.seconds), min(cpu, cost.cpu)
    print(f"{len(read)} answers, no delay, {IN_FLIGHT} in flight, best of {ROUNDS}")
    print(f"  {'':24}{'answers/s':>10}{'× bare':>8}{'CPU ms':>8}{'× bare':>8}")
    least, own = best["bare openai"]
    for name, (seconds, cpu) in best.items():
        print(
            f"  {name:24}{len(read) / seconds:>10.0f}{least / seconds:>8.2f}"
            f"{1000 * cpu / len(read):>8.1f}{cpu / own:>8.1f}"
        )
    print(f"  calls with a warm cache: {costs['whole path, warm cache'].stats['calls']}")


def one_answer(read: Sequence[Sample], folder: Path) -> None:
    with served(0) as url:
        for name, options in {"similarity": (), "model": asking(url)}.items():
            least = min(command(read[:1], folder, *options).cpu for _ in range(ROUNDS))
            print(f"judge score of one answer by {name}: {least:.2f} s of processor time")


def similarity(read: Sequence[Sample]) -> Cost:
    """Return what the path without a model takes for these answers, after it judged others."""

    async def run() -> Cost:
        judge = offline(Config())

        async def evaluated(samples: Sequence[Sample]) -> None:
            for each in samples:
                await evaluate_sample(each, judge, Rules())

        await evaluated(other(read))
        return await timed(lambda: evaluated(read))

    return asyncio.run(run())


def without_model(name: str, read: Sequence[Sample]) -> None:
    seconds = min(forked(similarity, read).cpu for _ in range(ROUNDS))
    print(f"similarity, {name}: {1000 * seconds / len(read):.1f} ms of CPU an answer")


def real() -> None:
    if not REAL.is_file():
        print(f"{REAL.name}: not at hand, skipped")
        return
    samples = list(read_samples(REAL))
    without_model(REAL.stem, samples)
    with served(0) as url:
        cost = forked(path, samples, settings(url))
    print(f"{REAL.stem}: {len(samples)} answers")
    print_calls(cost, len(samples))


def main() -> None:
    read = reworded(samples())
    # A key of the user must not reach the test server.
    os.environ.pop("OPENAI_API_KEY", None)
    print(machine())
    with tempfile.TemporaryDirectory() as name:
        with_delay(read, Path(name))
        without_delay(read, Path(name))
        one_answer(read, Path(name))
    without_model("reworded answers", read)
    real()


if __name__ == "__main__":
    main()
