"""How rank measures are to be read: what the options ask for, and what they name."""

from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

from judge.advice.records import Use
from judge.cli.options import chosen
from judge.cli.source import placed, readable, spoken
from judge.errors import ConfigError, InputError
from judge.files.runs import has_bytes, read_record, read_summary
from judge.files.source import open_source, text_lines
from judge.messages import LANGS, Lang
from judge.records import Summary
from judge.retrieval.records import RankingReport


@dataclass(frozen=True, slots=True)
class Reading:
    """How a report is to be read."""

    use: Use | None = None
    """Whose targets to hold it against."""
    before: RankingReport | None = None
    """An earlier report to compare with."""
    answers: Summary | None = None
    """What became of the same questions' answers."""
    elsewhere: str | None = None
    """The file they were scored from, where it is not the one that is measured."""
    lang: Lang = "en"
    """Language of the reading."""


def reading(
    use: str | None,
    before: str | None,
    answers: Path | None,
    lang: str | None,
    *,
    samples: str | None,
    as_json: bool,
) -> Reading | None:
    """What the options ask for; None where they ask for no reading. `samples` is what is measured.

    Raises:
        ConfigError: one has no such value, or they contradict each other.
        InputError: `before` names no earlier report.
        RunError: `answers` names no finished run.
    """
    wanted: Use | None = None if use is None else chosen("--use", use, get_args(Use))
    language: Lang = "en" if lang is None else chosen("--lang", lang, LANGS)
    given = {"--before": before, "--answers": answers, "--use": use}
    options = [option for option, value in given.items() if value is not None]
    if not options:
        if lang is not None:
            raise ConfigError(
                f"--lang {lang!r} is of the reading; add --use, --before or --answers"
            )
        return None
    if as_json:
        raise ConfigError(f"{options[0]} and --json: a reading is for people; leave out one")
    earlier = None if before is None else _earlier(before)
    if answers is None:
        return Reading(wanted, earlier, lang=language)
    return Reading(wanted, earlier, read_summary(answers), _elsewhere(answers, samples), language)


def _elsewhere(run: Path, samples: str | None) -> str | None:
    made = read_record(run).input
    # TREC files have no answers, and standard input is read once.
    if samples is not None and Path(samples).is_file():
        with suppress(OSError):  # whoever measures it says what is wrong
            return None if has_bytes(Path(samples), made) else made.path
    return made.path


def _earlier(name: str) -> RankingReport:
    with placed(spoken(name)), readable(name) as path, open_source(path) as stream:
        text = "".join(line for _, line in text_lines(stream, path))
        try:
            return RankingReport.model_validate_json(text)
        except ValueError:
            wanted = "what judge retrieval SAMPLES --json prints"
            raise InputError(f"is no earlier report; --before takes {wanted}") from None
