"""Files that their owner alone can read, from their first moment on and whatever the umask."""

import os
from contextlib import suppress
from pathlib import Path

DIRECTORY_MODE = 0o700
FILE_MODE = 0o600
_NON_OWNER_BITS = 0o077


def ensure_private_file(path: Path) -> None:
    """Create an empty private file, with its folder; restrict one that exists.

    A folder that exists stays as it is, because others may use it. Raises `OSError` if file or
    folder cannot be created.
    """
    path.parent.mkdir(mode=DIRECTORY_MODE, parents=True, exist_ok=True)
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, FILE_MODE))
    except FileExistsError:
        restrict_to_owner(path)


def restrict_to_owner(path: Path, mode: int = FILE_MODE) -> None:
    """Remove all permissions of other users from a file or folder of ours.

    By its path, because opening and closing a database would release our locks on it.
    """
    with suppress(FileNotFoundError, PermissionError):
        if (path.is_file() or path.is_dir()) and path.stat().st_mode & _NON_OWNER_BITS:
            path.chmod(mode)
