"""What a token names among the ids of one sample: a chunk, a missing chunk, or nothing."""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Final

from judge.answer.markers import Form, read_numbers, split_parts

Targets = tuple[tuple[str, str | None], ...]
"""What a marker names, and the chunk id of each; null where it dangles."""

_LONGEST_ID: Final = 2000
_BARE_DIGITS: Final = 3

_LABEL = re.compile(
    r"(?i:citations?|cite|sources?|references?|refs?|documents?|docs?|passages?|chunks?|contexts?"
    r"|id|see)(?:\s*[:：#]\s*|\s+|(?=\d))"
    r"|(?:来源|文档|文段|资料|段落|片段|文献|出处|参考|引用|参见|见)\s*[:：]?\s*"
)
_LETTERS = re.compile(r"[^\W\d_]+")
_DIGITS = re.compile(r"\d+")
_NAMING_SIGN = re.compile(r"[#/\\:_@|=]")
_BRACKET = re.compile(r"[\[\]()【】［］（）]")


class Identifiers:
    """The chunk ids of one sample, and the further ids that were retrieved but not shown."""

    def __init__(self, shown: Sequence[str], retrieved: Sequence[str] = ()) -> None:
        ids = dict.fromkeys([*shown, *retrieved])
        named = [chunk_id for chunk_id in ids if not chunk_id.isdecimal()]
        shown_ids = set(shown)
        self._shown = list(shown)
        self._exact: Mapping[str, str | None] = {i: i if i in shown_ids else None for i in ids}
        self._folded: dict[str, set[str]] = {}
        for chunk_id in named:
            self._folded.setdefault(_fold(chunk_id), set()).add(chunk_id)
        self._shapes = {_shape(chunk_id) for chunk_id in named}
        self._skeletons = {_skeleton(chunk_id) for chunk_id in named}
        self.longest = min(_LONGEST_ID, max(map(len, ids), default=0))
        """Characters of the longest id, for the reach of a bracket."""
        self.bracketed = any(map(_BRACKET.search, ids))
        """True where some id has brackets in it."""
        self._known: dict[tuple[str, Form, bool], Targets | None] = {}

    def read(self, content: str, form: Form, *, numeric: bool) -> Targets | None:
        """What the content of a marker names, in order and each once; null for text."""
        # An answer repeats its markers.
        key = (content, form, numeric)
        if key not in self._known:
            self._known[key] = self._read(content, form, numeric=numeric)
        return self._known[key]

    def _read(self, content: str, form: Form, *, numeric: bool) -> Targets | None:
        whole = self.id(content)
        if whole or form is Form.TARGET:
            return whole
        targets: Targets = ()
        for part in split_parts(content):
            found = self._part(part, form, numeric=numeric)
            if found is None:
                return None
            targets += found
        return tuple(dict.fromkeys(targets))

    def _part(self, part: str, form: Form, *, numeric: bool) -> Targets | None:
        strict = form is Form.ROUND
        find = self.id if form is Form.LINK else lambda token: self.name(token, strict=strict)
        bare = _LABEL.sub("", part, count=1) if _LABEL.match(part) else part
        numbers = read_numbers(bare)
        if numbers is None:
            return find(part) or find(bare)
        return find(part) or (self.numbers(numbers) if numeric else None)

    def id(self, token: str) -> Targets | None:
        """The one id that equals the token, exactly or but for width and case; no plain number."""
        if token.isdecimal():
            return None
        if token in self._exact:
            return ((token, self._exact[token]),)
        folded = self._folded.get(_fold(token), set())
        if len(folded) != 1:
            return None
        (found,) = folded
        return ((found, self._exact[found]),)

    def numbers(self, numbers: Sequence[str]) -> Targets | None:
        """The chunk of each number: the one that bears it, else the one at that place from 1.

        Returns:
            Null where a number of four or more digits is neither: a year, not a citation.
        """
        targets: list[tuple[str, str | None]] = []
        for number in numbers:
            plain = str(int(number))
            bearer = next((n for n in (number, plain) if self._exact.get(n) is not None), None)
            if bearer is not None:
                targets.append((bearer, bearer))
            elif 1 <= int(number) <= len(self._shown):
                targets.append((plain, self._shown[int(number) - 1]))
            elif len(number) <= _BARE_DIGITS or number in self._exact:
                targets.append((plain, None))
            else:
                return None
        return tuple(targets)

    def name(self, token: str, *, strict: bool = False) -> Targets | None:
        """The id that equals the token, or a dangling one where it only has the shape of an id.

        `docB#9` is told by its sign. `Q3`, `GPT-4` and `COVID-19` have the shape of `d1` and
        `doc-1` and are prose: where nothing but one word and a number makes the shape, the word
        must be that of a known id. `strict`, for round brackets, asks for a sign and a digit.
        """
        shape = _shape(token)
        words = shape.count("A")
        if shape in {"", "A", "9"} or not (words or "9" in shape):
            return self.id(token)
        sign = _NAMING_SIGN.search(shape) is not None
        clear = (sign and "9" in shape) if strict else (sign or words > 1)
        if words and clear and not any(map(str.isspace, shape)):
            alike = shape in self._shapes
        else:
            alike = _skeleton(token) in self._skeletons
        return self.id(token) or (((token, None),) if alike else None)


def _fold(token: str) -> str:
    return unicodedata.normalize("NFKC", token).casefold()


def _shape(token: str) -> str:
    """`docA#sec3` → `A#A9`: runs of letters of any script → A, of digits → 9."""
    return _DIGITS.sub("9", _LETTERS.sub("A", unicodedata.normalize("NFKC", token)))


def _skeleton(token: str) -> str:
    """Letters kept, digits reduced to 9; without letters each digit counts, as in `12-3`."""
    folded = _fold(token)
    return _DIGITS.sub("9", folded) if _LETTERS.search(folded) else re.sub(r"\d", "9", folded)
