"""Alignment: the terms of a sentence in the windows of the chunks.

Terms are words, numbers, pairs of neighbours, and what the words mean. A word is an alphabetic
word, a number or one CJK character. `judge/data/senses.toml` lists which words mean the same, which
imply another, and which exclude one another.
"""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import accumulate, chain, repeat
from typing import Final, NamedTuple

import numpy as np

from judge.checks.values import DIGITS, HAN_NUMERALS, IDIOMS, SEPARATORS, SPELLED, number
from judge.judges.similarity.model import Bools, Floats, Ints
from judge.text.fold import CJK
from judge.text.pieces import cached_by_text, segments
from judge.text.senses import Sense, senses
from judge.text.words import CONTENT, LATIN, LIGHT, WORD, Words, grammar, stem, weight

_GAP: Final = 3
"""Words with at most this many characters between them make a pair."""

# The lookahead saves a third of the time.
_TOKEN: Final = re.compile(
    rf"""( (?=[^\0-/:-@\[-`{{-\x7f]) (?: {LATIN} | (?<![^\W_{CJK}]) (?: {DIGITS} )
    | (?!{"|".join(IDIOMS)}) [{HAN_NUMERALS}]{{2,20}}
    | {WORD.pattern} ) )""",
    re.VERBOSE,
)
_VERSION: Final = re.compile(r"(?<![^\W_])[vV](?=\d+\.\d)")


class Terms(NamedTuple):
    """The distinct words and pairs of some sentences; a row is a word or pair of one sentence.

    A sentence without words has a single word that no text contains.
    """

    words: Mapping[str, int]
    """Numbers of the distinct words."""
    pairs: Ints
    """Distinct pairs: number of the first word · len(words) + number of the second, ascending."""
    meanings: Mapping[str, Sense]
    """The senses of the words, by concept."""
    owner: Ints
    """The sentence of each word row, ascending; the fields below have the same shape."""
    number: Ints
    weight: Floats
    start: Ints
    end: Ints
    name: Bools
    """Whether it is a number, or a capitalised word that does not open the sentence."""
    sense: Ints
    """The position of its sense in `meanings`, -1 for none."""
    pair_owner: Ints
    pair: Ints
    """The position of each pair row in `pairs`."""
    pair_weight: Floats

    @property
    def telling(self) -> Bools:
        """Whether each word is a content word or a number."""
        telling: Bools = self.weight > CONTENT
        return telling

    @property
    def items(self) -> Bools:
        """Whether each word is telling, or excludes others as `all` or `before` do."""
        contrasts = [*(bool(own.excludes) for own in self.meanings.values()), False]
        items: Bools = self.telling | np.asarray(contrasts)[self.sense]
        return items


def tokens(text: str) -> Words:
    """Return the words and numbers of a text, numbers as digits.

    >>> tokens("Forty of 1,200 men, 三十天").stems
    ['40', 'of', '1200', 'men', '30', '天']
    """
    parts = _TOKEN.split(_VERSION.sub(" ", text))  # gaps and tokens in turn
    edges = list(accumulate(map(len, parts)))
    return Words(list(map(_key, parts[1::2])), edges[:-1:2], edges[1::2])


def terms(sentences: Sequence[str]) -> Terms:
    """Break sentences whose markup is blank into terms.

    >>> found = terms(["Rain: 45 days."])
    >>> list(found.words), found.pairs.tolist()
    (['rain', '45', 'day'], [1, 5])
    """
    words: dict[str, int] = {}
    meanings: dict[str, Sense] = {}
    rows: list[tuple[int, int, float, int, int, bool, str | None]] = []
    pairs: list[tuple[int, int, int, float]] = []
    for owner, text in enumerate(sentences):
        own, couples = _read(text, meanings)
        for key, row in own.items():
            rows.append((owner, words.setdefault(key, len(words)), *row))
        for (one, two), weighs in couples.items():
            pairs.append((owner, words[one], words[two], weighs))
    owners, number, weights, start, end, name, concept = zip(*rows, strict=True)
    position: dict[str | None, int] = {concept: at for at, concept in enumerate(meanings)}
    first = np.asarray([pair[:3] for pair in pairs], np.int64).reshape(-1, 3)
    distinct, place = np.unique(first[:, 1] * len(words) + first[:, 2], return_inverse=True)
    return Terms(
        words=words,
        pairs=distinct,
        meanings=meanings,
        owner=np.asarray(owners, np.int64),
        number=np.asarray(number, np.int64),
        weight=np.asarray(weights),
        start=np.asarray(start, np.int64),
        end=np.asarray(end, np.int64),
        name=np.asarray(name, np.bool_),
        sense=np.asarray([position.get(each, -1) for each in concept], np.int64),
        pair_owner=first[:, 0],
        pair=place,
        pair_weight=np.asarray([pair[3] for pair in pairs]),
    )


