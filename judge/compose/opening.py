"""What a run keeps its verdicts in, and whom it tells of them."""

import os
from pathlib import Path
from typing import TYPE_CHECKING

from judge.config import Config
from judge.errors import ConfigError
from judge.protocols import ReviewHook

if TYPE_CHECKING:
    from judge.backends.store import DiskStore


def open_store(config: Config) -> "DiskStore":
    """The cache of verdicts.

    Raises:
        ConfigError: its folder cannot be used.
    """
    from judge.backends.store import DiskStore  # noqa: PLC0415

    return DiskStore(cache_folder(config))


def cache_folder(config: Config) -> Path:
    """Where verdicts are kept: as set, else in the user's cache folder (XDG).

    Raises:
        ConfigError: it is in a home folder that there is not.
    """
    place = config.cache_dir
    if place is None:
        caches = Path(os.environ.get("XDG_CACHE_HOME", ""))
        # A relative one is to be ignored, says the standard.
        place = (caches if caches.is_absolute() else Path("~/.cache")) / "judge"
    if os.environ.get("HOME") != "" or place.parts[0] != "~":  # an empty one would mean /
        try:
            return place.expanduser()
        except RuntimeError:
            pass
    raise ConfigError(f"cache {place}: there is no such home folder; name another: --cache-dir")


def open_hook(name: str, config: Config) -> ReviewHook:
    """The review hook of that name: an http address, a file `….csv`, or `module:object`.

    What is posted to an address bears the token JUDGE_REVIEW_TOKEN, where there is one.

    Raises:
        ConfigError: there is no such hook; an address, which may be secret, is not repeated.
    """
    if "://" in name or name.lower().startswith(("http:", "https:")):
        from judge.backends.webhook import Webhook  # noqa: PLC0415

        return Webhook(name, headers=_review_headers())
    if name.lower().endswith(".csv"):
        from judge.review.livesheet import LiveSheet  # noqa: PLC0415

        return LiveSheet(Path(name), config.seed)
    from judge.backends.hook.loading import load_hook  # noqa: PLC0415

    return load_hook(name)


def _review_headers() -> dict[str, str]:
    token = os.environ.get("JUDGE_REVIEW_TOKEN", "").strip()
    if not (token.isascii() and token.isprintable()):
        raise ConfigError("JUDGE_REVIEW_TOKEN holds what no token does; set it to the bare token")
    return {"Authorization": f"Bearer {token}"} if token else {}
