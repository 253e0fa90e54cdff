"""Other providers' OpenAI-compatible doors, as documented: what they ignore, refuse and answer.

Each is a script for the test server. A page is named where a provider's own says it; the rest is as
users have reported it of the live door, in the words that were quoted there.
"""

from typing import Final

from pydantic import JsonValue

from tests.chat_call import ChatCall
from tests.faults import error
from tests.replies import Answer, Says, Script, Status, right

GEMINI_KEY: Final = "AIza-0123456789"


def _google(code: int, name: str, message: str, *details: JsonValue) -> Status:
    """An error of Google's, which this door puts into a list.

    discuss.ai.google.dev/t/82899; `details` as of google.rpc (error_details.proto).
    """
    told: dict[str, JsonValue] = {"code": code, "message": message, "status": name}
    return Status(code, [{"error": told | {"details": [*details]}}])


NO_KEY: Final = _google(
    400,
    "INVALID_ARGUMENT",
    "API key not valid. Please pass a valid API key.",
    {"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID"},
)
EXHAUSTED: Final = _google(
    429,
    "RESOURCE_EXHAUSTED",
    "You exceeded your current quota, please check your plan and billing details.",
    {"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": []},
    {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "0.02s"},
)


_BUSY: Final = ((529, "overloaded_error"), (429, "rate_limit_error"))


class Anthropic:
    """`response_format` and `seed` are ignored: see the page that its recipe names.

    Args:
        then: what the model says, wherever the door lets a request through.
    """

    def __init__(self, then: Script = right) -> None:
        self._then = then
        self._asked = 0

    def __call__(self, asked: ChatCall) -> Answer:
        assert asked.headers["Authorization"].startswith("Bearer ")
        assert asked.body.get("n", 1) == 1
        # github.com/decolua/9router/issues/1748, of models from Opus 4.7 on.
        if "temperature" in asked.body:
            return self._error("`temperature` is deprecated for this model.")
        self._asked += not asked.is_probe
        if not asked.is_probe and self._asked <= len(_BUSY):
            # platform.claude.com/docs/en/api/errors
            code, name = _BUSY[self._asked - 1]
            return Status(code, self._error(name, code, name).body, {"retry-after": "0"})
        said = self._then(asked)
        assert isinstance(said, Says)
        return Says(f"I read each sentence [1].\n```json\n{said.text}\n```\nThat is all.")

    @staticmethod
    def _error(message: str, code: int = 400, name: str = "invalid_request_error") -> Status:
        return error(code, message, None, name, name)


class Gemini:
    """ai.google.dev/gemini-api/docs/openai

    `seed` is no field: github.com/Vali-98/ChatterUI/issues/227. Of a schema it takes a part.

    Args:
        then: what the model says, wherever the door lets a request through.
    """

    def __init__(self, then: Script = right) -> None:
        self._then = then
        self._asked = 0

    def __call__(self, asked: ChatCall) -> Answer:
        if refusal := self._refusal(asked):
            return refusal
        self._asked += not asked.is_probe
        if not asked.is_probe and self._asked == 1:
            return EXHAUSTED
        if "poem" in asked.user:
            # The message has no content then: github.com/bespokelabsai/curator/issues/261
            return Says(None, finish="content_filter: RECITATION")
        return self._then(asked)

    def _refusal(self, asked: ChatCall) -> Status | None:
        if asked.headers["Authorization"] != f"Bearer {GEMINI_KEY}":
            return NO_KEY
        if "seed" in asked.body:
            return self._unknown("seed")
        shape = asked.body.get("response_format")
        if isinstance(shape, dict) and shape["type"] == "json_schema":
            # github.com/prism-php/prism/issues/974
            return self._unknown("additionalProperties", " at 'generation_config.response_schema'")
        if isinstance(shape, dict) and "schema" in shape:
            return self._unknown("schema", " at 'response_format'")
        return None

    @staticmethod
    def _unknown(name: str, place: str = "") -> Status:
        said = f'Invalid JSON payload received. Unknown name "{name}"{place}: Cannot find field.'
        violation: JsonValue = {"description": said}
        detail: dict[str, JsonValue] = {"@type": "type.googleapis.com/google.rpc.BadRequest"}
        return _google(400, "INVALID_ARGUMENT", said, detail | {"fieldViolations": [violation]})
