"""The message of each integration whose tool is missing, in one process without all of them."""

import subprocess
import sys

PACKAGES = {
    "deepeval": "deepeval",
    "inspect_ai": "inspect_ai",
    "llamaindex": "llama_index",
    "mlflow": "mlflow",
    "opentelemetry": "opentelemetry",
    "ragas": "ragas",
}
SCRIPT = f"""
import sys
from importlib import import_module
sys.modules |= dict.fromkeys({list(PACKAGES.values())})  # None cannot be imported
for name in {list(PACKAGES)}:
    try:
        import_module("judge.integrations." + name)
    except ImportError as error:
        print(name + "|" + str(error))
"""


def test_a_missing_tool_is_named_with_what_installs_it() -> None:
    command = [sys.executable, "-c", SCRIPT]
    ran = subprocess.run(command, check=True, capture_output=True, text=True, encoding="utf-8")
    told = dict(line.split("|") for line in ran.stdout.splitlines())
    assert told.keys() == PACKAGES.keys()
    for name, package in PACKAGES.items():
        assert package in told[name]
