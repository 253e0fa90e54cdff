"""Saying what each sentence of an answer is for, so that only claims are judged."""

import re
import tomllib
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from judge.records import Sentence, SentenceKind
from judge.text.blocks import marker
from judge.text.terminators import CJK, MARKER

_LONGEST = 400
"""No lead-in or refusal is longer; a longer sentence is not held against the patterns."""
_LONGEST_TITLE = 80
_MOST_TITLE_WORDS = 10
_MOST_PLAIN_WORDS = 6
_MOST_TITLE_CJK = 24
_FENCE = re.compile(r"(?:>\s*+)*(?:[-*+]\s++|\d{1,3}[.)]\s++)?(?:`{3}|~{3})")
_SEPARATOR_ROW = re.compile(r"(?=[^|]*+\|)(?=[^-]*+-)[\s|:+-]++$")
_HASH = re.compile(r"#{1,6}(?:\s|$)")
_SETEXT = re.compile(r"[\n\r\u2028]\s*(?:=+|-+)$")
_BOLD = re.compile(r"(\*\*|__)([^*_]{1,200})\1[:：]?$")
_TITLE_COLON = re.compile(r"[^.!?。！？；;:：\n]{1,80}[:：]$")
_FOOTNOTE = re.compile(r"\[\^[^\]\s]{1,40}\][:：]")
_CONTENT = re.compile(r"\w")
_CONTACT = re.compile(r"\d|https?:|www\.|\w@\w")
_EMPHASIS = re.compile(r"\*\*|__|(?<!\w)[*_](?=\S)|(?<=\S)[*_](?!\w)|`")
_QUOTE_SIGN = re.compile(r"(?:>\s*+)+")
_DECORATION = re.compile(r"[\U0001f300-\U0001faff\u2600-\u27bf\ufe0f\u200d]+")
_SPACE = re.compile(r"\s+")


def classify(sentences: Sequence[Sentence]) -> tuple[Sentence, ...]:
    """Set the kind of every sentence.

    Args:
        sentences: all sentences of one answer, in order: a table's header is known by the row
            below it, a reference list by the heading above it, a bare value by standing alone.

    Returns:
        The same sentences with `kind` set; what no rule claims is a claim.
    """
    if len(sentences) == 1:
        return (_with(sentences[0], _alone(sentences[0].text)),)
    kinds: list[SentenceKind] = []
    listing = False
    for number, sentence in enumerate(sentences):
        below = sentences[number + 1].text if number + 1 < len(sentences) else ""
        kind = _kind(sentence.text, below)
        if _heads_references(sentence.text):
            kind, listing = SentenceKind.HEADING, True
        elif listing:
            listing = _is_entry(sentence.text, behind_entry=kinds[-1] is SentenceKind.META)
            kind = SentenceKind.META if listing else kind
        kinds.append(kind)
    return tuple(map(_with, sentences, kinds))


def _with(sentence: Sentence, kind: SentenceKind) -> Sentence:
    return sentence.model_copy(update={"kind": kind})


def _alone(text: str) -> SentenceKind:
    """Kind of a whole answer: a bare value in bold is no heading there, nor a sign a rule."""
    kind = _kind(text, "")
    value = kind is SentenceKind.HEADING or (kind is SentenceKind.META and len(text) == 1)
    return SentenceKind.CLAIM if value else kind


def _kind(text: str, below: str) -> SentenceKind:
    """Kind of a sentence that stands in no reference list: by its shape, else by its wording."""
    if _FENCE.match(text):
        return SentenceKind.CODE
    if "|" in text and _SEPARATOR_ROW.match(below) and not _SEPARATOR_ROW.match(text):
        return SentenceKind.HEADING
    if _FOOTNOTE.match(text) or not _CONTENT.search(MARKER.sub("", text)):
        return SentenceKind.META
    return SentenceKind.CLAIM if len(text) > _LONGEST else _worded(text)


