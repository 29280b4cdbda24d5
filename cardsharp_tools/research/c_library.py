"""Compiler of a folder of C sources, which are compiled once into the user's cache folder.

It is optional: without a compiler, plain Python gives the same results, only slower.
"""

import ctypes
import os
import shutil
import subprocess
from collections.abc import Sequence
from ctypes import CDLL
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from cardsharp.errors import ConfigError
from cardsharp.games.deadmansdraw.strategies.search.compiled_search import DISABLE_VARIABLE
from cardsharp_tools.executors.subprocess_strategy import message_if_slow

FLAGS = ("-std=gnu11", "-O2", "-ffp-contract=off", "-fPIC", "-shared", "-Wall", "-Wextra")
"""Flags without contraction of floating-point operations, which must round as Python's do."""

_SHARED_HEADERS = Path(__file__).parent / "native"  # headers that the games share
SLOW_COMPILE_SECONDS = 1.0  # seconds after which a message says that code is compiled


_C_TYPES = {
    "?": ctypes.c_bool,
    "b": ctypes.c_int8,
    "h": ctypes.c_int16,
    "i": ctypes.c_int32,
    "q": ctypes.c_int64,
    "H": ctypes.c_uint16,
    "I": ctypes.c_uint32,
    "Q": ctypes.c_uint64,
    "f": ctypes.c_float,
    "d": ctypes.c_double,
    "P": ctypes.c_void_p,
}
"""Types of C by the characters of Python's `struct`; P is any pointer."""


def struct_fields(kinds: str, field_names: str, *arrays: Any) -> list[tuple[str, Any]]:  # noqa: ANN401
    """Return the fields of a ctypes structure; a character gives each type, "." an array.

    `kinds` has a character for the type of each member; "." stands for the next of `arrays`.
    """
    more = iter(arrays)
    types = [next(more) if kind == "." else _C_TYPES[kind] for kind in kinds]
    return list(zip(field_names.split(), types, strict=True))


def declare_function(function: Any, argument_types: str, return_type: str = "i") -> Any:  # noqa: ANN401
    """Return a library's function with its types declared as characters; "" is void.

    Each type is a character; "" as `return_type` means no result.
    """
    function.argtypes = [_C_TYPES[kind] for kind in argument_types]
    function.restype = _C_TYPES[return_type] if return_type else None
    return function


def unavailable_reason() -> str | None:
    """Return the reason why no code is compiled here, in one sentence; None if code is compiled."""
    if os.environ.get(DISABLE_VARIABLE) == "0":
        return f"The compiled engine is turned off by {DISABLE_VARIABLE}=0."
    if _find_compiler() is None:
        return "There is no C compiler (cc); plain Python plays, 40 to 100 times slower."
    return None


@cache
def load_library(*source_folders: Path) -> CDLL | None:
    """Return the compiled library of the C files of folders, or None without a compiler.

    The first folder names it. Raises `ConfigError` if the code cannot be compiled.
    """
    library = compile_library(*source_folders)
    return None if library is None else CDLL(str(library))


def compile_library(*source_folders: Path) -> Path | None:
    """Compile the `.c` files of folders; return the library's path, None without a compiler.

    The first folder names it. Raises `ConfigError` if the compiler fails, with its message and
    what to do.
    """
    compiler = _find_compiler()
    if unavailable_reason() is not None or compiler is None:
        return None
    cache_folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    game, fingerprint = (
        source_folders[0].parent.name,
        _compute_fingerprint(compiler, source_folders),
    )
    library = cache_folder / "cardsharp" / f"{game}-{fingerprint}.so"
    if not library.exists():
        _compile_library(compiler, source_folders, library)
    return library


def _compile_library(compiler: str, folders: Sequence[Path], library: Path) -> None:
    try:
        library.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigError(
            f"{library.parent} cannot be made: {error.strerror}; set XDG_CACHE_HOME to a folder "
            f"where you may write, or {DISABLE_VARIABLE}=0 for plain Python."
        ) from None
    # Compile into a temporary file and move it, so that no process loads half a library.
    unfinished = library.with_suffix(f".{os.getpid()}.tmp")
    sources = [str(source) for folder in folders for source in sorted(folder.glob("*.c"))]
    flags = (*FLAGS, *(f"-I{folder}" for folder in (*folders, _SHARED_HEADERS)))
    command = [compiler, *flags, *sources, "-o", str(unfinished), "-lm", "-lpthread"]
    with message_if_slow(
        f"compiling {folders[0].parent.name} once, some 10 s ...", SLOW_COMPILE_SECONDS
    ):
        ran = subprocess.run(command, capture_output=True, check=False)  # noqa: S603 (own files)
    if ran.returncode != 0:
        compiler_output = ran.stderr.decode(errors="replace")
        raise ConfigError(
            f"{compiler} cannot compile {folders[0]}; {DISABLE_VARIABLE}=0 plays in plain "
            f"Python.\n{compiler_output}"
        )
    unfinished.replace(library)


def _find_compiler() -> str | None:
    return shutil.which(os.environ.get("CC", "cc"))


def _compute_fingerprint(compiler: str, folders: Sequence[Path]) -> str:
    digest = sha256(" ".join((compiler, *FLAGS)).encode())
    for source in sorted(
        source for folder in (*folders, _SHARED_HEADERS) for source in folder.glob("*.[ch]")
    ):
        digest.update(source.name.encode() + b"\0" + source.read_bytes())
    return digest.hexdigest()[:16]
