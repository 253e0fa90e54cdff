"""A run on a Ray cluster of two nodes, of which one is lost in the middle.

    python -m tests.bench.nodes [ANSWERS]

Says what came of it, beside the same answers scored by one process: what was lost, doubled, or paid
for twice. It runs a minute or two.
"""

import json
import os
import sys
import tempfile
import threading
from collections import Counter
from pathlib import Path
from typing import Final

os.environ |= {"RAY_USAGE_STATS_ENABLED": "0", "RAY_BACKEND_LOG_LEVEL": "fatal"}

import ray
from ray._private.node import Node
from ray.cluster_utils import Cluster

from judge.inputs.runs import read_summary
from tests.asked import Asked
from tests.commands import Ran, judge, line, results, write
from tests.redis_server import free_port
from tests.replies import Answer, Slow, right
from tests.server import JudgeServer

_FILES: Final = 8
_CONCURRENCY: Final = 8
_DELAY: Final = 0.05
_REPLICAS: Final = 4
_NODE: Final = {"num_cpus": 2, "object_store_memory": 100 << 20}


def main(answers: int) -> None:
    """Run it in a folder of its own."""
    with tempfile.TemporaryDirectory(prefix="judge-nodes-") as made:
        os.environ["XDG_CACHE_HOME"] = made
        rows = [line(f"q{i}", f"It opens at seven in hall {i}.") for i in range(answers)]
        place = Path(made)
        (place / "many").mkdir()
        write(place / "all.jsonl", rows)
        for file in range(_FILES):
            write(place / "many" / f"{file}.jsonl", rows[file::_FILES])
        cluster = Cluster(
            initialize_head=True,
            head_node_args=_NODE | {"include_dashboard": False, "gcs_server_port": free_port()},
        )
        lost = cluster.add_node(**_NODE)
        cluster.wait_for_nodes()
        try:
            _lose(place, answers, cluster, lost)
        finally:
            ray.shutdown()
            cluster.shutdown()


def _lose(place: Path, answers: int, cluster: Cluster, node: Node) -> None:
    scorers: list[int] = []

    def lose() -> None:
        scorers.append(_scorers(node.all_processes["raylet"][0].process.pid))
        cluster.remove_node(node, allow_graceful=False)

    def script(asked: Asked) -> Answer:
        if asked.number == answers // 2:
            threading.Thread(target=lose).start()
        return Slow(_DELAY, right(asked))

    with JudgeServer(script) as server:
        words = ("--concurrency", _CONCURRENCY, "--no-cache", *server.words)
        away = ("--engine", "ray", "--address", cluster.address, "--replicas", _REPLICAS)
        said = judge("score", place / "many", "-o", place / "there", *words, *away)
        print(f"lost a node with {scorers} of {_REPLICAS} actors that score; exit {said.code}")
        print(f"{server.calls:,} calls of {answers:,} answers")
        if said.code:
            raise SystemExit(said.err)
        asked = Counter(each.user for each in server.requests if not each.is_probe)
        calls = server.calls
        here = judge("score", place / "all.jsonl", "-o", place / "here", *words)
    _compare(place, here, asked, calls - answers)


def _scorers(raylet: int) -> int:
    """Actors that score among the processes of a node."""
    count = 0
    for pid in Path(f"/proc/{raylet}/task/{raylet}/children").read_text().split():
        count += b"(Scorer)" in Path(f"/proc/{pid}/cmdline").read_bytes()
    return count


def _compare(place: Path, here: Ran, asked: Counter[str], twice: int) -> None:
    if here.code:
        raise SystemExit(here.err)
    qids = Counter(each.qid for each in results(place / "there"))
    wanted = {each.qid for each in results(place / "here")}
    print(f"lost: {len(wanted - qids.keys())}, doubled: {sum(n > 1 for n in qids.values())}")
    print(f"asked more than once: {sum(n > 1 for n in asked.values())} answers, {twice} calls")
    print(f"(under way on that node, as it was lost: at most {_CONCURRENCY} an actor)")
    differing = _differing(
        *(read_summary(place / run).model_dump_json() for run in ("there", "here"))
    )
    print(f"totals that differ: {', '.join(differing) or 'none'}")


def _differing(one: str, other: str) -> list[str]:
    """Names of what differs; seconds always do."""
    there, here = json.loads(one), json.loads(other)
    return [name for name in here if there[name] != here[name]]


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 2000)
