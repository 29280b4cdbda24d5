"""Build step of the wheel: the compiled search of this machine, where there is a C compiler."""

import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

SEARCH = "layers/cardsharp/python/cardsharp/games/deadmansdraw/strategies/search/native"


class SearchLibraryHook(BuildHookInterface[Any]):
    """Hook that builds the library and puts it into the wheel, which is then of one platform."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Build the library beside its sources; without one the wheel is of plain Python."""
        del version
        folder = Path(self.root, SEARCH)
        subprocess.run([sys.executable, str(folder / "build_library.py")], check=True)  # noqa: S603
        if not any(folder.glob("*.so")):
            return
        platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
        build_data["artifacts"].append(f"{SEARCH}/*.so")
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{platform}"
