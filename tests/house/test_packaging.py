import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from importlib.metadata import packages_distributions
from pathlib import Path

from judge import __version__

ROOT = Path(__file__).resolve().parents[2]
_IMPORTED = re.compile(r"^ *(?:from|import) (\w+)(?=[\w.]*(?: import | as |  #|$))", re.MULTILINE)


def _python(*words: object, cwd: Path, environment: dict[str, str] | None = None) -> str:
    command = [sys.executable, *map(str, words)]
    ran = subprocess.run(
        command, cwd=cwd, env=environment, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def test_the_wheel_of_the_sdist_scores_the_quickstart_from_an_empty_folder(tmp_path: Path) -> None:
    dist, installed, empty = tmp_path / "dist", tmp_path / "installed", tmp_path / "empty"
    empty.mkdir()
    _python("-m", "hatchling", "build", "-t", "sdist", "-d", dist, cwd=ROOT)
    shutil.unpack_archive(next(dist.glob("*.tar.gz")), tmp_path)
    (source,) = tmp_path.glob("rag_judge-*")
    _python("-m", "hatchling", "build", "-t", "wheel", "-d", dist, cwd=source)
    (wheel,) = dist.glob("*.whl")
    assert wheel.name == f"rag_judge-{__version__}-py3-none-any.whl"
    names = set(zipfile.ZipFile(wheel).namelist())
    data = {f"{p.relative_to(ROOT)}" for p in (ROOT / "judge" / "data").rglob("*.*")}
    prompts = {f"judge/{path.relative_to(ROOT)}" for path in (ROOT / "prompts").rglob("*.*")}
    assert data | prompts | {"judge/py.typed"} <= names
    assert not any(name.startswith(("tests/", "fixtures/")) for name in names)
    options = ("--no-deps", "--no-index", "--no-compile", "--quiet")
    _python("-m", "pip", "install", *options, "--target", installed, wheel, cwd=empty)
    words = (installed / "bin" / "judge", "score", ROOT / "fixtures" / "quickstart.jsonl")
    environment = {"PYTHONPATH": str(installed), "HOME": str(empty)}
    printed = _python(*words, "-o", "run", cwd=empty, environment=environment)
    assert "68 claims of 16 answers" in printed


def test_what_is_imported_is_declared() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    groups = [project["dependencies"], *project["optional-dependencies"].values()]
    declared = {re.split(r"[^\w-]", each)[0] for group in groups for each in group}
    # Parts of pydantic, transformers, ray[data] and openai, each at a release that those name;
    # mypy's own.
    parts = {"pydantic_core", "huggingface_hub", "pyarrow", "pandas", "typing_extensions"}
    parts |= {"aiohttp", "httpx2"}
    owned = {"judge", *parts, *sys.stdlib_module_names}
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


def test_the_top_level_has_six_entries() -> None:
    command = ["git", "ls-files"]
    files = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    top = {name.split("/")[0] for name in files.splitlines()}
    allowed = {"pyproject.toml", "README.md", "judge", "prompts", "tests", "fixtures"}
    assert {name for name in top if not name.startswith(".")} == allowed
