"""Signatures say how a number was made; numbers with equal signatures are comparable."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Final, Self

BAR: Final = "|"
"""Separates the parts of a printed signature; no part contains it."""

_OPTIONS: Final = "options"
"""Name of the parts that are a word alone, such as `json_schema`."""
_SERVED: Final = "served"
"""Name of the part with the model that answered, if it is not the requested one."""


@cache
def release(package: str) -> str:
    """Return the version of an installed package, or raise PackageNotFoundError."""
    from importlib.metadata import version  # noqa: PLC0415  --help stays quick

    return version(package)


@dataclass(frozen=True, slots=True)
class Signature:
    """A signature of a number: its maker and the settings that it depends on.

    Printed it reads `MAKER|PART|PART…`. A part is `NAME:VALUE` or a word alone.

    >>> made = Signature.parse("similarity:lexical-v1|prior:0.9|t:0.8716")
    >>> made.source, made.part("t")
    ('similarity', '0.8716')
    >>> str(made.having("split:3"))
    'similarity:lexical-v1|prior:0.9|t:0.8716|split:3'
    """

    maker: str
    """The maker, `KIND:NAME` or a word: `llm:gpt-5@api.openai.com`, `retrieval`."""
    parts: tuple[str, ...] = ()
    """The settings that the number depends on, in the order of printing."""

    @classmethod
    def parse(cls, text: str) -> Self:
        """Return the signature of a printed text; any text is one, and prints unchanged."""
        maker, *parts = text.split(BAR)
        return cls(maker, tuple(parts))

    def __str__(self) -> str:
        return BAR.join(self.whole)

    @property
    def whole(self) -> tuple[str, ...]:
        """The maker and the parts."""
        return (self.maker, *self.parts)

    @property
    def source(self) -> str:
        """The kind of the maker, such as `llm`, `similarity` or `nli`."""
        return self.maker.partition(":")[0]

    def part(self, name: str) -> str | None:
        """Return the value of the first part `name:VALUE`, or None."""
        pairs = (part.partition(":") for part in self.whole)
        return next((value for found, colon, value in pairs if colon and found == name), None)

    @property
    def threshold(self) -> float | None:
        """The least probability that counts as `full`, or None."""
        try:
            least = float(self.part("t") or "")
        except ValueError:
            return None
        return least if 0 < least <= 1 else None  # a language model's t is its temperature

    def by_name(self) -> dict[str, str]:
        """Return the values by name, in order; values of one name are joined by a space.

        >>> Signature.parse("llm:m@host|json_schema|t:0|max_tokens").by_name()
        {'llm': 'm@host', 'options': 'json_schema max_tokens', 't': '0'}
        """
        values: dict[str, list[str]] = {}
        for part in self.whole:
            name, colon, value = part.partition(":")
            values.setdefault(name if colon else _OPTIONS, []).append(value if colon else part)
        return {name: " ".join(found) for name, found in values.items()}

    def having(self, *parts: str) -> "Signature":
        """Return the signature with these parts added; empty ones are left out."""
        return Signature(self.maker, (*self.parts, *filter(None, parts)))

    def without(self, *names: str) -> "Signature":
        """Return the signature without the parts that have these names."""
        kept = (part for part in self.parts if part.partition(":")[0] not in names)
        return Signature(self.maker, tuple(kept))

    def answers_to(self, text: str) -> bool:
        """Return whether a text names this judge: its kind, model, maker, or maker and first parts.

        A part of a name is not enough: `llm:gpt-5` does not name `llm:gpt-5-mini`.

        >>> made = Signature.parse("llm:qwen3:32b@localhost|prompt:faithfulness-v1|t:0")
        >>> [made.answers_to(text) for text in ("llm", "llm:qwen3:32b", "llm:qwen3", "similarity")]
        [True, True, False, False]
        """
        maker, *parts = text.split(BAR)
        model, host, _ = self.maker.rpartition("@")
        if text == self.source or (host and text == model):
            return True
        return maker == self.maker and tuple(parts) == self.parts[: len(parts)]

    def requested(self) -> "Signature":
        """Return the signature without the model that the server named."""
        return self.without(_SERVED)

    def served_by(self, other: "Signature") -> "Signature":
        """Return the signature with the serving model of another one, at the same place."""
        parts = list(self.requested().parts)
        for place, part in enumerate(other.parts):
            if part.partition(":")[0] == _SERVED:
                parts.insert(place, part)
        return Signature(self.maker, tuple(parts))


def part(name: str, value: str) -> str:
    """Return a part with a value from outside: a bar in the value becomes a slash."""
    return f"{name}:{value.replace(BAR, '/')}"


def parts_apart(signatures: Iterable[str]) -> Iterator[str]:
    """Yield a line for each part in which the signatures differ.

    Different kinds of judges, such as `llm` and `nli`, have no parts in common: one line names the
    judges. The parts of a fallback are compared with those of another fallback.

    >>> list(parts_apart(["nli:m|prior:0.9", "nli:m|prior:0.8"]))
    ['prior: 0.9, 0.8']
    >>> list(parts_apart(["similarity:a|t:0.84", "llm:m@h|t:0|fallback:similarity:a|t:0.84"]))
    ['judge: similarity:a, llm:m@h']
    """
    made = [Signature.parse(text) for text in dict.fromkeys(signatures)]
    if len({each.source for each in made}) > 1:
        yield f"judge: {', '.join(dict.fromkeys(each.maker for each in made))}"
        return
    parts = [_with_fallback(each) for each in made]
    for part in dict.fromkeys(name for each in parts for name in each):
        values = list(dict.fromkeys(each.get(part, "–") for each in parts))
        if len(values) > 1:
            yield f"{part}: {', '.join(values)}"


def _with_fallback(made: Signature) -> dict[str, str]:
    """Return the values by name; the names of a fallback's parts begin with `fallback`."""
    own, found, rest = str(made).partition(f"{BAR}fallback:")
    fallback = Signature.parse(rest).by_name() if found else {}
    second = {f"fallback {name}": value for name, value in fallback.items()}
    return Signature.parse(own).by_name() | second
