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
from pathlib import Path


def main() -> None:
    """Run MiniStack, and end it when stdin does."""
    threading.Thread(target=_watch, daemon=True).start()
    sys.argv = ["ministack"]
    runpy.run_module("ministack", run_name="__main__", alter_sys=True)


def _watch() -> None:
    sys.stdin.read()
    shutil.rmtree(Path.cwd(), ignore_errors=True)
    if os.getpgrp() == os.getpid():
        # So do the functions that it runs.
        os.killpg(os.getpid(), signal.SIGTERM)
    os.kill(os.getpid(), signal.SIGTERM)


if __name__ == "__main__":
    main()
