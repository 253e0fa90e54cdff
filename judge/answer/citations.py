"""Finds the citations of an answer and the chunks that they name, and audits them by verdicts."""

import re
import unicodedata
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, partial
from itertools import islice
from typing import Final, NamedTuple

from judge.answer.markers import (
    MOST_CHARACTERS_IN_BRACKETS,
    MOST_MARKERS,
    Form,
    Marker,
    find_markers,
    find_phrases,
    has_unread_brackets,
    may_cite,
    read_numbers,
    split_parts,
)
from judge.errors import ConfigError
from judge.messages import Messages, language_of
from judge.records import (
    SUPPORTED,
    Chunk,
    Citation,
    CitationStatus,
    Flag,
    FlagName,
    JudgeOutcome,
    JudgeRequest,
    Rules,
    Sample,
    Sentence,
    SentenceKind,
    Support,
    Unscored,
    Verdict,
    failure_of,
)
from judge.text.patterns import lazy_pattern
from judge.text.visible import clip, flat

Targets = tuple[tuple[str, str | None], ...]
"""The names in a marker, each with its chunk id; None where it dangles."""

_MOST_UNMATCHED_SHOWN: Final = 20
_CLOSED = re.compile(r"\s*+(?:[.,;:!?。，；：！？、]|$)")


class Found(NamedTuple):
    """The citations of an answer, and flags for what was not read as one."""

    citations: tuple[Citation, ...]
    """One citation per chunk, with status null: `[1, 2]` gives two with the same marker."""
    flags: tuple[Flag, ...] = ()
    """`unmatched_marker` for brackets that look like a citation and name no chunk, `citations_cut`
    if not all was read."""


def find(sample: Sample, sentences: Sequence[Sentence], rules: Rules) -> Found:
    """Find every citation in the answer, in order, also in sentences that are no claims.

    A number is a 1-based position in `sample.chunks`, unless it is the id of a chunk. A token is
    an id if it equals one in `sample.chunks` or `sample.retrieved`, or has the shape of one; it
    dangles unless it is in `sample.chunks`. A marker belongs to the sentence in which it starts,
    else to the sentence before it. Where patterns overlap, the user's own comes first, then
    brackets, then phrases. Sentences that came with lists of citations have no others. Only the
    first `MOST_MARKERS` citations and twice as many brackets are read.

    Raises:
        ConfigError: `rules.citation_pattern` is no regular expression, or takes too long
    """
    if (listed := _listed(sample, sentences)) is not None:
        return Found(listed)
    text = sample.answer
    if not sentences or not (rules.citation_pattern or rules.prose_citations or may_cite(text)):
        return Found(())
    known = Identifiers([chunk.chunk_id for chunk in sample.chunks], sample.retrieved or ())
    code = [(s.start, s.end) for s in sentences if s.kind is SentenceKind.CODE]
    cited, unmatched = _bracketed(text, known)
    spans = _apart(list(_custom(sample, rules.citation_pattern, known)), _without(code, cited))
    worded = list(_worded(text, known)) if rules.prose_citations else []
    spans = _apart(spans, _without(code, worded))
    starts = [sentence.start for sentence in sentences]
    citations = (
        Citation(
            sentence=sentences[max(0, bisect_right(starts, span.start) - 1)].index,
            marker=text[span.start : span.end],
            start=span.start,
            end=span.end,
            chunk_id=chunk_id,
        )
        for span in spans
        for chunk_id in dict(span.targets).values()
    )
    found = tuple(islice(citations, MOST_MARKERS))
    others = _clear_of(spans, _without(code, unmatched))
    markers = list(dict.fromkeys(text[span.start : span.end] for span in others))
    details = markers[:_MOST_UNMATCHED_SHOWN]
    if len(markers) > len(details):
        details.append(f"and {len(markers) - len(details):,} more")
    flags = [Flag(name=FlagName.UNMATCHED_MARKER, detail=detail) for detail in details]
    is_cut = next(citations, None) is not None or len(worded) > MOST_MARKERS
    if is_cut or has_unread_brackets(text):
        flags.append(Flag(name=FlagName.CITATIONS_CUT))
    return Found(found, tuple(flags))


