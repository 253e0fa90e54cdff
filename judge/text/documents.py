"""Gold given by document, and the chunks that belong to it."""

from collections.abc import Iterable
from unicodedata import category


class Documents:
    """Documents that gold names, and the chunks that belong to them.

    A chunk belongs to a document if its id is the document's, or begins with it and goes on with a
    character that is neither letter, nor a mark on one, nor digit: `docA#sec3` and `docA_3` are of
    `docA`, `docAB` is not. Of several such documents the longest name has it.
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


def _in_word(*characters: str) -> bool:
    """Whether all are letters, marks on letters, or digits."""
    return all(c.isalnum() or (c and category(c).startswith("M")) for c in characters)
