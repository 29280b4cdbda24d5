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
import threading
import time
import uuid
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Self

from cardsharp.errors import CardsharpError, ConfigError
from workbench.build.sam import Build, BuildError
from workbench.build.target import ROOT, native_architecture, ran
from workbench.cloud.template import Resource

HOST = "127.0.0.1"
_LOOK = 0.2  # seconds between looks at whether the environment still runs
_TICK = 0.05  # seconds after which the server looks whether it is to end

_ARN = "arn:aws:lambda:us-east-1:000000000000:function:"


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing of connections that an ending environment drops."""


def _sentence(body: bytes) -> str:
    """What went wrong, as the runtime client tells it."""
    told = json.loads(body or b"{}")
    return f"{told.get('errorType', 'error')}: {told.get('errorMessage', 'no message')}"


def _handler_for(sandbox: "Sandbox") -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        # Head and body are two writes, and the second must not wait for the first to be confirmed.
        disable_nagle_algorithm = True

        def do_GET(self) -> None:
            self._reply(200, *sandbox.next_headers_and_body())

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
            sandbox.outcomes.put((self.path.rpartition("/")[2], body))
            self._reply(202, {}, b'{"status": "OK"}')

        def _reply(self, status: int, headers: dict[str, str], body: bytes) -> None:
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its name there
            """Say nothing."""

    return Handler


RUNTIME_REQUIREMENTS = ROOT / "requirements" / "runtime.txt"
_INIT_LIMIT = timedelta(seconds=60)
_TICKS = os.sysconf("SC_CLK_TCK")
_USER_TIME, _SYSTEM_TIME = 11, 12  # places in /proc/PID/stat behind the name


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
    """Merge a build's layers below `folder`, the runtime's packages beside; raises `BuildError`."""
    opt = folder / "opt"
    for name in build.layers(native_architecture()):
        shutil.copytree(build.folder_of(name), opt, dirs_exist_ok=True)
    # As bare as Lambda's: what else is installed beside an interpreter may run at its start.
    bare = folder / "python"
    _run([str(python), "-m", "venv", "--without-pip", str(bare)], "No bare Python can be made")
    runtime = folder / "runtime"
    uv = shutil.which("uv", path=str(Path(sys.executable).parent)) or "uv"
    command = [uv, "pip", "install", "--quiet", "--require-hashes", "--no-deps"]
    command += ["--only-binary", ":all:", "--compile-bytecode", "--python", str(python)]
    command += ["--target", str(runtime), "--requirement", str(RUNTIME_REQUIREMENTS)]
    _run(command, "The runtime's packages cannot be had")
    return Mounts(bare / "bin" / "python", runtime, opt)


def _run(command: list[str], otherwise: str) -> None:
    done = ran(command)
    if done.returncode != 0:
        raise BuildError(f"{otherwise}: {done.stderr.strip()}")


def plain_variables(function: Resource) -> dict[str, str]:
    """The variables that a function is given whatever is deployed around it."""
    environment: Any = function.properties.get("Environment", {})
    told = environment.get("Variables", {})
    return {name: value for name, value in told.items() if isinstance(value, str)}


class Sandbox:
    """One execution environment of a built function between enter and exit.

    AWS's own runtime client (`awslambdaric`) asks us for the next invocation and gives us the
    answer, by the Lambda Runtime API on loopback: GET /2018-06-01/runtime/invocation/next, POST
    .../invocation/ID/response or .../ID/error, and POST .../init/error when the handler cannot be
    imported.

    `environment` is what its configuration adds to what the template says plainly; what it prints
    goes to `log`. `init` tells what the init phase used. Linux only: usage is read from /proc.
    """

    def __init__(
        self, build: Build, name: str, mounts: Mounts, environment: Mapping[str, str], log: Path
    ) -> None:
        self._name, self._mounts, self._log = name, mounts, log
        self._root = build.folder_of(name)
        self._handler = str(build.resources[name].properties["Handler"])
        self._environment = {**plain_variables(build.resources[name]), **environment}
        self._stack = ExitStack()
        self._pending: queue.Queue[tuple[dict[str, str], bytes]] = queue.Queue()
        self.outcomes: queue.Queue[tuple[str, bytes]] = queue.Queue()
        self._ready = threading.Event()
        self._process: subprocess.Popen[bytes] | None = None
        self.init: ProcessUsage | None = None

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            server = _Server((HOST, 0), _handler_for(self))
            threading.Thread(target=server.serve_forever, args=(_TICK,), daemon=True).start()
            stack.callback(server.server_close)
            stack.callback(server.shutdown)
            log = stack.enter_context(self._log.open("ab"))
            command = [str(self._mounts.python), "-m", "awslambdaric", self._handler]
            environment = self._lambda_environment(f"{HOST}:{server.server_port}")
            self._process = subprocess.Popen(  # noqa: S603 - the interpreter found for the runtime
                command, cwd=self._root, env=environment, stdout=log, stderr=log
            )
            stack.callback(self._process.wait)
            stack.callback(self._process.kill)
            self._await_init()
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def _await_init(self) -> None:
        """Wait until it asks for its first invocation: its init phase is over then."""
        end = time.monotonic() + _INIT_LIMIT.total_seconds()
        while not self._ready.wait(_LOOK):
            if not self.outcomes.empty():
                raise CardsharpError(f"{self._name}: {_sentence(self.outcomes.get()[1])}")
            if time.monotonic() > end or not self._is_alive():
                raise CardsharpError(f"{self._name} did not get ready.")

    def invoke(self, event: object, timeout: timedelta) -> Any:  # noqa: ANN401 - any JSON
        """The handler's answer within the function's timeout; raises `CardsharpError` without."""
        seconds = timeout.total_seconds()
        headers = {
            "Lambda-Runtime-Aws-Request-Id": str(uuid.uuid4()),
            "Lambda-Runtime-Deadline-Ms": str(round((time.time() + seconds) * 1000)),
            "Lambda-Runtime-Invoked-Function-Arn": _ARN + self._name,
            # AWS's client dies of a missing content type.
            "Content-Type": "application/json",
        }
        self._pending.put((headers, json.dumps(event).encode()))
        kind, body = self._outcome(time.monotonic() + seconds)
        if kind != "response":
            raise CardsharpError(f"{self._name}: {_sentence(body)}")
        return json.loads(body or b"null")

    def _outcome(self, end: float) -> tuple[str, bytes]:
        while time.monotonic() < end:
            with suppress(queue.Empty):
                return self.outcomes.get(timeout=_LOOK)
            if not self._is_alive():
                raise CardsharpError(f"{self._name}: its process died.")
        raise CardsharpError(f"{self._name}: no answer within its timeout.")

    def next_headers_and_body(self) -> tuple[dict[str, str], bytes]:
        """The next invocation, waiting for one; the environment asks for it."""
        if not self._ready.is_set():
            self.init = self.usage()
            self._ready.set()
        return self._pending.get()

    def usage(self) -> ProcessUsage:
        """What the environment has used up to now."""
        if self._process is None:
            raise ConfigError(f"{self._name} does not run.")
        return usage_of(self._process.pid)

    def _is_alive(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def _lambda_environment(self, address: str) -> dict[str, str]:
        """The variables that Lambda sets, and those of the function's configuration."""
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


def usage_of(pid: int) -> ProcessUsage:
    """What a living process has used up to now, all its threads together."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    ticks = int(fields[_USER_TIME]) + int(fields[_SYSTEM_TIME])
    status = Path(f"/proc/{pid}/status").read_text()
    peak = next(line for line in status.splitlines() if line.startswith("VmHWM:"))
    return ProcessUsage(timedelta(seconds=ticks / _TICKS), int(peak.split()[1]) * 1024)
