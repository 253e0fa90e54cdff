"""Runs of one and of two nodes: totals, rates, efficiency per actor, and the driver's memory.

    python tests/bench/scale.py judge [--answers N] [--concurrency N] [--delay S]
    python tests/bench/scale.py similarity [--answers N]

Both start a Ray cluster of two nodes on this machine, two CPUs each, and `judge score` as a process
of its own whose memory is read from /proc all the while. `judge` asks the test server, which takes
300 ms: with 1, 2 and 4 actors as many answers each, then all answers with 4. The rate is that of
the requests between the first and the last tenth; the efficiency is that rate over what the server
allows, actors × concurrency / delay. `similarity` scores all answers on this machine alone and on
the cluster; both totals must be the same. Answers have 2 sentences and 2 chunks of 120 words, with
figures, dates and names to check, and differ in the question; chunks come again in every
thousandth answer.
"""

import argparse
import gzip
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

# Run as a file, Python looks for modules beside it and not where `tests` stands.
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from ray.cluster_utils import Cluster

from judge import Sample, Summary
from judge.inputs.runs import read_summary
from tests.bench.calls import ROOT, served, stats
from tests.bench.workload import grown, machine, samples

FILES: Final = 8
ACTORS: Final = (1, 2, 4)
EDGE: Final = 0.1
"""Of the requests at each end, which stand outside of the rate."""
POLL: Final = 0.5
CLOSE: Final = 1e-12


class Took(NamedTuple):
    """What a run took."""

    seconds: float
    rate: float
    """Requests a second, without the edges; 0 where nobody is asked."""
    memory: list[int]
    """MB of the process that was started, at each look."""
    computed: float
    """Seconds of the processor that it took, until the last look."""
    size: int
    """Bytes of the results."""
    summary: Summary


def rows(answers: int) -> Iterator[Sample]:
    """So many answers, each with a question of its own."""
    read = samples(easy=False, answers=200)
    few = grown(read * 5, sentences=2, chunks=2)[:1000]
    for number in range(answers):
        sample = few[number % len(few)]
        changed = {"qid": f"q{number}", "query": f"{sample.query} ({number})"}
        yield sample.model_copy(update=changed)


def written(folder: Path, answers: int) -> Path:
    """A folder of files, and beside it all of it in one, in the same order."""
    folder.mkdir()
    share = -(-answers // FILES)
    with gzip.open(folder.with_suffix(".jsonl.gz"), "wt", compresslevel=1) as whole:
        for number, sample in enumerate(rows(answers)):
            text = sample.model_dump_json(exclude_defaults=True) + "\n"
            whole.write(text)
            with (folder / f"{number // share}.jsonl").open("a") as part:
                part.write(text)
    return folder


def memory(process: int) -> int:
    for row in Path(f"/proc/{process}/status").read_text().splitlines():
        if row.startswith("VmRSS:"):
            return int(row.split()[1]) // 1024
    return 0


def computed(process: int) -> float:
    used = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[11:13]
    return sum(map(int, used)) / os.sysconf("SC_CLK_TCK")


def scored(source: Path, run: Path, words: list[str], url: str = "") -> Took:
    command = [sys.executable, "-m", "judge", "score", str(source), "-o", str(run), *words]
    seen: list[tuple[float, int]] = []
    used: list[int] = []
    spent = 0.0
    begun = time.monotonic()
    before = stats(url)["calls"] if url else 0
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL) as process:
        while process.poll() is None:
            used.append(memory(process.pid))
            spent = computed(process.pid)
            if url:
                seen.append((time.monotonic(), stats(url)["calls"] - before))
            time.sleep(POLL)
    assert process.returncode == 0
    rate = 0.0
    if url:
        all_ = stats(url)["calls"] - before
        inner = [each for each in seen if EDGE * all_ <= each[1] <= (1 - EDGE) * all_]
        (began, first), (ended, last) = inner[0], inner[-1]
        rate = (last - first) / (ended - began)
    size = sum(each.stat().st_size for each in run.rglob("*.jsonl"))
    return Took(time.monotonic() - begun, rate, used, spent, size, read_summary(run))


def told(name: str, took: Took) -> None:
    used = [one for one in took.memory if one]
    marks = [used[int(len(used) * part)] for part in (0.25, 0.5, 0.75)]
    memory_ = " ".join(map(str, [*marks, max(used)]))
    rate = f"{took.rate:6.1f} requests/s  " if took.rate else ""
    answers = took.summary.answers
    each = f"{1000 * took.computed / answers:.2f} ms and {took.size / answers:,.0f} bytes an answer"
    print(f"{name:28}{took.seconds:7.1f} s  {rate}driver MB {memory_}, {each}", flush=True)


def judge(place: Path, ray: list[str], options: argparse.Namespace) -> None:
    words = ["--model", "tiny", "--no-cache", "--concurrency", str(options.concurrency)]
    each = options.answers // (4 * max(ACTORS))
    tasks = [(actors, actors * each) for actors in ACTORS] + [(max(ACTORS), options.answers)]
    with served(options.delay) as url:
        words += ["--base-url", url]
        for actors, answers in tasks:
            source = written(place / f"in{actors}-{answers}", answers)
            run = place / f"run{actors}-{answers}"
            took = scored(source, run, [*words, *ray, "--replicas", str(actors)], url)
            told(f"{actors} actors, {answers} answers", took)
            share = took.rate * options.delay / (actors * options.concurrency)
            print(f"{'':28}efficiency {share:.2f}", flush=True)


def similarity(place: Path, ray: list[str], options: argparse.Namespace) -> None:
    source = written(place / "in", options.answers)
    whole = scored(source.with_suffix(".jsonl.gz"), place / "local", ["--workers", "2"])
    told(f"local, {options.answers} answers", whole)
    parts = scored(source, place / "ray", ray)
    told("Ray, two nodes", parts)
    one, other = (each.summary.model_dump(mode="json") for each in (whole, parts))
    differ = sorted(key for key in one if not alike(one[key], other[key]))
    print("totals: the same" if not differ else f"totals differ: {differ}", flush=True)


def alike(one: object, other: object) -> bool:
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(alike(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(alike, one, other))
    if isinstance(one, float) and isinstance(other, float):
        return abs(one - other) <= CLOSE
    return one == other


def main() -> None:
    given = argparse.ArgumentParser(description=__doc__)
    given.add_argument("what", choices=("judge", "similarity"))
    given.add_argument("--answers", type=int, default=0)
    given.add_argument("--concurrency", type=int, default=8)
    given.add_argument("--delay", type=float, default=0.3)
    options = given.parse_args()
    options.answers = options.answers or (20_000 if options.what == "judge" else 200_000)
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    print(machine(), json.dumps({"answers": options.answers}), flush=True)
    node = {"num_cpus": 2, "include_dashboard": False}
    cluster = Cluster(initialize_head=True, head_node_args=node)
    cluster.add_node(num_cpus=2)
    cluster.wait_for_nodes()
    try:
        with tempfile.TemporaryDirectory() as name:
            os.environ["XDG_CACHE_HOME"] = f"{name}/cache"
            ray = ["--engine", "ray", "--address", cluster.address]
            {"judge": judge, "similarity": similarity}[options.what](Path(name), ray, options)
    finally:
        cluster.shutdown()


if __name__ == "__main__":
    main()
