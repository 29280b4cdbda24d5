"""A build without SAM: the same makefiles, run as `sam build` runs them.

SAM's command line needs 200 MB that a test or the emulator can do without; that both make the
same artifacts is one of the gates.
"""

import shutil
import subprocess
import tempfile
from pathlib import Path

from cardsharp.errors import ConfigError
from workbench.build.artifacts import FUNCTION, LAYER, Build, fits, write_commit, write_template
from workbench.build.target import Target, native_architecture
from workbench.cloud.template import TEMPLATE, Resource, load_resources

ROOT = Path(__file__).parents[2]

NETWORK_SIGNS = ("network was disabled", "error sending request", "dns error", "tcp connect error")
"""What uv says when the package index cannot be reached."""


class BuildError(ConfigError):
    """A makefile failed; the message is what it printed."""


class Unreachable(BuildError):
    """The package index cannot be reached, and the packages are not in uv's cache either."""


def build(target: Target, into: Path, *, offline: bool = False) -> Build:
    """Build everything that template.yaml deploys; the folder is emptied first.

    A native build leaves out the layer of the other processor.

    Raises:
        BuildError: a makefile failed.
    """
    shutil.rmtree(into, ignore_errors=True)
    environment = {**target.environment(), **({"UV_OFFLINE": "1"} if offline else {})}
    folders: dict[str, str] = {}
    for name, resource in load_resources(TEMPLATE).items():
        if resource.kind not in {FUNCTION, LAYER}:
            continue
        if target.native and not fits(resource, native_architecture()):
            continue
        folder = into / name
        folder.mkdir(parents=True)
        _make(name, _source(resource), folder.absolute(), environment)
        folders[name] = name
    write_template(TEMPLATE, into / "template.yaml", folders)
    write_commit(into / "template.yaml")
    return Build(into)


def _source(resource: Resource) -> Path:
    """Where a function's or layer's source is; functions say it once for all, in Globals."""
    return ROOT / str(resource.properties.get("ContentUri", "functions/"))


def _make(name: str, source: Path, artifacts: Path, environment: dict[str, str]) -> None:
    """Run one makefile in a copy of its folder, as SAM does."""
    with tempfile.TemporaryDirectory(prefix="cardsharp-build-") as scratch:
        copy = Path(scratch, "source")
        shutil.copytree(source, copy, symlinks=True)
        command = ["make", "--makefile", str(source / "Makefile"), f"build-{name}"]
        made = subprocess.run(  # noqa: S603 - our own makefile
            command,
            cwd=copy,
            env={**environment, "ARTIFACTS_DIR": str(artifacts)},
            capture_output=True,
            text=True,
            check=False,
        )
    if made.returncode != 0:
        kind = Unreachable if any(s in made.stderr for s in NETWORK_SIGNS) else BuildError
        raise kind(f"{name} was not built:\n{made.stdout}{made.stderr}".rstrip())
