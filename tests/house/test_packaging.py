import re
import subprocess
import sys
import tomllib
import zipfile
from importlib.metadata import packages_distributions
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
_IMPORTED = re.compile(r"^ *(?:from|import) (\w+)(?=[\w.]*(?: import | as |  #|$))", re.MULTILINE)


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


def test_what_is_imported_is_declared() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    groups = [project["dependencies"], *project["optional-dependencies"].values()]
    declared = {re.split(r"[^\w-]", each)[0] for group in groups for each in group}
    # Parts of pydantic, transformers, ray[data] and openai, each at a release that those name;
    # mypy's own.
    parts = {"pydantic_core", "huggingface_hub", "pyarrow", "pandas", "tqdm", "typing_extensions"}
    parts |= {"aiohttp", "httpx2"}
    # A notebook of the user has these; a message names them if they are missing.
    notebook = {"pandas", "tqdm"}
    owned = {"judge", *parts, *notebook, *sys.stdlib_module_names}
    found: dict[str, str] = {}
    # A user of an integration has the package that it imports.
    for path in {*(ROOT / "judge").rglob("*.py")} - {*(ROOT / "judge/integrations").glob("*.py")}:
        found |= dict.fromkeys(_IMPORTED.findall(path.read_text("utf-8")), path.name)
    makers = packages_distributions()
    strangers = {
        name: path
        for name, path in found.items()
        if name not in owned and not declared & {*makers.get(name, ()), name.replace("_", "-")}
    }
    assert strangers == {}


def test_the_top_level_holds_its_six_things() -> None:
    command = ["git", "ls-files"]
    files = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    top = {name.split("/")[0] for name in files.splitlines()}
    allowed = {"pyproject.toml", "README.md", "judge", "prompts", "tests", "fixtures"}
    assert {name for name in top if not name.startswith(".")} == allowed
