"""Run the tests of Inspect in a process of their own, because Inspect changes asyncio."""

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.skipif(find_spec("inspect_ai") is None, reason="no inspect-ai")
def test_the_scorer_in_real_evaluations() -> None:
    # It takes seconds: to import Inspect alone takes two.
    file = "tests/integrations/inspected.py"
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-o", "filterwarnings="]
    ran = subprocess.run(
        [*command, file], cwd=ROOT, capture_output=True, text=True, check=False, encoding="utf-8"
    )
    assert ran.returncode == 0, ran.stdout
