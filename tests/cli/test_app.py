import subprocess
import sys
from importlib.metadata import version

import pytest

from judge.cli.app import LOGGER, app, commands, debug, debugging, listen, main


def call(*words: str) -> int:
    with pytest.raises(SystemExit) as stopped:
        main(words)
    assert isinstance(stopped.value.code, int)
    return stopped.value.code


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert call("--version") == 0
    assert capsys.readouterr().out == f"judge {version('judge')}\n"


def test_help_of_each_command_has_an_example(capsys: pytest.CaptureFixture[str]) -> None:
    assert call("--help") == 0
    assert "Exit codes" in capsys.readouterr().out
    for command in app.registered_commands:
        assert command.callback is not None
        name = command.name or command.callback.__name__
        assert call(name, "--help") == 0
        assert f"Example: judge {name}" in capsys.readouterr().out


def test_no_command_is_bad_usage(capsys: pytest.CaptureFixture[str]) -> None:
    assert call() == 2
    assert "Usage: judge" in "".join(capsys.readouterr())


def test_an_unknown_command_is_bad_usage(capsys: pytest.CaptureFixture[str]) -> None:
    assert call("scroe") == 2
    assert "scroe" in capsys.readouterr().err


def test_a_wrong_option_is_one_line_that_names_it_and_the_next_step(
    capsys: pytest.CaptureFixture[str],
) -> None:
    rows: dict[tuple[str, ...], tuple[str, str]] = {
        ("score", "in.jsonl", "--concurrency", "many"): ("'--concurrency'", "judge score --help"),
        ("score", "in.jsonl", "--nope"): ("no such option: --nope", "judge score --help"),
        ("score",): ("'SAMPLES'", "judge score --help"),
        ("show", "run", "--worst", "0"): ("'--worst'", "judge show --help"),
        ("show", "run", "q", "too\nmany"): ("extra argument", "judge show --help"),
        ("review", "nope"): ("'nope'", "judge review --help"),
        ("nope",): ("'nope'", "judge --help"),
        ("--nope",): ("--nope", "judge --help"),
        ("score", ""): ("is empty; name a path", "judge score --help"),
    }
    for words, (named, step) in rows.items():
        assert call(*words) == 2
        out, err = capsys.readouterr()
        assert (out, err.count("\n")) == ("", 1), words
        assert err.startswith("judge: ")
        assert named in err
        assert err.endswith(f"; see {step}\n")
    assert call("review") == 2
    assert "Commands:" in capsys.readouterr().err


def test_a_command_that_says_nothing_of_it_ends_with_0() -> None:
    assert call("prompts", "list") == 0


def test_a_bug_of_ours_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    @app.command()
    def broken() -> None:
        """Break. Example: judge broken."""
        raise RuntimeError("the bug")

    commands.cache_clear()
    try:
        assert call("broken") == 70
    finally:
        app.registered_commands.pop()
        commands.cache_clear()
    err = capsys.readouterr().err
    assert "RuntimeError: the bug" in err
    assert "this is a bug in judge, not yours" in err


def test_an_error_message_steers_nothing_either(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["show", "no\x1b[31mwhere"])
    err = capsys.readouterr().err
    assert "no␛[31mwhere: no such run folder" in err
    assert "\x1b" not in err


def test_help_of_all_commands_loads_nothing_heavy() -> None:
    code = (
        "import contextlib, io, sys\n"
        "from judge.cli.app import app, main\n"
        "def ask(*words):\n"
        "    with contextlib.suppress(SystemExit), contextlib.redirect_stdout(io.StringIO()):\n"
        "        main([*words, '--help'])\n"
        "ask()\n"
        # Of these typer itself asks for the first and the last, to read options.
        "assert not {'pydantic', 'rich', 'asyncio', 'importlib.metadata'} & set(sys.modules)\n"
        "for command in app.registered_commands:\n"
        "    ask(command.name or command.callback.__name__)\n"
        "heavy = {'asyncio', 'numpy', 'nltk', 'sacrebleu', 'sqlite3'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_notes_go_to_standard_error_once(capsys: pytest.CaptureFixture[str]) -> None:
    listen()
    listen()
    LOGGER.getChild("backends").warning("the cache holds %d odd rows\x1b[2J", 3)
    LOGGER.debug("not asked for")
    out, err = capsys.readouterr()
    assert out == ""
    assert err == "judge: the cache holds 3 odd rows␛[2J\n"


def test_debug_says_more(capsys: pytest.CaptureFixture[str]) -> None:
    listen()
    debug(wanted=False)
    assert not debugging()
    debug(wanted=True)
    assert debugging()
    LOGGER.debug("asked for")
    assert capsys.readouterr().err == "judge: asked for\n"
    listen()
    assert not debugging()


@pytest.mark.parametrize("command", [("score",), ("show",), ("review", "draw", "-n", "3")])
@pytest.mark.parametrize("length", [300, 5000])
def test_a_path_that_is_too_long_is_one_line(
    command: tuple[str, ...], length: int, capsys: pytest.CaptureFixture[str]
) -> None:
    name, *rest = command
    words = [name, *rest[:1], "a" * length, *rest[1:]] if rest else [name, "a" * length]
    assert call(*words) == 2
    told = capsys.readouterr().err
    assert "too long" in told
    assert len(told.splitlines()) == 1


def test_too_little_memory_is_no_bug() -> None:
    """What fails in C may not say why: a library's import ends in whatever comes to its mind."""
    code = """
import resource, sys
from judge.cli.app import main
class Broken:
    def find_spec(self, name, *_):
        if name == "judge.cli.prompts":
            raise {0}
sys.meta_path.insert(0, Broken())
used = next(int(line.split()[1]) for line in open("/proc/self/status") if "VmSize" in line)
if {1}:
    resource.setrlimit(resource.RLIMIT_AS, ((used + {1}) << 10,) * 2)
main(["prompts", "list"])
"""
    broken = "SystemError('error return without exception set')"
    kept = "ImportError('failed to map segment from shared object')"
    threads = 'RuntimeError("can\'t start new thread")'
    rows = [
        (broken, 60_000, 2, "judge: out of memory; give it more"),
        (kept, 60_000, 2, "judge: out of memory; give it more"),
        (threads, 0, 2, "judge: no more threads may be started; allow more (ulimit -u)"),
        (broken, 0, 70, "Traceback"),
    ]
    for error, room, exit_code, told in rows:
        words = [sys.executable, "-c", code.format(error, room)]
        ran = subprocess.run(words, capture_output=True, text=True, check=False)
        assert (ran.returncode, ran.stderr[: len(told)]) == (exit_code, told), ran.stderr
        assert exit_code == 70 or ran.stderr.count("\n") == 1


def test_python_runs_the_package() -> None:
    words = [sys.executable, "-m", "judge", "--version"]
    ran = subprocess.run(words, capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stdout) == (0, f"judge {version('judge')}\n")
