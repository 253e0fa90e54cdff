"""Whether a sentence says nothing but that the evidence does not tell.

Each clause is read as a frame, which says who does not tell, know or find, and a topic, which is
what the frame leaves over. A topic that asserts something, or a clause without a frame that says
anything, makes the whole a claim.
"""

import re

from judge.answer.wordings import frame, pattern
from judge.text.fold import CJK_CHAR

_CLOSING = " .!。！\"'“”’)）」』»"
_LABEL = re.compile(r"([^:：.。]{1,40})[:：] ?(?=\S)")
# Traditional characters of the words in the table.
_SIMPLIFIED = str.maketrans(
    "資訊檔內這個們說無沒見題關於過庫問應該獲確認斷詳細節總結與對從據給檢測閱讀瞭並僅還實際價門準寫記載錄談論話語為時間條當會後來開發現產業東體點線圖類種較難處務請諮詢聯繫繋絡電員單項標範圍",
    "资讯档内这个们说无没见题关于过库问应该获确认断详细节总结与对从据给检测阅读了并仅还实际价门准写记载录谈论话语为时间条当会后来开发现产业东体点线图类种较难处务请咨询联系系络电员单项标范围",
)
_FRAMES = ("head", "tail")


def abstains(text: str) -> bool:
    """Whether the bare words of a sentence are an abstention, whatever stands around it."""
    lang = "zh" if CJK_CHAR.search(text) else "en"
    text = text.translate(_SIMPLIFIED)
    words = pattern(f"{lang}.opening").sub("", text).rstrip(_CLOSING)
    words, cited = pattern(f"{lang}.about").subn(" " if lang == "en" else "", words)
    label = _LABEL.match(words)
    if label and not pattern(f"{lang}.verb").search(label[1]):
        words = pattern(f"{lang}.opening").sub("", words[label.end() :])
        cited += bool(pattern(f"{lang}.laconic").match(words))
    inside, evidence = pattern(f"{lang}.inside"), pattern(f"{lang}.evid")
    bare, named = inside.sub("", words), lang == "en" and bool(evidence.search(words))
    clauses = [
        pattern(f"{lang}.opening").sub("", each).strip()
        for each in pattern(f"{lang}.turn").split(words)
    ]
    named = named or bool(cited) or any(map(inside.search, clauses))
    if (label and not named) or pattern(f"{lang}.figure").search(evidence.sub("", bare)):
        return False
    silent = False
    for clause in filter(None, clauses):
        if _silent(clause, lang, named=named):
            silent = True
        elif not _says_nothing(clause, lang, behind=silent):
            return False
    return silent


def _silent(clause: str, lang: str, *, named: bool) -> bool:
    """Whether a clause abstains."""
    body, inside = pattern(f"{lang}.inside").subn("", clause)
    body = body.strip()
    levels = ["", *(["_named"] if named else []), *(["_inside"] if inside else [])]
    for words in dict.fromkeys((clause, body)):
        for level in levels:
            for place in _FRAMES:
                found = frame(f"{lang}.{place}{level}", words)
                if found and not _asserts(words, found, lang):
                    return True
    return False


def _says_nothing(clause: str, lang: str, *, behind: bool) -> bool:
    """Whether a clause beside an abstention says nothing; before it, it may name the topic."""
    body = pattern(f"{lang}.inside").sub("", clause)
    names = not behind and pattern(f"{lang}.topic").match(clause)
    if not body or names or frame(f"{lang}.neutral", clause):
        return True
    polite = pattern("pleasantry.wordings").match(clause)
    return bool(polite and not pattern("pleasantry.unless").search(clause))


def _asserts(words: str, found: re.Match[str], lang: str) -> bool:
    """Whether what a frame leaves over says something of the subject, or takes it for granted."""
    for topic in (*filter(None, found.groups()), words[found.end() :]):
        verb = pattern(f"{lang}.verb").search(topic)
        asks = pattern(f"{lang}.asks").search(topic)
        if pattern(f"{lang}.asserts").search(topic.strip()):
            return True
        if verb and not (asks and asks.start() < verb.start()):
            return True
    return False
