"""The judge by spans: which words of the answer does a classifier of tokens call hallucinated?"""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate
from operator import attrgetter
from typing import Final, NamedTuple

from judge.errors import ConfigError
from judge.judges import reason
from judge.messages import Messages, language_of
from judge.protocols import TokenClassifier
from judge.records import (
    Flag,
    FlagName,
    JudgeOutcome,
    JudgeRequest,
    Judgment,
    MarkedToken,
    Sentence,
    Support,
    Unscored,
    UnscoredReason,
    UnsupportedSpan,
    Verdict,
)
from judge.signature import Signature
from judge.text.fold import estimate_tokens
from judge.text.pieces import pieces
from judge.text.visible import clip, flat

FORM: Final = "lettucedetect-v1"
"""The form in which question and chunks are put to the model, part of the signature."""

_LEAST: Final = 16
"""Estimated tokens: a passage is not cut further."""

_MOST: Final = 16_384
"""Estimated tokens that no window has: they are cut before a model is asked."""
_BLOCK: Final = 64
"""Windows asked about together, so that memory does not grow with the answer."""
_SCRAP: Final = 16
"""A passage is not cut further than to such a part of a sentence, either."""
_NAMED: Final = 3
"""Spans that a reason names."""
_SHOWN: Final = 80
_UNREAD: Final = "some passages do not fit beside the sentence in what the model takes at once"
_NO_ROOM: Final = "the question leaves no room for anything else in what the model takes at once"
_UNSEEN: Final = "no token of the model stands in the sentence"


class _Window(NamedTuple):
    """What the model reads at once: some passages, and characters of the answer."""

    passages: tuple[str, ...]
    start: int
    end: int


class _Reading(NamedTuple):
    """What the model says under some chunks: by sentence, the characters and what is left open."""

    characters: dict[int, dict[int, float]]
    """By place in the answer, the lowest P(hallucinated) of any window."""
    unread: set[int]
    """Sentences beside which some passage did not fit."""


