"""One build of functions and layers for this machine, shared by all tests and their processes."""

import fcntl
from pathlib import Path
from unittest import mock

import pytest

from workbench.build import sam
from workbench.build.sam import FOLDERS, Build
from workbench.build.target import Target, this_machine
from workbench.cloud.template import ARENA, TEMPLATE

LAYERS = ("DependenciesArm64", "DependenciesX86", "CardsharpLayer")


def skip_without_packages(told: str) -> None:
    """Skip where uv has said that the package index cannot be reached."""
    signs = ("network was disabled", "error sending request", "dns error", "tcp connect error")
    if any(sign in told for sign in signs):
        pytest.skip(f"packages are neither in uv's cache nor to be had: {told}")


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
                build = sam.sam_build if with_arena else _build_layers_once
                build(folder, this_machine())
            except sam.BuildError as error:
                skip_without_packages(str(error))
                raise
            (folder / "whole").touch()
    return Build(folder)


def _build_layers_once(folder: Path, target: Target) -> None:
    """Of an arena alone build only the functions: its layers, which take long, are the bot's."""
    with mock.patch.object(sam, "FOLDERS", {TEMPLATE: FOLDERS[TEMPLATE]}):
        sam.sam_build(folder, target)
    place = ("--template", str(ARENA), "--build-dir", str(folder / FOLDERS[ARENA]))
    less = [word for layer in LAYERS for word in ("--exclude", layer)]
    sam.run_sam(["build", *place, *less], {**target.environment(), **sam.QUIET})
