"""Control tokens, which tell a language model who speaks: `<|im_end|>`, `[/INST]`.

They are known by their shape where they have one, else by name.
"""

import re
import unicodedata
from collections.abc import Iterator
from typing import Final

from judge.text.patterns import lazy_pattern

_OPEN: Final = r"<＜\[［"
_CLOSE: Final = r">＞\]］"
_LONGEST: Final = 256
"""The most characters between two brackets, invisible ones included."""
_BRACKETED: Final = lazy_pattern(
    rf"([<＜](?![0-9])[^{_OPEN}{_CLOSE}]{{1,{_LONGEST}}}+)[>＞]"
    rf"|([\[［](?![0-9])[^{_OPEN}{_CLOSE}]{{1,{_LONGEST}}}+)[\]］]"
    rf"|(?<=[\[\]［］])([^{_OPEN}{_CLOSE}]{{2,{_LONGEST}}}+)(?=[\[\]［］])"
)
# A block for a blank, as DeepSeek writes it.
_ALIKE: Final = str.maketrans("▁", "_")
_UNSEEN: Final = frozenset({"Mn", "Me", "Cf", "Cn", "Cs"})
# F# and Elm have <| and |> with blanks beside them.
_LAYOUT: Final = re.compile(
    r"[\0-\x1f\x7f\x85\u2028\u2029]|\A\s+(?=[^\s|])|(?<=\A/)\s+|(?<=[^\s|])\s+\Z"
)
_WORD: Final = r"(?=[^|]*[^\W\d_]{2})(?!\s)[\w .:/@=-]{2,64}(?<!\s)"
_ANGLED: Final = lazy_pattern(
    rf"""
      \|{_WORD}\| | \|\w{{3,}} | \w{{3,}}\|
    | /? (?: (?: start | begin | beginning | end ) _of_ \w+ | (?: start | end ) _header_id | sys
    | (?: im | fim ) _ (?: start | end | sep | user | system | assistant | prefix | middle | suffix
      | pad )
    | (?: \w+: )? tool_ (?: call | response | output | result | use | sep ) (?: s | _\w+ )?
    | (?: seed: | longcat_ ) \w+ | ctrl\d+ | _ (?: user | bot | system | end )
    | function_calls? | arg_key | arg_value
    | (?: mask | unk | extra_id ) _\d+ | unused_?\d+ | (?: reserved | special | tokens_unused ) _\d+
    | (?: bos | eos | eop | pad | unk | cls | sep | mask | image | audio ) (?: _soft )? _token
    | bos | eos | sop | eop | eod | eot | eom | eoh | eoa | pad | unk | cls | sep )
    """,
    re.VERBOSE | re.IGNORECASE,
)
_SQUARED: Final = lazy_pattern(
    rf"""
      \|{_WORD}\| | (?i: /?INST ) | /[A-Z]+(?:_[A-Z]+)+
    | /? (?: SYSTEM_PROMPT | AVAILABLE_TOOLS | TOOL_[A-Z]+ | MODEL_SETTINGS | THINK )
    | CALL_ID | IMG_[A-Z]+ | BEGIN_AUDIO | CLS | SEP | PAD | [gs]MASK | BOS | EOS
    | unused\d+ | UNUSED_TOKEN_\d+
    """,
    re.VERBOSE,
)
_TURNED: Final = re.compile(r"~!?b|e~|![pd]~")
"""The content of a control token between two square brackets, such as `]~b]`."""
_ORDINARY: Final = re.compile(
    r"""
      < (?: /?s | /?think(?:ing)? | /?functions | /?(?:available_)?tools | /?role
        | mask | image | filename | reponame | repo_name | gh_stars
        | file_sep | (?: issue | jupyter | commit ) _\w+ | empty_output | \|[^|]+\| )
    | \[ (?: UNK | MASK | ARGS | IMG | AUDIO | TRANSCRIBE | PREFIX | MIDDLE | SUFFIX | REF
        | /[A-Z]{3,} )
    """,
    re.VERBOSE,
)
"""Tokens of some model that also occur in ordinary text, such as strike-through or a usage line."""
_JOINER: Final = "\u2060"
_WIDE: Final = {"<": "＜", "[": "［", "]": "］"}


def broken(text: str) -> str:
    r"""Return the text with its control tokens broken up, so that no tokenizer recognizes them.

    An invisible joiner precedes the closing bracket, and an ASCII opening bracket becomes full
    width. Folding removes both changes.

    >>> broken("[1] <b>a</b> <eos>").replace("\u2060", "·")
    '[1] <b>a</b> ＜eos·>'
    """
    parts: list[str] = []
    at = 0
    for start, close, _ in _find(text):
        parts += text[at:start], _WIDE.get(text[start], text[start]), text[start + 1 : close]
        if text[close - 1] != _JOINER:
            parts.append(_JOINER)
        at = close
    return "".join([*parts, text[at:]]) if parts else text


def speaks_for_others(text: str) -> bool:
    """Return whether a text has a control token that ordinary text does not have."""
    return any(not ordinary for *_, ordinary in _find(text))


def _find(text: str) -> Iterator[tuple[int, int, bool]]:
    """Yield the offsets of the brackets of each token, and whether ordinary text may have it."""
    if text.isascii() and not any(bracket in text for bracket in "<[]"):
        return
    for match in _BRACKETED.finditer(text):
        if match[3]:
            if _TURNED.fullmatch(_bare(match[3])):
                yield match.start() - 1, match.end(), False
            continue
        plain = "<" if match[1] else "["
        name, close = _bare((match[1] or match[2])[1:]), match.end() - 1
        if (_ANGLED if match[1] else _SQUARED).fullmatch(name):
            yield match.start(), close, False
        elif _ORDINARY.fullmatch(plain + name):
            yield match.start(), close, True


def _bare(inner: str) -> str:
    """Remove marks, line breaks and invisible characters, and fold the width."""
    if not inner.isascii():
        # One character may become eighteen.
        plain = unicodedata.normalize("NFKD", inner)[: 2 * _LONGEST].translate(_ALIKE)
        inner = "".join(c for c in plain if unicodedata.category(c) not in _UNSEEN)
    return _LAYOUT.sub("", inner)
