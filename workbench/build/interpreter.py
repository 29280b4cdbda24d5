"""Pythons of another version than our own on this machine, found where users have them."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

_PROBE = "import sys; print('%d.%d' % sys.version_info[:2])"


def find_python(version: str) -> Path | None:
    """A Python of `version`, such as "3.13", that runs; None where there is none.

    Looked for on PATH, among pyenv's versions and where uv keeps its own.
    """
    return next((one for one in _candidates(version) if version_of(one) == version), None)


def version_of(python: Path) -> str | None:
    """The version that an interpreter says of itself, None if it does not run.

    A shim of pyenv exists for every version that is installed, and most of them only complain.
    """
    try:
        told = subprocess.run(  # noqa: S603 - an interpreter found on this machine
            [python, "-c", _PROBE], capture_output=True, text=True, check=True, timeout=20
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return told.stdout.strip()


def _candidates(version: str) -> Iterator[Path]:
    on_path = shutil.which(f"python{version}")
    if on_path is not None:
        yield Path(on_path)
        yield from _pyenv(Path(on_path).parent.parent, version)  # where it is one of its shims
    yield from _pyenv(Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv"), version)
    uv = shutil.which("uv")
    if uv is not None:
        command = [uv, "python", "find", "--no-python-downloads", "--no-project", version]
        told = subprocess.run(  # noqa: S603 - uv of our own environment
            command, capture_output=True, text=True, check=False
        )
        if told.returncode == 0:
            yield Path(told.stdout.strip())


def _pyenv(root: Path, version: str) -> list[Path]:
    return sorted(root.glob(f"versions/{version}.*/bin/python{version}"), reverse=True)
