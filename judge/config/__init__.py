"""Settings: what there is to set, and where it may be set."""

from judge.config.config import Config
from judge.config.sources import load_config

__all__ = ["Config", "load_config"]
