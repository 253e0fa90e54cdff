"""The service held against its own OpenAPI, by requests that somebody else makes up."""

from pathlib import Path
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
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
        described = serving.http.get("/openapi.json").json()
        schema = schemathesis.openapi.from_dict(described, config=SchemathesisConfig())
        headers = {"Authorization": f"Bearer {token}"}

        def check(case: schemathesis.Case[Any]) -> None:
            case.call_and_validate(serving.url, headers=headers, checks=list(_CHECKS), timeout=20)

        tried = settings(
            max_examples=examples,
            deadline=None,
            database=None,
            derandomize=True,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        for result in schema.get_all_operations():
            assert isinstance(result, Ok), result
            tried(given(case=result.ok().as_strategy())(check))()
