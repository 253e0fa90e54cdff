"""Where settings come from: what is given, the environment, and a file that may be a stranger's."""

import logging
import os
import re
import tomllib
from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Final

from judge.address import checked_url
from judge.config import LOCAL, Config
from judge.errors import ConfigError
from judge.text.visible import clip

_LOG: Final = logging.getLogger("judge")

FILE: Final = "judge.toml"
"""A file of settings: read from the working folder where it stands there."""

PREFIX: Final = "JUDGE_"
"""Before the name of a setting in the environment: `JUDGE_MODEL`. OPENAI_BASE_URL is one, too."""

REVIEW_TOKEN: Final = "JUDGE_REVIEW_TOKEN"  # noqa: S105  the name of a variable
"""What a review hook at an address is sent; no setting, for it is a secret."""

SERVICE_TOKENS: Final = "JUDGE_SERVICE_TOKENS"
"""Who may use the service, likewise no setting: NAME:TOKEN, with commas between."""

CLIENT_TOKEN: Final = "JUDGE_SERVICE_TOKEN"  # noqa: S105  likewise
"""What a client sends to it, likewise."""

REDIS_USERNAME: Final = "JUDGE_REDIS_USERNAME"
REDIS_PASSWORD: Final = "JUDGE_REDIS_PASSWORD"  # noqa: S105  likewise
"""What a shared cache is opened with, likewise."""

_SECRETS: Final = {REVIEW_TOKEN, SERVICE_TOKENS, CLIENT_TOKEN, REDIS_USERNAME, REDIS_PASSWORD}
_LARGEST: Final = 1 << 14
"""Bytes of a file of settings: reading TOML takes memory with the square of a key's parts."""
_SHOWN: Final = 200
_NEAR: Final = 0.8
"""How alike a variable's name must be to that of a setting, of which it may be a slip."""
_GUARDED: Final = (
    *("base_url", "headers", "extra_body", "cache_dir", "cache_url", "citation_pattern"),
    *("nli_model", "embedding_model"),
)
"""Settings that a file may not have where nobody named it."""
_SECRET: Final = re.compile("key|secret|token|auth|cookie|password", re.IGNORECASE)
"""In the name of a header that is one."""


def load_config(given: Mapping[str, object], file: Path | None = None) -> Config:
    """The settings that are given, else in the environment, else in a file, else the defaults.

    The file is TOML: the one named, else `judge.toml` of the working folder if there is one. That
    one may have come with somebody's data: what it sets is logged, and it may not say where texts
    and the key go, what is loaded or what is run.

    Raises:
        ConfigError: the file cannot be read or says what it may not, or a setting is unknown or out
            of range.
    """
    path = file or Path(FILE)
    listed = _listed(path, found=file is None)
    if file is None:
        _refuse_guarded(listed)
    named = _named()
    try:
        config = Config.model_validate(listed | named | dict(given))
    except ConfigError as error:
        for place, settings in (("", given), ("environment: ", named), (f"{path}: ", listed)):
            if _fault(settings) == str(error):
                raise ConfigError(f"{place}{error}") from None
        raise
    named_model = config.model or config.nli_model
    is_blank = not os.environ.get("JUDGE_MODEL", "unset").strip()
    if config.judge == "auto" and not named_model and is_blank:
        raise ConfigError(
            "environment: JUDGE_MODEL is empty, so no model would judge: fill it in, name one with "
            "--model, unset it, or say --judge similarity"
        )
    if file is None and listed:
        _LOG.info("settings from %s: %s", FILE, ", ".join(listed))
    return config


def _fault(settings: Mapping[str, object]) -> str:
    """What is wrong with these settings; empty where nothing is."""
    try:
        Config.model_validate(settings)
    except ConfigError as error:
        return str(error)
    return ""


def _named() -> dict[str, object]:
    """The settings in the environment that are not empty; what is none of them is logged."""
    known = {f"{PREFIX}{name}".upper(): name for name in Config.model_fields}
    settings = {"base_url": os.environ.get("OPENAI_BASE_URL", "")}
    strays = []
    for variable, value in sorted(os.environ.items()):
        if name := known.get(variable.upper()):
            settings[name] = value
        elif variable.upper().startswith(PREFIX) and value.strip() and variable not in _SECRETS:
            nearest = get_close_matches(variable.upper(), known, 1, _NEAR)
            strays.append(variable + (f" (did you mean {nearest[0]}?)" if nearest else ""))
    if strays:
        _LOG.warning("environment: %s: no setting, ignored", clip(", ".join(strays), _SHOWN))
    return {name: value for name, value in settings.items() if value.strip()}


def _listed(path: Path, *, found: bool) -> dict[str, object]:
    """The settings in a file; none where it was not named, and is not there."""
    if found and not os.path.lexists(path):
        return {}
    if not path.is_file():  # a pipe would be waited for
        raise ConfigError(f"{path}: is not a file; name the file of settings")
    try:
        with path.open("rb") as stream:
            data = stream.read(_LARGEST + 1)
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror}; name the file of settings") from None
    if len(data) > _LARGEST:
        raise ConfigError(f"{path}: is larger than any file of settings (16 KB); name another")
    try:
        settings: dict[str, object] = tomllib.loads(data.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:  # TOML or UTF-8
        raise ConfigError(f"{path}: is no TOML in UTF-8 ({error})") from None
    _refuse_secrets(path, settings)
    return settings


def _refuse_secrets(path: Path, listed: Mapping[str, object]) -> None:
    for name in listed:
        if "key" in name.lower() or "secret" in name.lower():
            raise ConfigError(
                f"{path}: {name!r} is a secret, and a file is no place for one; "
                "set OPENAI_API_KEY in the environment"
            )
    try:
        held = Config.model_validate({"headers": listed.get("headers")}).headers or ()
    except ConfigError as error:
        raise ConfigError(f"{path}: {error}") from None
    if any(map(_SECRET.search, held)):
        raise ConfigError(
            f"{path}: headers hold a secret, and a file is no place for one; "
            f"set {PREFIX}HEADERS in the environment"
        )


def _refuse_guarded(listed: Mapping[str, object]) -> None:
    """Raise for what a file that merely lies there may not say."""
    names = [name for name in _GUARDED if name in listed]
    if not str(listed.get("embedding_model", LOCAL)).strip().startswith(LOCAL):
        names.remove("embedding_model")  # a model of the server, which others name
    if not names:
        return
    leak = ""
    if "base_url" in names and os.environ.get("OPENAI_API_KEY", "").strip():
        leak = f" (OPENAI_API_KEY would have gone to {checked_url(str(listed['base_url']))})"
    raise ConfigError(
        f"{FILE}: sets {', '.join(names)}{leak}, which a file that is merely found may not; read "
        f"it, then take it with --config {FILE}"
    )