_Row = tuple[float, int, int, bool, str | None]


def _read(
    text: str, meanings: dict[str, Sense]
) -> tuple[dict[str, _Row], dict[tuple[str, str], float]]:
    """Return the words and the pairs of a sentence, and add their senses to `meanings`."""
    read = tokens(text)
    if not read.stems:
        return {"\n": (0.0, 0, 0, False, None)}, {}
    found = senses(text, read)
    concept = {place: own.concept for own, places in found for place in places}
    meanings.update((own.concept, own) for own, _ in found)
    light = {place for span in grammar(text) for place in range(*span)}
    own: dict[str, _Row] = {}
    pairs: dict[tuple[str, str], float] = {}
    last_key, last_end, last_weight = "", -_GAP - 1, 0.0
    for key, start, end in zip(*read, strict=True):
        weighs = LIGHT if start in light else weight(key)
        name = key[0].isdigit() or (
            last_key != "" and weighs > CONTENT and text[start : start + 1].isupper()
        )
        if key not in own or (name and not own[key][3]):
            own[key] = (weighs, start, end, name, concept.get(start))
        if start - last_end <= _GAP:
            pairs.setdefault((last_key, key), (last_weight + weighs) / 2)
        last_key, last_end, last_weight = key, end, weighs
    return own, pairs


@lru_cache(maxsize=1 << 17)
def _key(written: str) -> str:
    if written[0].isdigit():
        return stem(written.translate(SEPARATORS))
    if len(written) > 1 and written[0] in HAN_NUMERALS:
        return f"{number(written):.15g}"
    # `one` is an article as much as a count.
    value = SPELLED.get(written.lower(), 1)
    return stem(written) if value == 1 else str(value)


# The alignment.

TERM_FEATURES: Final = (
    "one", "out_weight", "gone", "gone_weight", "name_out", "name_gone", "gone_late", "denied",
)  # fmt: skip
"""The features of an item: a content word, a number, or a word that excludes others.

`out`: the best window lacks the item. `gone`: all chunks of the column lack it. `late`: the item is
in the last third of its sentence. `denied`: the window has a word that excludes the item. All
features, `one` among them, are 0 for an item that does not count in a column.
"""
SENTENCE_FEATURES: Final = ("pairs", "cosine")
"""The share of a sentence's pairs in the best window, and its cosine to the nearest segment, each
to the fourth power, so that only near-copies score high."""
LONGEST_WINDOW: Final = 3
"""A window is a run of one to this many segments of one chunk."""
_LATE: Final = 2 / 3
# The training sets hold too few synonyms to fit this: D43.
_SYNONYM_CREDIT: Final = 0.8
_SYNONYM_WORTH: Final = 0.9
_PAIR_WORTH: Final = 0.5
_STEEP: Final = 4
_COST_OF_LENGTH: Final = 0.02
"""A longer window never holds less, so each further segment costs this share of the words."""


class _ChunkTerms(NamedTuple):
    """The terms of one chunk."""

    edges: Ints
    """First character of each segment and one past its last, shape (segments, 2)."""
    stems: Sequence[str]
    segment: Ints
    near: Bools
    """Whether each word makes a pair with the next one."""
    senses: Sequence[tuple[Sense, int]]
    """The senses of words, each with the segment of its first word."""


@cached_by_text
def _read_chunk(text: str) -> _ChunkTerms:
    # A blank chunk has one empty segment, so that each chunk has one.
    edges = np.asarray(segments(text) or [(0, 0)], np.int64)
    claims = tokens(text)
    starts, ends = np.asarray(claims.starts, np.int64), np.asarray(claims.ends, np.int64)
    meant = senses(text, claims)
    segment = np.searchsorted(edges[:, 0], starts, "right") - 1
    first = np.asarray([places[0] for _, places in meant], np.int64)
    within = (np.searchsorted(edges[:, 0], first, "right") - 1).tolist()
    return _ChunkTerms(
        edges=edges,
        stems=claims.stems,
        segment=segment,
        near=np.append(starts[1:], np.inf)[: len(starts)] - ends <= _GAP,
        senses=[(sense, at) for (sense, _), at in zip(meant, within, strict=True)],
    )


