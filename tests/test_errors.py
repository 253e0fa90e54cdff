import re

import pytest

from judge import errors
from judge.errors import ConfigError, InputError, JudgeError, extra


def test_the_documented_error_tree_is_the_real_one() -> None:
    """Each name of the drawing stands four columns to the right of its parent."""
    tree: dict[str, str] = {}
    above: list[tuple[int, str]] = []
    for line in (errors.__doc__ or "").splitlines():
        match = re.match(r"[ │├└─]*(?=[A-Z]\w+( {2,}|$))", line)
        if not match:
            continue
        depth = match.end()
        name = line[depth:].split()[0]
        above = [(column, parent) for column, parent in above if column < depth]
        tree[name] = above[-1][1] if above else "Exception"
        above.append((depth, name))
    kinds = {name: kind for name, kind in vars(errors).items() if isinstance(kind, type)}
    assert tree == {name: kind.__bases__[0].__name__ for name, kind in kinds.items()}
    assert all(issubclass(kind, JudgeError) for kind in kinds.values())


def test_an_input_error_says_where() -> None:
    rows = [
        (InputError("is missing"), "is missing"),
        (InputError("is missing", path="a.csv"), "a.csv: is missing"),
        (InputError("is missing", field="qid"), "field 'qid': is missing"),
        (InputError("bad", path="a.csv", line=3, field="q"), "a.csv, line 3, field 'q': bad"),
        (InputError("bad", field="q\n").at("a", 3), "a, line 3, field 'q\\n': bad"),
        (InputError("bad", path="b", line=1).at("a", 3), "a, line 3: bad"),
    ]
    assert [str(error) for error, _ in rows] == [text for _, text in rows]


def test_an_extra_says_whether_it_is_missing_or_broken() -> None:
    broken = ImportError("libx.so: cannot open\nshared object file")
    for error, says in (
        (ModuleNotFoundError(name="x"), "XLSX needs x, which is not installed; run pip"),
        (broken, "cannot be loaded (libx.so: cannot open shared object file); mend it, or run pip"),
    ):
        with pytest.raises(ConfigError) as caught, extra("xlsx", "XLSX"):
            raise error
        assert says in str(caught.value)
        assert "\n" not in str(caught.value)
