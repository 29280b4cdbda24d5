"""A built function in a process of its own, mounted and started as Lambda does it.

The function lies in the task root, its layers are merged into one folder in their order, and
AWS's runtime client starts the handler. What Lambda's runtime brings (its runtime client)
comes from requirements/runtime.txt; nothing of our own environment is on the path.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any, Self

from cardsharp.errors import ConfigError
from workbench.build.artifacts import Build
from workbench.build.runtime_api import RuntimeApi
from workbench.build.sam import BuildError
from workbench.build.target import ROOT, native_architecture
from workbench.cloud.template import Resource

RUNTIME_REQUIREMENTS = ROOT / "requirements" / "runtime.txt"
_INIT_LIMIT = timedelta(seconds=60)
_TICKS = os.sysconf("SC_CLK_TCK")
_USER_TIME, _SYSTEM_TIME = 11, 12
"""Places in /proc/PID/stat behind the name."""


@dataclass(frozen=True, slots=True)
class Mounts:
    """What an environment is made of: an interpreter and the folders on its path."""

    python: Path
    runtime: Path
    opt: Path


@dataclass(frozen=True, slots=True)
class ProcessUsage:
    """What a process has used so far: processor time, and the most memory at one time."""

    cpu: timedelta
    peak_bytes: int


def mount(build: Build, python: Path, folder: Path) -> Mounts:
    """Merge the layers of a build below `folder`, and put the runtime's packages beside them.

    Raises:
        BuildError: the runtime's packages or a bare interpreter cannot be had.
    """
    opt = folder / "opt"
    for name in build.layers(native_architecture()):
        shutil.copytree(build.folder_of(name), opt, dirs_exist_ok=True)
    # As bare as Lambda's: what else is installed beside an interpreter may run at its start.
    bare = folder / "python"
    _run([str(python), "-m", "venv", "--without-pip", str(bare)], "No bare Python can be made")
    return Mounts(bare / "bin" / "python", _runtime_packages(python, folder / "runtime"), opt)


def _runtime_packages(python: Path, folder: Path) -> Path:
    uv = shutil.which("uv", path=str(Path(sys.executable).parent)) or "uv"
    command = [uv, "pip", "install", "--quiet", "--require-hashes", "--no-deps"]
    command += ["--only-binary", ":all:", "--compile-bytecode", "--python", str(python)]
    command += ["--target", str(folder), "--requirement", str(RUNTIME_REQUIREMENTS)]
    _run(command, "The runtime's packages cannot be had")
    return folder


def _run(command: list[str], otherwise: str) -> None:
    done = subprocess.run(  # noqa: S603 - the interpreter found, or uv of our own environment
        command, capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise BuildError(f"{otherwise}: {done.stderr.strip()}")


def plain_variables(function: Resource) -> dict[str, str]:
    """The variables that a function is given whatever is deployed around it."""
    environment: Any = function.properties.get("Environment", {})
    told = environment.get("Variables", {})
    return {name: value for name, value in told.items() if isinstance(value, str)}


class Sandbox:
    """One execution environment of a built function between enter and exit.

    `environment` is what its configuration adds to what the template says plainly; what it prints
    goes to `log`. `init` tells what the init phase used. Linux only: usage is read from /proc.
    """

    def __init__(
        self, build: Build, name: str, mounts: Mounts, environment: Mapping[str, str], log: Path
    ) -> None:
        self._name = name
        self._root = build.folder_of(name)
        self._handler = str(build.resources[name].properties["Handler"])
        self._mounts = mounts
        self._environment = {**plain_variables(build.resources[name]), **environment}
        self._log = log
        self._stack = ExitStack()
        self._api = RuntimeApi(name, self._note_init, self._is_alive)
        self._process: subprocess.Popen[bytes] | None = None
        self.init: ProcessUsage | None = None

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            stack.enter_context(self._api)
            log = stack.enter_context(self._log.open("ab"))
            command = [str(self._mounts.python), "-m", "awslambdaric", self._handler]
            self._process = subprocess.Popen(  # noqa: S603 - the interpreter found for the runtime
                command, cwd=self._root, env=self._lambda_environment(), stdout=log, stderr=log
            )
            stack.callback(self._end)
            self._api.await_init(_INIT_LIMIT)
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def invoke(self, event: object, timeout: timedelta) -> Any:  # noqa: ANN401 - any JSON
        """The handler's answer; raises `RuntimeFault` if there is none."""
        return self._api.invoke(event, timeout)

    def usage(self) -> ProcessUsage:
        """What the environment has used up to now."""
        if self._process is None:
            raise ConfigError(f"{self._name} does not run.")
        return usage_of(self._process.pid)

    def _note_init(self) -> None:
        self.init = self.usage()

    def _is_alive(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def _end(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()

    def _lambda_environment(self) -> dict[str, str]:
        """The variables that Lambda sets, and those of the function's configuration."""
        mounts = self._mounts
        return {
            "PATH": os.environ.get("PATH", os.defpath),
            "LANG": "en_US.UTF-8",
            "TZ": ":UTC",
            "LAMBDA_TASK_ROOT": str(self._root),
            "LAMBDA_RUNTIME_DIR": str(mounts.runtime),
            "AWS_LAMBDA_RUNTIME_API": self._api.address,
            "AWS_LAMBDA_FUNCTION_NAME": self._name,
            "AWS_LAMBDA_FUNCTION_MEMORY_SIZE": "512",
            "AWS_LAMBDA_INITIALIZATION_TYPE": "on-demand",
            "_HANDLER": self._handler,
            # Task root and layers are read-only in Lambda: no bytecode is ever kept there.
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTHONPATH": os.pathsep.join(
                [str(self._root), str(mounts.opt / "python"), str(mounts.runtime)]
            ),
            **self._environment,
        }


def usage_of(pid: int) -> ProcessUsage:
    """What a living process has used up to now, all its threads together."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    ticks = int(fields[_USER_TIME]) + int(fields[_SYSTEM_TIME])
    status = Path(f"/proc/{pid}/status").read_text()
    peak = next(line for line in status.splitlines() if line.startswith("VmHWM:"))
    return ProcessUsage(timedelta(seconds=ticks / _TICKS), int(peak.split()[1]) * 1024)
