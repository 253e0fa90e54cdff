"""Labels: filled-in sheets, read back to the sentences that were drawn; all of them, or none."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from judge.errors import InputError, RunError
from judge.inputs.runs import hold
from judge.inputs.tables import fit, legible
from judge.messages import LANGS
from judge.records import Summary
from judge.review.agreement import findings
from judge.review.folder import (
    discard_findings,
    draw_names,
    fingerprint,
    read_draw,
    read_labels,
    write_findings,
    write_labels,
)
from judge.review.records import Agreement, Draw, DrawnSentence, Label
from judge.review.sheet import Row, folded, read_label, read_sheet
from judge.review.targets import TARGETS, summary_of
from judge.scores.correctness import f1
from judge.text.visible import clip, counted, plural

_DRAW: Final = re.compile(r"r[0-9a-f]{8}")
_MOST: Final = 50
"""The most problems that one message lists."""
LONGEST: Final = 60
"""The most characters of an id that a message shows."""
_COMPARED: Final = 2_000
"""The most letters of a sentence that are compared, because a cell may be cut."""
_LOST: Final = "?"
_HALVES: Final = set(TARGETS["correctness"])


class Imported(NamedTuple):
    """The result of an import."""

    agreement: Agreement
    """The quality of the judge by the labels."""
    summary: Summary
    """Totals of the run."""
    noted: int
    """Rows with a note and no label, of both halves; they count as blank."""
    skips: Counter[str]
    """Rows without a label, of either half, by what reviewers say why."""
    others: "tuple[Imported, ...]" = ()
    """The other half of correctness, where rows of both were read."""
    f1: "tuple[float | None, float | None]" = (None, None)
    """For correctness the F1 of the two means over answers: the judge's, and corrected."""


def import_labels(
    run: str | Path,
    sheets: Sequence[str | Path],
    *,
    replace: bool = False,
    page: Callable[[Agreement, Summary], str] | None = None,
) -> Imported:
    """Read labelled sheets of one draw, and keep in the run the labels and what they say.

    That is `review/DRAW.labels.jsonl`, `agreement.json` and, where `page` is given,
    `agreement.html`; of the halves of correctness `agreement_precision.json` and so on. Nothing is
    written where any row cannot be right.

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
        joined = join(run, list(map(Path, sheets)))
        read = [(draw, labels_of(draw, rows)) for draw, rows in joined]
        if not any(labels for _, labels in read):
            message = "no row has a label; fill in human_support"
            raise InputError(message, path=", ".join(map(str, sheets)))
        for draw, labels in read:
            if not replace:
                _refuse_loss(run, draw, labels)
        kept = [_kept(run, draw, labels, page) for draw, labels in read if labels]
        if replace:
            for draw in (draw for draw, labels in read if not labels):
                discard_findings(run, draw.target)
                write_labels(run, draw.draw, [])
    blank = [row for _, rows in joined for row in rows if not row.cell("human_support")]
    found = [
        Imported(
            agreement,
            summary,
            sum(bool(row.cell("human_note")) for row in blank),
            Counter(filter(None, (row.cell("human_skip") for row in blank))),
        )
        for agreement, summary in kept
    ]
    scores = [_over_answers(each.agreement) for each in found]
    if len(scores) == len(_HALVES):
        judged, people = (f1(*each) for each in zip(*scores, strict=True))
        return found[0]._replace(others=tuple(found[1:]), f1=(judged, people))
    return found[0]


def _over_answers(found: Agreement) -> tuple[float | None, float | None]:
    """The mean over answers, partial counted half: the judge's, and as corrected."""
    means = (
        (score.raw, score.corrected)
        for score in found.corrected
        if score.average == "macro" and score.name == found.target
    )
    return next(means, (None, None))


def _kept(
    run: Path,
    draw: Draw,
    labels: Sequence[Label],
    page: Callable[[Agreement, Summary], str] | None,
) -> tuple[Agreement, Summary]:
    """Write the labels of a draw and their agreement into the run."""
    summary = summary_of(run, draw.target)
    found = findings(draw, labels, summary)
    text = None if page is None else page(found, summary)
    # Whatever stops this halfway, no finding is left that other labels made.
    discard_findings(run, draw.target)
    write_labels(run, draw.draw, labels)
    write_findings(run, found, text)
    return found, summary


