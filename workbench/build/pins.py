"""The third-party packages that are deployed, exported from uv.lock with their hashes.

`python -m workbench.build.pins` writes the requirements of the layer and the director anew; run it
after `uv lock`. `make build` writes the same packages as a bill of materials (CycloneDX) beside
what it built.
"""

import shutil
import sys
from pathlib import Path

from cardsharp.errors import ConfigError
from workbench.build.target import ROOT, ran

REQUIREMENTS = {
    "layer": ROOT / "layers" / "dependencies" / "requirements.txt",
    "director": ROOT / "functions" / "director" / "requirements.txt",
}
"""Where the packages of each group of pyproject.toml are pinned that is deployed."""

_EXPORT = "--quiet --locked --no-emit-project --no-header --no-annotate --no-python-downloads"


def exported(*groups: str, form: str = "requirements-txt") -> str:
    """What uv.lock pins for groups, in a form that uv knows; raises `ConfigError` if it cannot."""
    uv = shutil.which("uv", path=str(Path(sys.executable).parent)) or shutil.which("uv")
    if uv is None:
        raise ConfigError("uv is missing; run `make setup`.")
    wanted = (word for group in groups for word in ("--only-group", group))
    told = ran([uv, "export", *_EXPORT.split(), *wanted, "--format", form])
    if told.returncode != 0:
        raise ConfigError(f"uv.lock cannot be exported: {told.stderr.strip()}")
    return told.stdout


def is_current() -> bool:
    """Whether the requirements are those of uv.lock."""
    pinned = REQUIREMENTS.items()
    return all(one.exists() and one.read_text("utf-8") == exported(group) for group, one in pinned)


def main() -> None:
    """Write the requirements."""
    for group, file in REQUIREMENTS.items():
        file.write_text(exported(group), "utf-8")


if __name__ == "__main__":
    main()
