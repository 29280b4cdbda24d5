"""A built function in a process of its own, mounted and started as Lambda does it.

The function lies in the task root, its layers are merged into one folder in their order, and
AWS's runtime client starts the handler. What Lambda's runtime brings (its runtime client)
comes from requirements/runtime.txt; nothing of our own environment is on the path.
"""

import json
import os
import queue
import shutil
import subprocess
import sys
import time
import uuid
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from http import HTTPStatus
from pathlib import Path
from typing import Any, Self
from urllib.parse import urlsplit

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from cardsharp.errors import CardsharpError
from cardsharp_tools.build.sam_build import Build, BuildError
from cardsharp_tools.build.target import (
    REPOSITORY_ROOT,
    native_architecture,
    run_and_capture_output,
)
from cardsharp_tools.local_server.http_server import BackgroundServer

_POLL_SECONDS = 0.2  # seconds between looks at whether the environment still runs

_ARN_PREFIX = "arn:aws:lambda:us-east-1:000000000000:function:"
_RUNTIME_API_PATH = "/2018-06-01/runtime"  # below which the Lambda Runtime API is
_READY = "ready"  # what we note when the environment asks for its first invocation


RUNTIME_REQUIREMENTS = REPOSITORY_ROOT / "requirements" / "runtime.txt"
_INIT_LIMIT = timedelta(minutes=5)
_TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")
_USER_TIME, _SYSTEM_TIME = 11, 12  # places in /proc/PID/stat behind the name


@dataclass(frozen=True, slots=True)
class InterpreterPaths:
    """Parts of an execution environment: an interpreter and the folders on its path."""

    python: Path
    runtime: Path
    opt: Path


@dataclass(frozen=True, slots=True)
class ProcessUsage:
    """Resources used by a process so far: processor time and peak memory."""

    cpu: timedelta
    peak_bytes: int


def merge_layers(build_output: Build, python: Path, folder: Path) -> InterpreterPaths:
    """Merge a build's layers below `folder`, the runtime's packages beside; raises `BuildError`."""
    opt = folder / "opt"
    for name in build_output.layer_names(native_architecture()):
        shutil.copytree(build_output.built_folder(name), opt, dirs_exist_ok=True)
    # As bare as Lambda's: what else is installed beside an interpreter may run at its start.
    bare = folder / "python"
    _run_or_raise(
        [str(python), "-m", "venv", "--without-pip", str(bare)], "No bare Python can be made"
    )
    runtime = folder / "runtime"
    uv = shutil.which("uv", path=str(Path(sys.executable).parent)) or "uv"
    command = [uv, "pip", "install", "--quiet", "--require-hashes", "--no-deps"]
    command += ["--only-binary", ":all:", "--compile-bytecode", "--python", str(python)]
    command += ["--target", str(runtime), "--requirement", str(RUNTIME_REQUIREMENTS)]
    _run_or_raise(command, "The runtime's packages cannot be had")
    return InterpreterPaths(bare / "bin" / "python", runtime, opt)


def _run_or_raise(command: list[str], error_message: str) -> None:
    done = run_and_capture_output(command)
    if done.returncode != 0:
        raise BuildError(f"{error_message}: {done.stderr.strip()}")


def static_environment_variables(function: Mapping[str, Any]) -> dict[str, str]:
    """Return the function's environment variables that do not depend on the deployment."""
    variables = function["Properties"].get("Environment", {}).get("Variables", {})
    return {name: value for name, value in variables.items() if isinstance(value, str)}


