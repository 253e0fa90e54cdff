"""Where the pinned prompts lie: beside the code when installed, at the top of a checkout."""

from importlib.resources import as_file, files
from pathlib import Path


def prompts_folder() -> Path:
    """The folder of pinned prompts, in a wheel and in an editable install alike."""
    with as_file(files("judge")) as package:
        inside = package / "prompts"
        return inside if inside.is_dir() else package.parent / "prompts"
