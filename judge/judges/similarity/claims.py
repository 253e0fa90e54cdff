"""What a sentence claims, as opposed to what it cites."""

from bisect import bisect_left
from collections.abc import Sequence

from judge.records.request import JudgeRequest
from judge.text.words import blank


def claims(request: JudgeRequest, indexes: Sequence[int]) -> dict[int, str]:
    """By index, each sentence with its citation markers overwritten by spaces: an id is no claim.

    Every other character keeps its place.
    """
    starts = [start for start, _ in request.markers]
    claimed = {}
    for index in indexes:
        sentence = request.sentences[index]
        inside = slice(bisect_left(starts, sentence.start), bisect_left(starts, sentence.end))
        spans = [(a - sentence.start, b - sentence.start) for a, b in request.markers[inside]]
        claimed[index] = blank(sentence.text, spans)
    return claimed
