"""Build of functions and layers for this machine, shared by all test processes."""

import fcntl

import pytest

from cardsharp_tools.build import sam_build
from cardsharp_tools.build.sam_build import Build
from cardsharp_tools.build.target import native_target


def skip_without_packages(uv_output: str) -> None:
    """Skip the test if uv reports that the package index cannot be reached."""
    signs = ("network was disabled", "error sending request", "dns error", "tcp connect error")
    if any(sign in uv_output for sign in signs):
        pytest.skip(f"packages are neither in uv's cache nor to be had: {uv_output}")


def native_build(tmp_path_factory: pytest.TempPathFactory) -> Build:
    """Return the build of the current sources, which is made only once by parallel tests."""
    base = tmp_path_factory.getbasetemp()
    # Below a worker of pytest-xdist lies its own folder; the run's folder is one up.
    shared = base.parent if base.name.startswith("popen-") else base
    folder = shared / "aws-build"
    with (shared / "aws-build.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "whole").exists():
            try:
                sam_build.sam_build(folder, native_target())
            except sam_build.BuildError as error:
                skip_without_packages(str(error))
                raise
            (folder / "whole").touch()
    return Build(folder)
