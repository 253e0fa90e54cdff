"""HTML pages from templates: one file each, which needs no other and runs only its own script."""

import gzip
import hashlib
from base64 import b64encode
from collections.abc import Iterator
from contextvars import copy_context
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Final

from judge.messages import LANGUAGE
from judge.text.visible import clip, flat, visible

if TYPE_CHECKING:
    from jinja2 import Environment

_SHOWN_CHARACTERS: Final = 600


def render(template: str, **values: object) -> str:
    """Return a page made from `judge/pages/templates`, as text to be written as UTF-8.

    All values are escaped where they are shown: text becomes no markup. The filter `shown` puts
    text from outside on one line, makes it legible and shortens it; `whole` makes it legible only;
    `place` turns a share, 0 to 1, into a place along a scale.

    Raises:
        jinja2.UndefinedError: the template shows a name that is not among `values`.
    """
    return "".join(pieces(template, **values))


def pieces(template: str, **values: object) -> Iterator[str]:
    """Yield the same page in pieces, so that lists in it need not be in memory as a whole."""
    stream = _environment().get_template(template).generate(values, lang=LANGUAGE.get())
    # Another thread, which knows no language, may ask for the next piece.
    context = copy_context()
    while (piece := context.run(next, stream, None)) is not None:
        yield piece


@cache
def _environment() -> "Environment":
    from jinja2 import Environment, PackageLoader, StrictUndefined  # noqa: PLC0415  slow to load

    environment = Environment(
        autoescape=True,
        loader=PackageLoader("judge.pages"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.globals["source"] = _source
    environment.filters["digest"] = _digest
    environment.filters["shown"] = lambda text: clip(flat(text), _SHOWN_CHARACTERS)
    environment.filters["whole"] = visible
    environment.filters["place"] = lambda share: f"{100 * share:.2f}%"
    return environment


def packed(data: bytes) -> str:
    """Return data as base64 of gzip, which a script unpacks with `DecompressionStream`."""
    return b64encode(gzip.compress(data, compresslevel=6, mtime=0)).decode()


@cache
def _source(*names: str) -> str:
    """Return the text of style sheets or scripts, one after another."""
    folder = files("judge.pages") / "templates"
    return "".join((folder / name).read_text("utf-8") for name in names)


def _digest(text: str) -> str:
    """Return the hash by which a Content-Security-Policy names a style sheet or a script."""
    return f"sha256-{b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
