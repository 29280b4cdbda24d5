"""Build target: the runtime's Python and processors, or this machine's for the emulator."""

import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from cardsharp_tools.project_files import PROJECT_ROOT

REPOSITORY_ROOT = PROJECT_ROOT  # the repository
RUNTIME_PYTHON = "3.13"  # the Python of template.yaml's Runtime

ARCHITECTURES = ("arm64", "x86_64")


def print_flushed(line: str) -> None:
    """Print a line immediately, so that it appears before slow work."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def run_and_capture_output(
    command: Iterable[str], environment: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a command in the repository; return the completed process with its captured output.

    A nonzero exit code does not raise an error.
    """
    return subprocess.run(  # noqa: S603 - none of its words is a stranger's
        [*command],
        cwd=REPOSITORY_ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


@dataclass(frozen=True, slots=True)
class BuildTarget:
    """A Python version, on both processors of Lambda or on this machine's own platform."""

    python: str = RUNTIME_PYTHON
    is_native: bool = False

    def environment(self) -> dict[str, str]:
        """The makefiles' environment: on PATH our uv and, if any, a Python of the version."""
        interpreter = find_python(self.python)
        folders = [] if interpreter is None else [str(interpreter.parent)]
        folders += [str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)]
        # What would make another interpreter look into our packages.
        excluded_variables = {"PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "LAMBDA_PLATFORM"}
        return {
            **{name: value for name, value in os.environ.items() if name not in excluded_variables},
            "PATH": os.pathsep.join(folders),
            "LAMBDA_PYTHON": self.python,
            **({"LAMBDA_PLATFORM": ""} if self.is_native else {}),
        }


def native_target() -> BuildTarget:
    """Return the target of this interpreter, in which the emulator runs functions."""
    return BuildTarget(f"{sys.version_info[0]}.{sys.version_info[1]}", is_native=True)


def requested_target() -> BuildTarget:
    """Return this machine's target where the emulator's environment asks for it, else Lambda's.

    The emulator prints `LAMBDA_PLATFORM=''`, which means wheels for this machine.
    """
    return native_target() if os.environ.get("LAMBDA_PLATFORM") == "" else BuildTarget()


def native_architecture() -> str:
    """Return Lambda's processor architecture that Linux on this machine could run."""
    return "arm64" if platform.machine() in {"arm64", "aarch64"} else "x86_64"


_VERSION_PROBE = "import sys; print('%d.%d' % sys.version_info[:2])"


def find_python(version: str) -> Path | None:
    """Return a working Python of `version`, e.g. "3.13": on PATH, pyenv's or uv's; else None."""
    return next(
        (
            candidate
            for candidate in _iter_candidate_pythons(version)
            if python_version(candidate) == version
        ),
        None,
    )


def python_version(python: Path) -> str | None:
    """Return an interpreter's version, or None if it only prints an error, as pyenv shims do."""
    try:
        result = subprocess.run(  # noqa: S603 - an interpreter found on this machine
            [python, "-c", _VERSION_PROBE], capture_output=True, text=True, check=True, timeout=120
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return result.stdout.strip()


def _iter_candidate_pythons(version: str) -> Iterator[Path]:
    on_path = shutil.which(f"python{version}")
    if on_path is not None:
        yield Path(on_path)
        yield from _find_pyenv(Path(on_path).parent.parent, version)  # where it is one of its shims
    yield from _find_pyenv(Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv"), version)
    uv = shutil.which("uv")
    if uv is not None:
        result = run_and_capture_output(
            [uv, "python", "find", "--no-python-downloads", "--no-project", version]
        )
        if result.returncode == 0:
            yield Path(result.stdout.strip())


def _find_pyenv(root: Path, version: str) -> list[Path]:
    return sorted(root.glob(f"versions/{version}.*/bin/python{version}"), reverse=True)
