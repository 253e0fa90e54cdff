import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from judge.backends.hook.load import load_hook
from judge.errors import ConfigError

MODULE = """
import sibling_of_hooks

def keep(sample, result, probability):
    pass

async def later(sample, result, probability):
    pass

class Box:
    def __call__(self, sample, result, probability):
        pass

    class Inner:
        def __call__(self, *given):
            pass

class Closed:
    def __init__(self, path):
        pass

def yields(sample, result, probability):
    yield sample

async def yields_later(sample, result, probability):
    yield sample

class Yields:
    def __call__(self, sample, result, probability):
        yield sample

class Silent:
    pass

def few(sample):
    pass

number = 3
"""


@pytest.fixture(autouse=True)
def modules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    known = set(sys.modules)
    (tmp_path / "some_hooks.py").write_text(MODULE, encoding="utf-8")
    (tmp_path / "sibling_of_hooks.py").write_text("")
    (tmp_path / "broken_hooks.py").write_text("raise ValueError('first line\\nsecond')\n")
    (tmp_path / "ending_hooks.py").write_text("raise SystemExit(0)\n")
    (tmp_path / "stopped_hooks.py").write_text("raise KeyboardInterrupt\n")
    (tmp_path / "misspelt_hooks.py").write_text("def keep(:\n")
    yield
    for name in set(sys.modules) - known:
        del sys.modules[name]


def test_a_function_of_a_module_in_the_working_folder() -> None:
    hook = load_hook("some_hooks:keep")
    assert hook is sys.modules["some_hooks"].keep
    assert load_hook("some_hooks:later") is sys.modules["some_hooks"].later


def test_the_working_folder_comes_first(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "some_hooks.py").write_text("keep = print\n")
    sys.path.insert(0, str(tmp_path / "elsewhere"))
    assert getattr(load_hook("some_hooks:keep"), "__name__", "") == "keep"


def test_a_file_beside_it_takes_the_place_of_no_library(tmp_path: Path) -> None:
    (tmp_path / "importing_hooks.py").write_text(
        "import colorsys\nfrom some_hooks import keep\n", encoding="utf-8"
    )
    (tmp_path / "colorsys.py").write_text("raise SystemExit('ran')\n")
    (tmp_path / "openai.py").write_text("raise SystemExit('ran')\n")
    sys.modules.pop("colorsys", None)
    assert load_hook("importing_hooks:keep") is sys.modules["some_hooks"].keep
    assert sys.path[0] != str(tmp_path)
    assert sys.path.index(str(tmp_path)) == len(sys.path) - 1


def test_of_a_class_an_object_is_made() -> None:
    assert type(load_hook("some_hooks:Box")).__name__ == "Box"
    assert type(load_hook("some_hooks:Box.Inner")).__name__ == "Inner"


NO_HOOKS = [
    ("nowhere_hooks:keep", "No module named 'nowhere_hooks'"),
    ("some_hooks.deeper:keep", "'some_hooks' is not a package"),
    ("some_hooks:none", "has no attribute 'none'"),
    ("some_hooks:number", "cannot be called with (sample, result, probability)"),
    ("some_hooks:few", "cannot be called with (sample, result, probability)"),
    ("some_hooks:Silent", "cannot be called with (sample, result, probability)"),
    ("some_hooks:yields", "is a generator function, which does nothing when it is called"),
    ("some_hooks:yields_later", "is a generator function"),
    ("some_hooks:Yields", "is a generator function"),
    ("some_hooks:Closed", "missing 1 required positional argument: 'path'"),
    ("broken_hooks:keep", "ValueError: first line second"),
    ("ending_hooks:keep", "SystemExit: 0"),
    ("misspelt_hooks:keep", "SyntaxError: "),
    ("some_hooks", "name an object of a module, such as hooks:keep"),
    ("some_hooks:", "name an object of a module"),
    (":keep", "name an object of a module"),
    ("..hooks:keep", "name an object of a module"),
    ("some_hooks:a..b", "name an object of a module"),
    ("", "name an object of a module"),
    ("some\x00hooks:keep", "some\\x00hooks"),
]


def test_what_is_no_hook_is_one_line_that_names_it() -> None:
    wrong = []
    for name, said in NO_HOOKS:
        with pytest.raises(ConfigError) as caught:
            load_hook(name)
        message = str(caught.value)
        named = message.startswith(f"review hook {name!r}: ")
        if not named or said not in message or "\n" in message:
            wrong.append((name, message))
    assert wrong == []


def test_ctrl_c_while_it_is_imported_passes() -> None:
    with pytest.raises(KeyboardInterrupt):
        load_hook("stopped_hooks:keep")
