"""Loading a model, on a thread of its own; whatever goes wrong is one line."""

import asyncio
from collections.abc import Callable
from concurrent.futures import Executor
from pathlib import Path
from typing import NamedTuple, TypeVar

from judge.backends.local.folder import fingerprint, located
from judge.errors import ConfigError

_Model = TypeVar("_Model")


class Place(NamedTuple):
    """Which model, and where one sets it."""

    name: str
    """A folder, or a name of the hub."""
    option: str
    """Of the command line, for messages."""
    prefix: str = ""
    """What the option's value has before the name."""


async def load(
    place: Place, make: Callable[[Path], _Model], worker: Executor
) -> tuple[str, _Model]:
    """What `make` makes of the model's folder, behind `NAME@HASH` for signatures.

    A folder goes by its last name: where it stands makes no verdict another.

    Raises:
        ConfigError: there is no such model, the extra is not installed, or `make` failed.
    """

    def run() -> tuple[str, _Model]:
        folder = located(place.name)
        model = make(folder)
        is_folder = Path(place.name).expanduser() == folder
        name = folder.resolve().name if is_folder else place.name
        return f"{name}@{fingerprint(folder)}", model

    try:
        return await asyncio.get_running_loop().run_in_executor(worker, run)
    except ImportError as error:
        problem = (
            f"needs more packages ({_line(error)}); in judge's checkout, pip install '.[local]'"
        )
    except ConfigError as error:
        problem = _line(error)
    except Exception as error:  # noqa: BLE001  a broken file fails in the loader as it pleases
        problem = (
            f"cannot be loaded ({type(error).__name__}: {_line(error)}); "
            "try it in transformers itself, or name another"
        )
    raise ConfigError(f"{place.option} {place.prefix + place.name!r}: {problem}")


def _line(error: Exception) -> str:
    return next((line.strip() for line in str(error).splitlines() if line.strip()), "")
