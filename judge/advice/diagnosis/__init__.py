"""Rank measures read for a person, by rules of thumb: bands, targets, and what to look at."""

from judge.advice.diagnosis.bands import bands
from judge.advice.diagnosis.rules import diagnose
from judge.advice.diagnosis.targets import targets

__all__ = ["bands", "diagnose", "targets"]