def _listed(sample: Sample, sentences: Sequence[Sentence]) -> tuple[Citation, ...] | None:
    """Return the citations that came in lists; None where none did."""
    own = sample.sentences or ()
    if all(each.citations is None for each in own):
        return None
    ids = [chunk.chunk_id for chunk in sample.chunks]
    targets: dict[int | str, str] = {**dict(enumerate(ids)), **{each: each for each in ids}}
    return tuple(
        Citation(
            sentence=sentence.index,
            marker=targets.get(cited, str(cited)),
            start=sentence.end,
            end=sentence.end,
            chunk_id=targets.get(cited),
        )
        for each, sentence in zip(own, sentences, strict=True)
        for cited in each.citations or ()
    )


def positions(citations: Iterable[Citation], chunks: Sequence[Chunk]) -> dict[int, tuple[int, ...]]:
    """Return the 0-based positions in `chunks` that each sentence cites, ascending, by its index.

    An id that several chunks share means all of them.
    """
    places: dict[str, list[int]] = {}
    for position, chunk in enumerate(chunks):
        places.setdefault(chunk.chunk_id, []).append(position)
    cited: dict[int, set[int]] = {}
    for citation in citations:
        if citation.chunk_id in places:
            cited.setdefault(citation.sentence, set()).update(places[citation.chunk_id])
    return {sentence: tuple(sorted(found)) for sentence, found in sorted(cited.items())}


_LONGEST_ID: Final = 2000
_SHOWN: Final = 80
_PATTERN_SECONDS: Final = 1.0
_PATTERN_SECONDS_A_CHARACTER: Final = 1e-6
_MOST_DIGITS: Final = 3

_LABEL = lazy_pattern(
    r"(?i:citations?|cite|sources?|references?|refs?|documents?|docs?|passages?|chunks?|contexts?"
    r"|id|see)(?:\s*+[:：#]\s*+|\s++|(?=\d))"
    r"|(?:来源|文档|文段|资料|段落|片段|文献|出处|参考|引用|参见|见)\s*+(?:[:：]\s*+)?"
)
# `section 4.2` in `[cli.md, section 4.2]`.
_LOCATOR = re.compile(
    r"(?i:section|sec\.|page|pp?\.|chapter|§)s?\s?[\d.–-]{1,20}|第[\d.]{1,9}[节章页条]"
)
_LETTERS = re.compile(r"[^\W\d_]+")
_DIGITS = re.compile(r"\d+")
_LIKE_ID = re.compile(r"(?=\D*\d)[^\W\d_]{2}[\w#/.:-]*+")
_HASHED = re.compile(r"([^\W_][^\s#/@]*[^\W_])#\w[^\s@]*+")
# Words before a `#` that do not name a document: `PR#12`.
_COUNTER = re.compile(r"(?i)pr|gh|issues?|bugs?|no|nr|tickets?|items?|rooms?|apt|unit|第|编号|号")
_NAMING_SIGN = re.compile(r"[#/\\:_@|=]")
_BRACKET = re.compile(r"[\[\]()【】［］（）]")

# What looks like a citation: a noun with a name or number, a file, an id.
_NOUN = r"""(?i:citation|cite|source|reference|ref|document|doc|passage|chunk|context|excerpt)s?"""
_NOUN_ZH = "(?:来源|文档|文段|资料|段落|片段|文献|出处|引用)"
_FILE = r"[\w./-]{1,80}\.(?:md|txt|pdf|html?|docx?|pptx?|xlsx?|csv|rst)\b"
_LOOKS_NAMED = lazy_pattern(
    rf"{_NOUN}(?:\s?[:#]\s?\S|[ _-]?\d|[A-Z])|{_NOUN_ZH}\s?(?:[:：]\s?\S|\d)|{_FILE}(?:[#:, ]|$)"
)
_LOOKS_ID = re.compile(
    r"""
      [a-z]{2,} [:#] (?!(?:str|int|float|bool|list|dict)(?![\w-])) [\w-]{2,}
    | (?=\D*\d) [^\W\d_]{2,} [\w.-]* (?: [#_:/] | -\w+- ) [\w#/.:-]+
    | (?=[a-f-]*\d) (?=[\d-]*[a-f]) [\da-f]{6,} (?: - [\da-f]{4,} ){0,4}
    """,
    re.VERBOSE,
)
_LOOKS_REFERRED = lazy_pattern(
    rf"""
      (?: (?i:see|in|from|cf\.)\s | [参见] )? \s?
      (?: {_NOUN} (?:\s?[:#]\s?|\s) (?: \d+ (?!\w|\s(?:of|pages?)\b) | {_FILE} )
        | {_NOUN_ZH} \s? [:：]? \s? \d )
    | (?i:see) \s {_FILE}
    """,
    re.VERBOSE,
)


