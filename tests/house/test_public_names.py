import ast
import subprocess
import sys
from pathlib import Path

import judge

SOURCE = Path(judge.__file__)


def declared() -> set[str]:
    """What a type checker is told that `judge` exports."""
    (guard,) = (node for node in ast.parse(SOURCE.read_text()).body if isinstance(node, ast.If))
    imports = [node for node in guard.body if isinstance(node, ast.ImportFrom)]
    return {alias.name for node in imports for alias in node.names}


def test_every_public_name_loads_and_is_typed() -> None:
    for name in judge.__all__:
        assert getattr(judge, name) is not None
    assert declared() == set(judge.__all__) == set(dir(judge))


def test_every_record_and_error_is_public() -> None:
    from judge import errors, records  # noqa: PLC0415  their names are the subject

    assert set(records.__all__) <= set(judge.__all__)
    kinds = {n for n, v in vars(errors).items() if isinstance(v, type)}
    assert kinds <= set(judge.__all__)


def test_an_unknown_name_is_an_attribute_error() -> None:
    assert not hasattr(judge, "no_such_name")


def test_importing_judge_loads_nothing_heavy() -> None:
    # A fresh process, for this one has long loaded everything.
    code = (
        "import sys, judge; heavy = {'pydantic', 'numpy', 'nltk', 'typer', 'rich', 'openai'};"
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
