"""Make text from outside safe to show: one line, of limited length, without control characters."""

from collections.abc import Iterable
from difflib import get_close_matches
from typing import Final

_UNKNOWN: Final = "\ufffd"
_SIMILAR: Final = 0.75
"""The lowest similarity of a name and its misspelling, by `difflib`."""
# Escape sequences recolour, retitle or overwrite; bidirectional overrides reverse what is read;
# lone surrogates cannot be written at all.
_SHOWN: Final = {
    **{code: chr(0x2400 + code) for code in range(0x20) if chr(code) not in "\n\t"},
    0x7F: "\u2421",
    **dict.fromkeys((*range(0x80, 0xA0), *range(0x202A, 0x202F), *range(0x2066, 0x206A)), _UNKNOWN),
    **dict.fromkeys(range(0xD800, 0xE000), _UNKNOWN),
    **dict.fromkeys((0x2028, 0x2029), " "),
}

_ESCAPED: Final = {code: f"\\u{code:04x}" for code in _SHOWN}


def visible(text: str) -> str:
    """Replace control characters but line feeds and tabs by their pictures, one for one."""
    return text.translate(_SHOWN)


def escaped(line: str) -> str:
    """Return a line of JSON with control characters as escapes."""
    return line.translate(_ESCAPED)


def flat(text: str) -> str:
    """Return the text as one line, so that an id or a reason cannot add lines to the output."""
    return visible(" ".join(text.split()))


def printable(text: str) -> str:
    r"""Return a message of a server or library as one line without control characters.

    >>> printable("a\r\n b\x1b[2J")
    'a b [2J'
    """
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())


def clip(text: str, longest: int) -> str:
    """Return the text, or its first `longest` - 1 characters and "…"; `longest` is at least 1."""
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def short(text: str, longest: int = 60) -> str:
    """Return the text as one line of at most `longest` characters."""
    return clip(flat(text), longest)


def nearest(name: str, known: Iterable[str]) -> str | None:
    """Return the known name that a misspelled name probably means.

    >>> nearest("modle", ["judge", "model"]), nearest("temperature", ["judge", "model"])
    ('model', None)
    """
    return next(iter(get_close_matches(name, list(known), 1, _SIMILAR)), None)


def counted(count: int, noun: str) -> str:
    """Return a count with its noun.

    >>> counted(1, "label"), counted(1200, "reply")
    ('1 label', '1,200 replies')
    """
    return f"{count:,} {plural(count, noun)}"


def plural(count: int, noun: str) -> str:
    """Return the noun in the number that fits the count."""
    several = f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"
    return noun if count == 1 else several
