"""The third-party packages that are deployed, exported from uv.lock with their hashes.

`python -m cardsharp_tools.build.pinned_requirements` writes the requirements of the layer and
the director anew; run it
after `uv lock`. `make build` writes the same packages as a bill of materials (CycloneDX) beside
what it built.
"""

import shutil
import sys
from pathlib import Path

from cardsharp.errors import ConfigError
from cardsharp_tools.build.target import REPOSITORY_ROOT, run_and_capture_output

REQUIREMENTS = {
    "layer": REPOSITORY_ROOT / "layers" / "dependencies" / "requirements.txt",
    "director": REPOSITORY_ROOT / "functions" / "director" / "requirements.txt",
}
"""Requirements files that pin the packages of each deployed group of pyproject.toml."""

_EXPORT = "--quiet --locked --no-emit-project --no-header --no-annotate --no-python-downloads"


def export_lock(*groups: str, output_format: str = "requirements-txt") -> str:
    """Export the versions that uv.lock pins for dependency groups, in one of uv's output formats.

    Raises `ConfigError` if the lock file cannot be exported.
    """
    uv = shutil.which("uv", path=str(Path(sys.executable).parent)) or shutil.which("uv")
    if uv is None:
        raise ConfigError("uv is missing. Run `make setup`.")
    options = (argument for group in groups for argument in ("--only-group", group))
    result = run_and_capture_output(
        [uv, "export", *_EXPORT.split(), *options, "--format", output_format]
    )
    if result.returncode != 0:
        raise ConfigError(f"uv.lock cannot be exported: {result.stderr.strip()}")
    return result.stdout


def is_current() -> bool:
    """Return True if the requirements match uv.lock."""
    pinned = REQUIREMENTS.items()
    return all(
        file.exists() and file.read_text("utf-8") == export_lock(group) for group, file in pinned
    )


def main() -> None:
    """Write the requirements."""
    for group, file in REQUIREMENTS.items():
        file.write_text(export_lock(group), "utf-8")


if __name__ == "__main__":
    main()
