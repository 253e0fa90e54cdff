from judge.review.describing import described, one_line


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
