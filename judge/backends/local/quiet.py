"""No progress bars and no reports from the libraries while a model is loaded."""

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def quiet() -> Iterator[None]:
    """Silence transformers, and leave it as it was.

    Raises:
        ImportError: it is not installed.
    """
    from transformers.utils import logging  # noqa: PLC0415  a part of the extra

    level, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(level)
        if bars:
            logging.enable_progress_bar()