def _worded(text: str) -> SentenceKind:
    patterns, bare = _patterns(), _bare(text)
    for kind in (SentenceKind.ABSTENTION, SentenceKind.PLEASANTRY, SentenceKind.META):
        if any(pattern.search(bare) for pattern in patterns.wordings[kind]):
            # A phone number or a link behind a polite phrase can be wrong.
            polite = kind is SentenceKind.PLEASANTRY
            return SentenceKind.CLAIM if polite and _CONTACT.search(bare) else kind
    if bare.endswith(("?", "？")) and not patterns.statement.search(bare):
        return SentenceKind.QUESTION
    return SentenceKind.HEADING if _is_title(text, bare) else SentenceKind.CLAIM


def _bare(text: str) -> str:
    """The words of a sentence, without what only marks or decorates them."""
    line = _QUOTE_SIGN.sub("", text, count=1) if text.startswith(">") else text
    line = _HASH.sub("", line, count=1)
    line = line[marker(line) :] or line
    line = _EMPHASIS.sub("", _DECORATION.sub("", MARKER.sub("", line)))
    return _SPACE.sub(" ", line.replace("’", "'")).strip()


def _is_title(text: str, bare: str) -> bool:
    """Whether a line looks like a heading and says nothing by itself."""
    line = text[marker(text) :]
    dressed = _HASH.match(line) or _SETEXT.search(line) or _BOLD.match(line)
    if not (dressed or _TITLE_COLON.match(bare)) or len(bare) > _LONGEST_TITLE:
        return False
    if (
        len(bare.split()) > (_MOST_TITLE_WORDS if dressed else _MOST_PLAIN_WORDS)
        or len(CJK.findall(bare)) > _MOST_TITLE_CJK
    ):
        return False
    stops = bare.endswith((".", "!", "。", "！"))
    asks = dressed and _patterns().asks.match(bare)
    return not stops and bool(asks or not _patterns().verb.search(bare))


def _heads_references(text: str) -> bool:
    return len(text) <= _LONGEST_TITLE and bool(_patterns().reference_heading.match(_bare(text)))


def _is_entry(text: str, *, behind_entry: bool) -> bool:
    """Whether a sentence under the heading of a reference list is an entry or the rest of one."""
    patterns = _patterns()
    if patterns.entry.match(text):
        return True
    listed = marker(text) or behind_entry
    return bool(listed and len(text) <= _LONGEST and patterns.entry_sign.search(text))


class _Patterns(NamedTuple):
    wordings: dict[SentenceKind, tuple[re.Pattern[str], ...]]
    reference_heading: re.Pattern[str]
    entry: re.Pattern[str]
    entry_sign: re.Pattern[str]
    verb: re.Pattern[str]
    asks: re.Pattern[str]
    statement: re.Pattern[str]


@cache
def _patterns() -> _Patterns:
    """The table of patterns, both languages side by side."""
    source = files("judge").joinpath("data", "kinds.toml").read_text(encoding="utf-8")
    table = tomllib.loads(source)
    fragments: dict[str, str] = table["fragments"]

    def build(*patterns: str) -> re.Pattern[str]:
        return re.compile(
            "|".join(_filled(pattern, fragments) for pattern in patterns), re.IGNORECASE
        )

    references, heading, question = table["references"], table["heading"], table["question"]
    wordings = {
        kind: tuple(build(pattern) for pattern in (*table[kind]["en"], *table[kind]["zh"]))
        for kind in (SentenceKind.ABSTENTION, SentenceKind.PLEASANTRY, SentenceKind.META)
    }
    wordings[SentenceKind.META] += (build(references["line"]),)
    return _Patterns(
        wordings=wordings,
        reference_heading=build(references["heading_en"], references["heading_zh"]),
        entry=build(references["entry"]),
        entry_sign=build(references["entry_sign"]),
        verb=build(heading["verb_en"], heading["verb_zh"]),
        asks=build(heading["asks_en"], heading["asks_zh"]),
        statement=build(question["tag_en"], question["tag_zh"], question["quoted"]),
    )


def _filled(pattern: str, fragments: dict[str, str]) -> str:
    """A pattern with the fragments it names put in."""
    for name, fragment in fragments.items():
        if f"<{name}>" in pattern:
            inner = fragment if "<" not in fragment else _filled(fragment, fragments)
            pattern = pattern.replace(f"<{name}>", inner)
    return pattern
