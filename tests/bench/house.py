"""How the package is built: `python tests/bench/house.py [FOLDER …]`, this checkout unless given.

A room is a folder of `judge/`, or a module that is in no folder. A floor is a layer of the import
contract. An arrow leads from a room to a room that it imports. A circle is a set of modules, or of
rooms, that import each other; imports for type checking alone are left out. Each folder named has
a column: the totals, then the lines and files of each room of `judge/` and of `tests/`.
"""

import sys
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Final, NamedTuple

import grimp

PACKAGE: Final = "judge"
Graph = Mapping[str, set[str]]


class Size(NamedTuple):
    """Lines and files of Python."""

    lines: int
    files: int


class House(NamedTuple):
    """What is counted of a checkout, in the order in which it is printed."""

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
    rooms = rooms_of(folder / PACKAGE)
    modules = _imports(folder)
    between: dict[str, set[str]] = {}
    for module, imported in modules.items():
        targets = {_room(name) for name in imported} - {_room(module), ""}
        if _room(module):
            between.setdefault(_room(module), set()).update(targets)
    largest = max(rooms, key=lambda room: rooms[room].lines)
    lines = sum(size.lines for size in rooms.values())
    tests = rooms_of(folder / "tests").values()
    return House(
        lines=lines,
        files=sum(size.files for size in rooms.values()),
        rooms=len(rooms),
        largest=largest,
        share=rooms[largest].lines / lines,
        floors=_floors(folder),
        arrows=sum(map(len, between.values())),
        circles_of_modules=circles(modules),
        circles_of_rooms=circles(between),
        test_lines=sum(size.lines for size in tests),
        test_files=sum(size.files for size in tests),
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


def rooms_of(folder: Path) -> dict[str, Size]:
    """Count each room of a package."""
    rooms: dict[str, Size] = {}
    for path in sorted(folder.rglob("*.py")):
        room = path.relative_to(folder).parts[0].removesuffix(".py")
        lines, files = rooms.get(room, Size(0, 0))
        rooms[room] = Size(lines + len(path.read_bytes().splitlines()), files + 1)
    return rooms


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
        print(f"{field.replace('_', ' '):<24}", *(f"{value:>14}" for value in shown))
    for package in (PACKAGE, "tests"):
        columns = [rooms_of(path / package) for path in paths]
        print(f"\n{package + '/':<24}", *(f"{'lines':>8} files" for _ in columns))
        for room in sorted({room for column in columns for room in column}):
            sizes = [column.get(room, Size(0, 0)) for column in columns]
            print(f"{room:<24}", *(f"{size.lines:>8} {size.files:>5}" for size in sizes))


if __name__ == "__main__":
    main(sys.argv[1:])
