"""The service held against its own OpenAPI, by requests that somebody else makes up."""

from pathlib import Path
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.strategies import SearchStrategy
from schemathesis import checks
from schemathesis.config import SchemathesisConfig
from schemathesis.core.result import Ok

from judge.service.requests import Limits
from tests.service_process import Serving, judged

TOKEN = "0123456789abcdef0123"  # noqa: S105  a test's
_CHECKS = (
    checks.not_a_server_error,
    checks.status_code_conformance,
    checks.content_type_conformance,
    checks.response_schema_conformance,
)


@pytest.mark.alone  # some ten seconds
@pytest.mark.parametrize(("token", "examples"), [(TOKEN, 4), ("wrong", 1)])
def test_no_call_answers_what_is_not_documented(tmp_path: Path, token: str, examples: int) -> None:
    """Some twenty calls, a few examples each; a wrong token ends them all alike."""
    limits = Limits(max_body=0.1, max_batch=0.1, running=1)
    judged(tmp_path, "a")
    with Serving(tmp_path, limits=limits, tokens=f"me:{TOKEN}") as serving:
        headers = {"Authorization": f"Bearer {TOKEN}"}
        described = serving.http.get("/openapi.json", headers=headers).json()
        config = SchemathesisConfig()
        schema = schemathesis.openapi.from_dict(described, config=config)
        sent = {"Authorization": f"Bearer {token}"}
        for result in schema.get_all_operations():
            assert isinstance(result, Ok), result
            _held(result.ok().as_strategy(), examples, serving.url, sent)


def _held(
    cases: SearchStrategy[schemathesis.Case[Any]], examples: int, url: str, headers: dict[str, str]
) -> None:
    @settings(
        max_examples=examples,
        deadline=None,
        database=None,
        derandomize=True,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=cases)
    def check(case: schemathesis.Case[Any]) -> None:
        case.call_and_validate(base_url=url, headers=headers, checks=list(_CHECKS), timeout=20)

    check()
