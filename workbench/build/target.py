"""What is built for: the runtime's Python and processors, or this machine's for the emulator."""

import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from workbench.files import PROJECT

ROOT = PROJECT  # the repository
RUNTIME_PYTHON = "3.13"  # the Python of template.yaml's Runtime

ARCHITECTURES = ("arm64", "x86_64")


def say(line: str) -> None:
    """Print a line at once, so that it stands before whatever comes slowly."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def ran(
    command: Iterable[str], environment: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """What came of a command that was run in the repository, with all that it printed."""
    return subprocess.run(  # noqa: S603 - none of its words is a stranger's
        [*command], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )


@dataclass(frozen=True, slots=True)
class Target:
    """A Python version, on both processors of Lambda or on this machine's own platform."""

    python: str = RUNTIME_PYTHON
    native: bool = False

    def environment(self) -> dict[str, str]:
        """The makefiles' environment: on PATH our uv and, if any, a Python of the version."""
        interpreter = find_python(self.python)
        folders = [] if interpreter is None else [str(interpreter.parent)]
        folders += [str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)]
        # What would make another interpreter look into our packages.
        ours = {"PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "LAMBDA_PLATFORM"}
        return {
            **{name: value for name, value in os.environ.items() if name not in ours},
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


_PROBE = "import sys; print('%d.%d' % sys.version_info[:2])"


def find_python(version: str) -> Path | None:
    """A Python of `version` such as "3.13" that runs: on PATH, pyenv's or uv's; None without."""
    return next((one for one in _candidates(version) if version_of(one) == version), None)


def version_of(python: Path) -> str | None:
    """The version that an interpreter says; None if it only complains, as most shims of pyenv."""
    try:
        told = subprocess.run(  # noqa: S603 - an interpreter found on this machine
            [python, "-c", _PROBE], capture_output=True, text=True, check=True, timeout=120
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
        told = ran([uv, "python", "find", "--no-python-downloads", "--no-project", version])
        if told.returncode == 0:
            yield Path(told.stdout.strip())


def _pyenv(root: Path, version: str) -> list[Path]:
    return sorted(root.glob(f"versions/{version}.*/bin/python{version}"), reverse=True)
