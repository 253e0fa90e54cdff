"""Rank measures of many queries, beside pytrec_eval and ranx: seconds, in one run.

Writes TREC files, then times each library from the files to the means: of all our measures, with
their intervals and lists, and of all that the others share with us. They take turns, each in a
process of its own with its imports, and the least of the turns counts: machines are noisy.

    python tests/bench/ranking.py [--queries 100000] [--ranks 100] [--turns 3]
"""

import argparse
import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

KS: Final = (1, 3, 5, 10, 20)
_CUT: Final = ",".join(map(str, KS))
_PYTREC: Final = (
    "map",
    "recip_rank",
    "Rprec",
    "ndcg",
    *(f"{name}.{_CUT}" for name in ("P", "recall", "success", "ndcg_cut", "map_cut")),
)
_RANX: Final = (
    *("map", "mrr", "r-precision", "ndcg"),
    *(
        f"{name}@{k}"
        for name in ("precision", "recall", "hit_rate", "ndcg", "map", "mrr", "f1")
        for k in KS
    ),
)


def write(folder: Path, queries: int, ranks: int) -> None:
    """Qrels and a run: 8 graded documents ranked somewhere, one that is not, no equal scores."""
    rng = random.Random(20)  # noqa: S311  no secret
    with (folder / "qrels").open("w") as qrels, (folder / "run").open("w") as run:
        for query in range(queries):
            docs = rng.sample(range(10**7), ranks)
            for doc in rng.sample(docs, min(8, ranks)):
                qrels.write(f"q{query} 0 d{doc} {rng.randrange(3)}\n")
            qrels.write(f"q{query} 0 missed 1\n")
            scores = sorted((rng.random() for _ in docs), reverse=True)
            for rank, (doc, score) in enumerate(zip(docs, scores, strict=True), 1):
                run.write(f"q{query} Q0 d{doc} {rank} {score:.9f} bench\n")


def judge_files(qrels: Path, run: Path) -> Mapping[str, float | None]:
    from judge.retrieval import measure_run  # noqa: PLC0415
    from judge.retrieval.trec import read_qrels, read_run  # noqa: PLC0415

    return measure_run(read_qrels(qrels), read_run(run)).mean


def pytrec_files(qrels: Path, run: Path) -> Mapping[str, float | None]:
    import pytrec_eval  # noqa: PLC0415

    with qrels.open() as file:
        grades = pytrec_eval.parse_qrel(file)
    with run.open() as file:
        scored = pytrec_eval.parse_run(file)
    rows = pytrec_eval.RelevanceEvaluator(grades, set(_PYTREC)).evaluate(scored)
    return {
        name: pytrec_eval.compute_aggregated_measure(name, [row[name] for row in rows.values()])
        for name in next(iter(rows.values()))
    }


def ranx_files(qrels: Path, run: Path) -> Mapping[str, float | None]:
    from ranx import Qrels, Run, evaluate  # noqa: PLC0415

    found: dict[str, float] = evaluate(
        Qrels.from_file(str(qrels), kind="trec"), Run.from_file(str(run), kind="trec"), list(_RANX)
    )
    return found


FILES: Final[dict[str, Callable[[Path, Path], Mapping[str, float | None]]]] = {
    "judge": judge_files,
    "pytrec_eval": pytrec_files,
    "ranx": ranx_files,
}


def one(library: str, qrels: Path, run: Path) -> None:
    """In a process of its own: time one library, and print what it took."""
    started = time.perf_counter()
    means = FILES[library](qrels, run)
    seconds = time.perf_counter() - started
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    print(json.dumps({"seconds": seconds, "memory": memory, "map": means["map"]}))


def main() -> None:
    """Take turns, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--queries", type=int, default=100_000)
    parser.add_argument("--ranks", type=int, default=100)
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--one", nargs=3, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one:
        one(given.one[0], Path(given.one[1]), Path(given.one[2]))
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write(folder, given.queries, given.ranks)
        taken: dict[str, list[dict[str, Any]]] = {library: [] for library in FILES}
        for _ in range(given.turns):
            for library, turns in taken.items():
                command = [sys.executable, __file__, "--one", library]
                command += [str(folder / "qrels"), str(folder / "run")]
                done = subprocess.run(command, check=True, capture_output=True, text=True)
                turns.append(json.loads(done.stdout.splitlines()[-1]))
    least = {library: min(turn["seconds"] for turn in turns) for library, turns in taken.items()}
    print(f"{given.queries} queries x {given.ranks} ranks, from files to means")
    for library, turns in taken.items():
        ratio = least[library] / least["pytrec_eval"]
        told = f"{turns[0]['memory']:6} MB  map {turns[0]['map']:.6f}"
        print(f"{library:12} {least[library]:7.2f} s  {ratio:5.2f} x pytrec_eval  {told}")


if __name__ == "__main__":
    main()
