"""What every record has in common."""

from pydantic import BaseModel, ConfigDict


class Record(BaseModel):
    """Frozen, closed to unknown keys, written under its JSON names."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        use_attribute_docstrings=True,
        serialize_by_alias=True,
        validate_by_name=True,
    )
