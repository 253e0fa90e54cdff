"""What one human error does to an answer, by kind of error: the pairs of BUMP."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np

from tests.bench.answers import Alarms, Answers
from tests.bench.figures import Bools, Floats, Resamples
from tests.bench.sheet import Sheet

_ENTITIES: Final = ("Intrinsic Entity", "Extrinsic Entity")
_CIRCUMSTANCES: Final = ("Intrinsic Circumstance", "Extrinsic Circumstance")
"""Where numbers, dates and places are."""
_FAMILIES: Final = {
    "entities": _ENTITIES,
    "circumstances": _CIRCUMSTANCES,
    "entities and circumstances": _ENTITIES + _CIRCUMSTANCES,
    "predicates": ("Intrinsic Predicate", "Extrinsic Predicate"),
}


@dataclass(frozen=True, slots=True)
class Pairs:
    """What a model says of each answer with the error, and without it, in the same order."""

    after: Alarms
    before: Alarms

    @property
    def lowered(self) -> Bools:
        """Where the error lowers the lowest score of a claim."""
        return self.after.lowest < self.before.lowest

    @property
    def lifted(self) -> Bools:
        """Where it does the opposite."""
        return self.after.lowest > self.before.lowest

    @property
    def told(self) -> Floats:
        """1 where the error lowers the lowest score, 0 where it lifts it, else 0.5."""
        return (1.0 + self.lowered - self.lifted) / 2

    @property
    def net(self) -> Floats:
        """1 where the error brings the first alarm, -1 where it takes all away, else 0."""
        return self.after.raised.astype(np.float64) - self.before.raised

    @property
    def flagged(self) -> Bools:
        """Where there is a mismatch flag with the error, and none without."""
        return self.after.mismatched & ~self.before.mismatched

    @property
    def unflagged(self) -> Bools:
        """Where it is the other way round."""
        return self.before.mismatched & ~self.after.mismatched


def caught(sheet: Sheet, data: Answers, now: Pairs, first: Pairs | None) -> None:
    """How many answers with an error are called unsupported, and how many were without it."""
    groups, n, after, before = Resamples(data.groups), len(data.rows), now.after, now.before
    found, net = groups.share(after.raised), groups.share(now.net)
    sheet.add("caught", found, n)
    if first:
        sheet.add("gain in caught", found.minus(groups.share(first.after.raised)), n)
    sheet.add("called unsupported before the error", groups.share(before.raised), n)
    sheet.add("net caught", net, n)
    if first:
        old = groups.share(first.before.raised)
        sheet.add("called unsupported before, first model", old, n)
        old = groups.share(first.net)
        sheet.add("net caught, first model", old, n)
        sheet.add("gain in net caught", net.minus(old), n)
    if after.mismatched.any():
        sheet.add("mismatch flag", groups.share(after.mismatched), n)
        sheet.add("caught or mismatch flag", groups.share(after.raised | after.mismatched), n)
        sheet.add("mismatch flag before the error", groups.share(before.mismatched), n)
    sheet.add("mean of the lowest score", groups.share(after.lowest), n)
    for kind in np.unique(data.kinds):
        these = data.kinds == kind
        note = f"mean lowest score {after.lowest[these].mean():.3f}"
        if after.mismatched.any():
            either = (after.raised | after.mismatched)[these].mean()
            note += f", or mismatch flag {either:.3f}"
        sheet.add(f"caught, {kind}", groups.share(after.raised, these), int(these.sum()), note)


def told_apart(sheet: Sheet, data: Answers, now: Pairs, first: Pairs | None) -> None:
    """Share of pairs in which the error lowers the lowest score, ties half, by kind of error.

    A model that cannot see the error has 0.5, however often it raises an alarm.
    """
    groups = Resamples(data.groups)
    for title, these in _kinds(data):
        found, n = groups.share(now.told, these), int(these.sum())
        sheet.add(f"told apart{title}", found, n, _beside(now, these))
        if first:
            old = groups.share(first.told, these)
            note = f"first model {old.value:.3f}, {_beside(first, these)}"
            sheet.add(f"gain in told apart{title}", found.minus(old), n, note)


def _beside(said: Pairs, these: Bools) -> str:
    ties = ~(said.lowered | said.lifted)[these]
    return f"ties {ties.mean():.3f}, net caught {said.net[these].mean():+.3f}"


def flagged(sheet: Sheet, data: Answers, now: Pairs) -> None:
    """Share of pairs in which the error brings a mismatch flag, alone or beside the score.

    The notes have the share in which it goes the other way: blind to the error, both are alike.
    """
    if not (now.after.mismatched.any() or now.before.mismatched.any()):
        return
    groups = Resamples(data.groups)
    measured = (
        ("new mismatch flag", now.flagged, now.unflagged, "flag lost"),
        (
            "lowered or newly flagged",
            now.lowered | now.flagged,
            now.lifted | now.unflagged,
            "lifted or flag lost",
        ),
    )
    for name, hits, opposite, wrong in measured:
        for title, these in _kinds(data):
            note = f"{wrong} {opposite[these].mean():.3f}"
            sheet.add(f"{name}{title}", groups.share(hits, these), int(these.sum()), note)


def _kinds(data: Answers) -> Iterator[tuple[str, Bools]]:
    """All answers, those of each family of errors, those of each kind: the title's end, which."""
    yield "", np.ones(len(data.rows), np.bool_)
    for family, members in _FAMILIES.items():
        yield f", {family}", np.isin(data.kinds, members)
    for kind in np.unique(data.kinds):
        yield f", {kind}", data.kinds == kind
