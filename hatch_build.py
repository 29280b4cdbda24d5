"""Build step of the wheel: it puts the compiled search into the wheel of one platform.

The library is built for this machine, by its C compiler or else by `ziglang`, which is then a
requirement of the build. With `CARDSHARP_WHEEL_PROCESSOR=x86_64` or `aarch64` it is built by
`ziglang` for any Linux with that processor. Without a compiler, and with `CARDSHARP_NATIVE=0`, the
wheel is of plain Python.
"""

import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

NATIVE = "cardsharp/games/deadmansdraw/strategies/search/native"
SEARCH = f"layers/cardsharp/python/{NATIVE}"
PROCESSOR = os.environ.get("CARDSHARP_WHEEL_PROCESSOR", "")
IS_DISABLED = os.environ.get("CARDSHARP_NATIVE") == "0"


class SearchLibraryHook(BuildHookInterface[Any]):
    """Hook that builds the library and puts it into the wheel, which is then of one platform."""

    def dependencies(self) -> list[str]:
        """Return `ziglang`, pinned, if the library is wanted and there is no C compiler."""
        compiler = shutil.which(os.environ.get("CC", "cc"))
        if IS_DISABLED or sys.platform != "linux" or (compiler and not PROCESSOR):
            return []
        lines = Path(self.root, "requirements", "zig.in").read_text("utf-8").splitlines()
        return [line for line in lines if not line.startswith("#")]

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Build the library; without a compiler for this machine the wheel has none."""
        del version
        if IS_DISABLED:
            return
        if PROCESSOR:
            self._add_library_for_processor(build_data)
            return
        folder = Path(self.root, SEARCH)
        subprocess.run([sys.executable, str(folder / "build_library.py")], check=True)  # noqa: S603
        library = folder / f"search-{sys.platform}-{os.uname().machine}.so"
        if library.exists():
            build_data["artifacts"].append(f"{SEARCH}/{library.name}")
            self._set_platform(build_data, sysconfig.get_platform())

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove the folder of a library for another processor."""
        del version, artifact_path
        for library in build_data["force_include"]:
            if Path(library).suffix == ".so":
                shutil.rmtree(Path(library).parent)

    def _add_library_for_processor(self, build_data: dict[str, Any]) -> None:
        zig_python = Path(self.root, ".venv-zig", "bin", "python")
        python = str(zig_python) if zig_python.exists() else sys.executable
        folder = Path(tempfile.mkdtemp(prefix="cardsharp-wheel-"))
        command = [python, str(Path(self.root, SEARCH, "build_library.py")), "--into", str(folder)]
        subprocess.run([*command, PROCESSOR], check=True)  # noqa: S603
        library = folder / f"search-linux-{PROCESSOR}.so"
        if not library.exists():
            raise RuntimeError(f"there is no compiler for {PROCESSOR}: make .venv-zig/.setup-done")
        build_data["force_include"][str(library)] = f"{NATIVE}/{library.name}"
        # The oldest libc that can load it, as build_library.py asks for.
        self._set_platform(build_data, f"manylinux_2_17_{PROCESSOR}")

    def _set_platform(self, build_data: dict[str, Any], platform: str) -> None:
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{platform.replace('-', '_').replace('.', '_')}"
