"""Labels: filled-in sheets, read back to the sentences that were drawn; all of them, or none."""

import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from judge.errors import InputError, RunError
from judge.files.folder import hold
from judge.files.runs import read_record, read_summary
from judge.records import Summary, Support
from judge.review.draws import live_name, take_live
from judge.review.findings import findings
from judge.review.folder import (
    discard_findings,
    draw_names,
    fingerprint,
    read_draw,
    read_labels,
    write_draw,
    write_findings,
    write_labels,
)
from judge.review.records import Agreement, Draw, DrawnSentence, Label
from judge.review.sheet import Row, read_sheet
from judge.review.words import read_label
from judge.text.visible import clip

_DRAW: Final = re.compile(r"r[0-9a-f]{8}")
_MOST: Final = 50
"""How many problems a message lists, so that a person can mend them in one go."""
_LONGEST: Final = 60
_COMPARED: Final = 2_000
"""How many letters of a sentence are compared; a cell may be cut behind them."""
_LOST: Final = "?"


class Imported(NamedTuple):
    """The result of an import."""

    agreement: Agreement
    """What the labels say of the judge."""
    summary: Summary
    """Totals of the run."""
    noted: int
    """How many rows have a note and no label; they count as blank."""


class Filled(NamedTuple):
    """A row that came back from people."""

    path: Path
    row: Row

    def __str__(self) -> str:
        return f"{self.path}, row {self.row.number}"

    def cell(self, column: str) -> str:
        """The text under a column; empty where the sheet lacks the column."""
        return self.row.cells.get(column, "").strip()

    @property
    def id(self) -> str:
        """The `review_id` that stands in the row."""
        return self.cell("review_id")

    @property
    def said(self) -> str:
        """The label as it was written."""
        return self.cell("human_support")


def import_labels(
    run: str | Path,
    sheets: Sequence[str | Path],
    *,
    replace: bool = False,
    page: Callable[[Agreement, Summary], str] | None = None,
) -> Imported:
    """Read labelled sheets of one draw, and keep in the run the labels and what they say.

    That is `review/DRAW.labels.jsonl`, `agreement.json` and, where `page` is given,
    `agreement.html`. Nothing is written where any row cannot be right.

    Args:
        run: folder of the run.
        sheets: CSV or XLSX; several where reviewers had one each.
        replace: let go of labels imported earlier that these sheets do not have.
        page: makes the HTML of `agreement.html`, as `judge.pages.agreement.page` does.

    Raises:
        InputError: a sheet cannot be read, or rows of it cannot be right; all are named.
        RunError: the rows are of another run, the run was scored again since, or it cannot be
            written.
    """
    run = Path(run)
    with hold(run):
        draw, filled = join(run, list(map(Path, sheets)))
        labels = labels_of(draw, filled)
        if not labels:
            message = "no row has a label; fill in human_support"
            raise InputError(message, path=", ".join(map(str, sheets)))
        if not replace:
            _refuse_loss(run, draw, labels)
        summary = read_summary(run)
        found = findings(draw, labels, summary)
        text = None if page is None else page(found, summary)
        # Whatever stops this halfway, no finding is left that other labels made.
        discard_findings(run)
        write_labels(run, draw.draw, labels)
        write_findings(run, found, text)
    return Imported(found, summary, sum(bool(r.cell("human_note")) and not r.said for r in filled))


def join(run: Path, paths: Sequence[Path]) -> tuple[Draw, list[Filled]]:
    """The rows of filled-in sheets, and the one draw of the run that they are of.

    Raises:
        InputError: a sheet cannot be read, or the rows are of several draws or of none.
        RunError: the rows are of another run, or the run was scored again since.
    """
    results = fingerprint(run)
    filled = [Filled(path, row) for path in paths for row in read_sheet(path)]
    names: dict[str, Filled] = {}
    for row in filled:
        if row.id:
            names.setdefault(row.id.rpartition("-")[0], row)
    live = _live_name(run)
    # A cell could name any file.
    known = (name for name in names if name != live and _DRAW.fullmatch(name))
    draws = [found for name in known if (found := read_draw(run, name))]
    if live is not None and live in names:
        draw = read_draw(run, live)
        if draw is None or draw.results != results:
            draw = take_live(run).draw
            write_draw(run, draw)
        draws.append(draw)
    if len(draws) > 1:
        raise InputError(
            f"rows of {len(draws)} draws ({', '.join(each.draw for each in draws)}): "
            "each has its own chances; import them one after the other"
        )
    if not names:
        raise InputError("no row has a review_id", path=", ".join(map(str, paths)))
    if not draws:
        first = next(iter(names.values()))
        raise RunError(
            f"{first}: {_quoted(first.id)} is a row of another run, or of none; "
            f"draws of {run}: {', '.join(draw_names(run)) or 'none'}"
        )
    if draws[0].results != results:
        raise RunError(
            f"{run}: was scored again after draw {draws[0].draw}, so its labels are of other "
            f"verdicts; draw anew: judge review draw {run}"
        )
    return draws[0], filled