class Passages:
    """The segments of the chunks, end to end. Window 3s + n - 1 is the n segments from s."""

    def __init__(self, chunks: Sequence[str]) -> None:
        self.chunks = list(map(_read_chunk, chunks))
        many = [len(chunk.edges) for chunk in self.chunks]
        self.size = sum(many)
        self.first = np.cumsum([0, *many[:-1]])
        """The first segment of each chunk."""
        self.chunk_of = np.repeat(np.arange(len(many)), many)
        """The chunk of each segment."""
        self.legal = np.zeros((LONGEST_WINDOW, self.size), np.bool_)
        """Whether the window of n + 1 segments from a segment stays in its chunk."""
        for more in range(min(LONGEST_WINDOW, self.size)):
            head = self.chunk_of[: self.size - more]
            self.legal[more, : len(head)] = head == self.chunk_of[more:]

    def segments(self, chunks: Sequence[str]) -> list[str]:
        """Return the texts of the segments, cut out of the chunks."""
        read = zip(chunks, self.chunks, strict=True)
        return [text[low:high] for text, chunk in read for low, high in chunk.edges.tolist()]

    def span(self, window: int) -> tuple[int, int, int]:
        """Return the chunk of a window, and its first character and one past its last in it."""
        at, more = divmod(window, LONGEST_WINDOW)
        chunk = int(self.chunk_of[at])
        edges, low = self.chunks[chunk].edges, at - int(self.first[chunk])
        return chunk, int(edges[low, 0]), int(edges[low + more, 1])

    def standing(self, claims: Terms) -> Bools:
        """Return whether a segment has a term, shape (terms + 1, segments); the last row is false.

        The terms are the words, the pairs, the meanings, and the words that exclude a meaning.
        """
        many, pairs = len(claims.words), len(claims.pairs)
        stand = np.zeros((many + pairs + 2 * len(claims.meanings) + 1, self.size), np.bool_)
        stems = chain.from_iterable(chunk.stems for chunk in self.chunks)
        word = np.fromiter(map(claims.words.get, stems, repeat(-1)), np.int64)
        bases = zip(self.chunks, self.first.tolist(), strict=True)
        segment = np.concatenate([chunk.segment + base for chunk, base in bases])
        known = np.flatnonzero(word >= 0)
        stand[word[known], segment[known]] = True
        near = np.concatenate([chunk.near for chunk in self.chunks])
        both = known[near[known]]
        both = both[word[both + 1] >= 0]
        code = word[both] * many + word[both + 1]
        place = np.searchsorted(claims.pairs, code)
        there = np.append(claims.pairs, -1)[place] == code
        stand[many + place[there], segment[both[there] + 1]] = True
        if claims.meanings:
            found = {sense.concept: sense for chunk in self.chunks for sense, _ in chunk.senses}
            evidence = _evidence_of(claims.meanings, found)
            for chunk, base in zip(self.chunks, self.first.tolist(), strict=True):
                for sense, at in chunk.senses:
                    for meaning in evidence[sense.concept]:
                        stand[many + pairs + meaning, base + at] = True
        return stand


def _evidence_of(meanings: Mapping[str, Sense], found: Mapping[str, Sense]) -> dict[str, list[int]]:
    """Return for each concept of a chunk the meanings that it implies and those that it excludes.

    A meaning it excludes is its position in `meanings` plus their number.
    """
    evidence = dict[str, list[int]]()
    for concept, sense in found.items():
        evidence[concept] = []
        for at, own in enumerate(meanings.values()):
            if own.concept in sense.implies:
                evidence[concept].append(at)
            elif not own.excludes.isdisjoint(sense.implies):
                evidence[concept].append(len(meanings) + at)
    return evidence


class Alignment(NamedTuple):
    """Sentences against columns: all chunks, the cited ones, then every chunk alone."""

    claims: Terms
    passages: Passages
    windows: Ints
    """The best window, -1 where none shares a word, shape (sentences, columns)."""
    terms: Floats
    """Shape (items, columns, len(TERM_FEATURES))."""
    owner: Ints
    """The sentence of each item, ascending."""
    sentences: Floats
    """Shape (sentences, columns, len(SENTENCE_FEATURES))."""
    grounded: Bools
    """Whether the best window has a content word, shape (sentences, columns)."""
    missing: Bools
    """Whether all chunks lack the word and its meaning."""
    scattered: Bools
    """Whether the best window of all chunks lacks the word and its meaning."""


