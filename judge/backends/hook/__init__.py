"""Review hooks: the code of others, called beside a run."""

from judge.backends.hook.calls import Calls, Limits, chosen, uniform
from judge.backends.hook.load import load_hook

__all__ = ["Calls", "Limits", "chosen", "load_hook", "uniform"]
