"""Faults of the machine that a command runs on, each as a sentence that says what to do."""

import errno

_ELSEWHERE = (
    "Check its owner, or use a folder of this user: set XDG_DATA_HOME for our data, or TMPDIR for "
    "temporary files."
)

_ADVICE = {
    **dict.fromkeys((errno.ENOSPC, errno.EFBIG, errno.EDQUOT), "Free some disk space."),
    **dict.fromkeys((errno.EACCES, errno.EPERM, errno.EROFS), _ELSEWHERE),
    **dict.fromkeys((errno.ENOTDIR, errno.ELOOP, errno.ENAMETOOLONG), "Check this path."),
    **dict.fromkeys(
        (errno.EMFILE, errno.ENFILE),
        "Allow more open files (ulimit -n 4096), or reduce --concurrency.",
    ),
    **dict.fromkeys(
        (errno.ENOMEM, errno.EAGAIN),
        "The machine has no memory or no process left. End other programs, or reduce "
        "--concurrency.",
    ),
    **dict.fromkeys((errno.EIO, errno.ESTALE), "Check the disk or the network drive."),
}

_NO_TEMPORARY = "No usable temporary"  # begins the error of the module tempfile


def describe_machine_fault(error: Exception) -> str | None:
    """Return what the machine refused and what to do about it; None for a fault of our own."""
    if isinstance(error, MemoryError):
        return f"The memory is used up. {_ADVICE[errno.ENOMEM]}"
    if not isinstance(error, OSError) or error.errno is None:
        return None
    if str(error.strerror).startswith(_NO_TEMPORARY):
        return f"{error.strerror}. Set TMPDIR to a folder that this user may write to."
    advice = _ADVICE.get(error.errno)
    if advice is None:
        return None
    subject = error.filename or "The output"
    verb = "used" if error.filename else "written"
    return f"{subject} cannot be {verb}: {error.strerror}. {advice}"
