"""Gold given by document, and the chunks that belong to it."""

from collections.abc import Iterable
from unicodedata import category

from judge.text.fold import CJK_CHAR


class Documents:
    """Documents that gold names, and the chunks that belong to them.

    A chunk belongs to a document if its id is the document's, or begins with it and goes on with a
    character that is neither letter, nor a mark on one, nor digit: `docA#sec3` and `docA_3` are of
    `docA`, `docAB` is not. Nor does a word go on from Chinese to other letters or digits, or back:
    `docA第3章` is of `docA`, `手册2` of `手册`, but `手册补遗` is not. (Chinese stands for kana and
    hangul, too.) Of several such documents the longest name has it.
    """

    def __init__(self, names: Iterable[str]) -> None:
        self._names = set(filter(None, names))
        # There may be many names; of lengths there are few.
        self._lengths = sorted(set(map(len, self._names)), reverse=True)

    def of(self, chunk_id: str) -> str:
        """The document a chunk belongs to; the chunk's own id where that is none of them.

        >>> Documents(["docA", "docA-2"]).of("docA-2#1")
        'docA-2'
        """
        for length in self._lengths:
            name = chunk_id[:length]
            if name in self._names and not _in_word(name[-1], chunk_id[length : length + 1]):
                return name
        return chunk_id


def _in_word(last: str, following: str) -> bool:
    """Whether a word may go on from one of these characters to the other."""
    if not following or not (_is_part(last) and _is_part(following)):
        return False
    if category(following).startswith("M"):  # it belongs to whatever it stands on
        return True
    return bool(CJK_CHAR.match(last)) is bool(CJK_CHAR.match(following))


def _is_part(character: str) -> bool:
    """Whether it is a letter, a mark on one, or a digit."""
    return character.isalnum() or category(character).startswith("M")
