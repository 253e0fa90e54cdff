"""The words of a review sheet, English and Chinese: its headers, and what people answer."""

import re
import tomllib
import unicodedata
from functools import cache
from importlib.resources import files
from typing import Final, NamedTuple

from judge.messages import LANGS, Lang, Messages
from judge.records import Support
from judge.text.visible import clip

# No question mark: `yes?` is a doubt, and no answer.
_AROUND: Final = " .。．｡,，、;；:：!！'\"‘’“”「」『』`´·"
_HYPHEN: Final = re.compile(r"(?<=\w)[-_](?=\w)")
_LONGEST_SHOWN: Final = 40
_COLUMN: Final = "columns."


class Reading(NamedTuple):
    """The meaning of what a reviewer wrote."""

    support: Support | None
    """On the judge's own scale; None where the person answered no, and not in which way."""
    supported: bool
    """Whether the chunks fully support the sentence."""


def header(column: str, lang: Lang) -> str:
    """The header of a column, given its canonical name.

    >>> header("human_support", "en"), header("human_support", "zh")
    ('human_support', '人工判断')
    """
    return Messages.of("sheet")(_COLUMN + column, lang)


def column_of(text: str) -> str | None:
    """The canonical name of the column under this header; None where it is none of ours.

    >>> column_of(" Human Support"), column_of("人工判断"), column_of("price")
    ('human_support', 'human_support', None)
    """
    return _columns().get(_bare(text))


def choices(lang: Lang) -> tuple[str, ...]:
    """The word for each label of the judge's scale, best first: those of a drop-down.

    >>> choices("zh")
    ('支持', '部分支持', '不支持', '矛盾', '无论断')
    """
    return tuple(word_for(support, lang) for support in Support)


def word_for(support: Support | None, lang: Lang) -> str:
    """The word a drop-down offers for a label; for None, a bare no.

    >>> word_for(Support.PARTIAL, "zh"), word_for(None, "en")
    ('部分支持', 'no')
    """
    return Messages.of("sheet")("no", lang) if support is None else _labels()[0][lang][support]


def read_label(text: str) -> Reading | None:
    """The meaning of what a reviewer wrote; None where the cell is blank.

    Raises:
        ValueError: it is no label; the message names it and the words there are.

    >>> read_label("部分。")
    Reading(support=<Support.PARTIAL: 'partial'>, supported=False)
    """
    word = _folded(text)
    if not word:
        return None
    found = _labels()[1].get(word.strip(_AROUND))
    if found is None:
        offered = " or ".join(", ".join(choices(lang)) for lang in LANGS)
        shown = clip(text.strip(), _LONGEST_SHOWN)
        raise ValueError(f"{shown!r} is no label; write {offered}, yes or no, 是 or 否")
    return found


@cache
def _columns() -> dict[str, str]:
    texts = Messages.of("sheet")
    keys = [key for key in texts if key.startswith(_COLUMN)]
    return {_bare(texts(key, lang)): key.removeprefix(_COLUMN) for key in keys for lang in LANGS}


@cache
def _labels() -> tuple[dict[Lang, dict[Support, str]], dict[str, Reading]]:
    """The words offered for each label, and what each word that people write means."""
    entries = tomllib.loads(files("judge").joinpath("data", "labels.toml").read_text("utf-8"))
    offered: dict[Lang, dict[Support, str]] = {lang: {} for lang in LANGS}
    readings: dict[str, Reading] = {}
    for entry in entries["labels"]:
        support = Support(entry["support"]) if "support" in entry else None
        for lang in LANGS:
            if support is not None:
                offered[lang][support] = entry[lang][0]
            for word in entry[lang]:
                readings[_folded(word)] = Reading(support, entry["supported"])
    return offered, readings


def _folded(text: str) -> str:
    """The text without case, width, joiners and colour selectors, and with single spaces."""
    plain = unicodedata.normalize("NFKC", text).casefold()
    seen = "".join(c for c in plain if unicodedata.category(c) not in {"Cf", "Mn"})
    return " ".join(_HYPHEN.sub(" ", seen).split())


def _bare(text: str) -> str:
    return "".join(filter(str.isalnum, _folded(text)))
