"""The import of labels: sheets that people filled in, matched with the drawn sentences."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple, TypeVar

from judge.errors import InputError, RunError
from judge.inputs.runs import AGREEMENT, PAGE, REVIEW, hold, parse, read_document, read_summary
from judge.inputs.tables import as_json
from judge.records import Summary
from judge.review.agreement import findings
from judge.review.draws import draw_names, fingerprint, read_draw, write_text
from judge.review.records import Agreement, Draw, Label
from judge.review.sheet import SheetRow, folded, read_label, read_sheet
from judge.text.visible import clip, counted

_LABELS: Final = ".labels.jsonl"
_MAX_PROBLEMS: Final = 50
_ID_CHARACTERS: Final = 60
"""The most characters of an id that a message shows."""
_COMPARED_LETTERS: Final = 2_000
"""The most letters of a sentence that are compared, because a cell may be cut."""

_Answer = TypeVar("_Answer")
RenderPage = Callable[[Agreement, Summary, Path], str]
"""A function that returns the HTML of `agreement.html` of a run folder."""


class ImportResult(NamedTuple):
    """The result of an import."""

    agreement: Agreement
    """The quality of the judge by the labels."""
    summary: Summary
    """Totals of the run."""
    skips: int
    """The number of skipped rows."""


def import_labels(
    run: str | Path,
    sheets: Sequence[str | Path],
    *,
    replace: bool = False,
    page: RenderPage | None = None,
) -> ImportResult:
    """Read labelled sheets of one draw, and keep the labels and the agreement in the run.

    They are `review/DRAW.labels.jsonl`, `agreement.json` and, with `page`, `agreement.html`.
    Nothing is written if any row is wrong.

    Args:
        run: folder of the run.
        sheets: CSV or XLSX files of one or several reviewers.
        replace: drop labels imported earlier that these sheets do not have.
        page: makes the HTML of `agreement.html`, as `judge.pages.agreement.page` does.

    Raises:
        InputError: a sheet cannot be read, or rows of it are wrong; the message names them.
        RunError: the rows are of another run, the run was scored again since, or its folder cannot
            be written.
    """
    run = Path(run)
    paths = list(map(Path, sheets))
    with hold(run):
        rows = [row for path in paths for row in read_sheet(path)]
        draw = _draw_of(run, rows, paths)
        labels = labels_of(draw, rows)
        if not labels:
            message = "no row has a label; fill in human_support"
            raise InputError(message, path=", ".join(map(str, paths)))
        if not replace:
            _refuse_loss(run, draw, labels)
        summary = read_summary(run)
        agreement = findings(draw, labels, summary)
        text = None if page is None else page(agreement, summary, run)
        # If this is interrupted, no agreement is left that other labels made.
        for name in (AGREEMENT, PAGE):
            (run / name).unlink(missing_ok=True)
        write_labels(run, draw.draw, labels)
        write_text(run / AGREEMENT, as_json(agreement))
        if text is not None:
            write_text(run / PAGE, text)
    blank = (row for row in rows if not row.cell("human_support"))
    skips = sum(bool(row.cell("human_skip")) for row in blank)
    return ImportResult(agreement, summary, skips)


def write_labels(run: Path, draw: str, labels: Iterable[Label]) -> None:
    """Replace the labels of a draw; raise RunError if they cannot be written."""
    lines = "".join(f"{label.model_dump_json()}\n" for label in labels)
    write_text(run / REVIEW / f"{draw}{_LABELS}", lines)


def read_labels(run: Path, draw: str) -> list[Label]:
    """Return the imported labels of a draw; raise RunError if they are damaged."""
    path = run / REVIEW / f"{draw}{_LABELS}"
    lines = path.read_bytes().splitlines() if path.exists() else []
    step = "import the sheets again with --replace"
    return [parse(line, Label, f"{path}, line {n}", step) for n, line in enumerate(lines, 1)]


def read_agreement(run: Path) -> Agreement | None:
    """Return the agreement of a run, None without labels; raise RunError if it is damaged."""
    path = run / AGREEMENT
    return read_document(path, Agreement, "import the sheets again") if path.exists() else None


def _draw_of(run: Path, rows: Iterable[SheetRow], paths: Iterable[Path]) -> Draw:
    """Return the one draw of the run that the rows are of; `labels_of` refuses unknown rows."""
    results, known = fingerprint(run), draw_names(run)
    names = dict.fromkeys(row.cell("review_id").rpartition("-")[0] for row in rows)
    found = [name for name in names if name in known]
    if len(found) != 1:
        rows_of = f"has rows of the draws {', '.join(found)}" if found else "has no row of any draw"
        raise InputError(
            f"{rows_of} of {run} (its draws: {', '.join(known) or 'none'}); "
            "import the sheets of one draw of this run",
            path=", ".join(map(str, paths)),
        )
    draw = read_draw(run, found[0])
    if draw.results != results:
        raise RunError(
            f"{run}: was scored again after draw {draw.draw}, so its labels are of other "
            f"verdicts; draw anew: judge review draw {run}"
        )
    return draw


def labels_of(draw: Draw, rows: Sequence[SheetRow]) -> list[Label]:
    """Return one label for each reviewer and row; raise InputError with all wrong rows."""
    sentences = {sentence.review_id: sentence for sentence in draw.sentences}
    originals = {name: {"sentence": each.text} for name, each in sentences.items()}
    answers = answers_of(rows, "human_support", originals, read_label)
    return [
        Label(
            review_id=review_id,
            qid=sentences[review_id].qid,
            sentence=sentences[review_id].sentence,
            support=label.support,
            supported=label.supported,
            reviewer=" ".join(row.cell("reviewer").split()),
            note=row.cell("human_note"),
        )
        for (review_id, _), (row, label) in answers.items()
    ]


def answers_of(
    rows: Iterable[SheetRow],
    column: str,
    originals: Mapping[str, Mapping[str, str]],
    parse: Callable[[str], _Answer | None],
) -> dict[tuple[str, str], tuple[SheetRow, _Answer]]:
    """Return the first row and its answer for each `review_id` and folded name of a reviewer.

    Args:
        rows: the rows of all sheets.
        column: the column of the answer; rows without an id and an answer are skipped.
        originals: the texts that a row was drawn with, by `review_id` and column.
        parse: returns the meaning of an answer, None if it is blank; or raises ValueError.

    Raises:
        InputError: rows are wrong, or two answers of a reviewer on a row contradict each other.
    """
    found: dict[tuple[str, str], tuple[SheetRow, _Answer]] = {}
    problems: list[str] = []
    for row in rows:
        key = row.cell("review_id"), folded(row.cell("reviewer"))
        if not key[0] and not row.cell(column):
            continue
        try:
            _check_row(row, originals)
            answer = parse(row.cell(column))
        except ValueError as error:
            problems.append(f"{row}: {error}")
            continue
        if answer is None:
            continue
        first, earlier = found.setdefault(key, (row, answer))
        if answer != earlier:
            reviewer = " ".join(first.cell("reviewer").split())
            who = f"reviewer {reviewer!r}" if reviewer else "a nameless reviewer"
            step = "keep one" if reviewer else "keep one, or fill in the column reviewer"
            problems.append(
                f"{row}: {key[0]!r} is {row.cell(column)!r} and in {first} "
                f"{first.cell(column)!r}, both of {who}; {step}"
            )
    if problems:
        wrong = counted(len(problems), "row")
        lines = [f"{wrong} cannot be right, and nothing was imported:", *problems[:_MAX_PROBLEMS]]
        if len(problems) > _MAX_PROBLEMS:
            lines.append(f"… and {len(problems) - _MAX_PROBLEMS} more")
        raise InputError("\n  ".join(lines))
    return found


def _check_row(row: SheetRow, originals: Mapping[str, Mapping[str, str]]) -> None:
    """Raise ValueError for an unknown row, or for texts that are not those of its id."""
    name = row.cell("review_id")
    if not name:
        raise ValueError("has an answer and no review_id; put the row's own back")
    if name not in originals:
        shown = clip(name, _ID_CHARACTERS)
        raise ValueError(f"review_id {shown!r} was not drawn here; import it where it was drawn")
    for column, text in originals[name].items():
        if not _is_same_text(row.cells.get(column, ""), text):
            raise ValueError(
                f"holds another {column} than {name!r} was drawn for; put its own back"
            )


def _refuse_loss(run: Path, draw: Draw, labels: Iterable[Label]) -> None:
    now = {(label.review_id, folded(label.reviewer)) for label in labels}
    earlier = read_labels(run, draw.draw)
    lost = [each for each in earlier if (each.review_id, folded(each.reviewer)) not in now]
    if lost:
        who = ", ".join(sorted({label.reviewer or "nameless" for label in lost}))
        raise RunError(
            f"{run}: these sheets lack {counted(len(lost), 'label')} imported earlier ({who}); "
            "name all sheets of the draw, or drop the earlier ones with --replace"
        )


def _is_same_text(text: str, original: str) -> bool:
    """Return whether a cell holds the original text, as a spreadsheet may save it, or nothing."""
    return not text or _letters(text) == _letters(original)


def _letters(text: str) -> str:
    """Return the letters and digits of a text, which no spreadsheet changes."""
    return "".join(filter(str.isalnum, text))[:_COMPARED_LETTERS]
