"""`sam build` on any host Python: `python -m workbench.build.sam [--into FOLDER]`.

SAM only reads the templates and runs the makefiles of functions and layers; a Python that can make
bytecode is put on the PATH here. SAM itself is installed apart (requirements/sam.txt, .venv-sam).
"""

import argparse
import re
import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from cardsharp.errors import CardsharpError, ConfigError
from cardsharp.games import games
from cardsharp.registry import strategies_of
from workbench.build.artifacts import FOLDERS, LIMIT, LIMITS, Build, write_commit, write_template
from workbench.build.pins import bill_of_materials
from workbench.build.target import (
    ARCHITECTURES,
    ROOT,
    RUNTIME_PYTHON,
    Target,
    find_python,
    native_architecture,
    ran,
    say,
)
from workbench.cloud.template import parsed

BUILD = ROOT / ".aws-sam"
MATERIALS = "sbom.json"  # which packages the layer has, for whoever looks for known faults
LOWEST = (1, 131)  # the oldest SAM that builds the templates: before none knows python3.13

SAM = ROOT / ".venv-sam" / "bin" / "sam"

NETWORK_SIGNS = ("network was disabled", "error sending request", "dns error", "tcp connect error")
"""What uv says when the package index cannot be reached."""


class BuildError(ConfigError):
    """SAM or a makefile failed; the message is what it printed."""


class IndexUnreachable(BuildError):
    """The package index cannot be reached, and the packages are not in uv's cache either."""


OTHERS_PACKAGES = {"arm64": "DependenciesX86", "x86_64": "DependenciesArm64"}
"""The layer of packages that is not for a processor."""

QUIET = {
    "SAM_CLI_TELEMETRY": "0",
    # SAM asks for a region and for credentials even where it calls nobody.
    "AWS_DEFAULT_REGION": "eu-central-1",
    **dict.fromkeys(("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"), "none"),
}


def find_sam() -> Path:
    """SAM's command line: our own, or the one on PATH; raises `ConfigError` if there is none."""
    if SAM.exists():
        return SAM
    on_path = shutil.which("sam")
    if on_path is None:
        raise ConfigError(
            "SAM's command line is missing; run `make build`, which installs it in a clone, or "
            "type `uv tool install aws-sam-cli`."
        )
    told = ran([on_path, "--version"]).stdout
    if tuple(int(part) for part in re.findall(r"\d+", told)[:2]) < LOWEST:
        lowest = ".".join(map(str, LOWEST))
        old = f"{on_path} is {told.strip()}, too old"
        raise ConfigError(f"{old}: {lowest} builds, or `make build`.")
    return Path(on_path)


def run_sam(arguments: Sequence[str], environment: Mapping[str, str]) -> str:
    """What a command of SAM printed, run in our root as one types it; raises `BuildError`."""
    done = ran([str(find_sam()), *arguments], environment)
    told = f"{done.stdout}{done.stderr}".rstrip()
    if done.returncode != 0:
        kind = IndexUnreachable if any(sign in told for sign in NETWORK_SIGNS) else BuildError
        raise kind(f"sam {arguments[0]} failed:\n{told}")
    return told


def sam_build(into: Path = BUILD, target: Target | None = None, *, again: bool = False) -> Build:
    """Build all root templates, `again` offline and with other hashes; raises `BuildError`.

    For this machine alone the layer of the other processor's packages stays as it is.
    """
    target = target or Target()
    less = ["--exclude", OTHERS_PACKAGES[native_architecture()]] if target.native else []
    environment = {**target.environment(), **QUIET}
    environment |= {"UV_OFFLINE": "1", "PYTHONHASHSEED": "2"} if again else {}
    build = Build(into)
    for root, folder in FOLDERS.items():
        place = (into / folder).absolute()
        run_sam(["build", "--template", str(root), "--build-dir", str(place), *less], environment)
        for template in place.rglob("template.yaml"):  # the root's, and those that it nests
            write_template(template, parsed(template.read_text()))
        write_commit(build.template(root))
    name_strategies(build.template())
    return build


def name_strategies(template: Path) -> None:
    """Write into a built template which strategies were built, so that AWS takes no other name."""
    whole = parsed(template.read_text())
    names = strategies_of(games()[0].strategies).names()
    for parameter in ("Strategy", "DummyStrategy"):
        whole["Parameters"][parameter].pop("AllowedPattern", None)
        whole["Parameters"][parameter]["AllowedValues"] = ["", *names]
    write_template(template, whole)


def main() -> None:
    """Build, and say what came out; exits with 1 if it is too large."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--into", type=Path, default=BUILD)
    given = parser.parse_args()
    say("building functions and layers ...")
    try:
        build = sam_build(given.into)
        (build.folder / MATERIALS).write_text(bill_of_materials())
    except CardsharpError as error:
        sys.exit(str(error))
    sys.exit(report(build))


def report(build: Build) -> int:
    """Print each function's size; 1 if one is above our limit."""
    python = find_python(RUNTIME_PYTHON)
    shipped = f"with bytecode by {python}" if python else "without bytecode (no such Python here)"
    processors = " and ".join(ARCHITECTURES)
    say(f"built for python{RUNTIME_PYTHON} on {processors}, {shipped}: {build.folder}")
    too_large = False
    for name, size in build.sizes().items():
        limit = LIMITS.get(name, LIMIT)
        above = f", above the limit of {limit / 1e6:.0f} MB" if size > limit else ""
        say(f"  {name:19} {size / 1e6:5.1f} MB with layers{above}")
        too_large |= size > limit
    return 1 if too_large else 0


if __name__ == "__main__":
    main()
