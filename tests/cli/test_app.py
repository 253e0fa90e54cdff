"""The command line as a whole: bad usage, errors, notes, and closed output streams."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from judge.cli.app import COMMANDS, LOGGER, debug, debugging, log_to_stderr
from judge.cli.options import PANELS
from judge.config import Config
from tests.commands import Ran, judge, line, refused, write

PYTHON = [sys.executable, "-m", "judge"]
FAILING = ("--judge", "similarity", "--fail-under", "faithfulness=1")


def test_help_of_each_command_has_an_example() -> None:
    assert judge("--help").code == 0
    for name in COMMANDS:
        ran = judge(name, "--help")
        assert (ran.code, f"Example: judge {name}" in ran.out or "─ Commands ─" in ran.out) == (
            0,
            True,
        )


@pytest.mark.parametrize("words", [(), ("review",)])
def test_no_command_prints_help_and_is_bad_usage(words: tuple[str, ...]) -> None:
    ran = judge(*words)
    assert (ran.code, "Usage: judge" in ran.out + ran.err) == (2, True)


WRONG: dict[tuple[str, ...], tuple[str, str]] = {
    ("score", "in.jsonl", "--concurrency", "many"): ("'--concurrency'", "judge score --help"),
    ("score", "in.jsonl", "--nope"): ("--nope", "judge score --help"),
    ("score", "in.jsonl", "--model", "-o", "run"): ("-o is an option", "judge score --help"),
    ("score", "in.jsonl", "-o", "--no-cache"): ("--no-cache is an option", "judge score --help"),
    ("score",): ("'SAMPLES'", "judge score --help"),
    ("score", ""): ("is empty", "judge score --help"),
    ("prompts", "show", "a", "too\nmany"): ("extra argument", "judge prompts show --help"),
    # An exam measures faithfulness alone.
    ("exam", "--context"): ("--context", "judge exam --help"),
    ("review", "nope"): ("'nope'", "judge review --help"),
    ("nope",): ("'nope'", "judge --help"),
    ("show", "no\x1b[31mwhere"): ("no␛[31mwhere", ""),
    ("show", "a" * 300): ("too long", ""),
    ("review", "draw", "a" * 5000, "-n", "3"): ("too long", ""),
}


@pytest.mark.parametrize("words", WRONG)
def test_a_users_mistake_is_one_line_that_names_it_and_the_next_step(
    words: tuple[str, ...],
) -> None:
    named, step = WRONG[words]
    refused(judge(*words), named, step)


FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"
READERS = (
    *("score {} -o out", "overlap {} -o out.csv", "retrieval {} -o out.csv", "recommend {}"),
    *("perturb {} -o out.jsonl", "gold draw {} -o out.csv"),
)


@pytest.mark.parametrize("words", READERS)
def test_bad_input_is_one_line_that_names_it_and_nothing_is_written(
    words: str, place: Path
) -> None:
    for name in ("nowhere.jsonl", "broken.jsonl"):
        refused(judge(*words.format(FIXTURES / name).split()), name)
    assert not list(place.iterdir())


@pytest.fixture
def run_broken(monkeypatch: pytest.MonkeyPatch) -> Callable[[Exception], Ran]:
    """Runs a command that raises an error."""

    def run(error: Exception) -> Ran:
        def broken() -> None:
            raise error

        monkeypatch.setitem(COMMANDS, "broken", "Break.")
        monkeypatch.setitem(sys.modules, "judge.cli.broken", SimpleNamespace(broken=broken))
        return judge("broken")

    return run


def test_a_bug_of_ours_says_so(run_broken: Callable[[Exception], Ran]) -> None:
    ran = run_broken(RuntimeError("the bug"))
    assert ran.code == 70
    assert "RuntimeError: the bug" in ran.err
    assert "this is a bug in judge" in ran.err


def test_help_of_all_commands_loads_nothing_heavy() -> None:
    code = (
        "import contextlib, io, sys\n"
        "from judge.cli.app import main\n"
        "with contextlib.suppress(SystemExit), contextlib.redirect_stdout(io.StringIO()):\n"
        "    main(['--help'])\n"
        # Typer itself imports the first and the last to read options.
        "print({'pydantic', 'rich', 'asyncio', 'importlib.metadata'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def test_notes_go_to_standard_error_once_and_debug_says_more(
    capsys: pytest.CaptureFixture[str],
) -> None:
    log_to_stderr()
    log_to_stderr()
    LOGGER.getChild("backends").warning("the cache holds %d odd rows\x1b[2J", 3)
    LOGGER.debug("not asked for")
    assert capsys.readouterr() == ("", "judge: the cache holds 3 odd rows␛[2J\n")
    debug(wanted=False)
    assert not debugging()
    debug(wanted=True)
    LOGGER.debug("asked for")
    assert (debugging(), capsys.readouterr().err) == (True, "judge: asked for\n")
    log_to_stderr()
    assert not debugging()


# Each runs in a process of its own, because the file behind a stream matters.
def shell(words: str) -> tuple[int, str]:
    """The code and the errors of a command as a shell starts it, its streams buffered."""
    environment = {name: text for name, text in os.environ.items() if name != "PYTHONUNBUFFERED"}
    command = ["/bin/bash", "-o", "pipefail", "-c", f"{' '.join(PYTHON)} {words}"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    return done.returncode, done.stderr


@pytest.mark.parametrize(
    ("redirection", "code", "errors"),
    [(">/dev/full", 2, 1), ("2>&-", 1, 0), ("2>&1 | true", 1, 0)],
)
def test_a_run_is_written_whoever_reads_what_is_printed(
    redirection: str, code: int, errors: int, tmp_path: Path
) -> None:
    sample = line("q", "The canteen opens at seven. Green cheese covers Jupiter.")
    source, run = write(tmp_path / "in.jsonl", [sample, {"qid": "bad"}]), tmp_path / "run"
    words = f"score {source} -o {run} --skip-bad-lines {' '.join(FAILING)} {redirection}"
    found, err = shell(words)
    notes = [each for each in err.splitlines() if "bad line" not in each]
    assert (found, len(notes)) == (code, errors), err
    assert (run / "summary.json").exists()


def test_a_help_text_whose_pipe_is_closed_is_no_error() -> None:
    assert shell("score --help | true") == (0, "")


def test_each_setting_is_an_option_in_one_panel_with_its_help() -> None:
    assert sorted(name for names in PANELS.values() for name in names) == sorted(
        Config.model_fields
    )
    shown = judge("score", "--help").out
    assert [panel for panel in PANELS if f"─ {panel} ─" not in shown] == []
    options = [f"--{name.replace('_', '-')}" for name in Config.model_fields]
    assert [option for option in options if f"{option} " not in shown] == []
    assert [name for name, field in Config.model_fields.items() if not field.description] == []


def test_debug_shows_where_an_error_arose(place: Path) -> None:
    usual, debugged = (judge("score", "missing.jsonl", *more) for more in ((), ("--debug",)))
    assert (usual.code, debugged.code, "Traceback" in usual.err) == (2, 2, False)
    assert "Traceback" in debugged.err
    assert "judge: missing.jsonl: " in debugged.err
    assert not list(place.iterdir())
