"""The openai SDK, imported without the 700 classes of its replies.

Importing them takes half a second, and only the SDK's typed methods use them. They are imported
once a name of theirs is used.
"""

import sys
from collections.abc import Sequence
from importlib.machinery import PathFinder
from importlib.util import find_spec, module_from_spec
from threading import RLock
from types import ModuleType


def _defer(name: str, folders: Sequence[str]) -> ModuleType:
    """Add a package to `sys.modules`, and run its `__init__` once a name is missing in it."""
    spec = PathFinder.find_spec(name, folders)
    if spec is None or spec.loader is None:
        raise ModuleNotFoundError(f"No module named {name!r}", name=name)
    package, loader = module_from_spec(spec), spec.loader
    lock, is_loading = RLock(), False

    def load(attribute: str) -> object:
        nonlocal is_loading
        with lock:  # another thread waits until all names are there
            if not is_loading and "__getattr__" in package.__dict__:
                is_loading = True
                try:
                    loader.exec_module(package)
                    del package.__dict__["__getattr__"]
                finally:
                    is_loading = False
            try:
                return package.__dict__[attribute]
            except KeyError:
                message = f"module {name!r} has no attribute {attribute!r}"
                raise AttributeError(message, name=attribute, obj=package) from None

    package.__dict__["__getattr__"] = load
    sys.modules[name] = package
    return package


def _defer_types() -> None:
    sdk = find_spec("openai")
    if sdk is None or sdk.submodule_search_locations is None:
        return  # the import below says so
    types = _defer("openai.types", sdk.submodule_search_locations)
    types.__dict__["responses"] = _defer("openai.types.responses", types.__path__)


if "openai" not in sys.modules:
    _defer_types()

from openai import (  # noqa: E402  it imports what was deferred
    APIStatusError,
    AsyncOpenAI,
    DefaultAioHttpClient,
    Omit,
    OpenAIError,
)

__all__ = ["APIStatusError", "AsyncOpenAI", "DefaultAioHttpClient", "Omit", "OpenAIError"]
