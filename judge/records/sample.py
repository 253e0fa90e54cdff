"""The base of all records, and the sample: an answer and its chunks."""

import operator
from collections.abc import Mapping
from functools import partial
from importlib import import_module
from typing import Annotated, Any, Final, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    FiniteFloat,
    JsonValue,
    model_validator,
)

from judge.errors import InputError
from judge.text.visible import clip

MOST_CHARACTERS: Final = 6_000_000
"""The longest answer or reference. Reading 5 MB takes up to a minute if each character is a
citation."""

MOST_SENTENCES: Final = 50_000
"""The most sentences of an answer; judging them takes about 9 seconds and 550 MB. An answer of more
counts as one claim without a verdict."""

MOST_CLAIM_CHARACTERS: Final = 50_000
"""The longest claim that a judge is asked about."""
_SHOWN: Final = 60
"""Characters of a value, in a message."""
_KINDS: Final[dict[type, str]] = {
    bool: "a boolean",
    int: "a number",
    float: "a number",
    str: "text",
    list: "a list",
    dict: "an object",
    type(None): "null",
}
_absent = partial(operator.is_, None)


def _short_enough(text: str) -> str:
    # A `max_length` would refuse half a pair of surrogates, too.
    if len(text) > MOST_CHARACTERS:
        raise ValueError(f"{len(text):,} characters, of which at most {MOST_CHARACTERS:,} are read")
    return text


_Answer = Annotated[str, AfterValidator(_short_enough)]


class Record(BaseModel):
    """Frozen, closed to unknown keys, written under its JSON names."""

    model_config = ConfigDict(
        # Most runs use half of the records only, so validators are built at first use.
        defer_build=True,
        frozen=True,
        extra="forbid",
        serialize_by_alias=True,
        validate_by_name=True,
    )


class Document(Record):
    """A record that is a file, or a line of one, and says in which layout it is written."""

    schema_: Literal[1] = Field(default=1, alias="schema")
    """The version of this layout; pydantic reserves the name without an underscore."""


class Chunk(Record):
    """One retrieved passage, with its text."""

    chunk_id: str
    """The name citations use. Chunks of one sample may share it; a citation then means them all."""
    text: str
    """The passage exactly as the generator saw it; evidence offsets point into it."""


class GivenSentence(Record):
    """A sentence of an answer that came split, and what it cites."""

    start: int
    """First character, into the answer."""
    end: int
    """One past the last character."""
    citations: tuple[int | str, ...] | None = Field(default=None, exclude_if=_absent)
    """The citations in order: positions in `chunks` from 0, or ids; null where none were listed."""


class Sample(Record):
    """One question, its answer, and what was retrieved for it."""

    qid: str
    """Unique within a run; the line number where the input gives none."""
    query: str = ""
    """The user's question; may be empty."""
    answer: _Answer = ""
    """The generated answer; sentence and citation offsets are characters into it."""
    sentences: tuple[GivenSentence, ...] | None = Field(default=None, exclude_if=_absent)
    """The sentences of an answer that is already split. They are given in order, as texts, or as
    objects of `text` (or `start` and `end`) and `citations`. Text between them is not judged, and
    blank sentences are left out. An absent answer becomes the texts, joined by a space. Markers in
    the text count as no citations where any sentence lists its citations."""
    chunks: tuple[Chunk, ...] = ()
    """The chunks that the generator saw, in its order; without any, nothing is supported."""
    retrieved: tuple[str, ...] | None = None
    """Ranked chunk ids; where null, the order of `chunks` is the ranking."""
    gold_answer: _Answer | None = None
    """The reference answer, if there is one."""
    gold_evidence: tuple[str, ...] | None = None
    """Ids of the chunks known to hold the answer."""
    relevance: dict[str, FiniteFloat] | None = None
    """Graded relevance by chunk id, 0 and up."""
    metadata: dict[str, JsonValue] = Field(default_factory=dict)
    """Every other key of the input line, untouched."""

    @property
    def has_gold(self) -> bool:
        """Whether gold says which chunks hold the answer, even if none does."""
        return self.gold_evidence is not None or self.relevance is not None

    @model_validator(mode="before")
    @classmethod
    def _with_sentences(cls, given: Any) -> Any:  # noqa: ANN401  whatever is validated
        if not isinstance(given, dict) or given.get("sentences") is None:
            return given
        if not isinstance(given.get("answer", ""), str | None):
            return given
        answer, sentences = _placed(given["sentences"], given.get("answer") or "")
        return {**given, "answer": answer, "sentences": sentences}

    @staticmethod
    def of(
        given: object,
        *,
        number: int = 1,
        map: Mapping[str, str] | None = None,  # noqa: A002  as the setting is called
    ) -> "Sample":
        """Return the sample in a row or an object of any tool whose files are read.

        Args:
            given: a mapping, a model, a data class, a row of a table, or a sample.
            number: the qid, where it has none.
            map: paths by field, for what is not found without.

        Raises:
            InputError: what is missing or wrong, in one line.
            ConfigError: the map names no field, or no path.
        """
        if isinstance(given, Sample):
            return given
        # The readers of shapes import the records, so that they are imported here only when called.
        sample: Sample = import_module("judge.inputs.samples").sample_of(given, number, map)
        return sample


