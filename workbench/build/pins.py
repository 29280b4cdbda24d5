"""The third-party packages of the layer, exported from uv.lock with their hashes.

`python -m workbench.build.pins` writes layers/dependencies/requirements.txt anew; run it after
`uv lock`. With `--check` it only says whether that is needed. `make build` writes the same packages
as a bill of materials (CycloneDX) beside what it built.
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
_PINS, _MATERIALS = "requirements-txt", "cyclonedx1.5"


def export() -> str:
    """What uv.lock pins for the deployed library.

    Raises:
        ConfigError: uv is missing, or uv.lock does not fit pyproject.toml.
    """
    return _exported(_PINS)


def bill_of_materials() -> str:
    """The deployed library's packages with their versions, as a CycloneDX document.

    Raises:
        ConfigError: as for `export`.
    """
    return _exported(_MATERIALS)


def _exported(form: str) -> str:
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
    return REQUIREMENTS.exists() and REQUIREMENTS.read_text() == export()


def main() -> None:
    """Write the requirements, or with --check exit with a sentence if they are not current."""
    if "--check" not in sys.argv:
        REQUIREMENTS.write_text(export())
    elif not is_current():
        sys.exit(f"{REQUIREMENTS} is not what uv.lock says; run python -m workbench.build.pins.")


if __name__ == "__main__":
    main()