class SpanJudge:
    """Asks a classifier of tokens which words of the answer its chunks do not support.

    A token's P(hallucinated) is the lowest of all windows: what any of them supports is supported.
    A sentence's `score` is 1 minus the highest of its tokens, those of citation markers left out;
    it is `full` from `threshold` on, within (0, 1), else `none`, and `spans` says what is wrong.
    `partial` and `contradicted` are never said, and no evidence is known.

    Chunks and answer are read together where the model takes them; else the longer of the two is
    halved, chunks between or within them, the answer between sentences, until they fit. Of a
    sentence that is `full`, each chunk that it cites is read alone, and all of them together.

    Raises:
        ConfigError: `threshold` is out of range.
    """

    def __init__(
        self,
        classifier: TokenClassifier,
        *,
        threshold: float = 0.5,
        edition: tuple[str, ...] = (),
    ) -> None:
        if not 0 < threshold < 1:
            raise ConfigError(f"threshold must lie within 0 and 1, not {threshold!r}; try 0.5")
        self._classifier = classifier
        self._least = threshold
        made = Signature.parse(f"span:{classifier.signature}")
        self.signature = str(made.having(f"form:{FORM}", f"t:{threshold:g}", *edition))

    async def judge(self, request: JudgeRequest) -> Judgment:
        """One outcome per asked sentence; without a passage nothing is supported.

        Where the model fails, its failure is the outcome of every asked sentence. Where a passage
        does not fit beside a sentence, and no other supports it, that is `Unscored(truncated)`.
        """
        every = _passages(request, range(len(request.chunks)))
        if not every:
            return Judgment(outcomes={i: self._without(request, i) for i in request.ask})
        readings = await self._read(request, {every: request.ask})
        if isinstance(readings, Unscored):
            return Judgment(outcomes=dict.fromkeys(request.ask, readings))
        whole = readings[every]
        cited = defaultdict[tuple[str, ...], list[int]](list)
        for index in request.ask:
            if (cites := request.cites.get(index)) and self._label(whole, index) is Support.FULL:
                keys = dict.fromkeys(_passages(request, each) for each in (cites, *zip(cites)))
                for key in keys:
                    if key and key != every:
                        cited[key].append(index)
        more = await self._read(request, cited)
        if isinstance(more, Unscored):
            return Judgment(outcomes=dict.fromkeys(request.ask, more))
        readings |= more
        outcomes = {i: self._outcome(request, i, whole, readings) for i in request.ask}
        flags = tuple(
            Flag(name=FlagName.UNJUDGED_EVIDENCE, sentence=index)
            for index in sorted(whole.unread)
            if isinstance(outcomes[index], Verdict)
        )
        return Judgment(outcomes=outcomes, flags=flags)

    async def _read(
        self, request: JudgeRequest, wanted: Mapping[tuple[str, ...], Sequence[int]]
    ) -> dict[tuple[str, ...], _Reading] | Unscored:
        """What the model says of these sentences under each of these sets of passages."""
        bare = request.bare(0, len(request.answer))
        found = {key: _Reading({i: {} for i in asked}, set()) for key, asked in wanted.items()}
        opened = [(key, _Window(key, 0, len(bare))) for key in wanted]
        roomy = not request.query.strip()
        while opened:
            block, opened = opened[:_BLOCK], opened[_BLOCK:]
            told = await self._told(request.query, bare, [window for _, window in block])
            if not (roomy or isinstance(told, Unscored)) and None in told:
                # Beside a question that fills the model thousands of scraps would be read.
                told, roomy = await self._crowded(request.query, bare) or told, True
            if isinstance(told, Unscored):
                return told
            for (key, window), tokens in zip(block, told, strict=True):
                within = [
                    sentence
                    for sentence in map(request.sentences.__getitem__, wanted[key])
                    if window.start <= sentence.start and sentence.end <= window.end
                ]
                if tokens is not None:
                    _add(found[key], bare, within, window.start, tokens)
                elif halves := _halves(window, bare, within):
                    opened += [(key, half) for half in halves]
                else:
                    found[key].unread.update(each.index for each in within)
        return found

    async def _crowded(self, query: str, bare: str) -> Unscored | None:
        """The failure of a question that the model does not take even alone, or of the model."""
        told = await self._told(query, bare, [_Window((), 0, 0)])
        if isinstance(told, Unscored):
            return told
        lost = Unscored(reason=UnscoredReason.TRUNCATED, detail=_NO_ROOM)
        return lost if None in told else None

    async def _told(
        self, query: str, bare: str, windows: Sequence[_Window]
    ) -> list[Sequence[MarkedToken] | None] | Unscored:
        lang = language_of(bare)
        say = Messages.of("spans")
        question = estimate_tokens(query)
        pairs: dict[int, tuple[str, str]] = {}
        for at, (passages, start, end) in enumerate(windows):
            parts = sum(map(estimate_tokens, passages)), estimate_tokens(bare[start:end])
            if max(*parts, question) > _MOST:
                continue
            numbered = enumerate(passages, 1)
            lines = "\n".join(say("passage", lang, number=n, text=text) for n, text in numbered)
            asked = {"question": query, "count": len(passages), "passages": lines}
            context = say("question" if query.strip() else "summary", lang, **asked)
            pairs[at] = (context, bare[start:end])
        told = await self._classifier.classify(list(pairs.values())) if pairs else []
        if isinstance(told, Unscored):
            return told
        tokens = dict(zip(pairs, told, strict=True))
        return [tokens.get(at) for at in range(len(windows))]

    def _label(self, reading: _Reading | None, index: int) -> Support | None:
        """Null where no token tells it."""
        characters = reading.characters.get(index) if reading else None
        if not characters:
            return None
        return Support.FULL if self._holds(max(characters.values())) else Support.NONE

    def _holds(self, probability: float) -> bool:
        return _score(probability) >= self._least

    def _outcome(
        self,
        request: JudgeRequest,
        index: int,
        whole: _Reading,
        readings: Mapping[tuple[str, ...], _Reading],
    ) -> JudgeOutcome:
        label = self._label(whole, index)
        if label is not Support.FULL and index in whole.unread:
            return Unscored(reason=UnscoredReason.TRUNCATED, detail=_UNREAD)
        if label is None:
            return Unscored(reason=UnscoredReason.MISSING, detail=_UNSEEN)
        cites = request.cites.get(index, ())
        together = readings.get(_passages(request, cites))
        of_cited = Support.NONE
        if label is Support.FULL and self._label(together, index) is Support.FULL:
            of_cited = Support.FULL
        elif label is Support.FULL and together and index in together.unread:
            return Unscored(reason=UnscoredReason.TRUNCATED, detail=_UNREAD)
        alone = [
            at
            for at in (cites if label is Support.FULL else ())
            if self._label(readings.get(_passages(request, (at,))), index) is Support.FULL
        ]
        said = request.sentences[index].text
        spans = self._spans(request, whole.characters[index])
        words = list(dict.fromkeys(clip(flat(span.text), _SHOWN) for span in spans))
        return Verdict(
            support=label,
            supporting=tuple(dict.fromkeys(request.chunks[at].chunk_id for at in alone)),
            cited_support=of_cited if cites else None,
            reason=reason("marked", said, words[:_NAMED]) if words else "",
            score=_score(max(whole.characters[index].values())),
            source="span",
            signature=self.signature,
            spans=spans,
        )

    def _without(self, request: JudgeRequest, index: int) -> Verdict:
        """The verdict where there is no passage."""
        return Verdict(
            support=Support.NONE,
            cited_support=Support.NONE if request.cites.get(index) else None,
            reason=reason("no_chunks", request.sentences[index].text),
            score=0.0,
            source="span",
            signature=self.signature,
        )

    def _spans(
        self, request: JudgeRequest, characters: Mapping[int, float]
    ) -> tuple[UnsupportedSpan, ...]:
        """The characters that do not hold, those with only blanks between them as one."""
        found: list[tuple[int, int, float]] = []
        for at, probability in sorted(characters.items()):
            if self._holds(probability):
                continue
            first, most = at, probability
            if found and not request.answer[found[-1][1] : at].strip():
                first, _, before = found.pop()
                most = max(probability, before)
            found.append((first, at + 1, most))
        return tuple(
            UnsupportedSpan(
                text=request.answer[start:end], start=start, end=end, probability=round(most, 6)
            )
            for start, end, most in found
        )