def _placed(given: object, answer: str) -> tuple[str, list[GivenSentence]]:
    """Return an answer and its sentences; raise InputError where they do not fit."""
    field = "sentences"
    if not isinstance(given, list | tuple):
        raise unfit(given, "a list of texts or objects", field)
    if len(given) > MOST_SENTENCES:
        what = f"has {len(given):,} sentences, of which at most {MOST_SENTENCES:,} are read"
        raise InputError(f"{what}; split the answer", field=field)
    entries: list[Any] = [{"text": each} if isinstance(each, str) else each for each in given]
    if not answer.strip():
        # The places that came with the texts are those of another answer.
        entries = [{**each, "start": None} if _text_of(each) else each for each in entries]
        answer = " ".join(filter(None, map(_text_of, entries)))
    placed, at = list[GivenSentence](), 0
    for number, entry in enumerate(entries):
        start, end = _span(entry, answer, at, f"{field}[{number}]")
        citations = _citations(dict(entry).get("citations"), f"{field}[{number}].citations")
        cut = answer[start:end]
        if text := cut.strip():
            first = start + len(cut) - len(cut.lstrip())
            at = first + len(text)
            placed.append(GivenSentence(start=first, end=at, citations=citations))
    if answer.strip() and not placed:
        what = "holds no sentence, and the answer is not empty"
        raise InputError(f"{what}; leave it out to have the answer split", field=field)
    return answer, placed


def _text_of(sentence: object) -> str | None:
    text = sentence.get("text") if isinstance(sentence, Mapping) else None
    return text.strip() if isinstance(text, str) else None


def _span(sentence: object, answer: str, at: int, where: str) -> tuple[int, int]:
    """Return the span of a sentence in the answer, searching its text from character `at` on."""
    fields = dict(sentence) if isinstance(sentence, Mapping | GivenSentence) else {}
    start, end, text = fields.get("start"), fields.get("end"), _text_of(sentence)
    if type(start) is int and type(end) is int:
        if at <= start <= end <= len(answer):
            return start, end
        what = f"is [{start}, {end}], not within [{at}, {len(answer)}]"
        raise InputError(f"{what}, the rest of the answer there; correct it", field=where)
    if text is None:
        raise unfit(sentence, "a text, or an object with text, or with start and end,", where)
    start = answer.find(text, at)
    if start < 0:
        what = f"is not in the answer from character {at} on: {text[:_SHOWN]!r}"
        raise InputError(f"{what}; give the exact texts in their order", field=where)
    return start, start + len(text)


def _citations(given: object, where: str) -> tuple[int | str, ...] | None:
    if given is None:
        return None
    if not isinstance(given, list | tuple | Mapping):  # of a mapping the keys: id to confidence
        raise unfit(given, "a list of positions in the chunks, from 0, or of ids", where)
    for number, each in enumerate(given):
        if type(each) not in {int, str}:
            raise unfit(each, "a position from 0, or an id,", f"{where}[{number}]")
    return tuple(given)


def unfit(value: object, needed: str, field: str) -> InputError:
    """Return the error of a value of the wrong type, with the beginning of the value."""
    kind = _KINDS.get(type(value), f"a {type(value).__name__}")
    return InputError(f"is {kind}, {clip(repr(value), _SHOWN)}; {needed} is needed", field=field)
