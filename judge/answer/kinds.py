"""Sets the kind of each sentence of an answer, so that only claims are judged.

The wordings of each kind are in `judge/data/kinds.toml` and `judge/data/abstentions.toml`.
"""

import re
import tomllib
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from importlib.resources import files
from typing import Final, NamedTuple

from judge.answer.blocks import FENCE, SEPARATOR_ROW, blocks, list_marker
from judge.answer.markers import MARKER, unmarked
from judge.records import Sentence, SentenceKind
from judge.text.fold import CJK, CJK_CHAR, count_cjk
from judge.text.patterns import lazy_pattern

_LONGEST_WORDING = 400
"""A longer sentence is compared with no wording, and is a claim."""
_LONGEST_TITLE = 80
_LEADS_IN = (":", "：", ",", "，")
# The most words and CJK characters of a title with and without markup.
_MARKED_TITLE = (10, 24)
_PLAIN_TITLE = (6, 12)
_HASH = re.compile(r"#{1,6}(?:\s|$)")
_BOLD = re.compile(r"(\*\*|__)([^*_]{1,200})\1[:：]?$")
_TITLE_COLON = re.compile(r"[^.!?。！？；;:：\n]{1,80}[:：]$")
_FOOTNOTE = re.compile(r"\[\^[^\]\s]{1,40}\][:：]")
_CONTENT = re.compile(r"\w")
_WORDS = re.compile(r"\w+")
_SENTENCE_ENDS = (".", "!", "?", "。", "！", "？", ";", "；", "…")
_BULLETS = tuple("-*+•‣◦▪▸►●○■□·∙⁃–—✓✔✅❌➢➤")
_NUMERAL = re.compile(r"[\d①-⑳⑴-⒇⒈-⒛㈠-㈩❶-❿➀-➓]+|[一二三四五六七八九十]+|[a-zA-Z]+")
_COMMA = re.compile(r"[,，](?!\d)")
_EMPHASIS = re.compile(r"\*\*|__|(?<!\w)[*_](?=\S)|(?<=\S)[*_](?!\w)|`")
_QUOTE_SIGN = re.compile(r"(?:>\s*+)+")
_DECORATION = re.compile(r"[\U0001f300-\U0001faff\u2600-\u27bf\ufe0f\u200d]+")
_SAYS_NOTHING = (SentenceKind.ABSTENTION, SentenceKind.PLEASANTRY, SentenceKind.META)


def classify(sentences: Sequence[Sentence], cited: Collection[int] = ()) -> tuple[Sentence, ...]:
    """Set the kind of every sentence of an answer; a sentence that fits no rule is a claim.

    A table header is recognised by the row below it, a reference list by the heading above it, a
    bare value or a bare refusal by being the whole answer. `cited` are the indexes of sentences
    that cite chunks without a marker in the text.
    """
    kinds = _kinds([sentence.text for sentence in sentences])
    others = [n for n, kind in enumerate(kinds) if kind not in _SAYS_NOTHING]
    claims = (kinds[n] is SentenceKind.CLAIM and n not in cited for n in others)
    if all(claims) and all(_refuses(sentences[n].text) for n in others):
        for n in others:
            kinds[n] = SentenceKind.ABSTENTION
    return tuple(
        sentence if kind is sentence.kind else sentence.model_copy(update={"kind": kind})
        for sentence, kind in zip(sentences, kinds, strict=True)
    )


def _kinds(texts: Sequence[str]) -> list[SentenceKind]:
    """Return the kind of every sentence by its own words and by the lines next to it."""
    kinds: list[SentenceKind] = []
    listing = False
    for above, text, below in zip(("", *texts), texts, (*texts[1:], ""), strict=False):
        kind = _kind(text, above, below)
        if len(texts) == 1:
            # A whole answer in bold is a bare value and no heading, and a single sign is no rule.
            sign = kind is SentenceKind.META and len(text) == 1
            kind = SentenceKind.CLAIM if sign or kind is SentenceKind.HEADING else kind
        elif (
            kind is not SentenceKind.META
            and len(text) <= _LONGEST_TITLE
            and _pattern("references.heading").match(_without_markers(text))
        ):
            kind, listing = SentenceKind.HEADING, True
        elif listing:
            listing = _is_entry(text, behind_entry=kinds[-1] is SentenceKind.META)
            kind = SentenceKind.META if listing else kind
        kinds.append(kind)
    return kinds


def _refuses(text: str) -> bool:
    """Return whether a sentence without citations refuses where it says all the answer says."""
    if len(text) > _LONGEST_WORDING or MARKER.search(text):
        return False
    plain_text = _without_markers(text)
    if not _pattern("abstention.denial").search(plain_text.lower()):
        return False
    return _matches("abstention.alone", plain_text) and not _pattern("abstention.unless").search(
        plain_text
    )