def align(
    claims: Terms, passages: Passages, stand: Bools, known: Bools, cosine: Floats, cited: Bools
) -> Alignment:
    """Measure each sentence against all chunks, the cited ones, and each chunk alone.

    `passages` has at least one chunk, and `stand` comes from its `standing`. `known` says which
    words the chunks give in another form. `cosine` is that of each sentence to the nearest segment
    of each chunk, and `cited` says which chunks it cites: shape (sentences, chunks).
    """
    none = len(stand) - 1
    says = len(claims.words) + len(claims.pairs) + claims.sense
    against = np.where(claims.sense < 0, none, says + len(claims.meanings))
    says = np.where(claims.sense < 0, none, says)
    pair = len(claims.words) + claims.pair
    reach = _reach(stand)
    words = _shares(claims.owner, claims.weight, len(cited))
    pairs = _shares(claims.pair_owner, claims.pair_weight, len(cited))
    coverage = np.maximum(reach[:, claims.number], reach[:, says] * np.float32(_SYNONYM_WORTH))
    worth = words @ coverage + _PAIR_WORTH * (pairs @ reach[:, pair].astype(np.float32))
    windows = _best_windows(worth, passages, cited)

    def inside(term: Ints, owner: Ints) -> Bools:
        """Return whether the best window of its sentence has each term."""
        window = windows[owner]
        at, more = np.divmod(window, LONGEST_WINDOW)
        found: Bools = (window >= 0) & reach[more, term[:, None], at]
        return found

    def anywhere(term: Ints, owner: Ints) -> Bools:
        """Return whether the chunks of each column have each term."""
        alone = np.logical_or.reduceat(stand[term], passages.first, axis=1)
        whole = alone.any(1), (alone & cited[owner]).any(1)
        return np.column_stack([*whole, alone])

    own, other = inside(claims.number, claims.owner), inside(says, claims.owner)
    there, meant = anywhere(claims.number, claims.owner), anywhere(says, claims.owner)
    denied = inside(against, claims.owner) & ~own & ~other
    other &= ~own
    telling, borne = claims.telling[:, None], known[:, None]
    out = ~(own | borne | ~telling) * (1 - _SYNONYM_CREDIT * other)
    gone = ~(there | borne | ~telling) * (1 - _SYNONYM_CREDIT * meant)
    weight, name = claims.weight[:, None], claims.name[:, None]
    items = np.flatnonzero(claims.items)
    values = {
        # A word of grammar counts only where it is denied.
        "one": telling | denied,
        "out_weight": out * weight,
        "gone": gone,
        "gone_weight": gone * weight,
        "name_out": name * out,
        "name_gone": name * gone,
        "gone_late": gone,
        "denied": denied,
    }
    features = np.stack([values[name][items] for name in TERM_FEATURES], axis=2, dtype=np.float64)
    late = TERM_FEATURES.index("gone_late")
    features[:, :, late] *= _late(claims.owner[items], claims.start[items])[:, None]
    cosines = np.column_stack([cosine.max(1), np.where(cited, cosine, 0.0).max(1), cosine])
    in_pairs = pairs @ inside(pair, claims.pair_owner)
    return Alignment(
        claims=claims,
        passages=passages,
        windows=windows,
        terms=features,
        owner=claims.owner[items],
        sentences=np.stack([in_pairs, cosines], axis=2) ** _STEEP,
        grounded=(words > 0) @ (telling & (own | other)),
        missing=~(there[:, 0] | meant[:, 0] | known),
        scattered=~(own[:, 0] | other[:, 0] | known),
    )


def _reach(stand: Bools) -> Bools:
    """Return whether a window has a term, shape (window lengths, terms, segments)."""
    reach = np.repeat(stand[None], LONGEST_WINDOW, axis=0)
    for more in range(1, LONGEST_WINDOW):
        for length in range(more, LONGEST_WINDOW):
            reach[length, :, :-more] |= stand[:, more:]
    return reach


def _shares(owner: Ints, weight: Floats, sentences: int) -> Floats:
    """Return the share of its sentence's weight that each row has, shape (sentences, rows)."""
    shares = np.zeros((sentences, len(owner)), np.float32)
    shares[owner, np.arange(len(owner))] = weight
    whole = shares.sum(1, keepdims=True)
    return shares / np.where(whole > 0, whole, 1.0)


def _best_windows(worth: Floats, passages: Passages, cited: Bools) -> Ints:
    """Return the best window of each sentence in each column, -1 where none is worth anything."""
    rows = np.arange(len(cited))
    cost = np.arange(LONGEST_WINDOW)[:, None] * _COST_OF_LENGTH
    worth = worth - np.where(passages.legal, cost, np.inf)[:, None]
    worth = worth.transpose(1, 2, 0).reshape(len(cited), -1)
    edges = passages.first * LONGEST_WINDOW
    top = np.maximum.reduceat(worth, edges, axis=1)
    highest = top[:, passages.chunk_of.repeat(LONGEST_WINDOW)]
    place = np.where(worth == highest, np.arange(worth.shape[1]), worth.shape[1])
    best = np.where(top > 0, np.minimum.reduceat(place, edges, axis=1), -1)
    whole = best[rows, top.argmax(1)]
    within = np.where(cited, top, -np.inf).argmax(1)
    citing = np.where(cited[rows, within], best[rows, within], -1)
    return np.column_stack([whole, citing, best])


def _late(owner: Ints, start: Ints) -> Bools:
    """Return whether each item is one of the last of its sentence, in reading order."""
    late = np.zeros(len(owner), np.bool_)
    before = np.arange(len(owner)) - np.searchsorted(owner, owner)
    late[np.lexsort((start, owner))] = before >= _LATE * np.bincount(owner)[owner]
    return late
