"""The lines and files of each room: `python tests/bench/house.py [FOLDER]`, by default from here.

A room is a folder of `judge/`, or a module that is in no folder. The contracts of import-linter say
which room may import which, and that no imports go in circles.
"""

import sys
from pathlib import Path
from typing import Final, NamedTuple

HERE: Final = Path(__file__).resolve().parents[2]


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


def main(folder: Path) -> None:
    for package in ("judge", "tests"):
        sizes = rooms_of(folder / package)
        whole = Size(*map(sum, zip(*sizes.values(), strict=True)))
        print(f"{package + '/':<20}{'lines':>8} files")
        for name, size in [(f"{len(sizes)} rooms", whole), *sorted(sizes.items())]:
            print(f"{name:<20}{size.lines:>8} {size.files:>5}")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if sys.argv[1:] else HERE)
