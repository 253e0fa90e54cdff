"""Run every check, two at a time: `python tests/check.py`. The output keeps the order below."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[1]
ALONE: Final = [
    str(path.relative_to(ROOT))
    for path in sorted((ROOT / "tests").rglob("test_*.py"))
    if "pytest.mark.alone" in path.read_text("utf-8")
]
CHECKS: Final = (
    # The longest check comes first, and the others run beside it.
    # One more than cores: many tests wait for a server or a process.
    "pytest -n 3 --dist worksteal --cov --cov-report=term --durations=15",
    "mypy",
    "ruff format --check",
    "ruff check",
    "lint-imports",
    "python -m doctest tests/bench/figures.py",
    # Collecting all files would take longer than these tests.
    f"pytest -m alone {' '.join(ALONE)}",
)


def run(check: str) -> subprocess.CompletedProcess[str]:
    """Run one check and return its output."""
    tool, *arguments = check.split()
    command = [str(Path(sys.executable).with_name(tool)), *arguments]
    return subprocess.run(
        command, cwd=ROOT, check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )


def main() -> int:
    """Run all checks and return the number of failed ones."""
    failed = []
    with ThreadPoolExecutor(2) as pool:
        for check, done in zip(CHECKS, pool.map(run, CHECKS), strict=True):
            sys.stdout.write(f"\n== {check}\n{done.stdout}")
            sys.stdout.flush()
            failed += [check] if done.returncode else []
    sys.stdout.write(f"\n{'failed: ' + ', '.join(failed) if failed else 'all checks passed'}\n")
    return len(failed)


if __name__ == "__main__":
    sys.exit(main())