class Identifiers:
    """The chunk ids of one sample, and the ids that were retrieved but not shown."""

    def __init__(self, shown: Sequence[str], retrieved: Sequence[str] = ()) -> None:
        ids = dict.fromkeys([*shown, *retrieved])
        names = [chunk_id for chunk_id in ids if not chunk_id.isdecimal()]
        shown_ids = set(shown)
        self._shown = list(shown)
        self._exact: Mapping[str, str | None] = {i: i if i in shown_ids else None for i in ids}
        self._folded: dict[str, list[str]] = {}
        for chunk_id in names:
            self._folded.setdefault(_fold(chunk_id), []).append(chunk_id)
        self._shapes = {_shape(chunk_id) for chunk_id in names}
        self._skeletons = {_skeleton(chunk_id) for chunk_id in names}
        self.longest = min(_LONGEST_ID, max(map(len, ids), default=0))
        """Characters of the longest id."""
        self.bracketed = any(map(_BRACKET.search, ids))
        """Whether any id has brackets in it."""
        self._hashed = any(map(_HASHED.match, names))
        self.read = cache(self._read)

    def _read(self, content: str, form: Form, *, numeric: bool) -> Targets | None:
        """Return the names in the content of a marker, in order and each once; None for text."""
        whole = self.id(content)
        if whole or form is Form.TARGET:
            return whole
        parts = split_parts(content)
        id_parts = [part for part in parts if self.id(part) or not _LOCATOR.fullmatch(part)]
        parts = id_parts or parts
        read = [self._part(part, form, numeric=numeric) for part in parts]
        targets: dict[tuple[str, str | None], None] = {}
        for part, found in zip(parts, read, strict=True):
            # A token beside an id that looks like one is meant as one.
            invented = any(read) and form is not Form.LINK and _LIKE_ID.fullmatch(part)
            if found is None and not invented:
                return None
            targets.update(dict.fromkeys(found or ((part, None),)))
        return tuple(targets)

    def _part(self, part: str, form: Form, *, numeric: bool) -> Targets | None:
        """Return the names in one part of a marker: `docA#3`, `Source: 2`, `1-3`."""
        strict = form is Form.ROUND
        find = self.id if form is Form.LINK else partial(self.name, strict=strict)
        label = _LABEL.match(part)
        rest = part[label.end() :] if label else part
        numbers = read_numbers(rest)
        if numbers is not None and numeric:
            return find(part) or self.numbers(numbers)
        whole = part if numbers else rest
        invented = form is not Form.LINK and self._invented(whole, strict=strict)
        return find(part) or find(whole) or (((whole, None),) if invented else None)

    def _invented(self, token: str, *, strict: bool) -> bool:
        """Return whether a token has a `#` as the known ids do; with `strict` also a digit."""
        found = _HASHED.fullmatch(token) if self._hashed else None
        if found is None or _COUNTER.fullmatch(found[1]):
            return False
        return not strict or bool(_DIGITS.search(token))

    def id(self, token: str) -> Targets | None:
        """Return the one id that equals the token up to width and case; None for a plain number."""
        if token.isdecimal():
            return None
        if token in self._exact:
            return ((token, self._exact[token]),)
        folded = self._folded.get(_fold(token), [])
        return ((folded[0], self._exact[folded[0]]),) if len(folded) == 1 else None

    def numbers(self, numbers: Sequence[str]) -> Targets | None:
        """Return the chunk of each number: the one with that id, else the one at that place from 1.

        None if a number of four or more digits is neither, because it is a year and no citation.
        """
        targets: list[tuple[str, str | None]] = []
        for number in numbers:
            plain = str(int(number))
            bearer = next((n for n in (number, plain) if self._exact.get(n) is not None), None)
            if bearer is not None:
                targets.append((bearer, bearer))
            elif 1 <= int(number) <= len(self._shown):
                targets.append((plain, self._shown[int(number) - 1]))
            elif len(number) <= _MOST_DIGITS or number in self._exact:
                targets.append((plain, None))
            else:
                return None
        return tuple(targets)

    def name(self, token: str, *, strict: bool = False) -> Targets | None:
        """Return the id that equals the token, or a dangling name if it has the shape of an id.

        Beside `docA#3`, `docB#9` is a name by its `#`. Beside `doc-1`, `COVID-19` has the same
        shape and is prose: a shape of one word and a number needs the word of a known id. With
        `strict`, for round brackets, a name needs a sign and a digit.
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
    """Replace runs of letters of any script by A and of digits by 9: `docA#sec3` gives `A#A9`."""
    return _DIGITS.sub("9", _LETTERS.sub("A", unicodedata.normalize("NFKC", token)))


def _skeleton(token: str) -> str:
    """Fold a token and replace runs of digits by 9, or each digit where there are no letters."""
    folded = _fold(token)
    return _DIGITS.sub("9", folded) if _LETTERS.search(folded) else re.sub(r"\d", "9", folded)


_NESTING: Final = frozenset("[(【（［")


class _Span(NamedTuple):
    start: int
    end: int
    targets: Targets


def _custom(sample: Sample, pattern: str | None, known: Identifiers) -> Iterator[_Span]:
    """Yield the matches of the user's own pattern, by their first group or else as a whole."""
    if pattern is None:
        return
    import regex  # noqa: PLC0415  for those who have a pattern

    allowed = _PATTERN_SECONDS + _PATTERN_SECONDS_A_CHARACTER * len(sample.answer)
    try:
        found = regex.finditer(pattern, sample.answer, timeout=allowed)
        # One more than are read, by which `find` sees that there are too many.
        matches = list(islice((each for each in found if each[0]), MOST_MARKERS + 1))
    except regex.error as error:
        raise ConfigError(
            f"citation_pattern {clip(pattern, _SHOWN)!r} is no regular expression: {error}; "
            "its first group, or else the whole match, should be a chunk id or number"
        ) from None
    except (TimeoutError, MemoryError):
        raise ConfigError(
            f"citation_pattern {clip(pattern, _SHOWN)!r} takes more than {allowed:.1f} s of "
            f"computing for answer {sample.qid!r}; "
            "give a simpler pattern, without a repeat inside a repeat"
        ) from None
    for match in matches:
        token = ((match[1] if match.re.groups else None) or match[0]).strip()
        targets = known.read(token, Form.LINK, numeric=True)
        yield _Span(match.start(), match.end(), targets or ((token, None),))