class ExecutionEnvironment:
    """One execution environment of a built function between enter and exit.

    AWS's own runtime client (`awslambdaric`) asks us for the next invocation and gives us the
    answer, by the Lambda Runtime API on loopback: GET invocation/next, POST invocation/ID/response
    or invocation/ID/error, and POST init/error when the handler cannot be imported.

    `environment` is what its configuration adds to what the template says plainly; what it prints
    goes to `log`. `init` tells what the init phase used. Linux only: usage is read from /proc.
    """

    init_usage: ProcessUsage

    def __init__(
        self,
        build: Build,
        name: str,
        mounts: InterpreterPaths,
        environment: Mapping[str, str],
        log: Path,
    ) -> None:
        self._name, self._mounts, self._log_path = name, mounts, log
        self._root = build.built_folder(name)
        self._handler: str = build.functions_and_layers[name]["Properties"]["Handler"]
        self._environment = {
            **static_environment_variables(build.functions_and_layers[name]),
            **environment,
        }
        self._stack = ExitStack()
        self._pending_invocations: queue.Queue[Response] = queue.Queue()
        self._messages: queue.Queue[tuple[str, bytes]] = queue.Queue()
        self._is_ready = False

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            routes = [
                Route(f"{_RUNTIME_API_PATH}/invocation/next", self._handle_next),
                Route(f"{_RUNTIME_API_PATH}/{{what:path}}", self._handle_post, methods=["POST"]),
            ]
            # Who waits for an invocation when all is over is given nothing.
            over = partial(self._pending_invocations.put, Response())
            server = stack.enter_context(BackgroundServer("Lambda", Starlette(routes=routes), over))
            log = stack.enter_context(self._log_path.open("ab"))
            command = [str(self._mounts.python), "-m", "awslambdaric", self._handler]
            environment = self._build_environment(urlsplit(server.url).netloc)
            self._process = subprocess.Popen(  # noqa: S603 - the interpreter found for the runtime
                command, cwd=self._root, env=environment, stdout=log, stderr=log
            )
            stack.callback(self._process.wait)
            stack.callback(self._process.kill)
            self._wait_for_message(_READY, _INIT_LIMIT)
            self.init_usage = self.resource_usage()
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def invoke(self, event: object, timeout: timedelta) -> Any:  # noqa: ANN401 - any JSON
        """Return the handler's response; raise `CardsharpError` if it fails or is late."""
        headers = {
            "Lambda-Runtime-Aws-Request-Id": str(uuid.uuid4()),
            "Lambda-Runtime-Deadline-Ms": str(
                round((time.time() + timeout.total_seconds()) * 1000)
            ),
            "Lambda-Runtime-Invoked-Function-Arn": _ARN_PREFIX + self._name,
            # AWS's client dies of a missing content type.
            "Content-Type": "application/json",
        }
        self._pending_invocations.put(Response(json.dumps(event), headers=headers))
        return json.loads(self._wait_for_message("response", timeout) or b"null")

    def _wait_for_message(self, expected_kind: str, timeout: timedelta) -> bytes:
        """Return the environment's next message, which must be of a kind.

        Raise `CardsharpError` for another message, and if none arrives.
        """
        end = time.monotonic() + timeout.total_seconds()
        while time.monotonic() < end:
            with suppress(queue.Empty):
                kind, body = self._messages.get(timeout=_POLL_SECONDS)
                if kind == expected_kind:
                    return body
                payload = json.loads(body or b"{}")
                error, message = payload.get("errorType", "error"), payload.get("errorMessage")
                raise CardsharpError(f"{self._name}: {error}: {message or 'no message'}")
            if self._process.poll() is not None:
                raise CardsharpError(f"{self._name}: its process died.")
        raise CardsharpError(f"{self._name}: no answer within the function's timeout.")

    def _handle_next(self, _request: Request) -> Response:
        """Return the next invocation to the environment; wait until there is one."""
        if not self._is_ready:  # its init phase is over, and nothing runs in it until we answer
            self._is_ready = True
            self._messages.put((_READY, b""))
        return self._pending_invocations.get()

    async def _handle_post(self, request: Request) -> Response:
        """Store the result that the environment posts for an invocation or its init phase."""
        self._messages.put((request.url.path.rpartition("/")[2], await request.body()))
        return JSONResponse({"status": "OK"}, HTTPStatus.ACCEPTED)

    def resource_usage(self) -> ProcessUsage:
        """Resources used by the environment so far."""
        process_folder = Path(f"/proc/{self._process.pid}")
        fields = (process_folder / "stat").read_text("latin-1").rpartition(")")[2].split()
        ticks = int(fields[_USER_TIME]) + int(fields[_SYSTEM_TIME])
        status = (process_folder / "status").read_text("latin-1").splitlines()
        peak = next(line for line in status if line.startswith("VmHWM:"))
        return ProcessUsage(
            timedelta(seconds=ticks / _TICKS_PER_SECOND), int(peak.split()[1]) * 1024
        )

    def _build_environment(self, address: str) -> dict[str, str]:
        """Return the variables that Lambda sets, and those of the function's configuration."""
        mounts = self._mounts
        return {
            "PATH": os.environ.get("PATH", os.defpath),
            "LANG": "en_US.UTF-8",
            "TZ": ":UTC",
            "LAMBDA_TASK_ROOT": str(self._root),
            "LAMBDA_RUNTIME_DIR": str(mounts.runtime),
            "AWS_LAMBDA_RUNTIME_API": address,
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
