"""Figures of the whole offline path, split, kinds and judge, on answers."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from judge.compose import offline
from judge.config import Config
from judge.pipeline import asked, evaluate_sample
from judge.records import JudgeRequest, Rules, SampleResult, Support, Verdict
from tests.bench.figures import Bools, Estimate, Floats, Resamples, terciles
from tests.bench.labelled import Row, sample
from tests.bench.scorer import Reply
from tests.bench.sentences import thirds
from tests.bench.sheet import Sheet

_NOTHING_SAID = 1.0
"""The lowest score of an answer without claims: nothing in it is unsupported."""


@dataclass(frozen=True, slots=True)
class Alarms:
    """What a model says of answers, by their claims."""

    lowest: Floats
    """Of each answer, the lowest score of a claim."""
    raised: Bools
    """Of each answer, whether a claim is not full."""
    claims: npt.NDArray[np.int64]
    """Of each answer, how many there are."""
    alarmed: npt.NDArray[np.int64]
    """How many of them are not full."""
    mismatched: Bools
    """Of each answer, whether it bears a flag that tells of a mismatch."""

    @classmethod
    def of(cls, replies: Iterable[Reply], mismatched: Iterable[bool] | None = None) -> "Alarms":
        """From one reply an answer."""
        held = list(replies)
        alarmed = np.asarray([each.full.count(False) for each in held])
        flagged = [False] * len(held) if mismatched is None else list(mismatched)
        return cls(
            lowest=np.asarray([min(each.scores, default=_NOTHING_SAID) for each in held]),
            raised=alarmed > 0,
            claims=np.asarray([len(each.full) for each in held]),
            alarmed=alarmed,
            mismatched=np.asarray(flagged, np.bool_),
        )


class Answers:
    """Rows with a label of the whole answer."""

    def __init__(self, rows: Iterable[Row]) -> None:
        self.rows = list(rows)
        self.requests: list[JudgeRequest] = [asked(sample(row), Rules()) for row in self.rows]
        self.groups = [str(row["group"]) for row in self.rows]
        self.sources = np.asarray([row["source"].rpartition("/")[2] for row in self.rows])
        self.labels: Bools = np.asarray(
            [bool(row["labels"]["answer_supported"]) for row in self.rows]
        )
        self.kinds = np.asarray([str(row["labels"].get("kind")) for row in self.rows])
        self.lengths: npt.NDArray[np.int64] = np.asarray([len(row["answer"]) for row in self.rows])

    async def now(self) -> Alarms:
        """What the code as it stands says, through its whole path."""
        judge = offline(Config())
        results = [await evaluate_sample(sample(row), judge, Rules()) for row in self.rows]
        flagged = (any(f.name.startswith("mismatch") for f in each.flags) for each in results)
        return Alarms.of(map(_reply, results), flagged)


def _reply(result: SampleResult) -> Reply:
    verdicts = [s.outcome for s in result.sentences if isinstance(s.outcome, Verdict)]
    return Reply(
        scores=[verdict.score or 0.0 for verdict in verdicts],
        full=[verdict.support is Support.FULL for verdict in verdicts],
        supporting=[],
        seconds=0.0,
    )


def labelled(sheet: Sheet, data: Answers, now: Alarms, first: Alarms | None) -> None:
    """Figures of answers of which some are supported and some are not."""
    groups, labels, n = Resamples(data.groups), data.labels, len(data.labels)
    silent = int((now.claims == 0).sum())
    sheet.put("share supported", float(labels.mean()), n=n, note=f"{silent} without claims")
    balanced = groups.balanced(~now.raised, labels)
    sheet.add("balanced accuracy", balanced, n)
    if first:
        gain = balanced.minus(groups.balanced(~first.raised, labels))
        sheet.add("gain in balanced accuracy", gain, n)
    if now.mismatched.any():
        either = groups.balanced(~(now.raised | now.mismatched), labels)
        sheet.add("balanced accuracy, mismatch flags too", either, n)
        flagged = groups.share(now.mismatched, labels)
        sheet.add("supported answers with a mismatch flag", flagged, int(labels.sum()))
        flagged = groups.share(now.mismatched, ~labels)
        sheet.add("unsupported answers with one", flagged, int((~labels).sum()))
    hit = groups.share(now.raised, ~labels)
    sheet.add("sensitivity (unsupported caught)", hit, int((~labels).sum()))
    passed = groups.share(~now.raised, labels)
    sheet.add("specificity (supported passed)", passed, int(labels.sum()))
    rank(sheet, "AUROC of the lowest score", data, (now, first), np.ones(n, np.bool_))


def lengths(sheet: Sheet, data: Answers, now: Alarms, first: Alarms | None) -> None:
    """What length alone says, and what the judge says of answers that are about as long."""
    groups = Resamples(data.groups)
    alone = groups.auroc(-data.lengths, data.labels)
    sheet.add("AUROC of length alone (characters)", alone, len(data.labels))
    for title, these in thirds(data.lengths, terciles(data.lengths)):
        rank(sheet, f"AUROC, {title}", data, (now, first), these)


def rank(
    sheet: Sheet, title: str, data: Answers, said: tuple[Alarms, Alarms | None], these: Bools
) -> None:
    """AUROC of the lowest score over some answers, and what it has gained over the first model."""
    groups, labels = Resamples(np.asarray(data.groups)[these].tolist()), data.labels[these]
    found, n = groups.auroc(said[0].lowest[these], labels), len(labels)
    sheet.add(title, found, n)
    if said[1]:
        gain = found.minus(groups.auroc(said[1].lowest[these], labels))
        sheet.add(f"gain in {title}", gain, n)


def false_alarms(sheet: Sheet, data: Answers, now: Alarms, first: Alarms | None) -> None:
    """Shares of claims and answers with an alarm where all are supported."""
    groups, total = Resamples(data.groups), int(now.claims.sum())

    def both(said: Alarms) -> tuple[Estimate, Estimate]:
        return groups.ratio(said.alarmed, said.claims), groups.share(said.raised)

    sentences, answers = both(now)
    sheet.add("false alarms, sentences", sentences, total)
    sheet.add("false alarms, answers", answers, len(data.rows))
    if first:
        old_sentences, old_answers = both(first)
        sheet.add("gain: fewer alarms, sentences", old_sentences.minus(sentences), total)
        sheet.add("gain: fewer alarms, answers", old_answers.minus(answers), len(data.rows))
    if now.mismatched.any():
        sheet.add("answers with a mismatch flag", groups.share(now.mismatched), len(data.rows))
