"""Measure the service under load, beside a bare server.

    python -m tests.bench.service [--seconds 60] [--clients 64] [--only equal,load,…]

The overhead is the latency beyond that of a bare client of the same judge in the same run.
"""

import argparse
import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import aiohttp
import httpx
import numpy as np

from judge import Config, Sample, evaluate, read_samples
from judge.inputs.runs import line_of
from tests.bench import labelled, workload
from tests.bench.calls import served, stats
from tests.server import JudgeServer
from tests.service_process import QUICKSTART, process, until

DELAY: Final = 0.3

BARE: Final = """
import sys, uvicorn
from fastapi import FastAPI, Request, Response
app = FastAPI(openapi_url=None)
line = open(sys.argv[1], 'rb').read()
@app.post('/v1/evaluations')
async def constant(request: Request) -> Response:
    await request.body()
    return Response(line, media_type='application/json')
uvicorn.run(
    app, port=int(sys.argv[2]), http='h11', loop='asyncio', ws='none', log_level='warning',
    access_log=False,
)
"""


def lines_of(samples: Sequence[Sample]) -> list[bytes]:
    """Return the samples as bodies of requests."""
    return [
        json.dumps(
            each.metadata | each.model_dump(exclude_none=True, exclude={"metadata"})
        ).encode()
        for each in samples
    ]


async def storm(
    url: str, bodies: Sequence[bytes], seconds: float, clients: int
) -> tuple[list[float], Counter[int]]:
    """Return the seconds of each request of parallel clients, and the count of each status."""
    took, codes, end = list[float](), Counter[int](), time.perf_counter() + seconds
    connector = aiohttp.TCPConnector(limit=clients)
    async with aiohttp.ClientSession(connector=connector) as http:

        async def client(number: int) -> None:
            await asyncio.sleep(DELAY * number / clients)  # as they come in life: not in step
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


