"""From filled-in sheets back to the sentences that were drawn: all of them, or none."""

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from judge.errors import InputError, RunError
from judge.files.runs import read_record
from judge.review.drawing import fingerprint, live_name, take_live
from judge.review.folder import draw_names, read_draw, read_labels, write_draw
from judge.review.labelling import Filled, folded, labels_of, shown
from judge.review.records import Draw, Label
from judge.review.sheet import read_sheet

_NAME: Final = re.compile(r"r[0-9a-f]{8}")


class Sheets(NamedTuple):
    """What filled-in sheets say."""

    draw: Draw
    labels: list[Label]
    noted: int
    """Rows with a note, and without a label."""


def join(run: Path, paths: Sequence[Path], *, replace: bool = False) -> Sheets:
    """Read sheets of one draw of a run; several where reviewers had one each.

    Args:
        run: folder of the run.
        paths: the sheets, CSV or XLSX.
        replace: let go of labels imported earlier that these sheets do not have.

    Raises:
        InputError: a sheet cannot be read, or rows of it cannot be right; all are named.
        RunError: the rows are of another run, or the run was scored again since.
    """
    results = fingerprint(run)
    filled = [Filled(path, row) for path in paths for row in read_sheet(path)]
    draw = _draw(run, paths, filled)
    if draw.results != results:
        raise RunError(
            f"{run}: was scored again after draw {draw.draw}, so its labels are of other verdicts; "
            f"draw anew: judge review draw {run}"
        )
    labels = labels_of(draw, filled)
    if not labels:
        raise InputError("no row has a label; fill in human_support", path=_paths(paths))
    if not replace:
        _keep(run, draw, labels)
    noted = sum(bool(row.note) and not row.said for row in filled)
    return Sheets(draw, labels, noted)


def _draw(run: Path, paths: Sequence[Path], filled: Sequence[Filled]) -> Draw:
    names: dict[str, Filled] = {}
    for row in filled:
        if row.id:
            names.setdefault(row.id.rpartition("-")[0], row)
    live = _live(run)
    # A cell could name any file.
    known = (name for name in names if name != live and _NAME.fullmatch(name))
    own = [draw for name in known if (draw := read_draw(run, name))]
    if live in names:
        own.append(_live_draw(run, live))
    if len(own) > 1:
        raise InputError(
            f"rows of {len(own)} draws ({', '.join(draw.draw for draw in own)}): "
            "each has its own chances; import them one after the other"
        )
    if not own:
        first = next(iter(names.values()), None)
        if first is None:
            raise InputError("no row has a review_id", path=_paths(paths))
        draws = ", ".join(draw_names(run)) or "none"
        raise RunError(
            f"{first}: {shown(first.id)} is a row of another run, or of none; "
            f"draws of {run}: {draws}"
        )
    return own[0]


def _live_draw(run: Path, name: str) -> Draw:
    """What a hook was handed while these results were made, and not those of a run before."""
    draw = read_draw(run, name)
    if draw is None or draw.results != fingerprint(run):
        draw = take_live(run).draw
        write_draw(run, draw)
    return draw


def _live(run: Path) -> str | None:
    record = read_record(run)
    seed, rate = record.config.get("seed"), record.config.get("review_rate")
    if not isinstance(seed, int) or not isinstance(rate, float):
        return None  # scored before there were hooks
    return live_name(record.signature, seed, rate)


def _keep(run: Path, draw: Draw, labels: Iterable[Label]) -> None:
    """Refuse to lose what was imported earlier."""
    now = {(label.review_id, folded(label.reviewer)) for label in labels}
    lost = [
        label
        for label in read_labels(run, draw.draw)
        if (label.review_id, folded(label.reviewer)) not in now
    ]
    if lost:
        who = sorted({label.reviewer or "nameless" for label in lost})
        raise RunError(
            f"{run}: {len(lost)} labels imported earlier ({', '.join(who)}) are not in these "
            "sheets; name all sheets of the draw, or let the earlier ones go with --replace"
        )


def _paths(paths: Sequence[Path]) -> str:
    return ", ".join(map(str, paths))
