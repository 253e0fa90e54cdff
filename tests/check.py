"""Every check there is, in the order of how soon they tell: `python tests/check.py`."""

import subprocess
import sys
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[1]
CHECKS: Final = (
    "ruff format --check",
    "ruff check",
    "mypy",
    "lint-imports",
    "pytest -n 2 --cov --cov-report=term",
    "pytest -m oracle",
    "python -m doctest tests/bench/figures.py",
)


def main() -> int:
    """Run all checks, also after one has failed; the number of those that did."""
    failed = []
    for check in CHECKS:
        tool, *arguments = check.split()
        sys.stdout.write(f"\n== {check}\n")
        sys.stdout.flush()
        command = [str(Path(sys.executable).with_name(tool)), *arguments]
        if subprocess.run(command, cwd=ROOT, check=False).returncode:
            failed.append(check)
    sys.stdout.write(f"\n{'failed: ' + ', '.join(failed) if failed else 'all checks passed'}\n")
    return len(failed)


if __name__ == "__main__":
    sys.exit(main())
