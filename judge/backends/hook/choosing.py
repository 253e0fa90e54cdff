"""Who is shown to people: a draw that depends on names alone."""

import hashlib
from typing import Final

_BITS: Final = 53
"""Those of a double: with 64 the largest draws would round to 1."""


def uniform(seed: int, *parts: str | int) -> float:
    """A number in [0, 1) that depends on the seed and the parts only, on any machine.

    SHA-256 of all parts, each with its kind and its length, so that no two lists of parts read
    alike. It shares nothing with the weights of `judge.scores.intervals`, which hash otherwise.
    A permanent random number: who keeps it draws samples that grow, and agree, across runs.

    Source: B. Brewer, L. Early and S. Joyce (1972), "Selecting several samples from a single
    population", Aust. J. Stat. 14, 231-239.

    >>> uniform(0, "ab", "c") == uniform(0, "a", "bc")
    False
    >>> uniform(0, "1") == uniform(0, 1)
    False
    """
    digest = hashlib.sha256(b"judge review")
    for part in (seed, *parts):
        # Half a surrogate pair is no UTF-8, and may stand in an id all the same.
        text = str(part).encode(errors="surrogatepass")
        kind = "s" if isinstance(part, str) else "i"
        digest.update(f"|{kind}{len(text)}:".encode())
        digest.update(text)
    drawn = int.from_bytes(digest.digest()[:8], "big")
    return float((drawn >> (64 - _BITS)) / 2**_BITS)


def chosen(qid: str, seed: int, rate: float) -> bool:
    """Whether the answer of this id is handed to the hook.

    Args:
        qid: of the answer.
        seed: of the run.
        rate: the probability, 0 to 1; who is chosen at one rate is chosen at any higher one.
    """
    return uniform(seed, "hook", qid) < rate
