"""Reading samples: JSONL or CSV, plain or gzipped, from a file or standard input."""

from judge.files.samples.reading import Checked, Rejected, check_samples, read_samples
from judge.files.samples.source import Digest

__all__ = ["Checked", "Digest", "Rejected", "check_samples", "read_samples"]
