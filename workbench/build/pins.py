"""The third-party packages of the layer, exported from uv.lock with their hashes.

`python -m workbench.build.pins` writes layers/dependencies/requirements.txt anew; run it after
`uv lock`. With `--check` it only says whether that is needed.
"""

import shutil
import subprocess
import sys
from pathlib import Path

from cardsharp.errors import ConfigError

ROOT = Path(__file__).parents[2]
REQUIREMENTS = ROOT / "layers" / "dependencies" / "requirements.txt"
_EXPORT = (
    "export --quiet --locked --no-default-groups --no-emit-project --no-header --no-annotate "
    "--no-python-downloads --format requirements-txt"
)


def export(groups: tuple[str, ...] = ()) -> str:
    """What uv.lock pins for the deployed library, or for these dependency groups instead.

    Raises:
        ConfigError: uv is missing, or uv.lock does not fit pyproject.toml.
    """
    uv = shutil.which("uv", path=str(Path(sys.executable).parent)) or shutil.which("uv")
    if uv is None:
        raise ConfigError("uv is missing; run `make setup`.")
    only = [part for group in groups for part in ("--only-group", group)]
    told = subprocess.run(  # noqa: S603 - uv of our own environment
        [uv, *_EXPORT.split(), *only], cwd=ROOT, capture_output=True, text=True, check=False
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
