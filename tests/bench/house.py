"""How the house is built: `python tests/bench/house.py [FOLDER …]`, this checkout unless given.

A room is a folder or a module that stands in `judge/` itself; a floor is a layer of the import
contract. An arrow leads from a room to one that it imports. A circle is a set of modules, or of
rooms, each of which leads back to itself by way of the others; imports for type checking alone are
left out.
"""

import sys
import tomllib
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Final, NamedTuple

import grimp

PACKAGE: Final = "judge"
Graph = Mapping[str, set[str]]


class House(NamedTuple):
    """What is counted, in the order in which it is printed."""

    lines: int
    files: int
    rooms: int
    largest: str
    share: float
    floors: int
    arrows: int
    circles_of_modules: int
    circles_of_rooms: int
    test_lines: int
    test_files: int


def survey(folder: Path) -> House:
    """Count a checkout."""
    sizes = _sizes(folder / PACKAGE)
    rooms: Counter[str] = Counter()
    for path, lines in sizes.items():
        rooms[path.relative_to(folder / PACKAGE).parts[0].removesuffix(".py")] += lines
    del rooms["__init__"]
    modules = _imports(folder)
    between: dict[str, set[str]] = {}
    for module, imported in modules.items():
        targets = {_room(name) for name in imported} - {_room(module), ""}
        if _room(module):
            between.setdefault(_room(module), set()).update(targets)
    largest, most = rooms.most_common(1)[0]
    tests = _sizes(folder / "tests")
    return House(
        lines=sum(sizes.values()),
        files=len(sizes),
        rooms=len(rooms),
        largest=largest,
        share=most / sum(sizes.values()),
        floors=_floors(folder),
        arrows=sum(map(len, between.values())),
        circles_of_modules=circles(modules),
        circles_of_rooms=circles(between),
        test_lines=sum(tests.values()),
        test_files=len(tests),
    )


def circles(graph: Graph) -> int:
    """How many sets of nodes lead back to themselves."""
    reached = {}
    for start in graph:
        ahead, reached[start] = list(graph[start]), set[str]()
        while ahead:
            node = ahead.pop()
            if node not in reached[start]:
                reached[start].add(node)
                ahead += graph.get(node, ())
    back = {
        node: {n for n in found if node in reached.get(n, ())} for node, found in reached.items()
    }
    return len({frozenset(found) for node, found in back.items() if node in found})


def _imports(folder: Path) -> dict[str, set[str]]:
    """The modules of the package, and which of them each imports."""
    sys.path.insert(0, str(folder))
    try:
        graph = grimp.build_graph(PACKAGE, exclude_type_checking_imports=True, cache_dir=None)
    finally:
        sys.path.remove(str(folder))
    return {name: graph.find_modules_directly_imported_by(name) for name in graph.modules}


def _room(module: str) -> str:
    """The room of a module; none is the package itself's."""
    return [*module.split("."), ""][1]


def _sizes(folder: Path) -> dict[Path, int]:
    return {path: len(path.read_bytes().splitlines()) for path in folder.rglob("*.py")}


def _floors(folder: Path) -> int:
    tools = tomllib.loads((folder / "pyproject.toml").read_text("utf-8"))["tool"]
    contracts = tools.get("importlinter", {}).get("contracts", [])
    return max((len(each["layers"]) for each in contracts if each["type"] == "layers"), default=0)


def main(folders: list[str]) -> None:
    """Print a column for each folder."""
    here = Path(__file__).resolve().parents[2]
    paths = [Path(folder).resolve() for folder in folders] or [here]
    houses = [survey(path) for path in paths]
    for field in House._fields:
        values = [getattr(house, field) for house in houses]
        shown = [f"{value:.1%}" if isinstance(value, float) else str(value) for value in values]
        print(f"{field.replace('_', ' '):<20}", *(f"{value:>12}" for value in shown))


if __name__ == "__main__":
    main(sys.argv[1:])