def _kind(text: str, above: str, below: str) -> SentenceKind:
    """Return the kind of a sentence outside reference lists: by its shape, else by its words."""
    # An answer of too many sentences is one sentence, which may begin with a code block.
    if FENCE.match(text.partition("\n")[0]) and len(blocks(text)) == 1:
        return SentenceKind.CODE
    if "|" in text and SEPARATOR_ROW.match(below) and not SEPARATOR_ROW.match(text):
        # "| Required | Is free |" names columns, "| The limit is 500 yuan |" states something.
        stating = "|" not in text.strip("| ") or _pattern("heading.figure").search(text)
        states = stating and _pattern("heading.verb").search(text)
        return SentenceKind.CLAIM if states else SentenceKind.HEADING
    if not _CONTENT.search(unmarked(text)):
        short = len(text) <= _LONGEST_WORDING
        return SentenceKind.ABSTENTION if short and _abstains(text) else SentenceKind.META
    if footnote := _FOOTNOTE.match(text):
        return SentenceKind.CLAIM if _states(text[footnote.end() :]) else SentenceKind.META
    return SentenceKind.CLAIM if len(text) > _LONGEST_WORDING else _worded(text, above, below)


def _worded(text: str, above: str, below: str) -> SentenceKind:
    plain_text = _without_markers(text)
    if _names_sources(text, plain_text):
        return SentenceKind.META
    lower = plain_text.lower()
    words = _WORDS.findall(lower)
    may_abstain = _may_be(SentenceKind.ABSTENTION, lower, words)
    if may_abstain and _pattern("abstention.denial").search(lower) and _abstains(plain_text):
        return SentenceKind.ABSTENTION
    for kind in (SentenceKind.PLEASANTRY, SentenceKind.META):
        leads_in = kind is SentenceKind.META and plain_text.endswith(_LEADS_IN)
        worded = _may_be(kind, lower, words) and _matches(f"{kind}.wordings", plain_text)
        if worded or (leads_in and _matches("meta.lead_in", plain_text)):
            return SentenceKind.CLAIM if _pattern(f"{kind}.unless").search(plain_text) else kind
    if plain_text.endswith(("?", "？")) and not _pattern("question.statement").search(plain_text):
        return SentenceKind.QUESTION
    titled = _is_title(text, plain_text, above, below)
    return SentenceKind.HEADING if titled else SentenceKind.CLAIM


def _may_be(kind: SentenceKind, lower: str, words: Sequence[str]) -> bool:
    """Return whether a text has a word, or if it is not ASCII a sign, that its kind requires."""
    if not _required_words(kind).isdisjoint(words):
        return True
    return not lower.isascii() and bool(_pattern(f"{kind}.sign").search(lower))


def _names_sources(text: str, plain_text: str) -> bool:
    """Return whether a line outside a reference list only names sources."""
    if _pattern("references.line").match(plain_text):
        return True
    cites = _pattern("references.heading").match(plain_text) and MARKER.search(text)
    if text.rstrip("*_ ").endswith((":", "：")):
        return False
    return bool(cites or _pattern("references.listed").match(text))


@lru_cache(maxsize=2)  # asked for twice in a row, and on two threads
def _without_markers(text: str) -> str:
    """Return the words of a sentence without list marker, markup, citation markers and emoji."""
    line = _QUOTE_SIGN.sub("", text, count=1) if text.startswith(">") else text
    line = _HASH.sub("", line, count=1) if "#" in line else line
    line = unmarked(line[list_marker(line) :] or line)
    line = line if line.isascii() else _DECORATION.sub("", line).replace("’", "'")
    if any(map(line.__contains__, "*_`")):
        line = _EMPHASIS.sub("", line)
    return " ".join(line.split())


def _is_title(text: str, plain_text: str, above: str, below: str) -> bool:
    """Return whether a line looks like a heading and says nothing by itself."""
    if len(plain_text) > _LONGEST_TITLE or plain_text.endswith(_SENTENCE_ENDS):
        return False  # as most are, and none of the patterns below is needed
    line = text[list_marker(text) :]
    marked = bool(_HASH.match(line) or _BOLD.match(line))
    words, ideographs = _MARKED_TITLE if marked else _PLAIN_TITLE
    if len(plain_text.split()) > words or count_cjk(plain_text) > ideographs:
        return False
    title = _pattern("heading.enumerator").sub("", plain_text, count=1)
    plain = not (marked or _TITLE_COLON.match(plain_text))
    if plain and not (_names_part(plain_text, title) and _heads(text, above, below)):
        return False
    if not marked and _COMMA.search(title):
        return False
    if _pattern("heading.value").search(title) or _pattern("heading.figure").search(title):
        return False
    asks = _pattern("heading.asks").match(title)
    return bool(asks or not _pattern("heading.verb").search(title))


