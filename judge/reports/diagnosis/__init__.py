"""Rank measures read for a person, by rules of thumb: bands, targets, and what to look at."""

from judge.reports.diagnosis.bands import bands
from judge.reports.diagnosis.rules import diagnose
from judge.reports.diagnosis.targets import targets

__all__ = ["bands", "diagnose", "targets"]
