"""A hook by its name: `module:object`."""

import inspect
import sys
from functools import reduce
from importlib import import_module
from importlib.machinery import PathFinder
from importlib.util import module_from_spec
from pathlib import Path
from types import ModuleType
from typing import cast

from judge.backends.hook.calls import described
from judge.errors import ConfigError
from judge.protocols import ReviewHook


def load_hook(name: str) -> ReviewHook:
    """The object of that name, or one made of it where it is a class, ready to be called.

    It is looked for in the working folder first, as `python -m` would, and what it imports there
    last: a file of the working folder takes the place of no library. Importing runs code: the name
    must come from whoever runs the command, not from a file they came by.

    Args:
        name: `package.module:object` or `module:object.attribute`.

    Raises:
        ConfigError: nothing has that name that can be called and then does something, or getting it
            raised an error.
    """
    module, _, path = name.partition(":")
    if not all((*module.split("."), *path.split("."))):
        raise ConfigError(
            f"review hook {name!r}: name an object of a module, such as hooks:keep, "
            "a file such as review.csv, or an address such as https://host/path"
        )
    try:
        hook = reduce(getattr, path.split("."), _imported(module))  # type: object
        if inspect.isclass(hook):
            hook = hook()
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001  another's code, which may even call exit()
        raise ConfigError(f"review hook {name!r}: {described(error)}") from None
    if not _is_hook(hook):
        raise ConfigError(
            f"review hook {name!r}: cannot be called with (sample, result, probability)"
        )
    functions = (hook, type(hook).__call__)
    if any(map(inspect.isgeneratorfunction, functions)) or any(
        map(inspect.isasyncgenfunction, functions)
    ):
        raise ConfigError(
            f"review hook {name!r}: is a generator function, which does nothing when it is called; "
            "take the yield out"
        )
    return cast(ReviewHook, hook)


def _imported(name: str) -> ModuleType:
    place = str(Path.cwd())
    if place not in sys.path:
        sys.path.append(place)
    top = name.partition(".")[0]
    spec = None if top in sys.modules else PathFinder.find_spec(top, [place])
    if spec is not None and spec.loader is not None:
        sys.modules[top] = made = module_from_spec(spec)
        try:
            spec.loader.exec_module(made)
        except BaseException:
            sys.modules.pop(top, None)
            raise
    return import_module(name)


def _is_hook(hook: object) -> bool:
    if not callable(hook):
        return False
    try:
        inspect.signature(hook).bind("sample", "result", 1.0)
    except TypeError:
        return False
    except ValueError:  # of some objects written in C nobody knows it
        return True
    return True