def _names_part(plain_text: str, title: str) -> bool:
    """Return whether a line has the words of a title: "Key features", "1.1 Scope"."""
    return bool(
        _pattern("heading.plain").match(title) or _pattern("heading.part").match(plain_text)
    )


def _heads(text: str, above: str, below: str) -> bool:
    """Return whether a line heads a text: "1. Overview" is an item if above "2. Prices"."""
    style, *others = map(_marker_style, (text, above, below))
    if not below or style.startswith(_BULLETS) or (style and style in others):
        return False
    if style:
        return True
    runs_on = bool(above) and not (others[0] or above.endswith(_SENTENCE_ENDS) or above[0] in "#*|")
    ends = below.endswith((*_SENTENCE_ENDS, ":", "：", "|")) or len(below) > _LONGEST_TITLE
    return not runs_on and bool(ends or others[1] or _pattern("heading.enumerator").match(below))


def _marker_style(text: str) -> str:
    """Return the list marker of a line with its number replaced: "(2) Prices" gives "(9)"."""
    return _NUMERAL.sub("9", text[: list_marker(text)]).strip()


def _is_entry(text: str, *, behind_entry: bool) -> bool:
    """Return whether a sentence of a reference list is an entry or the rest of one."""
    if _pattern("references.entry").match(text):
        return not _states(text)
    is_item = list_marker(text) or behind_entry
    sign = is_item and len(text) <= _LONGEST_WORDING
    names_source = sign and _pattern("references.entry_sign").search(text)
    return bool(names_source) and not _pattern("references.says").search(text)


def _states(entry: str) -> bool:
    """Return whether an entry or a footnote states something beside naming a source."""
    entry_text = unmarked(entry)
    if len(entry_text) > _LONGEST_WORDING or _pattern("references.says").search(entry_text):
        return True
    verb, amount = (_pattern(name) for name in ("heading.verb", "references.amount"))
    stating = verb.search(entry_text) or amount.search(entry_text)
    return bool(stating and not _pattern("references.entry_sign").search(entry_text))


# Abstentions: each clause is read as a frame, which says that the evidence, the speaker or the
# reader does not tell, know or find, and a topic, which is the rest of the clause. A topic that
# asserts something, or a clause without a frame that says anything, makes the whole a claim.

_CLOSING = " .!。！\"'“”’)）」』»"
_LABEL = re.compile(r"([^:：.。]{1,40})[:：] ?(?=\S)")
# Traditional characters of the words in the table.
_SIMPLIFIED = str.maketrans(
    "資訊檔內這個們說無沒見題關於過庫問應該獲確認斷詳細節總結與對從據給檢測閱讀瞭並僅還實際價門準寫記載錄談論話語為時間條當會後來開發現產業東體點線圖類種較難處務請諮詢聯繫繋絡電員單項標範圍",
    "资讯档内这个们说无没见题关于过库问应该获确认断详细节总结与对从据给检测阅读了并仅还实际价门准写记载录谈论话语为时间条当会后来开发现产业东体点线图类种较难处务请咨询联系系络电员单项标范围",
)
_PASSAGES_SIGN, _DOCUMENTS_SIGN = "\ue000", "\ue001"


def _abstains(text: str) -> bool:
    """Return whether a sentence, read by itself, only says that the evidence does not tell."""
    lang = "zh" if CJK_CHAR.search(text) else "en"
    text = text.translate(_SIMPLIFIED)
    opening, inside = _pattern(f"{lang}.opening"), _pattern(f"{lang}.inside")
    evidence = _pattern(f"{lang}.evid")
    if lang == "en":
        text = _pattern("en.evidence").sub(_sign, text)
    words = opening.sub("", text).rstrip(_CLOSING)
    words, cited = _pattern(f"{lang}.about").subn(" " if lang == "en" else "", words)
    label = _LABEL.match(words)
    if label and not _pattern(f"{lang}.verb").search(label[1]):
        words = opening.sub("", words[label.end() :])
        cited += bool(_pattern(f"{lang}.laconic").match(words))
    clauses = [opening.sub("", each).strip() for each in _pattern(f"{lang}.turn").split(words)]
    plain_text = inside.sub("", words)
    has_evidence = bool(cited or (lang == "en" and evidence.search(words)))
    scope = _pattern(f"{lang}.scope")
    has_evidence = has_evidence or any(inside.search(each) or scope.match(each) for each in clauses)
    if (label and not has_evidence) or _pattern(f"{lang}.figure").search(
        evidence.sub("", plain_text)
    ):
        return False
    silent = False
    for clause in filter(None, clauses):
        if _is_silent(clause, lang, has_evidence=has_evidence):
            silent = True
        elif not _says_nothing(clause, lang, behind=silent):
            return False
    return silent