def tell(name: str, took: Sequence[float], seconds: float, codes: Counter[int]) -> np.ndarray:
    """Print and return p50 and p99, in ms."""
    marks = 1000 * np.quantile(took, [0.5, 0.99])
    rate = len(took) / seconds
    answered = ", ".join(f"{count:,} × {code}" for code, count in sorted(codes.items()))
    print(
        f"  {name:<34}{rate:8.0f}/s   p50 {marks[0]:7.1f} ms   p99 {marks[1]:7.1f} ms   {answered}"
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


def equal() -> None:
    """Compare each line over HTTP with the local one."""
    samples = list(read_samples(QUICKSTART))
    if labelled.available("ragtruth_qa_dev"):
        samples += [labelled.sample(row) for row in labelled.rows("ragtruth_qa_dev")]
    local = [line_of(each) for each in evaluate(samples, Config())]
    with tempfile.TemporaryDirectory() as place, process(Path(place)) as (_, http):
        bodies = lines_of(samples)
        far = [http.post("/v1/evaluations", content=body).content for body in bodies]
        sent = http.put("/v1/batches/a?name=all", content=b"\n".join(bodies))
        assert sent.is_success, sent.text
        assert until(http, "a")["state"] == "finished"
        batch = http.get("/v1/batches/a/results").content.splitlines(keepends=True)
    same = sum(a == b for a, b in zip(local, far, strict=True))
    too = sum(a == b for a, b in zip(local, batch, strict=True))
    alike = f"{same} of {len(local)} answers one by one, {too} as a batch"
    print(f"equal to the local line, byte for byte: {alike}")


def load(seconds: float, clients: int, more: Sequence[str] = ()) -> None:
    """Measure parallel clients against a judge that takes 300 ms."""
    samples = workload.samples()
    with served(DELAY) as judge, tempfile.TemporaryDirectory() as place:
        words = ("--model", "tiny", "--base-url", judge, "--no-cache", *more)
        with JudgeServer() as recorder:
            config = recorder.config()
            evaluate(samples[:64], config)
            asked = [each.raw for each in recorder.requests if not each.is_probe]
        with process(Path(place), *words) as (server, http):
            bodies = lines_of(samples)
            asyncio.run(storm(f"{http.base_url}/v1/evaluations", bodies, 3, clients))
            before, spent = resident(server.pid), computed(server.pid)
            calls = stats(judge)["calls"]
            took, codes = asyncio.run(
                storm(f"{http.base_url}/v1/evaluations", bodies, seconds, clients)
            )
            after, spent = resident(server.pid), computed(server.pid) - spent
            made = stats(judge)["calls"] - calls
        least = min(seconds, 20)
        bare, bare_codes = asyncio.run(storm(f"{judge}/chat/completions", asked, least, clients))
    print(f"{clients} clients, a judge of {1000 * DELAY:.0f} ms, {seconds:g} s")
    plain = tell("the judge itself, bare client", bare, least, bare_codes)
    ours = tell("the service", took, seconds, codes)
    print(f"  overhead: p50 {ours[0] - plain[0]:.1f} ms, p99 {ours[1] - plain[1]:.1f} ms")
    print(
        f"  processor: {1000 * spent / len(took):.1f} ms an answer, {spent / seconds:.0%} of a core"
    )
    print(
        f"  memory {before:.0f} MB, then {after:.0f} MB; {made:,} calls for {len(took):,} answers"
    )


def bare(seconds: float, clients: int) -> None:
    """Measure requests a second with a judge that takes no time."""
    samples = workload.samples()
    bodies = lines_of(samples)
    with served(0) as judge, tempfile.TemporaryDirectory() as place:
        words = ("--model", "tiny", "--base-url", judge)
        with process(Path(place) / "a", *words, "--no-cache") as (_, http):
            line = http.post("/v1/evaluations", content=bodies[0]).content
            took, codes = asyncio.run(
                storm(f"{http.base_url}/v1/evaluations", bodies, seconds, clients)
            )
        tell("the service, judge at 0 ms", took, seconds, codes)
        with process(Path(place) / "b", *words, "--cache-dir", Path(place) / "c") as (_, http):
            asyncio.run(storm(f"{http.base_url}/v1/evaluations", bodies, 3, clients))
            took, codes = asyncio.run(
                storm(f"{http.base_url}/v1/evaluations", bodies, seconds, clients)
            )
        tell("the service, verdicts kept", took, seconds, codes)
        with process(Path(place) / "d") as (_, http):
            took, codes = asyncio.run(
                storm(f"{http.base_url}/v1/evaluations", bodies, seconds, clients)
            )
        tell("the service, similarity", took, seconds, codes)
        constant = Path(place) / "line"
        constant.write_bytes(line)
        with _bare(constant) as url:
            took, codes = asyncio.run(storm(f"{url}/v1/evaluations", bodies, seconds, clients))
    tell(f"bare FastAPI, {len(line):,} bytes", took, seconds, codes)


@contextmanager
def _bare(line: Path) -> Iterator[str]:
    port = 20_000 + os.getpid() % 20_000
    app = subprocess.Popen([sys.executable, "-c", BARE, str(line), str(port)])
    try:
        for _ in range(100):
            try:
                httpx.get(f"http://127.0.0.1:{port}/", trust_env=False)
                break
            except httpx.ConnectError:
                time.sleep(0.1)
        yield f"http://127.0.0.1:{port}"
    finally:
        app.kill()
        app.wait()


def main() -> None:
    reading = argparse.ArgumentParser()
    reading.add_argument("--seconds", type=float, default=60)
    reading.add_argument("--clients", type=int, default=64)
    reading.add_argument("--only", default="equal,load,bare")
    reading.add_argument("--words", default="", help="more options of judge serve")
    options = reading.parse_args()
    for name in options.only.split(","):
        match name:
            case "load":
                load(options.seconds, options.clients, options.words.split())
            case "bare":
                bare(min(options.seconds, 15), options.clients)
            case _:
                equal()


if __name__ == "__main__":
    main()
