"""Where settings come from: what is given, the environment, and a file that may be a stranger's."""

import errno
import hashlib
import logging
import os
import re
import stat
import tomllib
from collections.abc import Mapping
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

_MODEL: Final = "JUDGE_MODEL"

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
_LARGEST: Final = 1 << 20
"""Bytes of a file of settings."""
_DOTS: Final = 50
"""In a line of one: reading TOML takes memory with the square of a key's parts."""
_SHOWN: Final = 200


def load_config(
    given: Mapping[str, object], file: Path | None = None, *, trust: bool = False
) -> Config:
    """The settings that are given, else in the environment, else in a file, else the defaults.

    The file is TOML: the one named, else `judge.toml` of the working folder if there is one. That
    one may have come with somebody's data: what it sets is logged, and where texts and the key go,
    what is loaded and what is run it may only say if its hash is remembered, as `trust` does.

    Raises:
        ConfigError: the file cannot be read or is not trusted, or a setting is unknown or out of
            range.
    """
    path = file or Path(FILE)
    data = _read(path, found=file is None)
    if trust and data is None:
        raise ConfigError(f"there is no {FILE} here to trust; go where it is, or name a --config")
    listed = _listed(path, data or b"")
    if file is None and not (trust or _is_trusted(data or b"")):
        _refuse_guarded(listed)
    named = _named()
    _refuse_secrets(path, listed)
    stated = dict(given)
    whole = listed | named | stated
    told = _fault(whole)
    for place, settings, other in ((str(path), listed, named), ("environment", named, listed)):
        # A place is at fault where nothing in the others makes it right. A value that cannot be is
        # told though a stronger one stands in its place; what does not fit together is not.
        fault = _fault(settings)
        is_told = fault == told or (not told and fault.startswith("setting "))
        if fault and is_told and all(_fault(e | settings) for e in (other, stated, other | stated)):
            raise ConfigError(f"{place}: {fault}")
    config = Config.model_validate(whole)
    named_model = config.model or config.nli_model or config.span_model
    if config.judge == "auto" and not named_model and _is_blank(_MODEL):
        raise ConfigError(
            f"environment: {_MODEL} is empty, so no model would judge: fill it in, name one with "
            "--model, unset it, or say --judge similarity"
        )
    if trust:
        _remember(data or b"")
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


def _is_blank(variable: str) -> bool:
    return not os.environ.get(variable, "unset").strip()


def _named() -> dict[str, object]:
    """The settings in the environment; an empty one counts as absent, and what is none is told."""
    given = {name.lower(): value for name, value in os.environ.items()}
    settings = {"base_url": os.environ.get("OPENAI_BASE_URL", "")} | {
        name: given[variable]
        for name in Config.model_fields
        if (variable := f"{PREFIX}{name}".lower()) in given
    }
    known = [name.upper() for name in Config.model_fields]
    filled = {name for name, value in os.environ.items() if value.strip()} - _SECRETS
    rests = {
        name: name[len(PREFIX) :].upper() for name in filled if name.upper().startswith(PREFIX)
    }
    if strays := sorted(name for name, rest in rests.items() if rest not in known):
        from difflib import get_close_matches  # noqa: PLC0415  likewise

        nearest = [get_close_matches(rests[name], known, 1) for name in strays]
        both = zip(strays, nearest, strict=True)
        said = [f"{name} (did you mean {PREFIX}{n[0]}?)" if n else name for name, n in both]
        _LOG.warning("environment: %s: no setting, ignored", clip(", ".join(said), _SHOWN))
    return {name: value for name, value in settings.items() if str(value).strip()}


def _read(path: Path, *, found: bool) -> bytes | None:
    """What a file holds; where none was named a plain file alone is opened, or there is none."""
    step = "move it away, or name another --config" if found else "name the file of settings"
    # A pipe that nobody writes to would be waited for.
    flags = ("O_NOFOLLOW", "O_NONBLOCK") if found else ()  # Windows knows neither
    plain = sum(getattr(os, flag, 0) for flag in flags)
    try:
        with open(path, "rb", opener=lambda name, how: os.open(name, how | plain)) as stream:
            if found and not stat.S_ISREG(os.fstat(stream.fileno()).st_mode):
                raise ConfigError(f"{path}: is no plain file; {step}")
            data = stream.read(_LARGEST + 1)
    except OSError as error:
        if found and isinstance(error, FileNotFoundError):
            return None
        said = "is a link" if found and error.errno == errno.ELOOP else error.strerror
        raise ConfigError(f"{path}: {said}; {step}") from None
    if len(data) > _LARGEST:
        raise ConfigError(f"{path}: is larger than any file of settings (1 MB); {step}")
    return data


