"""Writing a file whole, or not at all."""

import contextlib
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from judge.errors import RunError


@contextlib.contextmanager
def replacing(path: Path, step: str = "mend that, or name another file") -> Iterator[Path]:
    """A file to write beside `path`, which takes its place on leaving; nothing where that fails.

    A link is followed: what it points to is replaced.

    Args:
        path: of the file.
        step: what to do where it cannot be written, for the message.

    Raises:
        RunError: it cannot be written, or is there and is no file, such as a folder or a device.
    """
    real = Path(os.path.realpath(path))  # of links in a ring, as far as it comes
    # Of this process: two that write at once do not write into each other's.
    part = real.with_name(f"{real.name}.{os.getpid()}.part")
    try:
        if real.exists() and not real.is_file():
            raise RunError(f"{path}: is no file that could be replaced; {step}")
        yield part
        if real.exists():
            shutil.copymode(real, part)  # what only its owner could read stays so
        part.replace(real)
    except OSError as error:
        raise RunError(f"{path}: cannot be written ({error.strerror}); {step}") from None
    finally:
        with contextlib.suppress(OSError):
            part.unlink(missing_ok=True)
