"""Compiles the C sources once, and finds what was compiled before.

Nothing depends on it: where no compiler is, Python plays the same games, only slower.
"""

import ctypes
import os
import shutil
import subprocess
import tempfile
from functools import cache
from hashlib import blake2b
from pathlib import Path

SOURCES = ("cards.h", "play.h", "engine.c")
FLAGS = ("-O2", "-fPIC", "-shared", "-ffp-contract=off")
"""No contraction: a fused multiply-add would round otherwise than Python does."""

OFF = "CARDSHARP_NATIVE"
"""The variable that is 0 where Python is to play, compiler or not."""


@cache
def library() -> ctypes.CDLL | None:
    """The compiled engine, None where it cannot be compiled here or is turned off."""
    if os.environ.get(OFF) == "0":
        return None
    compiler = shutil.which(os.environ.get("CC", "cc"))
    folder = Path(__file__).parent
    key = blake2b(digest_size=10)
    for part in (*FLAGS, *((folder / name).read_text(encoding="utf-8") for name in SOURCES)):
        key.update(part.encode())
    target = _cache_folder() / f"euchre-{key.hexdigest()}.so"
    if not target.exists() and (compiler is None or not _compiled(compiler, folder, target)):
        return None
    try:
        found = ctypes.CDLL(str(target))
    except OSError:
        return None
    found.euchre_begin()
    return found


def _cache_folder() -> Path:
    named = os.environ.get("XDG_CACHE_HOME")
    return (Path(named) if named else Path.home() / ".cache") / "cardsharp"


def _compiled(compiler: str, folder: Path, target: Path) -> bool:
    """Compile into a file of its own and move it, so that nobody loads half a library."""
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=target.parent) as scratch:
            made = Path(scratch) / target.name
            sources = [str(folder / SOURCES[-1])]
            command = [compiler, *FLAGS, "-o", str(made), *sources, "-lm"]
            subprocess.run(command, check=True, capture_output=True, timeout=120)  # noqa: S603 - our own sources
            made.replace(target)
    except (OSError, subprocess.SubprocessError):
        return False
    return True
