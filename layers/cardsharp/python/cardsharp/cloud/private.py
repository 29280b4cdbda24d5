"""Files that their owner alone can read, from their first moment on and whatever the umask."""

import os
from contextlib import suppress
from pathlib import Path

FOLDER = 0o700
FILE = 0o600
_OTHERS = 0o077


def make_private(path: Path) -> None:
    """Make a file, empty, with its folder if they are not there; one that is there is narrowed.

    A folder that is there stays as it is: it may be anybody's. Raises `OSError` if neither can be
    made.
    """
    path.parent.mkdir(mode=FOLDER, parents=True, exist_ok=True)
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, FILE))
    except FileExistsError:
        narrow(path)


def narrow(path: Path, mode: int = FILE) -> None:
    """Take everybody else's rights to a file or folder of ours away.

    By its name: to open and close a database would let go of the locks that we hold on it.
    """
    with suppress(FileNotFoundError, PermissionError):
        if (path.is_file() or path.is_dir()) and path.stat().st_mode & _OTHERS:
            path.chmod(mode)
