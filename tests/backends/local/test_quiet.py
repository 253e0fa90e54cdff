import pytest

from judge.backends.local.weights import quiet


def test_the_library_is_silent_meanwhile_and_left_as_it_was() -> None:
    logging = pytest.importorskip("transformers", reason="needs `local`").utils.logging
    before = logging.get_verbosity(), logging.is_progress_bar_enabled()
    with quiet():
        assert logging.get_verbosity() == logging.ERROR
        assert not logging.is_progress_bar_enabled()
    assert (logging.get_verbosity(), logging.is_progress_bar_enabled()) == before
