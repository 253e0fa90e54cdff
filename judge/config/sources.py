"""Where settings come from: what is given, else the environment, else a file, else the default."""

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from judge.config.config import Config
from judge.errors import ConfigError

FILE: Final = "judge.toml"
"""Read from the working folder where it stands there."""

ENVIRONMENT: Final = {"JUDGE_MODEL": "model", "OPENAI_BASE_URL": "base_url"}
"""Variables that are settings. OPENAI_API_KEY is none: it is read where it is needed alone."""


_ELSEWHERE: Final = {
    judge: {model: "named elsewhere"} for judge, model in (("llm", "model"), ("nli", "nli_model"))
}


def load_config(
    given: Mapping[str, object], environment: Mapping[str, str], file: Path | None = None
) -> Config:
    """Join the settings.

    Args:
        given: by name; wins over all else.
        environment: variables; an empty one counts as absent.
        file: TOML with settings by name; where left out, `judge.toml` of the working folder if
            there is one.

    Raises:
        ConfigError: the file cannot be read, or a setting is unknown or out of range.
    """
    path = file or Path(FILE)
    settings = _read(path) if file is not None or path.is_file() else {}
    if settings:
        try:
            # On its own first, so that the message can name the file; a model may yet be named.
            Config.model_validate(_ELSEWHERE.get(str(settings.get("judge")), {}) | settings)
        except ConfigError as error:
            raise ConfigError(f"{path}: {error}") from None
    named = {name: environment.get(variable, "") for variable, name in ENVIRONMENT.items()}
    settings |= {name: value for name, value in named.items() if value.strip()}
    return Config.model_validate(settings | dict(given))


def _read(path: Path) -> dict[str, object]:
    try:
        settings: dict[str, object] = tomllib.loads(path.read_text("utf-8-sig"))
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror}; name the file of settings") from None
    except ValueError as error:  # TOML or UTF-8
        raise ConfigError(f"{path}: is no TOML in UTF-8 ({error})") from None
    for name in settings:
        if "key" in name.lower() or "secret" in name.lower():
            raise ConfigError(
                f"{path}: {name!r} is a secret, and a file is no place for one; "
                "set OPENAI_API_KEY in the environment"
            )
    return settings