def _listed(path: Path, data: bytes) -> dict[str, object]:
    lines = data.splitlines()
    if any(line.count(b".") > _DOTS and not line.lstrip().startswith(b"#") for line in lines):
        raise ConfigError(f"{path}: has over {_DOTS} dots in a line, which no setting needs")
    try:
        settings: dict[str, object] = tomllib.loads(data.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:  # TOML or UTF-8
        raise ConfigError(f"{path}: is no TOML in UTF-8 ({error})") from None
    for name in settings:
        if "key" in name.lower() or "secret" in name.lower():
            raise ConfigError(
                f"{path}: {name!r} is a secret, and a file is no place for one; "
                "set OPENAI_API_KEY in the environment"
            )
    return settings


_GUARDED: Final = (
    "base_url",
    "citation_pattern",
    "cache_dir",
    "cache_url",
    "nli_model",
    "span_model",
    "embedding_model",
    "headers",
    "extra_body",
)
_SECRET: Final = re.compile("key|secret|token|auth|cookie|password", re.IGNORECASE)
"""In the name of a header that is one."""


def _refuse_secrets(path: Path, listed: Mapping[str, object]) -> None:
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
    served = not str(listed.get("embedding_model", "")).strip().startswith(LOCAL)
    names = [name for name in _GUARDED if name in listed]
    if served and "embedding_model" in names:
        names.remove("embedding_model")
    if not names:
        return
    leak = ""
    if "base_url" in names and os.environ.get("OPENAI_API_KEY", "").strip():
        leak = f" (OPENAI_API_KEY would have gone to {checked_url(str(listed['base_url']))})"
    raise ConfigError(
        f"{FILE}: sets {', '.join(names)}{leak}, which a file that is merely found may not; read "
        f"it, then take it this once with --config {FILE}, or until it changes with --trust-config"
    )


def home_folder(variable: str, usual: str) -> Path:
    """A folder of the user's, as XDG has it: of this variable, unless it is a relative one."""
    named = Path(os.environ.get(variable, ""))
    return named if named.is_absolute() else Path(usual)


def in_home(place: Path) -> Path | None:
    """A path that may begin with `~`; None where there is no such home folder."""
    if os.environ.get("HOME") != "" or place.parts[0] != "~":  # an empty one would mean /
        try:
            return place.expanduser()
        except RuntimeError:
            pass
    return None


def _trusted() -> Path | None:
    """The file of hashes that are remembered, one a line."""
    return in_home(home_folder("XDG_CONFIG_HOME", "~/.config") / "judge" / "trusted")


def _hashes(place: Path | None) -> list[str]:
    return place.read_text("ascii", "replace").split() if place and place.exists() else []


def _is_trusted(data: bytes) -> bool:
    try:
        return hashlib.sha256(data).hexdigest() in _hashes(_trusted())
    except OSError:
        return False


def _remember(data: bytes) -> None:
    """Trust these bytes from now on, wherever they are found."""
    place = _trusted()
    if place is None:
        raise ConfigError("there is no home folder to remember it in; set XDG_CONFIG_HOME")
    if _is_trusted(data):
        return
    try:
        for folder in (*reversed(place.parent.parents), place.parent):
            folder.mkdir(mode=0o700, exist_ok=True)
        number = os.open(place, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o600)
        with os.fdopen(number, "ab+", buffering=0) as file:
            file.seek(0)
            before = file.read()
            # In one write behind all others: another process may add its own meanwhile.
            end = "\n" if before and not before.endswith(b"\n") else ""
            file.write(f"{end}{hashlib.sha256(data).hexdigest()}\n".encode())
    except OSError as error:
        raise ConfigError(
            f"{place}: cannot be written ({error.strerror}); use --config instead of --trust-config"
        ) from None
