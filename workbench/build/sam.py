"""`sam build` on any host Python: `python -m workbench.build.sam [--into FOLDER]`.

SAM only reads the templates and runs the makefiles of functions and layers; a Python that can make
bytecode is put on the PATH here. SAM itself is installed apart (requirements/sam.txt, .venv-sam).
"""

import argparse
import json
import re
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from cardsharp.errors import CardsharpError, ConfigError
from cardsharp.games import games
from cardsharp.registry import strategies_of
from workbench.build.pins import REQUIREMENTS, exported
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
from workbench.cloud.nested import flattened
from workbench.cloud.template import ARENA, TEMPLATE, load_template, parsed

FUNCTION = "AWS::Serverless::Function"
LAYER = "AWS::Serverless::LayerVersion"
CODE = {FUNCTION: "CodeUri", LAYER: "ContentUri"}  # what says where the code of each lies
LIMIT = 45_000_000  # bytes of a function and its layers, unzipped; AWS allows 250 MiB
LIMITS = {"Director": 52_000_000}  # it draws rounds of a contest by networkx
FOLDERS = {TEMPLATE: "build", ARENA: "arena"}  # the builds, as samconfig.toml calls them


@dataclass(frozen=True)
class Build:
    """What `sam build` leaves of the root templates, each in a folder of this one."""

    folder: Path

    def template(self, root: Path = TEMPLATE) -> Path:
        """A root template as it was built: its functions and layers are the built folders."""
        return self.folder / FOLDERS[root] / "template.yaml"

    @cached_property
    def resources(self) -> dict[str, dict[str, Any]]:
        """All functions and layers by their logical names, with their code's place; layers once."""
        return {
            name: one
            for root in (ARENA, TEMPLATE)
            for name, one in flattened(self.template(root), _located)["Resources"].items()
            if one["Type"] in CODE
        }

    def layers(self, architecture: str) -> list[str]:
        """The logical names of the layers that functions have on that processor."""
        layers = [name for name, one in self.resources.items() if one["Type"] == LAYER]
        return [name for name in layers if name != OTHERS_PACKAGES[architecture]]

    def folder_of(self, name: str) -> Path:
        """The built folder of a function or layer; raises `ConfigError` if it is not there."""
        resource = self.resources[name]
        folder = Path(resource["Properties"][CODE[resource["Type"]]])
        if not folder.is_dir():
            raise ConfigError(f"{folder} is missing; run `make build` again.")
        return folder

    def sizes(self) -> dict[str, int]:
        """The bytes of each function with its layers on the larger processor, unzipped."""
        layers = max(
            sum(size_of(self.folder_of(name)) for name in self.layers(architecture))
            for architecture in ARCHITECTURES
        )
        return {
            name: layers + size_of(self.folder_of(name))
            for name, resource in self.resources.items()
            if resource["Type"] == FUNCTION
        }


def _located(path: Path) -> dict[str, Any]:
    """A built template whose functions and layers say where their code lies on this machine."""
    template = load_template(path)
    for resource in template["Resources"].values():
        key = CODE.get(resource["Type"])
        if key is not None:
            resource["Properties"][key] = str(path.parent / resource["Properties"][key])
    return template


def size_of(folder: Path) -> int:
    """The bytes of all files in a folder."""
    return sum(file.stat().st_size for file in _files(folder))


def differences(one: Path, other: Path) -> list[str]:
    """The relative names of files that two folders do not have alike."""
    ours, theirs = (
        {str(file.relative_to(folder)): file.read_bytes() for file in _files(folder)}
        for folder in (one, other)
    )
    return sorted(one for one in ours.keys() | theirs.keys() if ours.get(one) != theirs.get(one))


def read_build(folder: Path) -> Build:
    """The build in a folder; raises `ConfigError` if there is none."""
    build = Build(folder)
    if not all(build.template(root).is_file() for root in FOLDERS):
        raise ConfigError(f"There is no build in {folder}; run `make build`.")
    return build


def _files(folder: Path) -> Iterator[Path]:
    yield from sorted(file for file in folder.rglob("*") if file.is_file())


BUILD = ROOT / ".aws-sam"
MATERIALS = "sbom.json"  # which packages the layer has, for whoever looks for known faults
LOWEST = (1, 131)  # the oldest SAM that builds the templates: before none knows python3.13

SAM = ROOT / ".venv-sam" / "bin" / "sam"


class BuildError(ConfigError):
    """SAM or a makefile failed; the message is what it printed."""


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
        raise BuildError(f"sam {arguments[0]} failed:\n{told}")
    return told


def sam_build(into: Path = BUILD, target: Target | None = None, *, again: bool = False) -> Build:
    """Build all root templates, `again` offline and with other hashes; raises `BuildError`.

    For this machine alone the layer of the other processor's packages stays as it is.
    """
    target = target or Target()
    others = OTHERS_PACKAGES[native_architecture()] if target.native else ""
    less = ["--exclude", others] if others else []
    environment = {**target.environment(), **QUIET}
    environment |= {"UV_OFFLINE": "1", "PYTHONHASHSEED": "2"} if again else {}
    git = ["git", "describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"]
    commit = ran(git).stdout.strip()  # nothing where Git cannot tell
    build = Build(into)
    for root, folder in FOLDERS.items():
        place = (into / folder).absolute()
        run_sam(["build", "--template", str(root), "--build-dir", str(place), *less], environment)
        for template in place.rglob("template.yaml"):  # the root's, and those that it nests
            whole = parsed(template.read_text("utf-8"))
            if layer := whole["Resources"].get(others):
                there = template.parent / layer["Properties"]["ContentUri"]
                layer["Properties"]["ContentUri"] = str(there.resolve())  # a build may be copied
            if commit and (built := whole.get("Mappings", {}).get("Built")):
                built["From"]["Commit"] = commit
            # SAM reads YAML many times over, and takes seconds for it.
            template.write_text(json.dumps(whole, indent=1), "utf-8")
    name_strategies(build.template())
    return build


def name_strategies(template: Path) -> None:
    """Write into a built template which strategies were built, so that AWS takes no other name."""
    whole = parsed(template.read_text("utf-8"))
    names = strategies_of(games()[0].strategies).names()
    for parameter in ("Strategy", "DummyStrategy"):
        whole["Parameters"][parameter].pop("AllowedPattern", None)
        whole["Parameters"][parameter]["AllowedValues"] = ["", *names]
    template.write_text(json.dumps(whole, indent=1), encoding="utf-8")


def main() -> None:
    """Build, and say what came out; exits with 1 if it is too large."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--into", type=Path, default=BUILD)
    given = parser.parse_args()
    say("building functions and layers ...")
    try:
        build = sam_build(given.into)
        materials = exported(*REQUIREMENTS, form="cyclonedx1.5")
        (build.folder / MATERIALS).write_text(materials, "utf-8")
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
