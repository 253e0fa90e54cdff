"""The output of a command as a terminal shows it."""

import io
from collections.abc import Callable

from rich.console import Console

from judge.cli.terminal import Page
from judge.messages import Lang, use_language


def paged(
    show: Callable[[Page], None],
    width: int = 80,
    *,
    colour: bool = False,
    encoding: str = "utf-8",
    lang: Lang = "en",
) -> str:
    """Return the output for a terminal of this width, with or without escape sequences."""
    raw = io.BytesIO()
    file = io.TextIOWrapper(raw, encoding=encoding, errors="replace")
    system = "standard" if colour else None
    console = Console(
        file=file,
        width=width,
        highlight=False,
        force_terminal=colour,
        color_system=system,  # type: ignore[arg-type]
    )
    with use_language(lang):
        show(Page(console))
    file.flush()
    return raw.getvalue().decode(encoding)