def labels_of(draw: Draw, filled: Sequence[Filled]) -> list[Label]:
    """One label a reviewer and row.

    Raises:
        InputError: rows cannot be right; all are named.
    """
    rows = {sentence.review_id: sentence for sentence in draw.sentences}
    found: dict[tuple[str, str], tuple[Label, Filled]] = {}
    problems: list[str] = []
    for row in filled:
        if not row.id and not row.said:
            continue
        try:
            label = _label(draw, rows.get(row.id), row)
            if label is not None:
                key = (label.review_id, folded(label.reviewer))
                found[key] = _merged(*found[key], label) if key in found else (label, row)
        except ValueError as error:
            problems.append(f"{row}: {error}")
    if problems:
        raise InputError(_listed(problems))
    return [label for label, _ in found.values()]


def folded(name: str) -> str:
    """The name of a reviewer, without case, width and extra spaces.

    >>> folded(" Ａnn"), folded("ann")
    ('ann', 'ann')
    """
    plain = unicodedata.normalize("NFKC", name).casefold()
    seen = "".join(char for char in plain if unicodedata.category(char) != "Cf")
    return " ".join(seen.split())


def _live_name(run: Path) -> str | None:
    """The name of the draw of a hook; None for runs older than hooks."""
    record = read_record(run)
    seed, rate = record.config.get("seed"), record.config.get("review_rate")
    if not isinstance(seed, int) or not isinstance(rate, float):
        return None
    return live_name(record.signature, seed, rate)


def _refuse_loss(run: Path, draw: Draw, labels: Iterable[Label]) -> None:
    now = {(label.review_id, folded(label.reviewer)) for label in labels}
    earlier = read_labels(run, draw.draw)
    lost = [each for each in earlier if (each.review_id, folded(each.reviewer)) not in now]
    if lost:
        who = sorted({label.reviewer or "nameless" for label in lost})
        raise RunError(
            f"{run}: {len(lost)} labels imported earlier ({', '.join(who)}) are not in these "
            "sheets; name all sheets of the draw, or let the earlier ones go with --replace"
        )


def _label(draw: Draw, sentence: DrawnSentence | None, row: Filled) -> Label | None:
    if sentence is None:
        raise ValueError(f"review_id {_quoted(row.id)} {_stranger(draw, row.id)}")
    if not _is_of(row, sentence):
        # Somebody sorted the texts, and left the ids where they were.
        raise ValueError(
            f"holds another sentence than {row.id!r} was drawn for; put its own text back"
        )
    try:
        reading = read_label(row.said)
    except ValueError as error:
        raise ValueError(f"human_support {error}") from None
    if reading is None:
        return None
    return Label(
        review_id=sentence.review_id,
        qid=sentence.qid,
        sentence=sentence.sentence,
        support=reading.support,
        supported=reading.supported,
        reviewer=" ".join(row.cell("reviewer").split()),
        note=row.cell("human_note"),
    )


def _stranger(draw: Draw, review_id: str) -> str:
    if not review_id:
        return "is empty beside a label; put the row's own back"
    if review_id.startswith(f"{draw.draw}-"):
        return "is no row of this run: it was changed, or is of another run like it"
    return "is a row of another draw or run; import it there"


def _is_of(row: Filled, sentence: DrawnSentence) -> bool:
    text = row.row.cells.get("sentence", "")
    if not text:
        return True
    found, drawn = _letters(text), _letters(sentence.text)
    if text.count(_LOST) > sentence.text.count(_LOST):
        # Saved in an old code page, which has no sign for some of the letters.
        rest = iter(drawn)
        return all(letter in rest for letter in found)
    return found == drawn


def _letters(text: str) -> str:
    # No spreadsheet changes these.
    return "".join(filter(str.isalnum, text))[:_COMPARED]


def _merged(first: Label, row: Filled, second: Label) -> tuple[Label, Filled]:
    """The finer of two labels on a row by one reviewer, with what was noted on either."""
    known = first.support, second.support
    if first.supported != second.supported or (None not in known and known[0] is not known[1]):
        who = f"reviewer {second.reviewer!r}" if second.reviewer else "a nameless reviewer"
        step = "keep one" if second.reviewer else "keep one, or fill in the column reviewer"
        raise ValueError(
            f"{second.review_id!r} is {_word(second)!r} and in {row} {_word(first)!r}, "
            f"both of {who}; {step}"
        )
    finer = second if first.support is None else first
    notes = dict.fromkeys(filter(None, (*first.note.split("\n"), *second.note.split("\n"))))
    update = {"note": "\n".join(notes), "reviewer": first.reviewer}
    return finer.model_copy(update=update), row


def _word(label: Label) -> str:
    if label.support is None:
        return "yes" if label.supported else "no"
    return label.support.value if label.support is not Support.NONE else "not supported"


def _quoted(review_id: str) -> str:
    """An id as a message shows it: quoted, for anybody may have written it, and cut."""
    return repr(clip(review_id, _LONGEST))


def _listed(problems: Sequence[str]) -> str:
    rows = "1 row" if len(problems) == 1 else f"{len(problems)} rows"
    more = len(problems) - _MOST
    lines = [f"{rows} cannot be right, and nothing was imported:", *problems[:_MOST]]
    return "\n  ".join([*lines, *([f"… and {more} more"] if more > 0 else [])])
