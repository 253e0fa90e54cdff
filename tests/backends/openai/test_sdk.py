"""The SDK without its types, which are imported when somebody uses one."""

import subprocess
import sys

PROGRAM = """
import sys
import judge.backends.openai.sdk
assert "openai.types.responses.response" not in sys.modules
import openai
from openai.types.responses import Response
assert openai.types.responses.Response is Response
assert issubclass(openai.types.Batch, openai.BaseModel)
"""


def test_types_are_imported_once_they_are_used() -> None:
    subprocess.run([sys.executable, "-c", PROGRAM], check=True)
