"""Files of the kernel through which a control group of version 2 is limited and read.

The machines that run these tests have version 1, which `tests/integration/test_sandbox_limits.py`
tests for real.
"""

import os
from pathlib import Path

import pytest

from cardsharp_tools.executors.control_groups import CONTROLLERS, ControlGroup, GroupLimits


@pytest.fixture
def group(tmp_path: Path) -> ControlGroup:
    """A group of version 2 in a folder that stands for the kernel's."""
    return ControlGroup(dict.fromkeys(CONTROLLERS, tmp_path), os.dup(0), is_unified=True)


def test_the_limits_are_those_of_version_2(group: ControlGroup, tmp_path: Path) -> None:
    group.set_limits(GroupLimits(max_bytes=512, max_processes=64, cpu_share=335))
    written = {file.name: file.read_text() for file in tmp_path.iterdir()}
    assert written == {
        "memory.max": "512",
        "memory.swap.max": "0",
        "memory.oom.group": "1",
        "pids.max": "64",
        "cpu.weight": "32",
    }


def test_the_counters_are_those_of_version_2(group: ControlGroup, tmp_path: Path) -> None:
    (tmp_path / "cpu.stat").write_text("usage_usec 1500000\nuser_usec 7\n")
    (tmp_path / "pids.events").write_text("max 3\n")
    (tmp_path / "cgroup.procs").write_text("17\n19\n")
    events = tmp_path / "memory.events"
    events.write_text("max 4\noom 0\noom_kill 0\n")
    assert (group.cpu_seconds(), group.refused_process_count()) == (1.5, 3)
    assert group.list_processes() == [17, 19]
    assert not group.has_exceeded_memory()
    events.write_text("max 4\noom 1\noom_kill 1\n")
    assert group.has_exceeded_memory()
