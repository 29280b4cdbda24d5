"""The third-party packages of the layer, exported from uv.lock with their hashes.

`python -m workbench.build.pins` writes layers/dependencies/requirements.txt anew; run it after
`uv lock`. `make build` writes the same packages as a bill of materials (CycloneDX) beside what it
built.
"""

import shutil
import subprocess
import sys
from pathlib import Path

from cardsharp.errors import ConfigError

ROOT = Path(__file__).parents[2]
REQUIREMENTS = ROOT / "layers" / "dependencies" / "requirements.txt"
_EXPORT = (
    "export --quiet --locked --only-group layer --no-emit-project --no-header --no-annotate "
    "--no-python-downloads --format"
)


def bill_of_materials() -> str:
    """The deployed library's packages with their versions, as a CycloneDX document.

    Raises:
        ConfigError: as for `exported`.
    """
    return exported("cyclonedx1.5")


def exported(form: str = "requirements-txt") -> str:
    """What uv.lock pins for the deployed library, in a form that uv knows.

    Raises:
        ConfigError: uv is missing, or uv.lock does not fit pyproject.toml.
    """
    uv = shutil.which("uv", path=str(Path(sys.executable).parent)) or shutil.which("uv")
    if uv is None:
        raise ConfigError("uv is missing; run `make setup`.")
    told = subprocess.run(  # noqa: S603 - uv of our own environment
        [uv, *_EXPORT.split(), form],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    if told.returncode != 0:
        raise ConfigError(f"uv.lock cannot be exported: {told.stderr.strip()}")
    return told.stdout


def is_current() -> bool:
    """Whether the layer's requirements are those of uv.lock."""
    return REQUIREMENTS.exists() and REQUIREMENTS.read_text() == exported()


def main() -> None:
    """Write the requirements."""
    REQUIREMENTS.write_text(exported())


if __name__ == "__main__":
    main()
