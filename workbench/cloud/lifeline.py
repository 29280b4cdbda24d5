"""Runs the emulator until its parent ends: `python -m workbench.cloud.lifeline`.

The parent holds the other end of stdin. However the parent dies, the pipe closes, and the
emulator goes with it instead of staying behind; so does the folder that it runs in.
"""

import os
import runpy
import shutil
import signal
import sys
import threading
from importlib import import_module
from pathlib import Path
from typing import Any

from workbench.cloud.filter_patterns import teach


def main() -> None:
    """Run MiniStack, and end it when stdin does."""
    threading.Thread(target=_watch, daemon=True).start()
    _keep_attributes()
    if "logs" in os.environ.get("SERVICES", "").split(","):
        teach(import_module("ministack.services.cloudwatch_logs"))
    sys.argv = ["ministack"]
    runpy.run_module("ministack", run_name="__main__", alter_sys=True)


def _keep_attributes() -> None:
    """Have an update of a nested stack keep the attributes of what does not change in it.

    MiniStack 1.5.33 forgets them there, and fails at what refers to them; CloudFormation does not.
    """
    from ministack.services import (  # type: ignore[import-untyped]  # noqa: PLC0415 - 2 s, in this process alone
        cloudformation,
    )

    provisioners = cloudformation.provisioners
    update = provisioners._update_resource  # noqa: SLF001 - it has no other place

    def keeping(*told: Any) -> Any:  # noqa: ANN401 - as it is there
        kind, physical, old, new, stack, *rest = told
        logical = rest[0] if rest else None
        resources = cloudformation._stacks[stack]["_resources"]  # noqa: SLF001
        known = rest[1] if len(rest) > 1 else resources.get(logical, {}).get("Attributes")
        return update(kind, physical, old, new, stack, logical, known)

    provisioners._update_resource = keeping  # noqa: SLF001


def _watch() -> None:
    sys.stdin.read()
    shutil.rmtree(Path.cwd(), ignore_errors=True)
    if os.getpgrp() == os.getpid():
        # So do the functions that it runs.
        os.killpg(os.getpid(), signal.SIGTERM)
    os.kill(os.getpid(), signal.SIGTERM)


if __name__ == "__main__":
    main()
