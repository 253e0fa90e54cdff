"""What an answer costs as it grows: 1, 2 and 4 times the sentences, the chunks and their length.

    python tests/bench/growth.py

Processor time an answer by similarity and against the test server, cache off, for 50 answers made
of sentences of their chunks: 7 sentences, 5 chunks of 120 words, and one of the three so many times
as large. Beside each, how many times the smallest it takes. From 16 sentences on there are two
calls. The best of two rounds counts, each in a process of its own that other answers warmed up.
"""

import os
import sys
from pathlib import Path
from typing import Final

# Run as a file, Python looks for modules beside it and not where `tests` stands.
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from judge import Sample
from tests.bench.calls import path, served, settings
from tests.bench.throughput import whole_seconds
from tests.bench.workload import CHUNKS, FULL, forked, grown, machine, other, samples

ANSWERS: Final = 50
SENTENCES: Final = 7
TIMES: Final = (1, 2, 4)
ROUNDS: Final = 2


def cost(read: list[Sample], url: str) -> tuple[float, float]:
    """Processor time an answer, in ms: by similarity, and against the server."""
    own, asking = [], []
    for _ in range(ROUNDS):
        own.append(forked(whole_seconds, read, other(read)))
        asking.append(forked(path, read, settings(url)).cpu)
    return 1000 * min(own) / len(read), 1000 * min(asking) / len(read)


def main() -> None:
    if not FULL.is_file():
        sys.exit(f"no data at {FULL}")
    read = samples(easy=False, answers=0)
    os.environ.pop("OPENAI_API_KEY", None)
    print(machine())
    print(f"{'':20}{'similarity ms':>14}{'×':>6}{'model ms':>10}{'×':>6}")
    with served(0) as url:
        for name in ("sentences", "chunks", "chunk length"):
            for times in TIMES:
                sizes = {"sentences": SENTENCES, "chunks": CHUNKS, "chunk length": 1}
                sizes[name] *= times
                made = grown(read, *sizes.values())[:ANSWERS]
                now = cost(made, url)
                if times == 1:
                    least = now
                own, asking = (f"{ms / one:.1f}" for ms, one in zip(now, least, strict=True))
                print(f"{times} × {name:16}{now[0]:>14.1f}{own:>6}{now[1]:>10.1f}{asking:>6}")


if __name__ == "__main__":
    main()
