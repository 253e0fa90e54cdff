"""An option that takes one of a few words."""

from typing import Final, TypeVar

from judge.errors import ConfigError
from judge.text.visible import clip

_Value = TypeVar("_Value", bound=str)
_SHOWN: Final = 60


def chosen(option: str, value: str, values: tuple[_Value, ...]) -> _Value:
    """The value, where it is one of these: what is wrong is one line of ours.

    Raises:
        ConfigError: it is none.

    >>> chosen("--lang", "zh", ("en", "zh"))
    'zh'
    """
    for each in values:
        if each == value:
            return each
    raise ConfigError(f"{option} {clip(value, _SHOWN)!r}: give one of {', '.join(values)}")
