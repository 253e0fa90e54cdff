import json
from collections.abc import Callable

from judge.backends.hook.calls import described, one_line, placed


class Mute(Exception):
    def __str__(self) -> str:
        raise ValueError("no words")


def test_an_error_is_its_kind_and_its_words() -> None:
    assert described(KeyError("表")) == "KeyError: '表'"
    assert described(SystemExit(3)) == "SystemExit: 3"
    assert described(OSError()) == "OSError"
    assert described(Mute()) == "Mute"


def test_a_message_is_one_line_that_does_not_run_on() -> None:
    assert described(ValueError("a\r\n\tb\x1b[31m\u202ec")) == "ValueError: a b [31m c"
    long = one_line("字" * 100_000)
    assert len(long) == 200
    assert long.endswith("…")
    assert one_line("") == ""


def raised(by: Callable[[], object]) -> Exception:
    try:
        by()
    except Exception as error:  # noqa: BLE001  whichever it is
        return error
    raise AssertionError


def outer() -> None:
    inner()


def inner() -> None:
    json.loads("{s3cret")


def test_the_place_is_the_innermost_line_of_the_file_that_was_called() -> None:
    place = f"at test_describing.py:{inner.__code__.co_firstlineno + 1}"
    assert placed(raised(outer)) == f"JSONDecodeError {place}"
    # Where this file is the caller, it is the library that was called.
    assert placed(raised(outer), __name__).startswith("JSONDecodeError at __init__.py:")


def test_an_error_without_a_place_is_its_kind() -> None:
    assert placed(ValueError("s3cret")) == "ValueError"
    assert placed(raised(lambda: int("s3cret")), __name__) == "ValueError"


def test_a_place_and_a_kind_are_one_line() -> None:
    code = compile("raise type('a\\nb' * 500, (Exception,), {})", "some/odd\nname.py", "exec")
    said = placed(raised(lambda: exec(code, {})), __name__)  # noqa: S102  of our own making
    assert "\n" not in said
    assert said.endswith(" at odd name.py:1")
    assert len(said) < 300