def join(run: Path, paths: Sequence[Path]) -> list[tuple[Draw, list[Row]]]:
    """The rows of filled-in sheets by the draw of the run that they are of.

    There is one, or one of either half of correctness; what is of none goes with the first.
    """
    results = fingerprint(run)
    rows = [row for path in paths for row in read_sheet(path)]
    firsts: dict[str, Row] = {}
    for row in rows:
        if name := row.cell("review_id"):
            firsts.setdefault(name.rpartition("-")[0], row)
    # A cell could name any file.
    named = (read_draw(run, name) for name in firsts if _DRAW.fullmatch(name))
    draws = [each for each in named if each is not None]
    halves = len(draws) == len(_HALVES) and {each.target for each in draws} == _HALVES
    if len(draws) > 1 and not halves:
        raise InputError(
            f"rows of {len(draws)} draws ({', '.join(each.draw for each in draws)}): "
            "each has its own chances; import them one after the other"
        )
    if not firsts:
        raise InputError("no row has a review_id", path=", ".join(map(str, paths)))
    if not draws:
        first = next(iter(firsts.values()))
        name = clip(first.cell("review_id"), LONGEST)
        raise RunError(
            f"{first}: {name!r} is a row of another run, or of none; "
            f"draws of {run}: {', '.join(draw_names(run)) or 'none'}"
        )
    if draws[0].results != results:
        raise RunError(
            f"{run}: was scored again after draw {draws[0].draw}, so its labels are of other "
            f"verdicts; draw anew: judge review draw {run}"
        )
    rest: dict[str, list[Row]] = {each.draw: [] for each in draws[1:]}
    of_first: list[Row] = []
    for row in rows:
        rest.get(row.cell("review_id").rpartition("-")[0], of_first).append(row)
    return [(draws[0], of_first), *((each, rest[each.draw]) for each in draws[1:])]


def labels_of(draw: Draw, rows: Sequence[Row]) -> list[Label]:
    """One label a reviewer and row; InputError names all rows that cannot be right."""
    sentences = {sentence.review_id: sentence for sentence in draw.sentences}
    found: dict[tuple[str, str], tuple[Label, Row]] = {}
    problems: list[str] = []
    for row in rows:
        name = row.cell("review_id")
        if not name and not row.cell("human_support"):
            continue
        try:
            label = _label(draw, sentences.get(name), row)
            if label is not None:
                key = (label.review_id, folded(label.reviewer))
                found[key] = _merged(*found[key], label) if key in found else (label, row)
        except ValueError as error:
            problems.append(f"{row}: {error}")
    refuse(problems)
    return [label for label, _ in found.values()]


def refuse(problems: Sequence[str]) -> None:
    """InputError that names the rows which cannot be right, if there are any."""
    if not problems:
        return
    rows = f"{len(problems)} {plural(len(problems), 'row')}"
    lines = [f"{rows} cannot be right, and nothing was imported:", *problems[:_MOST]]
    if len(problems) > _MOST:
        lines.append(f"… and {len(problems) - _MOST} more")
    raise InputError("\n  ".join(lines))


def _refuse_loss(run: Path, draw: Draw, labels: Iterable[Label]) -> None:
    now = {(label.review_id, folded(label.reviewer)) for label in labels}
    earlier = read_labels(run, draw.draw)
    lost = [each for each in earlier if (each.review_id, folded(each.reviewer)) not in now]
    if lost:
        who = sorted({label.reviewer or "nameless" for label in lost})
        told, are = counted(len(lost), "label"), "is" if len(lost) == 1 else "are"
        raise RunError(
            f"{run}: {told} imported earlier ({', '.join(who)}) {are} not in these sheets; "
            "name all sheets of the draw, or let the earlier ones go with --replace"
        )


def _label(draw: Draw, sentence: DrawnSentence | None, row: Row) -> Label | None:
    """The label of a row; None where it is blank, ValueError where it cannot be right."""
    name = row.cell("review_id")
    if sentence is None:
        why = "is a row of another draw or run; import it there"
        if not name:
            why = "is empty beside a label; put the row's own back"
        elif name.startswith(f"{draw.draw}-"):
            why = "is no row of this run: it was changed, or is of another run like it"
        raise ValueError(f"review_id {clip(name, LONGEST)!r} {why}")
    if not is_of(row.cells.get("sentence", ""), sentence.text):
        # Somebody sorted the texts, and left the ids where they were.
        raise ValueError(
            f"holds another sentence than {name!r} was drawn for; put its own text back"
        )
    reading = read_label(row.cell("human_support"))
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


def is_of(text: str, drawn: str) -> bool:
    """Whether a cell holds the text that was drawn, or nothing."""
    found, wanted = _letters(text), _letters(drawn)
    if text.count(_LOST) > drawn.count(_LOST):
        # Saved in an old code page, which has no sign for some of the letters.
        rest = iter(wanted)
        return all(letter in rest for letter in found)
    # A shortened text may end in the mark of the cut.
    cut = (_letters(fit(legible(drawn), lang)) for lang in LANGS)
    return not text or found == wanted or found in cut


def _letters(text: str) -> str:
    # No spreadsheet changes these.
    return "".join(filter(str.isalnum, text))[:_COMPARED]


def _merged(first: Label, row: Row, second: Label) -> tuple[Label, Row]:
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
    return label.support.value if label.support else "yes" if label.supported else "no"