def _passages(request: JudgeRequest, positions: Iterable[int]) -> tuple[str, ...]:
    """What stands in these chunks; what is retrieved twice is read once."""
    texts = [request.chunks[at].text for at in positions]
    return tuple(dict.fromkeys(text for text in texts if text.strip()))


def _add(
    reading: _Reading,
    bare: str,
    sentences: Iterable[Sentence],
    offset: int,
    tokens: Sequence[MarkedToken],
) -> None:
    """Keep the lower probability of each character of these sentences; of its tokens the higher.

    Windows may cut a word into other tokens: the first of a text is not the one behind a blank.
    """
    for sentence in sentences:
        first = bisect_left(tokens, sentence.start - offset, key=attrgetter("end"))
        here: dict[int, float] = {}
        for token in tokens[first:]:
            start = max(token.start + offset, sentence.start)
            if start >= sentence.end:
                break
            for at in range(start, min(token.end + offset, sentence.end)):
                if not bare[at].isspace():
                    here[at] = max(token.probability, here.get(at, 0.0))
        known = reading.characters[sentence.index]
        known |= {at: min(p, known.get(at, 1.0)) for at, p in here.items()}


def _score(probability: float) -> float:
    # To a machine 1 - .9 is less than .1, which a threshold of .1 would refuse.
    return round(1 - probability, 6)


def _halves(window: _Window, bare: str, sentences: Sequence[Sentence]) -> list[_Window]:
    """The window in two, the longer of passages and answer cut; empty where neither can be.

    What belongs to none of the sentences is left out once nothing else can be cut off.
    """
    passages, start, end = window
    if not sentences:
        return []
    answer = estimate_tokens(bare[start:end])
    said = [_Window(passages, *each) for each in _divided(sentences, start, end)]
    if said and sum(map(estimate_tokens, passages)) < answer:
        return said
    if not said and answer > _MOST:
        return []
    # Beside a sentence that takes most of the room, thousands of scraps would be read.
    least = _LEAST if said else max(_LEAST, answer // _SCRAP)
    return [_Window(half, start, end) for half in _parted(passages, least)] or said


def _parted(passages: tuple[str, ...], least: int) -> list[tuple[str, ...]]:
    """Passages in two halves of about the same length; one alone in overlapping pieces."""
    if len(passages) == 1:
        half = estimate_tokens(passages[0]) // 2
        if half < least:
            return []
        return [(passages[0][start:end],) for start, end, _ in pieces(passages[0], half)]
    sizes = list(accumulate(map(estimate_tokens, passages)))
    cut = min(range(1, len(sizes)), key=lambda at: abs(2 * sizes[at - 1] - sizes[-1]))
    return [passages[:cut], passages[cut:]]


def _divided(sentences: Sequence[Sentence], start: int, end: int) -> list[tuple[int, int]]:
    """The answer from `start` to `end` in two, cut before a sentence near its middle.

    One sentence, or some that overlap, are taken out of what stands around them.
    """
    ends = list(accumulate((each.end for each in sentences), max))
    cuts = [
        each.start
        for before, each in zip(ends, sentences[1:], strict=False)
        if before <= each.start
    ]
    if cuts:
        middle = min(cuts, key=lambda at: abs(2 * at - start - end))
        return [(start, middle), (middle, end)]
    own = (sentences[0].start, ends[-1])
    return [] if own == (start, end) else [own]
