"""Compiles this folder's C sources once, into the user's cache folder."""

import os
import shutil
import subprocess
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path

from cardsharp.errors import ConfigError

SOURCES = Path(__file__).parent
FLAGS = ("-std=gnu11", "-O2", "-ffp-contract=off", "-fPIC", "-shared", "-Wall", "-Wextra")
"""No contraction of floating-point operations: they must round as Python's do."""


def why_not(env: Mapping[str, str] = os.environ) -> str | None:
    """Why there is no compiled engine here, in one sentence; None where there can be one."""
    if env.get("CARDSHARP_NATIVE") == "0":
        return "The compiled engine is turned off by CARDSHARP_NATIVE=0."
    if _compiler(env) is None:
        return "There is no C compiler (cc); the lab plays in plain Python, about 100 times slower."
    return None


def compile_library(env: Mapping[str, str] = os.environ) -> Path | None:
    """The compiled library, None where there is no compiler.

    Raises:
        ConfigError: the compiler fails; the message is its own, and says what to do.
    """
    compiler = _compiler(env)
    if why_not(env) is not None or compiler is None:
        return None
    library = _cache(env) / f"cardsharp-{_fingerprint(compiler)}.so"
    if not library.exists():
        _compile(compiler, library)
    return library


def _compile(compiler: str, library: Path) -> None:
    library.parent.mkdir(parents=True, exist_ok=True)
    unfinished = library.with_suffix(f".{os.getpid()}.tmp")
    sources = [str(source) for source in sorted(SOURCES.glob("*.c"))]
    command = [compiler, *FLAGS, *sources, "-o", str(unfinished), "-lm", "-lpthread"]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 (own files)
    if ran.returncode != 0:
        raise ConfigError(
            f"{compiler} cannot compile the lab's engine; CARDSHARP_NATIVE=0 plays in plain Python."
            f"\n{ran.stderr}"
        )
    unfinished.replace(library)


def _compiler(env: Mapping[str, str]) -> str | None:
    return shutil.which(env.get("CC", "cc"), path=env.get("PATH"))


def _cache(env: Mapping[str, str]) -> Path:
    root = env.get("XDG_CACHE_HOME")
    return (Path(root) if root else Path.home() / ".cache") / "cardsharp"


def _fingerprint(compiler: str) -> str:
    digest = sha256(" ".join((compiler, *FLAGS)).encode())
    for source in sorted((*SOURCES.glob("*.c"), *SOURCES.glob("*.h"))):
        digest.update(source.name.encode() + b"\0" + source.read_bytes())
    return digest.hexdigest()[:16]
