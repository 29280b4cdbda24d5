"""Logs of functions in the emulator: no line is lost when the machine is busy."""

import os
import time
from types import SimpleNamespace

import pytest

from cardsharp_tools.local_cloud.emulator_process import complete_log_reader


def test_a_log_is_read_once_its_pipe_is_empty(monkeypatch: pytest.MonkeyPatch) -> None:
    """The thread that reads the pipe gets the processor only when the reader of the log waits."""
    read_end, write_end = os.pipe()
    lines: list[str] = []
    with os.fdopen(read_end) as pipe, os.fdopen(write_end, "w") as output:
        output.write("attended\n")
        output.flush()
        monkeypatch.setattr(time, "sleep", lambda _seconds: lines.append(pipe.readline()))
        worker = SimpleNamespace(_proc=SimpleNamespace(stderr=pipe))
        read_log = complete_log_reader(lambda _worker, **_: "".join(lines))
        assert read_log(worker) == "attended\n"


def test_the_log_of_a_function_that_has_ended_is_read() -> None:
    read_log = complete_log_reader(lambda _worker, **_: "its last line")
    assert read_log(SimpleNamespace(_proc=None)) == "its last line"
    read_end, write_end = os.pipe()
    os.close(write_end)
    pipe = os.fdopen(read_end)
    pipe.close()
    assert read_log(SimpleNamespace(_proc=SimpleNamespace(stderr=pipe))) == "its last line"
