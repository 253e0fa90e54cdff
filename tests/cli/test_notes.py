import logging

import pytest

from judge.cli.root import LOGGER, debug, debugging, listen


def test_notes_go_to_standard_error_once(capsys: pytest.CaptureFixture[str]) -> None:
    listen()
    listen()
    logging.getLogger(f"{LOGGER}.backends").warning("the cache holds %d odd rows\x1b[2J", 3)
    logging.getLogger(LOGGER).debug("not asked for")
    out, err = capsys.readouterr()
    assert out == ""
    assert err == "judge: the cache holds 3 odd rows␛[2J\n"


def test_debug_says_more(capsys: pytest.CaptureFixture[str]) -> None:
    listen()
    debug(wanted=False)
    assert not debugging()
    debug(wanted=True)
    assert debugging()
    logging.getLogger(LOGGER).debug("asked for")
    assert capsys.readouterr().err == "judge: asked for\n"
    listen()
    assert not debugging()
