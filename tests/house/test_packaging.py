import subprocess
import sys
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_a_wheel_holds_prompts_data_and_type_marker(tmp_path: Path) -> None:
    # Builds a real wheel, which takes about a second; nothing less shows what users install.
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    names = set(zipfile.ZipFile(wheel).namelist())
    data = {f"{p.relative_to(ROOT)}" for p in (ROOT / "judge" / "data").rglob("*.*")}
    prompts = {f"judge/{path.relative_to(ROOT)}" for path in (ROOT / "prompts").rglob("*.*")}
    assert data | prompts | {"judge/py.typed"} <= names
    assert not any(name.startswith(("tests/", "fixtures/")) for name in names)


def test_the_top_level_holds_its_six_things() -> None:
    command = ["git", "ls-files"]
    files = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    top = {name.split("/")[0] for name in files.splitlines()}
    allowed = {"pyproject.toml", "README.md", "judge", "prompts", "tests", "fixtures"}
    assert {name for name in top if not name.startswith(".")} == allowed
