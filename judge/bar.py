"""A bar for who waits for answers: tqdm's own, where that is installed."""

import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress


@contextmanager
def bar(wanted: bool | None, total: int | None) -> Iterator[Callable[[], object]]:  # noqa: FBT001
    """Counts on a bar in the notebook, or on standard error; on none where tqdm is missing.

    Args:
        wanted: None shows it in a notebook alone.
        total: how many there are; None where nobody knows.
    """
    with ExitStack() as stack:
        step: Callable[[], object] = lambda: None  # noqa: E731
        if _in_notebook() if wanted is None else wanted:
            with suppress(ImportError), warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of widgets that are not installed
                from tqdm.auto import tqdm  # noqa: PLC0415  slow to load, and mostly not wanted

                shown = tqdm(total=total, desc="judge", unit=" answers")
                step = stack.enter_context(shown).update
        yield step


def _in_notebook() -> bool:
    ipython = sys.modules.get("IPython")
    return ipython is not None and hasattr(ipython.get_ipython(), "kernel")
