"""Review hooks by name: an address, or an object of a module."""

import inspect
import os
import sys
from functools import reduce
from importlib import import_module
from pathlib import Path
from typing import Any, cast

from judge.backends.hook import described
from judge.config import REVIEW_TOKEN, bearer
from judge.errors import ConfigError
from judge.protocols import ReviewHook


def open_hook(name: str) -> ReviewHook:
    """The review hook of this name.

    An http address is posted to (`judge.backends.webhook`), with the token JUDGE_REVIEW_TOKEN
    where the environment has one. Any other name is `module:object`, imported and called.

    Raises:
        ConfigError: there is no such hook; an address, which may be secret, is not repeated.
    """
    if "://" in name or name.lower().startswith(("http:", "https:")):
        from judge.backends.webhook import Webhook  # noqa: PLC0415  loads httpx

        token = os.environ.get(REVIEW_TOKEN, "").strip()
        return Webhook(name, headers=bearer(token, REVIEW_TOKEN))
    return _imported(name)


def _imported(name: str) -> ReviewHook:
    """Import the object named `package.module:object.attribute`; a class is instantiated.

    It is looked for in the working folder last: a file of that folder takes the place of no
    library. Importing runs code: the name must come from whoever runs the command, not from a file
    they came by.

    Raises:
        ConfigError: nothing of that name takes a sample, a result and a probability, or getting it
            failed.
    """
    module, _, path = name.partition(":")
    if not all((*module.split("."), *path.split("."))):
        raise ConfigError(
            f"review hook {name!r}: name an object of a module, such as hooks:keep, or an address "
            "such as https://host/path"
        )
    # Last, so that a file of the folder takes the place of no library.
    if (place := str(Path.cwd())) not in sys.path:
        sys.path.append(place)
    try:
        hook: Any = reduce(getattr, path.split("."), import_module(module))
        if inspect.isclass(hook):
            hook = hook()
        inspect.signature(hook).bind("sample", "result", 1.0)
    except Exception as error:  # noqa: BLE001  another's code
        raise ConfigError(f"review hook {name!r}: {described(error)}") from None
    return cast(ReviewHook, hook)
