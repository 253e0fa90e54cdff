"""Find the citations of an answer, and the chunks they resolve to."""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from judge.answer.identifiers import Identifiers, Targets
from judge.answer.markers import CONTENT_LIMIT, Form, Marker, find_markers
from judge.answer.phrases import find_phrases
from judge.errors import ConfigError
from judge.records import Chunk, Citation, Rules, Sample, Sentence, SentenceKind
from judge.records.run import compile_pattern

_TASK = re.compile(r"(?:^|\n)[ \t>]*(?:[-*+]|\d+[.)])[ \t]+$")


class _Span(NamedTuple):
    start: int
    end: int
    targets: Targets


def find(sample: Sample, sentences: Sequence[Sentence], rules: Rules) -> tuple[Citation, ...]:
    """Find every citation in the answer, in order; those in non-claims too.

    A number is a 1-based position in `sample.chunks`, unless a chunk bears it as its id. A token
    is an id if it equals one that was retrieved, or has the shape of one; it dangles unless it is
    among `sample.chunks`. A marker belongs to the sentence it starts in, else to the one before.
    One that the reader's own pattern finds is read that way only; brackets come before phrases.

    Args:
        sample: the answer and its chunks.
        sentences: its sentences, ascending; where there are none, nothing can be cited.
        rules: `prose_citations` and `citation_pattern` widen what counts.

    Returns:
        One entry per cited chunk, with status null: `[1, 2]` gives two with the same marker.

    Raises:
        ConfigError: `rules.citation_pattern` is no regular expression.
    """
    known = Identifiers([chunk.chunk_id for chunk in sample.chunks], sample.retrieved or ())
    text = sample.answer
    spans = list(_custom(text, rules.citation_pattern, known))
    code = [(s.start, s.end) for s in sentences if s.kind is SentenceKind.CODE]
    spans = _apart(spans, _without(code, _bracketed(text, known)))
    if rules.prose_citations:
        spans = _apart(spans, _without(code, _worded(text, known)))
    starts = [sentence.start for sentence in sentences]
    return tuple(
        Citation(
            sentence=sentences[max(0, bisect_right(starts, span.start) - 1)].index,
            marker=text[span.start : span.end],
            start=span.start,
            end=span.end,
            chunk_id=chunk_id,
        )
        for span in (spans if sentences else ())
        for chunk_id in dict(span.targets).values()
    )


def positions(citations: Iterable[Citation], chunks: Sequence[Chunk]) -> dict[int, tuple[int, ...]]:
    """For `JudgeRequest.cites`: sentence index → 0-based positions in `chunks`, ascending.

    An id that several chunks share means all of them; a sentence whose citations all dangle is
    absent.
    """
    places: dict[str, list[int]] = {}
    for position, chunk in enumerate(chunks):
        places.setdefault(chunk.chunk_id, []).append(position)
    cited: dict[int, set[int]] = {}
    for citation in citations:
        if citation.chunk_id in places:
            cited.setdefault(citation.sentence, set()).update(places[citation.chunk_id])
    return {sentence: tuple(sorted(found)) for sentence, found in sorted(cited.items())}


def _custom(text: str, pattern: str | None, known: Identifiers) -> Iterator[_Span]:
    if pattern is None:
        return
    try:
        compiled = compile_pattern(pattern)
    except ValueError as error:
        raise ConfigError(
            f"citation_pattern {pattern!r} {error}; "
            "its first group, or else the whole match, should be a chunk id or number"
        ) from None
    for match in compiled.finditer(text):
        if match.end() == match.start():
            continue
        token = ((match[1] if compiled.groups else None) or match[0]).strip()
        targets = known.read(token, Form.LINK, numeric=True)
        yield _Span(*match.span(), targets or ((token, None),))


def _bracketed(text: str, known: Identifiers) -> Iterator[_Span]:
    done = 0
    for marker in find_markers(text, CONTENT_LIMIT + known.longest):
        if marker.start < done:
            continue
        targets = _resolve(text, marker, known)
        if targets:
            yield _Span(marker.start, marker.end, targets)
        if targets or marker.opaque:
            done = marker.end


def _resolve(text: str, marker: Marker, known: Identifiers) -> Targets | None:
    if marker.form is Form.NEVER or not marker.content:
        return None
    if known.bracketed and (found := known.id(text[marker.start : marker.end])):
        return found
    if not known.bracketed and any(sign in marker.content for sign in "[(【（［"):
        return None
    line = text[max(0, marker.start - 20) : marker.start]
    if marker.content in {"x", "X"} and _TASK.search(line):
        return None
    return known.read(marker.content, marker.form, numeric=marker.numeric)


def _worded(text: str, known: Identifiers) -> Iterator[_Span]:
    for phrase in find_phrases(text):
        found = known.name(text[phrase.start : phrase.end])
        each = (known.numbers((number,)) or () for number in phrase.numbers)
        yield _Span(phrase.start, phrase.end, found or tuple(t for one in each for t in one))


def _without(code: Sequence[tuple[int, int]], spans: Iterable[_Span]) -> Iterator[_Span]:
    """The spans that do not start in code."""
    for span in spans:
        at = bisect_right(code, (span.start, span.start))
        if not any(start <= span.start < end for start, end in code[max(0, at - 1) : at + 1]):
            yield span


def _apart(first: Sequence[_Span], second: Iterable[_Span]) -> list[_Span]:
    """Both, in order; of `second` only what overlaps nothing in `first`."""
    starts = [span.start for span in first]
    kept = [
        span
        for span in second
        if (at := bisect_right(starts, span.end - 1)) == 0 or first[at - 1].end <= span.start
    ]
    return sorted([*first, *kept], key=lambda span: span.start)
