"""Run folders, written and read."""

from judge.files.runs.folder import RunFolder
from judge.files.runs.reading import REJECTED, read_record, read_results, read_summary

__all__ = ["REJECTED", "RunFolder", "read_record", "read_results", "read_summary"]
