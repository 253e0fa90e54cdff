"""Saying what each sentence of an answer is for, so that only claims are judged."""

import re
from collections.abc import Collection, Sequence
from functools import lru_cache
from itertools import zip_longest

from judge.answer.abstentions import abstains
from judge.answer.blocks import FENCE, SEPARATOR_ROW, list_marker
from judge.answer.markers import MARKER, unmarked
from judge.answer.wordings import pattern, words
from judge.records import MOST_SENTENCES, Sentence, SentenceKind
from judge.text.fold import count_cjk

_LONGEST = 400
"""No lead-in or refusal is longer; a longer sentence is not held against the patterns."""
_LONGEST_TITLE = 80
_LEADS_IN = (":", "：", ",", "，")
# Words and CJK characters of a title, marked as one and plain.
_MOST_DRESSED = (10, 24)
_MOST_PLAIN = (6, 12)
_HASH = re.compile(r"#{1,6}(?:\s|$)")
_SETEXT = re.compile(r"[\n\r\u2028]\s*+(?:=++|-++)$")
_BOLD = re.compile(r"(\*\*|__)([^*_]{1,200})\1[:：]?$")
_TITLE_COLON = re.compile(r"[^.!?。！？；;:：\n]{1,80}[:：]$")
_BREAK = re.compile(r"[\n\r\u2028]")
_FOOTNOTE = re.compile(r"\[\^[^\]\s]{1,40}\][:：]")
_CONTENT = re.compile(r"\w")
_WORDS = re.compile(r"\w+")
_COMMA = re.compile(r"[,，](?!\d)")
_EMPHASIS = re.compile(r"\*\*|__|(?<!\w)[*_](?=\S)|(?<=\S)[*_](?!\w)|`")
_QUOTE_SIGN = re.compile(r"(?:>\s*+)+")
_DECORATION = re.compile(r"[\U0001f300-\U0001faff\u2600-\u27bf\ufe0f\u200d]+")
# Told by their wording, in the order of looking.
_SAYS_NOTHING = (SentenceKind.ABSTENTION, SentenceKind.PLEASANTRY, SentenceKind.META)


def classify(sentences: Sequence[Sentence], cited: Collection[int] = ()) -> tuple[Sentence, ...]:
    """Set the kind of every sentence of an answer; what no rule claims is a claim.

    A table's header is known by the row below it, a reference list by the heading above it, a bare
    value or a bare refusal by standing alone. `cited` are the indexes of those that cite without a
    marker.
    """
    kinds = _in_place([sentence.text for sentence in sentences])
    said = [n for n, kind in enumerate(kinds) if kind not in _SAYS_NOTHING]
    claims = (kinds[n] is SentenceKind.CLAIM and n not in cited for n in said)
    if all(claims) and all(_refuses(sentences[n].text) for n in said):
        for n in said:
            kinds[n] = SentenceKind.ABSTENTION
    return tuple(
        sentence if kind is sentence.kind else sentence.model_copy(update={"kind": kind})
        for sentence, kind in zip(sentences, kinds, strict=True)
    )


def _in_place(texts: Sequence[str]) -> list[SentenceKind]:
    """Kind of every sentence by its own words and by the lines next to it."""
    kinds: list[SentenceKind] = []
    listing = False
    for text, below in zip_longest(texts, texts[1:], fillvalue=""):
        kind = _kind(text, below)
        if len(texts) == 1:
            # A bare value in bold is no heading where it is the whole answer, nor a sign a rule.
            sign = kind is SentenceKind.META and len(text) == 1
            kind = SentenceKind.CLAIM if sign or kind is SentenceKind.HEADING else kind
        elif (
            kind is not SentenceKind.META
            and len(text) <= _LONGEST_TITLE
            and pattern("references.heading").match(_bare(text))
        ):
            kind, listing = SentenceKind.HEADING, True
        elif listing:
            listing = _is_entry(text, behind_entry=kinds[-1] is SentenceKind.META)
            kind = SentenceKind.META if listing else kind
        kinds.append(kind)
    return kinds


def _refuses(text: str) -> bool:
    """Whether the only sentence that says anything refuses; one that cites has found something."""
    if len(text) > _LONGEST or MARKER.search(text):
        return False
    bare = _bare(text)
    if not pattern("abstention.denial").search(bare.lower()):
        return False
    alone = pattern("abstention.alone").match(bare)
    return bool(alone) and not pattern("abstention.unless").search(bare)


