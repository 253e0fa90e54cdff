import pytest

from judge.backends.openai.client import Policy
from judge.records import ChatRequest


@pytest.fixture
def key() -> str:
    return "sk-secret-0123456789"


@pytest.fixture
def quick() -> Policy:
    """Waits that no test is slow for."""
    return Policy(timeout=5.0, attempts=3, first_wait=0.004, longest_wait=0.01)


@pytest.fixture
def question() -> ChatRequest:
    """One that the test server takes for a judge's."""
    return ChatRequest(
        system="Judge. 判断。",
        user="Code: 0a\n<evidence 0a>\n<chunk 1 0a>\nWater is wet.\n</evidence 0a>\n"
        "<answer 0a>\n<s1 0a>\nWater is wet.\n</answer 0a>\nJudge these sentences: s1",
        reply_schema={"type": "object", "properties": {"verdicts": {"type": "array"}}},
        max_tokens=100,
    )
