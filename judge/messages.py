"""Texts for people in two languages, in one table for each subject."""

import tomllib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from importlib.resources import files
from string import Formatter
from typing import Any, Final, Literal, get_args

from judge.text.fold import CJK_CHAR

Lang = Literal["en", "zh"]
"""A language of results: English or Chinese."""

LANGS: Final[tuple[Lang, ...]] = get_args(Lang)
LANGUAGE: Final[ContextVar[Lang]] = ContextVar("judge_language", default="en")
"""The language of the texts that are made now. A command or a page sets it once."""


@contextmanager
def use_language(language: Lang) -> Iterator[None]:
    """Make all texts in one language until the block ends."""
    token = LANGUAGE.set(language)
    try:
        yield
    finally:
        LANGUAGE.reset(token)


def language_of(text: str) -> Lang:
    """Return the language of a text: Chinese if it has a Chinese character."""
    return "zh" if CJK_CHAR.search(text) else "en"


class _PluralFormatter(Formatter):
    """A formatter that replaces `{count:answer|answers}` by the word that fits the count."""

    def format_field(self, value: object, format_spec: str) -> str:
        one, either, several = format_spec.partition("|")
        if either:
            return one if str(value) == "1" else several
        return str(super().format_field(value, format_spec))


_FORMATTER: Final = _PluralFormatter()


def filled(text: str, /, **values: object) -> str:
    """Return a text with its figures filled in.

    >>> [filled("{n} {n:answer|answers}", n=n) for n in (1, 3)]
    ['1 answer', '3 answers']
    """
    return _FORMATTER.vformat(text, (), values)


class Messages:
    """The texts of one subject by key, each in both languages.

    A text has figures as `{name}`, and words that depend on a figure as `{count:answer|answers}`,
    for one and for others. `judge/data/messages/ROOM.toml` holds the texts of a room: tables of
    `en` and `zh`, which may be in groups. Their keys are then `group.name`.
    """

    def __init__(self, texts: Mapping[str, Mapping[Lang, str]]) -> None:
        self._texts = dict(texts)

    @classmethod
    @cache
    def of(cls, room: str, group: str | None = None) -> "Messages":
        """Return the texts of a room, or those of one group in it, called by their names there."""
        texts = _tables(room)
        return cls(dict(_entries(texts if group is None else texts[group])))

    def __call__(self, key: str, lang: Lang | None = None, /, **values: object) -> str:
        """Return the text under `key` with its figures filled in, by default in `LANGUAGE`.

        >>> translations = {"en": "{count} {count:answer|answers}", "zh": "{count} 条答案"}
        >>> texts = Messages({"title": translations})
        >>> [texts("title", lang, count=n) for n in (1, 3) for lang in LANGS]
        ['1 answer', '1 条答案', '3 answers', '3 条答案']
        """
        return filled(self.template(key, lang), **values)

    def __contains__(self, key: object) -> bool:
        return key in self._texts

    def __iter__(self) -> Iterator[str]:
        """The keys, in the order of the file."""
        return iter(self._texts)

    def translations(self, key: str) -> Mapping[Lang, str]:
        """Return the text under `key` in each language, without its figures."""
        return self._texts[key]

    def template(self, key: str, lang: Lang | None = None) -> str:
        """Return the text under `key` without its figures, by default in `LANGUAGE`."""
        return self._texts[key][lang or LANGUAGE.get()]


@cache
def _tables(room: str) -> dict[str, Any]:
    return tomllib.loads((files("judge") / "data" / "messages" / f"{room}.toml").read_text("utf-8"))


def _entries(table: Mapping[str, Any], *above: str) -> Iterator[tuple[str, dict[Lang, str]]]:
    for name, value in table.items():
        if "en" in value:
            yield ".".join((*above, name)), value
        else:
            yield from _entries(value, *above, name)