def _kind(text: str, below: str) -> SentenceKind:
    """Kind of a sentence that stands in no reference list: by its shape, else by its wording."""
    if len(text) <= MOST_SENTENCES and FENCE.match(text.partition("\n")[0]):
        return SentenceKind.CODE
    if "|" in text and SEPARATOR_ROW.match(below) and not SEPARATOR_ROW.match(text):
        return SentenceKind.CLAIM if pattern("heading.verb").search(text) else SentenceKind.HEADING
    if not _CONTENT.search(unmarked(text)):
        return (
            SentenceKind.ABSTENTION
            if len(text) <= _LONGEST and abstains(text)
            else SentenceKind.META
        )
    if footnote := _FOOTNOTE.match(text):
        return SentenceKind.CLAIM if _states(text[footnote.end() :]) else SentenceKind.META
    return SentenceKind.CLAIM if len(text) > _LONGEST else _worded(text)


def _worded(text: str) -> SentenceKind:
    bare = _bare(text)
    if _names_sources(text, bare):
        return SentenceKind.META
    lower = bare.lower()
    if _bears_witness(lower) and pattern("abstention.denial").search(lower) and abstains(bare):
        return SentenceKind.ABSTENTION
    for kind in (SentenceKind.PLEASANTRY, SentenceKind.META):
        leads_in = kind is SentenceKind.META and bare.endswith(_LEADS_IN)
        says = pattern(f"{kind}.sign").search(bare) and pattern(f"{kind}.wordings").match(bare)
        if says or (leads_in and pattern("meta.lead_in").match(bare)):
            return SentenceKind.CLAIM if pattern(f"{kind}.unless").search(bare) else kind
    if bare.endswith(("?", "？")) and not pattern("question.statement").search(bare):
        return SentenceKind.QUESTION
    return SentenceKind.HEADING if _is_title(text, bare) else SentenceKind.CLAIM


def _bears_witness(lower: str) -> bool:
    """Whether a word for evidence, speaker or telling stands in it: no abstention goes without."""
    if not words("abstention.words").isdisjoint(_WORDS.findall(lower)):
        return True
    if lower.isascii() and "answer" not in lower and "/" not in lower:
        return False
    return bool(pattern("abstention.witness").search(lower))


def _names_sources(text: str, bare: str) -> bool:
    """Whether a line outside a reference list holds names of sources and nothing else."""
    if any(pattern(f"references.{name}").match(bare) for name in ("line", "named")):
        return True
    cites = pattern("references.heading").match(bare) and MARKER.search(text)
    if text.rstrip("*_ ").endswith((":", "：")):
        return False
    return bool(cites or pattern("references.listed").match(text))


@lru_cache(maxsize=2)  # asked for twice in a row, and on two threads
def _bare(text: str) -> str:
    """The words of a sentence, without what only marks or decorates them."""
    line = _QUOTE_SIGN.sub("", text, count=1) if text.startswith(">") else text
    line = _HASH.sub("", line, count=1) if "#" in line else line
    line = unmarked(line[list_marker(line) :] or line)
    line = line if line.isascii() else _DECORATION.sub("", line).replace("’", "'")
    if any(map(line.__contains__, "*_`")):
        line = _EMPHASIS.sub("", line)
    return " ".join(line.split())


def _is_title(text: str, bare: str) -> bool:
    """Whether a line looks like a heading and says nothing by itself."""
    line = text[list_marker(text) :]
    if not bare.endswith((":", "：")) and line[:1] not in "#*_" and not _BREAK.search(line):
        return False  # as most are: those need none of what follows
    dressed = bool(_HASH.match(line) or _SETEXT.search(line) or _BOLD.match(line))
    if not (dressed or _TITLE_COLON.match(bare)) or len(bare) > _LONGEST_TITLE:
        return False
    words, ideographs = _MOST_DRESSED if dressed else _MOST_PLAIN
    if len(bare.split()) > words or count_cjk(bare) > ideographs:
        return False
    title = pattern("heading.enumerator").sub("", bare, count=1)
    if bare.endswith((".", "!", "。", "！")) or (not dressed and _COMMA.search(title)):
        return False
    if pattern("heading.value").search(title) or pattern("heading.figure").search(title):
        return False
    asks = dressed and pattern("heading.asks").match(title)
    return bool(asks or not pattern("heading.verb").search(title))


def _is_entry(text: str, *, behind_entry: bool) -> bool:
    """Whether a sentence under the heading of a reference list is an entry or the rest of one."""
    if pattern("references.entry").match(text):
        return not _states(text)
    listed = list_marker(text) or behind_entry
    sign = listed and len(text) <= _LONGEST and pattern("references.entry_sign").search(text)
    return bool(sign) and not pattern("references.says").search(text)


def _states(entry: str) -> bool:
    """Whether an entry or a footnote says something of its subject, beside naming a source."""
    named = unmarked(entry)
    if len(named) > _LONGEST or pattern("references.says").search(named):
        return True
    stating = pattern("heading.verb").search(named) or pattern("references.amount").search(named)
    return bool(stating and not pattern("references.entry_sign").search(named))
