"""One build of functions and layers for this machine, shared by all tests and their processes."""

import fcntl

import pytest

from workbench.build.artifacts import Build
from workbench.build.sam import IndexUnreachable, sam_build
from workbench.build.target import this_machine


def native_build(tmp_path_factory: pytest.TempPathFactory) -> Build:
    """The build of the sources as they are; made once, also where tests run in parallel."""
    base = tmp_path_factory.getbasetemp()
    # Below a worker of pytest-xdist lies its own folder; the run's folder is one up.
    shared = base.parent if base.name.startswith("popen-") else base
    folder = shared / "aws-build"
    with (shared / "aws-build.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "whole").exists():
            try:
                sam_build(folder, this_machine())
            except IndexUnreachable as error:
                pytest.skip(
                    f"the layer's packages are neither in uv's cache nor to be had: {error}"
                )
            (folder / "whole").touch()
    return Build(folder)
