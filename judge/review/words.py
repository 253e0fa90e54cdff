"""The words of a review sheet, English and Chinese: its headers, and what people answer."""

import re
import tomllib
import unicodedata
from functools import cache
from importlib.resources import files
from typing import Final, Literal, NamedTuple, get_args

from judge.records.verdict import Support
from judge.text.clip import clip

Lang = Literal["en", "zh"]
"""Language of a sheet's headers, its drop-down and its marks."""

LANGS: Final[tuple[Lang, ...]] = get_args(Lang)

# No question mark: `yes?` is a doubt, and no answer.
_AROUND: Final = " .。．｡,，、;；:：!！'\"‘’“”「」『』`´·"
_HYPHEN: Final = re.compile(r"(?<=\w)[-_](?=\w)")
_LONGEST_SHOWN: Final = 40


class Reading(NamedTuple):
    """What a label says."""

    support: Support | None
    """On the judge's own scale; None where the person answered no, and not in which way."""
    supported: bool
    """Whether the chunks fully support the sentence."""


def header(column: str, lang: Lang) -> str:
    """What stands above a column, given its canonical name.

    >>> header("human_support", "en"), header("human_support", "zh")
    ('human_support', '人工判断')
    """
    return _table().headers[lang][column]


def column_of(text: str) -> str | None:
    """The canonical name of the column under this header; None where it is none of ours.

    >>> column_of(" Human Support"), column_of("人工判断"), column_of("price")
    ('human_support', 'human_support', None)
    """
    return _table().columns.get(_bare(text))


def choices(lang: Lang) -> tuple[str, ...]:
    """The word for each label of the judge's scale, best first.

    >>> choices("zh")
    ('支持', '部分支持', '不支持', '矛盾', '无论断')
    """
    return _table().choices[lang]


def cut_mark(count: int, lang: Lang) -> str:
    """What stands for `count` characters that were left out.

    >>> cut_mark(41234, "en")
    '… [cut: 41 234 characters more]'
    """
    return _table().cut[lang].format(count=f"{count:,}".replace(",", " "))


def read_label(text: str) -> Reading | None:
    """What a reviewer wrote; None where the cell is blank.

    Raises:
        ValueError: it is no label; the message names it and the words there are.

    >>> read_label("部分。")
    Reading(support=<Support.PARTIAL: 'partial'>, supported=False)
    """
    word = _folded(text)
    if not word:
        return None
    found = _table().labels.get(word.strip(_AROUND))
    if found is None:
        offered = " or ".join(", ".join(choices(lang)) for lang in LANGS)
        shown = clip(text.strip(), _LONGEST_SHOWN)
        raise ValueError(f"{shown!r} is no label; write {offered}, yes or no, 是 or 否")
    return found


class _Table(NamedTuple):
    headers: dict[Lang, dict[str, str]]
    columns: dict[str, str]
    choices: dict[Lang, tuple[str, ...]]
    labels: dict[str, Reading]
    cut: dict[Lang, str]


@cache
def _table() -> _Table:
    data = tomllib.loads(files("judge").joinpath("data", "review.toml").read_text("utf-8"))
    columns, labels = data["columns"], data["labels"]
    return _Table(
        headers={lang: {key: names[lang] for key, names in columns.items()} for lang in LANGS},
        columns={_bare(names[lang]): key for key, names in columns.items() for lang in LANGS},
        choices={
            lang: tuple(entry[lang][0] for entry in labels if "support" in entry) for lang in LANGS
        },
        labels={_folded(word): _reading(e) for e in labels for lang in LANGS for word in e[lang]},
        cut=data["cut"],
    )


def _reading(entry: dict[str, str | bool]) -> Reading:
    support = entry.get("support")
    return Reading(Support(support) if isinstance(support, str) else None, bool(entry["supported"]))


def _folded(text: str) -> str:
    """One spelling for many: no case, no width, no joiners or colour selectors, single spaces."""
    plain = unicodedata.normalize("NFKC", text).casefold()
    seen = "".join(c for c in plain if unicodedata.category(c) not in {"Cf", "Mn"})
    return " ".join(_HYPHEN.sub(" ", seen).split())


def _bare(text: str) -> str:
    return "".join(filter(str.isalnum, _folded(text)))
