"""How the package is built: `python tests/bench/house.py [FOLDER]`, by default this checkout.

A room is a folder of `judge/`, or a module that is in no folder. A circle is a set of modules, or
of rooms, that import each other; imports for type checking alone are left out.
"""

import sys
from collections.abc import Mapping
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import Final, NamedTuple

import grimp

ROOT: Final = Path(__file__).parents[2]


class Size(NamedTuple):
    """Lines and files of Python."""

    lines: int
    files: int


def rooms_of(folder: Path) -> dict[str, Size]:
    """Count each room of a package."""
    rooms: dict[str, Size] = {}
    for path in sorted(folder.rglob("*.py")):
        room = path.relative_to(folder).parts[0].removesuffix(".py")
        lines, files = rooms.get(room, Size(0, 0))
        rooms[room] = Size(lines + len(path.read_bytes().splitlines()), files + 1)
    return rooms


def imports_of(folder: Path) -> dict[str, set[str]]:
    """Return the modules of the package, each with the modules that it imports."""
    sys.path.insert(0, str(folder))
    graph = grimp.build_graph("judge", exclude_type_checking_imports=True, cache_dir=None)
    return {name: graph.find_modules_directly_imported_by(name) for name in graph.modules}


def circle(imports: Mapping[str, set[str]]) -> str:
    """Return a circle of imports, if there is one."""
    try:
        TopologicalSorter(imports).prepare()
    except CycleError as error:
        return " → ".join(error.args[1])
    return "none"


def main(folder: Path) -> None:
    modules = imports_of(folder)
    rooms: dict[str, set[str]] = {}
    for module, imported in modules.items():
        room = module.split(".")[1:2]
        targets = {name.split(".")[1] for name in imported if "." in name} - {*room}
        rooms.setdefault("".join(room) or "judge", set()).update(targets)
    print(f"circle of modules  {circle(modules)}\ncircle of rooms    {circle(rooms)}")
    for package in ("judge", "tests"):
        sizes = rooms_of(folder / package)
        print(f"\n{package + '/':<20}{'lines':>8} files")
        whole = Size(*map(sum, zip(*sizes.values(), strict=True)))
        for name, size in [(f"{len(sizes)} rooms", whole), *sorted(sizes.items())]:
            print(f"{name:<20}{size.lines:>8} {size.files:>5}")


if __name__ == "__main__":
    main(Path(sys.argv[1] if sys.argv[1:] else ROOT).resolve())