def _bracketed(text: str, known: Identifiers) -> tuple[list[_Span], list[_Span]]:
    """Return the brackets that cite, and those that look like citations and name no chunk."""
    done = 0
    spans: list[_Span] = []
    unmatched: list[_Span] = []
    for marker in find_markers(text, MOST_CHARACTERS_IN_BRACKETS + known.longest):
        if marker.start < done:
            continue
        targets = _resolve(text, marker, known)
        if targets:
            spans.append(_Span(marker.start, marker.end, targets))
        elif _looks_cited(text, marker):
            unmatched.append(_Span(marker.start, marker.end, ()))
        if targets or marker.opaque:
            done = marker.end
    return spans, unmatched


def _looks_cited(text: str, marker: Marker) -> bool:
    """Return whether a marker that names no chunk looks like a citation.

    In: `[doc:plans]`, `[Source: plans.md]`, `[kb_7].`, `(see cli.md, section 4.2)`, `（文档2）`.
    Out: `[注]`, `[sic]`, `[2023]`, `[citation needed]`, `[GPT-4]`, links and what is in code.
    """
    start, end, content, form, numeric, _ = marker
    if form is Form.SQUARE:
        if not numeric or not content or not _NESTING.isdisjoint(content):
            return False
        closes = _CLOSED.match(text, end) and not re.match("[a-zA-Z0-9_]", text[max(0, start - 1)])
        ids = all(map(_LOOKS_ID.fullmatch, split_parts(content)))
        return bool(_LOOKS_NAMED.match(content) or (closes and ids))
    return form is Form.ROUND and _LOOKS_REFERRED.match(content) is not None


def _resolve(text: str, marker: Marker, known: Identifiers) -> Targets | None:
    start, end, content, form, *_ = marker
    if form is Form.NEVER or not content:
        return None
    if known.bracketed and (found := known.id(text[start:end])):
        return found
    nested = not known.bracketed and not _NESTING.isdisjoint(content)
    if nested:
        return None
    return known.read(marker.content, marker.form, numeric=marker.numeric)


def _worded(text: str, known: Identifiers) -> Iterator[_Span]:
    for start, end, numbers in islice(find_phrases(text), MOST_MARKERS + 1):
        each = (known.numbers((number,)) or () for number in numbers)
        known_id = known.name(text[start:end])
        yield _Span(start, end, known_id or tuple(target for one in each for target in one))


def _without(code: Sequence[tuple[int, int]], spans: Iterable[_Span]) -> Iterator[_Span]:
    """Yield the spans that do not start in code."""
    for span in spans:
        at = bisect_right(code, (span.start, span.start))
        if not any(start <= span.start < end for start, end in code[max(0, at - 1) : at + 1]):
            yield span


