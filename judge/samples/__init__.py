"""Reading samples: JSONL or CSV, plain or gzipped, from a file or standard input."""

from judge.samples.reading import Rejected, check_samples, read_samples, sha256_of

__all__ = ["Rejected", "check_samples", "read_samples", "sha256_of"]
