"""An assertion for promptfoo.

The passages are `context` in the variables or the provider's metadata. `config` may contain
settings of `judge score`, and `map`. An output without a score has the score 0, which promptfoo
requires, no `namedScores`, and a reason that begins with "no score".
"""

from collections.abc import Mapping
from functools import cache
from json import dumps, loads
from typing import Any

from judge import ConfigError, Evaluator, Sample, Verdict, evaluate
from judge.config import load_config
from judge.records.sentence import SUPPORT_WEIGHT
from judge.reports.cases import case_of

_FIELDS = {"context": "chunks", "query": "query", "question": "query"}
_NAMED = "faithfulness", "coverage", "citation_validity", "citation_recall"


def get_assert(output: object, context: Mapping[str, Any]) -> dict[str, Any]:
    """Return the GradingResult of an output: it passes with a faithfulness of `at_least`."""
    response = context.get("providerResponse") or {}
    row = {name: context.get(name) or response.get(name) or {} for name in ("vars", "metadata")}
    value = "" if output is None else output
    row["output"] = value if isinstance(value, str) else dumps(value, ensure_ascii=False)
    return _graded(row, **(context.get("config") or {}))


def _graded(row: dict[str, Any], at_least: float = 1.0, **settings: Any) -> dict[str, Any]:  # noqa: ANN401
    if not isinstance(at_least, int | float) or not 0 < at_least <= 1:
        raise ConfigError(f"config: at_least is above 0, and 1 at most, got {at_least!r}")
    places = [
        (place, key) for place in ("metadata", "vars") for key in _FIELDS if key in row[place]
    ]
    paths = {"chunks": "vars.context"} | {_FIELDS[key]: f"{at}.{key}" for at, key in places}
    sample = Sample.of(row, map={**paths, **(settings.pop("map", None) or {}), "answer": "output"})
    (result,) = evaluate([sample], evaluator=_evaluator(dumps(settings, sort_keys=True)))
    case, score = case_of(result, at_least), result.scores.faithfulness
    head = "" if case.kind == "undecided" else "no score: "
    if score is not None:
        head = f"faithfulness {score:.3f}, {result.signature}\n"
    parts = [
        {"pass": weight == 1, "score": weight, "reason": f"{outcome.support}: {each.text}"}
        for each in result.sentences
        if isinstance(outcome := each.outcome, Verdict) and not outcome.fallback_from
        if (weight := SUPPORT_WEIGHT.get(outcome.support)) is not None
    ]
    named_scores = {
        name: value for name in _NAMED if (value := getattr(result.scores, name)) is not None
    }
    graded = {"pass": case.kind == "passed", "score": score or 0.0, "namedScores": named_scores}
    return {**graded, "reason": (head + case.text).strip(), "componentResults": parts}


@cache
def _evaluator(settings: str) -> Evaluator:
    return Evaluator(load_config(loads(settings)))
