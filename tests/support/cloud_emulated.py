"""Starts an emulator, says so, and waits to be killed."""

import sys

from workbench.cloud.emulator import Emulator

if __name__ == "__main__":
    with Emulator() as emulator:
        sys.stdout.write(f"{emulator.pid} {emulator.folder}\n")
        sys.stdout.flush()
        sys.stdin.read()
