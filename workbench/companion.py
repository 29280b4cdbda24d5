"""A small process beside one that runs a user's code: it tells where that one stands still or dies.

Native code that never returns stops every thread of a process, and nobody in it can speak any
more. So the process writes a byte a second to this one's stdin. Where the bytes stay away it is
asked for its stack, the line is told, and it is ended. Of a crash the stack comes by itself.
"""

import linecache
import os
import re
import select
import signal
import sys
from collections.abc import Collection
from pathlib import Path

BEAT = b"\0"  # what is written once a second; no stack has it
FOLDER = "Folder "  # begins a line that names a folder with a user's code
ASK = signal.SIGUSR2  # at this signal a process writes its stacks to its companion
SILENCE = 10  # seconds without a byte after which a process stands still
FRAME = re.compile(r'File "(.*)", line (\d+) in (.*)')  # a line of a stack: file, line and function
FATAL = "Fatal Python error: "  # begins the line that says what ended a process

CRASH = re.compile(f"(?:{FATAL}|Fatal sandbox error: )(.*)")


def main(process: int, silence: int) -> None:
    """Listen until the process has ended, or end it."""
    told, quiet = "", 0
    while quiet < silence:
        # A second at a time: who is stopped with us, as by Ctrl-Z, has missed one at most.
        if not select.select([0], [], [], 1)[0]:
            quiet += not _is_stopped(process)
            continue
        heard, quiet = os.read(0, 1 << 16), 0
        if not heard:
            crash = CRASH.search(told)
            if crash:
                say(f"{_place(told)}: the strategy ended the process ({crash[1]}).")
            return
        told += heard.replace(BEAT, b"").decode(errors="replace")
    os.kill(process, ASK)
    while select.select([0], [], [], 1)[0] and (heard := os.read(0, 1 << 16)):
        told += heard.decode(errors="replace")
    say(f"{_place(told)}: nothing moved for {silence} s, so the process was ended.")
    os.kill(process, signal.SIGKILL)


def _place(told: str) -> str:
    """Where those stacks are in the folders that were told of with them."""
    folders = [line.removeprefix(FOLDER) for line in told.splitlines() if line.startswith(FOLDER)]
    return place_in(told, folders)[0] or f"A strategy of {' or '.join(folders)}"


def place_in(told: str, folders: Collection[str]) -> tuple[str, str]:
    """The innermost line of a stack that lies in one of the folders, and its text."""
    for file, line, function in FRAME.findall(told):
        if str(Path(file).parent) in folders:
            text = linecache.getline(file, int(line)).strip()
            return f"{Path(file).name}, line {line}, in {function}", text
    return "", ""


def _is_stopped(process: int) -> bool:
    """Whether somebody has stopped the process, as a debugger does."""
    try:
        return (
            Path(f"/proc/{process}/stat").read_text("latin-1").rpartition(")")[2].split()[0] in "tT"
        )
    except OSError:
        return False


def say(sentence: str) -> None:
    """Tell it past all buffers, which nobody may empty any more."""
    bar = "\r\x1b[K" if os.isatty(2) else ""  # written over, where one is just drawn
    os.write(2, f"{bar}cardsharp: {sentence}\n".encode())


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
