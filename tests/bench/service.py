"""Measure the service under load, beside a bare client of the same judge.

    python -m tests.bench.service [--seconds 60] [--clients 64] [--words='--concurrency 32']

The judge is the test server in a process of its own, 300 ms a reply. The overhead is the latency
beyond that of the bare client in the same run.
"""

import argparse
import asyncio
import os
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import aiohttp
import numpy as np
import numpy.typing as npt

from judge import evaluate
from tests.bench import workload
from tests.bench.calls import DELAY_SECONDS, served, stats
from tests.server import JudgeServer
from tests.service_process import process


async def storm(
    url: str, bodies: Sequence[bytes], seconds: float, clients: int
) -> tuple[list[float], Counter[int]]:
    """Return the seconds of each request of parallel clients, and the count of each status."""
    took, codes, end = list[float](), Counter[int](), time.perf_counter() + seconds
    connector = aiohttp.TCPConnector(limit=clients)
    async with aiohttp.ClientSession(connector=connector) as http:

        async def client(number: int) -> None:
            # As they come in life: not in step.
            await asyncio.sleep(DELAY_SECONDS * number / clients)
            while (began := time.perf_counter()) < end:
                body = bodies[number % len(bodies)]
                headers = {"Content-Type": "application/json"}
                async with http.post(url, data=body, headers=headers) as answer:
                    await answer.read()
                codes[answer.status] += 1
                took.append(time.perf_counter() - began)
                number += clients

        await asyncio.gather(*(client(number) for number in range(clients)))
    return took, codes


def print_latency(
    name: str, took: Sequence[float], seconds: float, codes: Counter[int]
) -> npt.NDArray[np.float64]:
    """Print and return p50 and p99, in ms."""
    marks = 1000 * np.quantile(took, [0.5, 0.99])
    answered = ", ".join(f"{count:,} × {code}" for code, count in sorted(codes.items()))
    print(
        f"  {name:<34}{len(took) / seconds:8.0f}/s   p50 {marks[0]:7.1f} ms   "
        f"p99 {marks[1]:7.1f} ms   {answered}"
    )
    return marks


def resident(pid: int) -> float:
    """Return the resident memory of a process, in MB."""
    text = Path(f"/proc/{pid}/statm").read_text("ascii")
    return int(text.split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


def computed(pid: int) -> float:
    """Return the processor time of a process and its ended children, in seconds."""
    fields = Path(f"/proc/{pid}/stat").read_text("ascii").rpartition(")")[2].split()
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")


def load(seconds: float, clients: int, more: Sequence[str]) -> None:
    samples = workload.samples()
    bodies = [
        each.model_dump_json(exclude_none=True, exclude={"metadata"}).encode() for each in samples
    ]
    with JudgeServer() as recorder:
        evaluate(samples[:clients], recorder.config())
        requests = [each.raw for each in recorder.requests if not each.is_probe]
    with served(DELAY_SECONDS) as judge, tempfile.TemporaryDirectory() as place:
        words = ("--model", "tiny", "--base-url", judge, "--no-cache", *more)
        with process(Path(place), *words) as (server, http):
            url = f"{http.base_url}/v1/evaluations"
            asyncio.run(storm(url, bodies, 3, clients))
            before, spent = resident(server.pid), computed(server.pid)
            calls = stats(judge)["calls"]
            took, codes = asyncio.run(storm(url, bodies, seconds, clients))
            after, spent = resident(server.pid), computed(server.pid) - spent
            calls = stats(judge)["calls"] - calls
        least = min(seconds, 20)
        bare, bare_codes = asyncio.run(storm(f"{judge}/chat/completions", requests, least, clients))
    print(f"{clients} clients, a judge of {1000 * DELAY_SECONDS:.0f} ms, {seconds:g} s")
    plain = print_latency("the judge itself, bare client", bare, least, bare_codes)
    ours = print_latency("the service", took, seconds, codes)
    print(f"  overhead: p50 {ours[0] - plain[0]:.1f} ms, p99 {ours[1] - plain[1]:.1f} ms")
    print(
        f"  processor: {1000 * spent / len(took):.1f} ms an answer, {spent / seconds:.0%} of a core"
    )
    print(
        f"  memory {before:.0f} MB, then {after:.0f} MB; {calls:,} calls for {len(took):,} answers"
    )


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.service")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--clients", type=int, default=64)
    parser.add_argument("--words", default="", help="more options of judge serve")
    options = parser.parse_args()
    load(options.seconds, options.clients, options.words.split())


if __name__ == "__main__":
    main()
