"""Files in a deployment's folder, in which the code of its driver can change everything.

No component of a path below `deployments/` may be a link, and only regular files are opened:
otherwise a driver could have the backend read, overwrite or delete files elsewhere.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import shutil
import stat
from collections.abc import Iterator
from pathlib import Path

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_FILE = os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK


@contextlib.contextmanager
def _folder_of(directory: Path, file: Path) -> Iterator[int]:
    """Yield a descriptor of the folder that contains a file of a deployment. Raises OSError."""
    parts = (directory.name, *file.relative_to(directory).parts[:-1])
    found = os.open(directory.parent, _FOLDER)
    try:
        for part in parts:
            if part == os.pardir:
                raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(file))
            inner = os.open(part, _FOLDER | os.O_NOFOLLOW, dir_fd=found)
            os.close(found)
            found = inner
        yield found
    finally:
        os.close(found)


def descriptor(directory: Path, file: Path, flags: int = os.O_RDONLY) -> int:
    """Open a regular file below a deployment's folder; the caller closes it. Raises OSError."""
    with _folder_of(directory, file) as folder:
        found = os.open(file.name, flags | _FILE, 0o600, dir_fd=folder)
    if not stat.S_ISREG(os.fstat(found).st_mode):
        os.close(found)
        raise OSError(errno.EINVAL, "not a regular file", str(file))
    return found


def read_text(directory: Path, file: Path, errors: str = "strict") -> str:
    """Return the text of a file. Raises OSError, or ValueError if it is not UTF-8."""
    with os.fdopen(descriptor(directory, file), encoding="utf-8", errors=errors) as opened:
        return opened.read()


def read_object(directory: Path, file: Path) -> dict[str, object]:
    """Return the JSON object in a file; empty without one."""
    try:
        found = json.loads(read_text(directory, file))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def write_text(directory: Path, file: Path, text: str) -> None:
    """Replace the text of a file at once, in a folder that exists. Raises OSError."""
    aside = file.with_name(f"{file.name}.new")
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
    with os.fdopen(descriptor(directory, aside, flags), "w", encoding="utf-8") as opened:
        opened.write(text)
    with _folder_of(directory, file) as folder:
        os.replace(aside.name, file.name, src_dir_fd=folder, dst_dir_fd=folder)


def is_folder(directory: Path, folder: Path) -> bool:
    """Whether this is a folder below the deployment's, and not a link to one."""
    try:
        with _folder_of(directory, folder / "file"):
            return True
    except OSError:
        return False


def remove_folder(directory: Path, folder: Path) -> None:
    """Delete a folder; errors are ignored, and links are not followed."""
    with contextlib.suppress(OSError), _folder_of(directory, folder) as parent:
        shutil.rmtree(folder.name, ignore_errors=True, dir_fd=parent)
