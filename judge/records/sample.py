"""What every record has in common; and what is judged: an answer and its chunks."""

from collections.abc import Mapping
from importlib import import_module
from typing import Annotated, Final

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, JsonValue

MOST_CHARACTERS: Final = 6_000_000
"""Of an answer or reference: 5 MB of any text, and a minute of reading where each is a citation."""


def _short_enough(text: str) -> str:
    # A `max_length` would refuse half a pair of surrogates, too.
    if len(text) > MOST_CHARACTERS:
        raise ValueError(f"{len(text):,} characters, of which at most {MOST_CHARACTERS:,} are read")
    return text


_Answer = Annotated[str, AfterValidator(_short_enough)]


class Record(BaseModel):
    """Frozen, closed to unknown keys, written under its JSON names."""

    model_config = ConfigDict(
        # Half of them no run uses, nor a validator of its own for what stands within another.
        defer_build=True,
        frozen=True,
        extra="forbid",
        serialize_by_alias=True,
        validate_by_name=True,
    )


class Chunk(Record):
    """One retrieved passage, with its text."""

    chunk_id: str
    """The name citations use. Chunks of one sample may share it; a citation then means them all."""
    text: str
    """The passage exactly as the generator saw it; evidence offsets point into it."""


class Sample(Record):
    """One question, its answer, and what was retrieved for it."""

    qid: str
    """Unique within a run; the line number where the input gives none."""
    query: str = ""
    """The user's question; may be empty."""
    answer: _Answer = ""
    """The generated answer; sentence and citation offsets are characters into it."""
    chunks: tuple[Chunk, ...] = ()
    """What the generator saw, in the order it saw it. Empty is legal: nothing can be supported."""
    retrieved: tuple[str, ...] | None = None
    """Ranked chunk ids; where null, the order of `chunks` is the ranking."""
    gold_answer: _Answer | None = None
    """The reference answer, if there is one."""
    gold_evidence: tuple[str, ...] | None = None
    """Ids of the chunks known to hold the answer."""
    relevance: dict[str, float] | None = None
    """Graded relevance by chunk id, 0 and up."""
    metadata: dict[str, JsonValue] = Field(default_factory=dict)
    """Every other key of the input line, untouched."""

    @staticmethod
    def of(
        given: object,
        *,
        number: int = 1,
        map: Mapping[str, str] | None = None,  # noqa: A002  as the setting is called
    ) -> "Sample":
        """The sample in a row of any tool whose files are read, or in an object of the tool's.

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
        # The shapes stand above the records, and are loaded by name where they are asked for.
        sample: Sample = import_module("judge.files.shapes").sample_of(given, number, map)
        return sample
