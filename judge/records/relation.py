"""How one text bears on another, as a model of inference sees it."""

from typing import Annotated

from pydantic import Field

from judge.records.record import Record

_Probability = Annotated[float, Field(ge=0, le=1)]


class Relation(Record):
    """What a premise makes of a hypothesis. What is left of 1 is neither."""

    entailed: _Probability
    """P(the hypothesis follows from the premise)."""
    contradicted: _Probability = 0.0
    """P(the premise says otherwise); 0 where the model does not tell that from "not said"."""
