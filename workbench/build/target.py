"""What is built for: the runtime's Python and processors, or this machine's for the emulator."""

import os
import platform
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from workbench.build.interpreter import find_python
from workbench.files import PROJECT

ROOT = PROJECT
"""The repository."""

RUNTIME_PYTHON = "3.13"
"""The Python of template.yaml's Runtime."""

ARCHITECTURES = ("arm64", "x86_64")


@dataclass(frozen=True, slots=True)
class Target:
    """A Python version, on both processors of Lambda or on this machine's own platform."""

    python: str = RUNTIME_PYTHON
    native: bool = False

    def environment(self) -> dict[str, str]:
        """The environment in which the makefiles build for this target.

        On its PATH stand uv of our own environment and, where there is one, an interpreter of
        the target's version.
        """
        interpreter = find_python(self.python)
        folders = [] if interpreter is None else [str(interpreter.parent)]
        folders += [str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)]
        return {
            **_without_python(os.environ),
            "PATH": os.pathsep.join(folders),
            "LAMBDA_PYTHON": self.python,
            **({"LAMBDA_PLATFORM": ""} if self.native else {}),
        }


def this_machine() -> Target:
    """What runs in this very interpreter, as functions do in the emulator."""
    return Target(f"{sys.version_info[0]}.{sys.version_info[1]}", native=True)


def native_architecture() -> str:
    """The processor of Lambda that this machine's Linux could run."""
    return "arm64" if platform.machine() in {"arm64", "aarch64"} else "x86_64"


def _without_python(environment: Mapping[str, str]) -> dict[str, str]:
    """Leave out what would make another interpreter look into our packages."""
    ours = {"PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "LAMBDA_PLATFORM"}
    return {name: value for name, value in environment.items() if name not in ours}
