import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from judge.compose import open_hook
from judge.errors import ConfigError


def test_a_malformed_hook_is_refused_without_its_secrets(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert open_hook("builtins:print") is print
    table = [
        ("t0ken。", "https://host/path", "JUDGE_REVIEW_TOKEN"),
        ("", "http://", "no http address"),
        ("", "ws://h/s3cret", "no http address"),
    ]
    for token, name, says in table:
        monkeypatch.setenv("JUDGE_REVIEW_TOKEN", token)
        with pytest.raises(ConfigError, match=says) as caught:
            open_hook(name)
        assert "s3cret" not in str(caught.value), name
        assert not token or token not in str(caught.value), name


# By its name.

MODULE = """
import sibling_of_hooks

def keep(sample, result, probability): ...
async def later(sample, result, probability): ...
def few(sample): ...

class Box:
    def __call__(self, sample, result, probability): ...
"""


@pytest.fixture
def modules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    known = set(sys.modules)
    files = {
        "some": MODULE,
        "broken": "raise ValueError('first line\\nsecond')\n",
    }
    for name, text in files.items():
        (tmp_path / f"{name}_hooks.py").write_text(text, encoding="utf-8")
    (tmp_path / "sibling_of_hooks.py").write_text("")
    yield
    for name in set(sys.modules) - known:
        del sys.modules[name]


@pytest.mark.usefixtures("modules")
def test_an_object_of_a_module_in_the_working_folder() -> None:
    assert open_hook("some_hooks:keep") is sys.modules["some_hooks"].keep
    assert open_hook("some_hooks:later") is sys.modules["some_hooks"].later
    # Of a class an object is made.
    assert type(open_hook("some_hooks:Box")).__name__ == "Box"


@pytest.mark.usefixtures("modules")
def test_a_file_beside_the_hook_replaces_no_library(tmp_path: Path) -> None:
    (tmp_path / "importing_hooks.py").write_text(
        "import colorsys\nfrom some_hooks import keep\n", encoding="utf-8"
    )
    (tmp_path / "colorsys.py").write_text("raise SystemExit('ran')\n")
    (tmp_path / "openai.py").write_text("raise SystemExit('ran')\n")
    sys.modules.pop("colorsys", None)
    assert open_hook("importing_hooks:keep") is sys.modules["some_hooks"].keep


NO_HOOKS = [
    ("nowhere_hooks:keep", "No module named 'nowhere_hooks'"),
    ("some_hooks:none", "has no attribute 'none'"),
    ("some_hooks:few", "too many positional arguments"),
    ("broken_hooks:keep", "ValueError: first line second"),
    ("some_hooks", "name an object of a module, such as hooks:keep"),
]


@pytest.mark.usefixtures("modules")
def test_a_malformed_hook_is_named_in_one_line() -> None:
    wrong = []
    for name, said in NO_HOOKS:
        with pytest.raises(ConfigError) as caught:
            open_hook(name)
        message = str(caught.value)
        named = message.startswith(f"review hook {name!r}: ")
        if not named or said not in message or "\n" in message:
            wrong.append((name, message))
    assert wrong == []
