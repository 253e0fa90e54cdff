"""Parts of an answer that are not prose: code, formulas, addresses.

Every pattern stops at the next delimiter of its own kind, so that the whole is linear in the text.
"""

import re

_FENCE = re.compile(r"^[ \t>]*(?:[-*+][ \t]+)?(`{3,}|~{3,})([^\n]*)$", re.MULTILINE)
# A dollar before a digit is a price; a bracket at the very end of an address is a citation.
_SHIELD = re.compile(
    r"""
    (?<!`)``(?!`)(?:[^`\n]++|`(?!`))++``(?!`)
    | (?<!`)`(?!`)[^`\n]++`(?!`)
    | \$\$[^$]++\$\$
    | (?<![\\$])\$(?![\s$0-9])[^$\n]*+(?<=\S)\$(?![0-9])
    | (?:https?://|www\.)
      (?:[A-Za-z0-9\-._~:/?\#@!$&'*+,;=%|]++|(?:\[\w*+\])++(?=[A-Za-z0-9_/=&?\#%]|\.\w))*+
    """,
    re.VERBOSE,
)


def find_shields(text: str) -> list[tuple[int, int]]:
    """Find the spans in which nothing cites, in order and apart.

    Fenced blocks (one left open runs to the end), code spans, formulas, and web addresses
    including brackets inside them.

    >>> find_shields("`a[0]` and $x[1]$, https://a.org/?b[1]=2 but https://a.org[1].")
    [(0, 6), (11, 17), (19, 40), (45, 58)]
    """
    spans: list[tuple[int, int]] = []
    fence: re.Match[str] | None = None
    done = 0
    for line in _FENCE.finditer(text):
        mark, info = line.groups()
        if fence is None:
            if mark[0] in info:
                continue
            spans += (match.span() for match in _SHIELD.finditer(text, done, line.start()))
            fence = line
        elif mark.startswith(fence[1]) and not info.strip():
            spans.append((fence.start(), line.end()))
            done, fence = line.end(), None
    if fence is not None:
        return [*spans, (fence.start(), len(text))]
    return [*spans, *(match.span() for match in _SHIELD.finditer(text, done))]
