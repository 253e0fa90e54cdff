"""For promptfoo: an assertion.

    from judge.integrations.promptfoo import get_assert  # this alone is faithful.py

    { type: python, value: file://faithful.py, config: { at_least: 0.9, model: gpt-5-mini } }

The passages are the variable `context`, else `context` of the provider's metadata; the question is
`question` or `query`. Other settings of `judge score` may stand in `config`, and `map` has paths.
An assertion of promptfoo's has a score in any case: what is unscored, abstained or without a claim
does not pass, its 0 stands in no `namedScores`, and its reason begins with "no score".
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
    """The GradingResult of an output; `pass` where its faithfulness is `at_least`, by default 1."""
    response = context.get("providerResponse") or {}
    row = {name: context.get(name) or response.get(name) or {} for name in ("vars", "metadata")}
    given = "" if output is None else output
    row["output"] = given if isinstance(given, str) else dumps(given, ensure_ascii=False)
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
    told = "no score: " if score is None else f"faithfulness {score:.3f}, {result.signature}\n"
    parts = [
        {"pass": weight == 1, "score": weight, "reason": f"{made.support}: {each.text}"}
        for each in result.sentences
        if isinstance(made := each.outcome, Verdict) and not made.fallback_from
        if (weight := SUPPORT_WEIGHT.get(made.support)) is not None
    ]
    named = {name: value for name in _NAMED if (value := getattr(result.scores, name)) is not None}
    graded = {"pass": case.kind == "passed", "score": score or 0.0, "namedScores": named}
    return {**graded, "reason": (told + case.text).strip(), "componentResults": parts}


@cache
def _evaluator(settings: str) -> Evaluator:
    return Evaluator(load_config(loads(settings)))
