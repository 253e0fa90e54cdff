"""Numbers that name a source or the place in a list: `(Doc 3)`, `passages 1-2`, `第2段`, `2.1`."""

import re
from typing import Final

_LIST: Final = r"\d{1,3}(?![\d%％])(?:\s?(?:,|，|、|-|–|and|&|和)\s?\d{1,3}(?![\d%％]))*"
_LABEL: Final = re.compile(
    rf"""
      (?<![^\W_]) (?i:passage|document|doc|source|chunk|context|reference|ref|excerpt|snippet
        |paragraph|para|quote)s? (?:\.|:)? \s? [(\#]? {_LIST} (?!\.\d|[^\W_])
    # Words that also stand in titles and in plain speech: a capital, and no `Article 2 of`.
    | (?<![^\W_]) (?:Article|Text|Result|Review|Evidence|Note|Item)s? \s {_LIST}
        (?!\.\d|[^\W_]|\sof(?![^\W_]))
    | 第\s?(?:\d{{1,3}}|[一二三四五六七八九十]{{1,3}})\s?个?
        (?:段落|片段|段|文档|文件|资料|来源|材料|文章|摘录|篇)
    | (?:段落|片段|文档|文件|资料|来源|材料|摘录|文献)\s?[（(]?\s?{_LIST}
    | ^ [ \t]* [*_\#>•·-]{{1,6}} [ \t]* \d{{1,3}} [.)、．:：] (?!\d)
    | ^ [ \t]* [*_\#>•·-]{{0,6}} [ \t]* \d{{1,2}} (?:\.\d{{1,2}}){{1,4}} \.? [ \t]+ (?=[*_A-Z])
    | [0-9]\ufe0f?\u20e3
    """,
    re.VERBOSE | re.MULTILINE,
)


def blank_labels(text: str) -> str:
    """Overwrite such labels with spaces; every other character keeps its place.

    >>> blank_labels("Passages 1-2 say it rained 3 days.")
    '             say it rained 3 days.'
    """
    return _LABEL.sub(lambda match: " " * len(match.group()), text)
