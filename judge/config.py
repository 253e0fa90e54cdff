"""The settings of a run, checked when they are made."""

from collections.abc import Callable
from typing import Any, Self

from pydantic import Field, ValidationError, field_validator, model_validator

from judge.errors import ConfigError
from judge.records import Rules
from judge.records.record import Record
from judge.text.patterns import compile_pattern


class Config(Record):
    """Every setting that is not a place on disk.

    Raises:
        ConfigError: a setting is unknown or out of range; the message names it and its value.
    """

    prior: float = Field(default=0.9, gt=0, lt=1)
    """Share of sentences expected to be supported, for the similarity judge's probabilities."""
    concurrency: int = Field(default=64, ge=1)
    """Answers in flight at once."""
    max_unscored: float = Field(default=0.05, ge=0, le=1)
    """Share of claims without a verdict over which a run is not to be trusted."""
    seed: int = Field(default=0, ge=0)
    """Of the bootstrap intervals."""
    prose_citations: bool = False
    """Also read "passage 2", "文档2" as citations."""
    citation_pattern: str | None = None
    """One more regular expression for citations."""
    require_quotes: bool = False
    """Count a `full` or `partial` without a verified quote as unscored."""

    @property
    def rules(self) -> Rules:
        """The part of the settings that concerns the reading of answers."""
        return Rules(
            prose_citations=self.prose_citations,
            citation_pattern=self.citation_pattern,
            require_quotes=self.require_quotes,
        )

    @field_validator("citation_pattern")
    @classmethod
    def _is_a_pattern(cls, pattern: str | None) -> str | None:
        compile_pattern(pattern or "")
        return pattern

    @model_validator(mode="wrap")
    @classmethod
    def _name_the_setting(cls, data: Any, handler: Callable[[Any], Self]) -> Self:  # noqa: ANN401
        try:
            return handler(data)
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            name = ".".join(map(str, first["loc"]))
            if first["type"] == "extra_forbidden":
                known = ", ".join(cls.model_fields)
                raise ConfigError(f"unknown setting {name!r}; there are: {known}") from None
            value = first["input"]
            message = first["msg"].removeprefix("Value error, ")
            raise ConfigError(f"setting {name} = {value!r}: {message}") from None
