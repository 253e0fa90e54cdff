"""The parts of nltk that `judge` uses, imported without the rest of nltk.

`import nltk` also imports scipy, scikit-learn and pandas where these are installed, which takes
more than a second.
"""

import sys
from collections.abc import Callable, Iterable
from functools import cache
from importlib import import_module
from importlib.machinery import ModuleSpec
from importlib.util import find_spec, module_from_spec
from pathlib import Path
from threading import Lock
from types import ModuleType
from typing import Any, Final

_PACKAGES: Final = ("nltk", "nltk.tokenize", "nltk.stem", "nltk.corpus")
_IMPORTING: Final = Lock()


def punkt(abbreviations: Iterable[str], starters: Iterable[str]) -> Any:  # noqa: ANN401  nltk ships no types
    """Return Punkt's sentence tokenizer (Kiss and Strunk 2006) with these words, untrained."""
    module = alone("nltk.tokenize.punkt")
    parameters = module.PunktParameters()
    parameters.abbrev_types = set(abbreviations)
    parameters.sent_starters = set(starters)
    return module.PunktSentenceTokenizer(parameters)


@cache
def english_stem() -> Callable[[str], str]:
    """Return the Snowball stemmer of English, for lower-case words."""
    own: Callable[[str], str] = alone("nltk.stem.snowball").EnglishStemmer().stem
    return own


def alone(name: str) -> ModuleType:
    """Return a module of nltk, or one that uses nltk, without what nltk's packages import.

    Nothing of nltk stays in `sys.modules`, unless the program had imported it.
    """
    tops = {"nltk", name.partition(".")[0]}
    with _IMPORTING:
        if not tops.isdisjoint(sys.modules):
            return import_module(name)
        found = find_spec("nltk")
        root = Path(str(found and found.origin)).parent
        try:
            for package in _PACKAGES:
                spec = ModuleSpec(package, loader=None, is_package=True)
                spec.submodule_search_locations = [str(root.joinpath(*package.split(".")[1:]))]
                sys.modules[package] = module_from_spec(spec)
            # Only a stemmer with stop words needs this corpus, which is a separate download.
            vars(sys.modules["nltk.corpus"])["stopwords"] = None
            return import_module(name)
        finally:
            # A copy, for another thread may import meanwhile.
            for module in list(sys.modules):
                if module.partition(".")[0] in tops:
                    sys.modules.pop(module, None)
