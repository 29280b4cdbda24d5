"""Builds of the compiled search for tests."""

import os
import subprocess
import sys
from pathlib import Path

from cardsharp.games.deadmansdraw.strategies.search.compiled_search import SEARCH_SOURCES
from cardsharp_tools.build.target import REPOSITORY_ROOT

ZIG_PYTHON = REPOSITORY_ROOT / ".venv-zig" / "bin" / "python"  # an interpreter with ziglang
_SCRIPT = SEARCH_SOURCES / "build_library.py"


def run_build_script(
    *arguments: str,
    python: Path | str = sys.executable,
    path: str | None = None,
    modules: Path | None = None,
) -> str:
    """Return the output of `build_library.py`.

    `path` are the folders that have programs, and `modules` one more that has modules.
    """
    return subprocess.run(  # noqa: S603 - our own script
        [python, _SCRIPT, *arguments],
        env={
            "PATH": os.environ["PATH"] if path is None else path,
            "HOME": os.environ.get("HOME", "/"),
            **({} if modules is None else {"PYTHONPATH": str(modules)}),
        },
        capture_output=True,
        text=True,
        check=True,
    ).stdout
