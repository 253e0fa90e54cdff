import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "judge" / "DECISIONS.md").read_text(encoding="utf-8")
ENTRIES = re.split(r"^## ", TEXT, flags=re.MULTILINE)[1:]


def test_decisions_are_numbered_in_order_and_short() -> None:
    # A decision keeps its number when another goes.
    numbers = [int(entry.split(" ", 1)[0].removeprefix("D")) for entry in ENTRIES]
    assert numbers == sorted(set(numbers))
    for entry in ENTRIES:
        assert len(entry.strip().splitlines()) <= 10, entry
        assert "Choice:" in entry
        assert "Rejected:" in entry


def test_every_decision_in_a_comment_exists() -> None:
    known = {entry.split(" ", 1)[0] for entry in ENTRIES}
    for module in (ROOT / "judge").rglob("*.py"):
        named = set(re.findall(r"# .*\b(D[1-9]\d*)\b", module.read_text(encoding="utf-8")))
        assert named <= known, module
