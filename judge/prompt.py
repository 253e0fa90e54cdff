"""The pinned prompts: a released version never changes, and its hash proves that."""

import hashlib
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import as_file, files
from pathlib import Path
from string import Template
from typing import Final

from judge.errors import PromptMismatch

SUMS: Final = "SHA256SUMS"
FAITHFULNESS: Final = "faithfulness"
"""The prompt whose version is a setting."""
_LINE: Final = re.compile(r"([0-9a-f]{64}) [ *](\S+)")
_SHOWN: Final = 8


@dataclass(frozen=True, slots=True)
class Prompt:
    """One version of one prompt, its bytes checked."""

    name: str
    """The measure it serves, such as `faithfulness`."""
    version: str
    """The version, such as `v1`."""
    sha256: str
    """SHA-256 of the file's bytes."""
    system: str
    """Instructions, the same in every request."""
    user: Template
    """The material: `$code $query $chunks $sentences $ask`."""
    again: Template
    """The addition after an unusable reply: `$faults`."""

    @property
    def reference(self) -> str:
        """The reference in signatures: name, version, and the first digits of the hash."""
        return f"{self.name}-{self.version}@{self.sha256[:_SHOWN]}"

    @property
    def texts(self) -> dict[str, str]:
        """The three texts by name."""
        user, again = self.user.template, self.again.template
        return {"system": self.system, "user": user, "again": again}


def prompts_folder() -> Path:
    """The folder of pinned prompts, in a wheel and in an editable install alike."""
    with as_file(files("judge")) as package:
        inside = package / "prompts"
        return inside if inside.is_dir() else package.parent / "prompts"


def load_prompt(name: str, version: str, folder: Path | None = None) -> Prompt:
    """Return one version of a prompt; raise PromptMismatch if it is absent or was changed."""
    folder = folder or prompts_folder()
    file = f"{name}/{version}.toml"
    pinned = pins(folder)
    if file not in pinned:
        known = ", ".join(sorted(pinned)) or "none"
        raise PromptMismatch(f"no prompt {file!r} is pinned in {folder / SUMS}; there are: {known}")
    content = checked(folder, file, pinned[file])
    try:
        texts = tomllib.loads(content.decode())
        system, user, again = (str(texts[key]).strip() for key in ("system", "user", "again"))
    except (ValueError, KeyError) as error:
        raise PromptMismatch(f"{folder / file}: cannot be read as a prompt ({error})") from None
    return Prompt(name, version, pinned[file], system, Template(user), Template(again))


def versions(name: str, folder: Path | None = None) -> list[str]:
    """Return the released versions of a prompt, oldest first, or raise PromptMismatch."""
    folder = folder or prompts_folder()
    pinned = pins(folder)
    released = re.compile(rf"{re.escape(name)}/v([1-9]\d*)\.toml")
    numbers = [int(found[1]) for found in map(released.fullmatch, pinned) if found]
    if not numbers:
        known = ", ".join(sorted({file.partition("/")[0] for file in pinned})) or "none"
        raise PromptMismatch(f"no prompt is called {name!r}; there are: {known}")
    return [f"v{number}" for number in sorted(numbers)]


def verify_prompts(folder: Path | None = None) -> list[str]:
    """Return the names of all pinned files in order; PromptMismatch names the first wrong file."""
    folder = folder or prompts_folder()
    pinned = pins(folder)
    for file, digest in sorted(pinned.items()):
        checked(folder, file, digest)
    for path in sorted(folder.rglob("*.toml")):
        file = path.relative_to(folder).as_posix()
        if file not in pinned:
            raise PromptMismatch(f"{path}: is not pinned; add its hash to {SUMS}, or remove it")
    return sorted(pinned)


def pins(folder: Path) -> Mapping[str, str]:
    """Return the hash of each prompt file in `SHA256SUMS`, by its name there."""
    try:
        lines = (folder / SUMS).read_text("utf-8").splitlines()
    except OSError as error:
        raise PromptMismatch(f"{folder / SUMS}: {error.strerror}; install judge again") from None
    found = dict[str, str]()
    for line in filter(str.strip, lines):
        if (match := _LINE.fullmatch(line)) is None:
            raise PromptMismatch(f"{folder / SUMS}: {line!r} is no line of sha256sum")
        found[match[2]] = match[1]
    return found


def checked(folder: Path, file: str, digest: str) -> bytes:
    """Return the bytes of a pinned file; raise PromptMismatch if they were changed."""
    try:
        content = (folder / file).read_bytes()
    except OSError as error:
        message = f"{folder / file}: {error.strerror}; restore the released file"
        raise PromptMismatch(message) from None
    found = hashlib.sha256(content).hexdigest()
    if found != digest:
        fault = f"hash {found[:_SHOWN]} is not the pinned {digest[:_SHOWN]}"
        step = "restore it, and give a change the next version number"
        raise PromptMismatch(f"{folder / file}: {fault}; {step}")
    return content
