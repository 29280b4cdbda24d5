"""Build the compiled search: `python build_library.py [--into FOLDER] [PROCESSOR ...]`.

Without a processor it is built for this machine, by its C compiler or else by `ziglang`, the cross
compiler of the package registry. For the processors x86_64 and aarch64 of Linux `ziglang` builds
it. Only the standard library is needed. The exit code is 0 also if there is no compiler: plain
Python gives the same values.
"""

import argparse
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

FOLDER = Path(__file__).parent
# Without contraction of floating-point operations, which must round as Python's do.
FLAGS = ("-std=gnu11", "-O2", "-ffp-contract=off", "-fPIC", "-shared", "-s")
GLIBC = "2.17"  # the oldest libc that is to load the library; Lambda's is 2.34


def library_name(system: str = sys.platform, processor: str | None = None) -> str:
    """Return the file name of the library for a system and a processor, or for this machine."""
    return f"search-{system}-{processor or os.uname().machine}.so"


def find_compiler() -> list[str] | None:
    """Return the command of this machine's C compiler, or None if there is none."""
    compiler = shutil.which(os.environ.get("CC", "cc"))
    return _find_zig() if compiler is None else [compiler]


def _find_zig() -> list[str] | None:
    if find_spec("ziglang") is None:
        return None
    # The file may go to another machine, as that of an image does: without what only this
    # processor can.
    return [sys.executable, "-m", "ziglang", "cc", "-mcpu=baseline"]


def _find_cross_compiler(processor: str) -> list[str] | None:
    zig = _find_zig()
    return zig and [*zig, "-target", f"{processor}-linux-gnu.{GLIBC}"]


def build_library(library: Path, compiler: Sequence[str]) -> None:
    """Compile the sources into a library; raise `subprocess.CalledProcessError`."""
    # Compile into a temporary file and move it, so that no process loads half a library.
    unfinished = library.with_suffix(f".{os.getpid()}.tmp")
    sources = [source.name for source in sorted(FOLDER.glob("*.c"))]
    command = [*compiler, *FLAGS, *sources, "-o", str(unfinished.absolute()), "-lm"]
    try:
        subprocess.run(command, cwd=FOLDER, check=True, capture_output=True)  # noqa: S603 (own files)
        unfinished.replace(library)
    finally:
        unfinished.unlink(missing_ok=True)


def build_for(processor: str | None, into: Path) -> Path | None:
    """Build the library for a processor of Linux, or for this machine; None if that fails."""
    compiler = find_compiler() if processor is None else _find_cross_compiler(processor)
    if compiler is None:
        return None
    library = into / (library_name() if processor is None else library_name("linux", processor))
    try:
        build_library(library, compiler)
    except subprocess.CalledProcessError as error:
        sys.stderr.write(error.stderr.decode(errors="replace"))
        return None
    return library


def main() -> None:
    """Build the libraries, and print a line for each that cannot be built."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--into", type=Path, default=FOLDER)
    parser.add_argument("processors", nargs="*")
    arguments = parser.parse_args()
    for processor in arguments.processors or [None]:
        if build_for(processor, arguments.into) is None:
            place = processor or "this machine"
            sys.stdout.write(f"without compiled search for {place}: there is no compiler for it\n")


if __name__ == "__main__":
    main()