def _apart(first: Sequence[_Span], second: Iterable[_Span]) -> list[_Span]:
    """Merge two lists of spans in order, without spans of `second` that overlap one of `first`."""
    return sorted([*first, *_clear_of(first, second)], key=lambda span: span.start)


def _clear_of(first: Sequence[_Span], second: Iterable[_Span]) -> list[_Span]:
    """Return the spans of `second` that overlap no span of `first`."""
    starts = [span.start for span in first]
    return [
        span
        for span in second
        if (at := bisect_right(starts, span.end - 1)) == 0 or first[at - 1].end <= span.start
    ]


# The audit.


class _Finding(NamedTuple):
    """The consequence of a sentence's outcome for the chunks that it cites."""

    message: str
    """The key of the message for a citation that is not valid."""
    valid: frozenset[str] = frozenset()
    suggested: str | None = None
    """The first supporting chunk that the sentence does not cite."""
    failure: Unscored | None = None


def audit(
    citations: Sequence[Citation], outcomes: Mapping[int, JudgeOutcome], asked: JudgeRequest
) -> tuple[Citation, ...]:
    """Give every citation in a judged sentence its status, a reason, and a better chunk if any.

    `valid`: its chunk is in the verdict's `supporting`; or no cited chunk is, and `cited_support`
    is full or partial, so that the cited chunks together support the sentence. No citation is
    valid under `contradicted`, or under a language model's `none`. `dangling`: it resolves to no
    chunk, whatever the verdict. `unjudged`: there is no verdict, or only that of a fallback. All
    others are `unsupported`. Citations in a sentence without an outcome, or with `no_claim`, keep
    status null and are not counted.
    """
    cited = defaultdict[int, set[str]](set)
    for each in citations:
        cited[each.sentence].update([] if each.chunk_id is None else [each.chunk_id])
    findings = {index: _finding(outcomes.get(index), chunks) for index, chunks in cited.items()}
    # The language is found once a sentence, because a sentence may have 50,000 citations.
    languages = {index: language_of(asked.claim(index)) for index in cited}

    def audited(citation: Citation) -> Citation:
        finding = findings[citation.sentence]
        if finding is None or citation.chunk_id in finding.valid:
            status = None if finding is None else CitationStatus.VALID
            return citation.model_copy(update={"status": status, "suggested": None, "reason": ""})
        key, values = finding.message, dict[str, object]()
        status = CitationStatus.UNSUPPORTED
        if citation.chunk_id is None:
            status, (key, values) = CitationStatus.DANGLING, _dangling(citation, asked)
        elif finding.failure is not None:
            status = CitationStatus.UNJUDGED
            values = {"failure": finding.failure.reason.value.replace("_", " ")}
        reason = Messages.of("citations")(key, languages[citation.sentence], **values)
        update = {"status": status, "suggested": finding.suggested, "reason": reason}
        return citation.model_copy(update=update)

    return tuple(map(audited, citations))


def _finding(outcome: JudgeOutcome | None, cited: set[str]) -> _Finding | None:
    """Return the finding of a sentence; None where its citations are not counted."""
    if (failure := failure_of(outcome)) is not None:
        return _Finding("failed", failure=failure)
    if not isinstance(outcome, Verdict) or outcome.support is Support.NO_CLAIM:
        return None
    if outcome.support is Support.CONTRADICTED:
        return _Finding("contradicted")
    # Similarity never says `partial`, so a sentence that it calls `none` may hold in part.
    if outcome.support is Support.NONE and (outcome.source == "llm" or not outcome.supporting):
        return _Finding("unsupported")
    valid = cited.intersection(outcome.supporting)
    if outcome.cited_support in SUPPORTED and not valid:
        valid = cited
    better = next((chunk for chunk in outcome.supporting if chunk not in cited), None)
    return _Finding("alone", frozenset(valid), better)


def _dangling(citation: Citation, asked: JudgeRequest) -> tuple[str, dict[str, object]]:
    """Return the key and values of the message that says what the marker could have named."""
    chunks = asked.chunks
    if not chunks:
        return "none", {}
    first = flat(chunks[0].chunk_id)
    if citation.start == citation.end:
        return "listed", {"first": first, "last": len(chunks) - 1}
    if any(map(str.isalpha, citation.marker)):
        return "unknown", {"first": first}
    return "number", {"count": len(chunks)}
