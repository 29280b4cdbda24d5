"""One build of functions and layers for this machine, shared by all test processes."""

import fcntl
from pathlib import Path
from unittest import mock

import pytest

from cardsharp_tools.build import sam_build
from cardsharp_tools.build.sam_build import BUILD_FOLDERS, Build
from cardsharp_tools.build.target import BuildTarget, native_target
from cardsharp_tools.local_cloud.template_files import ARENA_TEMPLATE, TEMPLATE

LAYERS = ("DependenciesArm64", "DependenciesX86", "CardsharpLayer")


def skip_without_packages(uv_output: str) -> None:
    """Skip where uv has said that the package index cannot be reached."""
    signs = ("network was disabled", "error sending request", "dns error", "tcp connect error")
    if any(sign in uv_output for sign in signs):
        pytest.skip(f"packages are neither in uv's cache nor to be had: {uv_output}")


def native_build(tmp_path_factory: pytest.TempPathFactory, *, with_arena: bool = False) -> Build:
    """The build of the sources as they are; made once, also where tests run in parallel.

    An arena alone can be deployed only from one that is made with it.
    """
    base = tmp_path_factory.getbasetemp()
    # Below a worker of pytest-xdist lies its own folder; the run's folder is one up.
    shared = base.parent if base.name.startswith("popen-") else base
    folder = shared / ("aws-build-with-arena" if with_arena else "aws-build")
    with (shared / "aws-build.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "whole").exists():
            try:
                build = sam_build.sam_build if with_arena else _build_layers_once
                build(folder, native_target())
            except sam_build.BuildError as error:
                skip_without_packages(str(error))
                raise
            (folder / "whole").touch()
    return Build(folder)


def _build_layers_once(folder: Path, target: BuildTarget) -> None:
    """Of an arena alone build only the functions: its layers, which take long, are the bot's."""
    with mock.patch.object(sam_build, "BUILD_FOLDERS", {TEMPLATE: BUILD_FOLDERS[TEMPLATE]}):
        sam_build.sam_build(folder, target)
    place = (
        "--template",
        str(ARENA_TEMPLATE),
        "--build-dir",
        str(folder / BUILD_FOLDERS[ARENA_TEMPLATE]),
    )
    less = [option for layer in LAYERS for option in ("--exclude", layer)]
    sam_build.run_sam(
        ["build", *place, *less], {**target.environment(), **sam_build.QUIET_ENVIRONMENT}
    )