def _sign(found: re.Match[str]) -> str:
    """Return the sign that stands for what names the evidence, so that frames stay short."""
    return _PASSAGES_SIGN if _pattern("en.strong").search(found[0]) else _DOCUMENTS_SIGN


def _is_silent(clause: str, lang: str, *, has_evidence: bool) -> bool:
    """Return whether a clause abstains."""
    body, inside = _pattern(f"{lang}.inside").subn("", clause)
    levels = ["", *(["_named"] if has_evidence else []), *(["_inside"] if inside else [])]
    return any(
        not _asserts(words, found, lang)
        for words in dict.fromkeys((clause, body.strip()))
        for level in levels
        for place in ("head", "tail")
        for found in _wordings(f"{lang}.{place}{level}", words)
    )


def _says_nothing(clause: str, lang: str, *, behind: bool) -> bool:
    """Return whether a clause beside an abstention says nothing; before it, it may be the topic."""
    body = _pattern(f"{lang}.inside").sub("", clause)
    names = not behind and _pattern(f"{lang}.topic").match(clause)
    if not body or names or _pattern(f"{lang}.scope").match(clause):
        return True
    if _matches(f"{lang}.neutral", clause):
        return True
    polite = _matches("pleasantry.wordings", clause)
    return polite and not _pattern("pleasantry.unless").search(clause)


def _asserts(words: str, found: re.Match[str], lang: str) -> bool:
    """Return whether the topic of a frame says something of the subject or takes it for granted."""
    for topic in (*filter(None, found.groups()), words[found.end() :]):
        verb = _pattern(f"{lang}.verb").search(topic)
        asks = _pattern(f"{lang}.asks").search(topic)
        if _pattern(f"{lang}.asserts").search(topic.strip()):
            return True
        if verb and not (asks and asks.start() < verb.start()):
            return True
    return False


# The table of wordings.

_FRAGMENT: Final = re.compile(r"<(\w+)>")
_CHINESE: Final = lazy_pattern(f"_zh>|[{CJK}]")
"""Found in an alternative that only a text with Chinese characters matches."""
_FIRST_FRAGMENT: Final = re.compile(r"\^(?:<\w+>(?![?*+{]))?")


class _Wordings(NamedTuple):
    alternatives: Mapping[str, Sequence[str]]
    """The patterns by section and name."""
    fragments: Mapping[str, str]


@cache
def _table() -> _Wordings:
    alternatives: dict[str, Sequence[str]] = {}
    fragments: dict[str, str] = {}
    for name in ("kinds", "abstentions"):
        source = files("judge").joinpath("data", f"{name}.toml").read_text(encoding="utf-8")
        read = tomllib.loads(source)
        fragments |= read.pop("fragments")
        for section, entries in read.items():
            for key, entry in entries.items():
                alternatives[f"{section}.{key}"] = [entry] if isinstance(entry, str) else entry
    return _Wordings(alternatives, fragments)


@cache
def _pattern(name: str) -> re.Pattern[str]:
    """Return all alternatives of a name as one pattern: `pleasantry.unless`, `en.verb`."""
    return _compiled("|".join(_table().alternatives[name]))


def _wordings(name: str, text: str) -> Iterator[re.Match[str]]:
    """Yield the matches of a text with the alternatives of a name, which may be missing.

    Those that begin with the same fragment are one pattern, tried only where the fragment matches.
    """
    for beginning, whole in _groups(name, bool(CJK_CHAR.search(text))):
        if _compiled(beginning).match(text) and (found := _compiled(whole).match(text)):
            yield found


def _matches(name: str, text: str) -> bool:
    return any(_wordings(name, text))


@cache
def _groups(name: str, chinese: bool) -> tuple[tuple[str, str], ...]:  # noqa: FBT001
    rests: dict[str, list[str]] = {}
    for each in _table().alternatives.get(name, ()):
        if not chinese and _CHINESE.search(each):
            continue
        found = _FIRST_FRAGMENT.match(each)
        head = found[0] if found else "^"
        rests.setdefault(head, []).append(each.removeprefix(head))
    # The alternatives without a common beginning are the longest pattern, and come last.
    heads = sorted(rests, key=len, reverse=True)
    return tuple((head, f"{head}(?:{'|'.join(rests[head])})") for head in heads)


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(_filled(pattern), re.IGNORECASE)


def _filled(pattern: str) -> str:
    """Replace each `<fragment>` of a pattern by its text, at any depth."""
    return _FRAGMENT.sub(lambda found: _filled(_table().fragments[found[1]]), pattern)


@cache
def _required_words(kind: SentenceKind) -> frozenset[str]:
    return frozenset(_table().alternatives[f"{kind}.words"][0].split())
