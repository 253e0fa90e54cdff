import inspect
import subprocess
import sys

import pytest

import judge
from judge import errors, records

NAMES = {
    "Config",
    "Evaluator",
    "evaluate",
    "measure_overlap",
    "measure_retrieval",
    "measure_run",
    "read_samples",
    "recommend_measures",
    "summarize",
    "to_rows",
}


def test_the_public_names() -> None:
    assert set(dir(judge)) == NAMES | set(records.__all__) | set(errors.__all__)
    namespace: dict[str, object] = {}
    exec("from judge import *", namespace)  # noqa: S102  a star import is for module level only
    assert set(namespace) - {"__builtins__"} == set(dir(judge))
    for name in dir(judge):
        assert getattr(judge, name) is not None


def test_every_error_is_exported() -> None:
    kinds = {name for name, value in vars(errors).items() if inspect.isclass(value)}
    assert kinds == set(errors.__all__)


@pytest.mark.parametrize("name", ["no_such_name", "_private"])
def test_an_unknown_name_is_an_attribute_error(name: str) -> None:
    assert not hasattr(judge, name)


def test_importing_judge_loads_nothing_heavy() -> None:
    # A fresh process, for this one has long loaded everything.
    code = (
        "import sys, judge; heavy = {'pydantic', 'numpy', 'nltk', 'typer', 'rich', 'openai'};"
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
