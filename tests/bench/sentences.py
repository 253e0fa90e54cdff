"""Figures of the offline judge on sentences that people have labelled."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from judge.records import JudgeRequest
from tests.bench.figures import Bools, Floats, Resamples, moved, reliability, terciles
from tests.bench.labelled import Row, request
from tests.bench.scorer import Reply
from tests.bench.sheet import Sheet

PRIOR: Final = 0.9
"""The share of supported sentences that the judge's scores presume unless told otherwise."""


@dataclass(frozen=True, slots=True)
class Said:
    """What a model says of sentences, in their order."""

    scores: Floats
    full: Bools

    @classmethod
    def of(cls, replies: Iterable[Reply]) -> "Said":
        """From replies in the order of the requests."""
        held = list(replies)
        return cls(
            np.asarray([score for each in held for score in each.scores], np.float64),
            np.asarray([full for each in held for full in each.full], np.bool_),
        )

    def at(self, these: Bools) -> "Said":
        """Some of it."""
        return Said(self.scores[these], self.full[these])


class Sentences:
    """The labelled sentences of some rows.

    Args:
        rows: those without a labelled sentence are left out.
    """

    def __init__(self, rows: Iterable[Row]) -> None:
        self.requests: list[JudgeRequest] = []
        labels: list[bool] = []
        self.groups: list[str] = []
        sources: list[str] = []
        claims: list[bool] = []
        lengths: list[int] = []
        self.answers: list[int] = []
        for row in rows:
            asked, supported = request(row)
            if not supported:
                continue
            claimed = set(request(row, claims=True)[0].ask)
            self.requests.append(asked)
            self.answers.append(len(row["answer"]))
            labels += supported
            claims += [index in claimed for index in asked.ask]
            self.groups += [row["group"]] * len(supported)
            sources += [row["source"].rpartition("/")[2]] * len(supported)
            lengths += [len(row["answer"])] * len(supported)
        self.labels: Bools = np.asarray(labels, np.bool_)
        self.claims: Bools = np.asarray(claims, np.bool_)
        self.sources: npt.NDArray[np.str_] = np.asarray(sources)
        self.lengths: npt.NDArray[np.int64] = np.asarray(lengths)


def measure(
    sheet: Sheet, groups: Sequence[str], labels: Bools, now: Said, first: Said | None
) -> None:
    """All figures of some sentences."""
    drawn, n = Resamples(groups), len(labels)
    sheet.put("share supported", float(labels.mean()), n=n)
    rank(sheet, "", drawn, labels, (now, first))
    sheet.add("recall of supported", drawn.share(now.full, labels), int(labels.sum()))
    sheet.add("recall of unsupported", drawn.share(~now.full, ~labels), int((~labels).sum()))
    balanced = drawn.balanced(now.full, labels)
    sheet.add("balanced accuracy", balanced, n)
    if first:
        gain = balanced.minus(drawn.balanced(first.full, labels))
        sheet.add("gain in balanced accuracy", gain, n)
    calibrate(sheet, drawn, labels, now)


def calibrate(sheet: Sheet, groups: Resamples, labels: Bools, now: Said) -> None:
    """How far scores are probabilities: at the declared prior, and at the set's own."""
    own = float(labels.mean())
    for prior, scores in ((PRIOR, now.scores), (own, moved(now.scores, PRIOR, own))):
        told = "declared prior" if prior == PRIOR else "own prior"
        error = groups.calibration_error(scores, labels)
        sheet.add(f"ECE at {told}", error, len(labels), f"prior {prior:.3f}")
        sheet.add(f"Brier at {told}", groups.brier(scores, labels), len(labels))


def rank(
    sheet: Sheet, of: str, groups: Resamples, labels: Bools, said: tuple[Said, Said | None]
) -> None:
    """AUROC, and what it has gained over the first model."""
    now, first = said
    found = groups.auroc(now.scores, labels)
    sheet.add(f"AUROC{of}", found, len(labels))
    if first:
        gain = found.minus(groups.auroc(first.scores, labels))
        sheet.add(f"gain in AUROC{of}", gain, len(labels))


def part(
    sheet: Sheet, title: str, data: Sentences, said: tuple[Said, Said | None], these: Bools
) -> None:
    """Rank and balanced accuracy of some of the sentences."""
    now, first = said[0].at(these), said[1] and said[1].at(these)
    groups = Resamples(np.asarray(data.groups)[these].tolist())
    rank(sheet, f", {title}", groups, data.labels[these], (now, first))
    balanced = groups.balanced(now.full, data.labels[these])
    sheet.add(f"balanced accuracy, {title}", balanced, int(these.sum()))


def thirds(
    lengths: npt.NDArray[np.int64], bounds: tuple[float, float]
) -> Sequence[tuple[str, Bools]]:
    """Which are of short, middling and long answers, with a title for each."""
    low, high = bounds
    return (
        (f"answers <= {low:.0f} characters", lengths <= low),
        (f"{low:.0f} < answers <= {high:.0f}", (lengths > low) & (lengths <= high)),
        (f"answers > {high:.0f}", lengths > high),
    )


def by_length(sheet: Sheet, data: Sentences, said: tuple[Said, Said | None]) -> None:
    """What the answer's length alone says, and the judge within answers that are about as long."""
    alone = Resamples(data.groups).auroc(-data.lengths, data.labels)
    sheet.add("AUROC of the answer's length alone", alone, len(data.labels))
    for title, these in thirds(data.lengths, terciles(data.answers)):
        part(sheet, title, data, said, these)


def bins(sheet: Sheet, data: Sentences, now: Said) -> None:
    """The reliability table."""
    found = reliability(now.scores, data.labels)
    lines = [
        {
            "score": f"{at / 10:.1f}-{at / 10 + 0.1:.1f}",
            "n": n,
            "mean score": mean,
            "supported": share,
        }
        for at, (n, mean, share) in enumerate(found)
    ]
    sheet.table("reliability at the declared prior", lines)
