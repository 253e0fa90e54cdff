"""From filled-in sheets back to the sentences that were drawn: all of them, or none."""

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from judge.errors import InputError, RunError
from judge.records import Draw, DrawnSentence, Label, Support
from judge.review.drawing import fingerprint, live_name, take_live
from judge.review.sheet import Row, read_sheet
from judge.review.words import read_label
from judge.runs import read_record
from judge.runs.review import draw_names, read_draw, read_labels, write_draw
from judge.text.clip import clip

_MOST: Final = 50
"""Problems that are listed; a person mends them in one go."""
_LONGEST: Final = 60
_NAME: Final = re.compile(r"r[0-9a-f]{8}")
_SAID: Final = "human_support"


class Sheets(NamedTuple):
    """What filled-in sheets say."""

    draw: Draw
    labels: list[Label]


class _Placed(NamedTuple):
    path: Path
    row: Row

    def __str__(self) -> str:
        return f"{self.path}, row {self.row.number}"


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
    placed = [_Placed(path, row) for path in paths for row in read_sheet(path)]
    draw = _draw(run, placed)
    if draw.results != fingerprint(run):
        raise RunError(
            f"{run}: was scored again after draw {draw.draw}, so its labels are of other verdicts; "
            f"draw anew: judge review draw {run}"
        )
    labels = _read(draw, placed)
    if not replace:
        _keep(run, draw, labels)
    return Sheets(draw, labels)


def _draw(run: Path, placed: Sequence[_Placed]) -> Draw:
    names = {_id(item).rpartition("-")[0]: item for item in placed if _id(item)}
    # A cell could name any file.
    own = [draw for name in names if _NAME.fullmatch(name) and (draw := read_draw(run, name))]
    if not own and _live(run) in names:
        own = [take_live(run).draw]
        write_draw(run, own[0])
    if len(own) > 1:
        raise InputError(
            f"rows of {len(own)} draws ({', '.join(draw.draw for draw in own)}): "
            "each has its own chances; import them one after the other"
        )
    if not own:
        known = ", ".join(draw_names(run)) or "none"
        first = next(iter(names.items()), None)
        if first is None:
            raise InputError("no row has a review_id", path=_paths(placed))
        raise RunError(
            f"{first[1]}: {_id(first[1])!r} is a row of another run, or of none; "
            f"draws of {run}: {known}"
        )
    return own[0]


def _live(run: Path) -> str | None:
    record = read_record(run)
    seed, rate = record.config.get("seed"), record.config.get("review_rate")
    if not isinstance(seed, int) or not isinstance(rate, float):
        return None  # scored before there were hooks
    return live_name(record.signature, seed, rate)


def _read(draw: Draw, placed: Sequence[_Placed]) -> list[Label]:
    rows = {sentence.review_id: sentence for sentence in draw.sentences}
    found: dict[tuple[str, str], tuple[Label, _Placed]] = {}
    problems: list[str] = []
    for item in placed:
        said = item.row.cells.get(_SAID, "").strip()
        if not _id(item) and not said:
            continue
        sentence = rows.get(_id(item))
        if sentence is None:
            problems.append(f"{item}: review_id {_shown(_id(item))} {_stranger(draw, _id(item))}")
            continue
        try:
            label = _label(sentence, item.row.cells)
        except ValueError as error:
            problems.append(f"{item}: {_SAID} {error}")
            continue
        if label is None:
            continue
        key = (label.review_id, label.reviewer)
        earlier = found.get(key)
        if earlier and _contradict(earlier[0], label):
            problems.append(_doubled(item, label, earlier))
        elif earlier is None or earlier[0].support is None:
            found[key] = (label, item)
    if problems:
        raise InputError(_listed(problems))
    if not found:
        raise InputError(f"no row has a label; fill in {_SAID}", path=_paths(placed))
    return [label for label, _ in found.values()]


def _label(sentence: DrawnSentence, cells: Mapping[str, str]) -> Label | None:
    reading = read_label(cells.get(_SAID, ""))
    if reading is None:
        return None
    return Label(
        review_id=sentence.review_id,
        qid=sentence.qid,
        sentence=sentence.sentence,
        support=reading.support,
        supported=reading.supported,
        reviewer=" ".join(cells.get("reviewer", "").split()),
        note=cells.get("human_note", "").strip(),
    )


def _contradict(first: Label, second: Label) -> bool:
    if first.support is None or second.support is None:
        return first.supported != second.supported
    return first.support is not second.support


def _doubled(item: _Placed, label: Label, earlier: tuple[Label, _Placed]) -> str:
    who = f"reviewer {label.reviewer!r}" if label.reviewer else "a nameless reviewer"
    step = "keep one" if label.reviewer else "keep one, or fill in the column reviewer"
    return (
        f"{item}: {label.review_id!r} is {_word(label)!r} and in {earlier[1]} "
        f"{_word(earlier[0])!r}, both of {who}; {step}"
    )


def _word(label: Label) -> str:
    if label.support is None:
        return "yes" if label.supported else "no"
    return label.support.value if label.support is not Support.NONE else "not supported"


def _stranger(draw: Draw, review_id: str) -> str:
    if not review_id:
        return "is empty beside a label; put the row's own back"
    if review_id.startswith(f"{draw.draw}-"):
        return f"is no row of draw {draw.draw}; put the row's own back"
    return "is a row of another draw or run; import it there"


def _keep(run: Path, draw: Draw, labels: Iterable[Label]) -> None:
    """Refuse to lose what was imported earlier."""
    now = {(label.review_id, label.reviewer) for label in labels}
    lost = [
        label
        for label in read_labels(run, draw.draw)
        if (label.review_id, label.reviewer) not in now
    ]
    if lost:
        who = sorted({label.reviewer or "nameless" for label in lost})
        raise RunError(
            f"{run}: {len(lost)} labels imported earlier ({', '.join(who)}) are not in these "
            "sheets; name all sheets of the draw, or let the earlier ones go with --replace"
        )


def _listed(problems: Sequence[str]) -> str:
    rows = "1 row" if len(problems) == 1 else f"{len(problems)} rows"
    more = len(problems) - _MOST
    lines = [f"{rows} cannot be right, and nothing was imported:", *problems[:_MOST]]
    return "\n  ".join([*lines, *([f"… and {more} more"] if more > 0 else [])])


def _shown(review_id: str) -> str:
    return repr(clip(review_id, _LONGEST))


def _paths(placed: Sequence[_Placed]) -> str:
    return ", ".join(dict.fromkeys(str(item.path) for item in placed))


def _id(item: _Placed) -> str:
    return item.row.cells.get("review_id", "").strip()
