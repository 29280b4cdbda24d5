"""`sam build` on any host Python: `python -m cardsharp_tools.build.sam_build [--into FOLDER]`.

SAM only reads the templates and runs the makefiles of functions and layers; a Python that can make
bytecode is put on the PATH here. SAM itself is installed apart (requirements/sam.txt, .venv-sam).
"""

import argparse
import json
import os
import re
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any

from cardsharp.errors import CardsharpError, ConfigError
from cardsharp.play.catalog import all_games
from cardsharp.play.strategy_registry import registry_for
from cardsharp_tools.build.pinned_requirements import REQUIREMENTS, export_lock
from cardsharp_tools.build.target import (
    ARCHITECTURES,
    REPOSITORY_ROOT,
    BuildTarget,
    find_python,
    native_architecture,
    print_flushed,
    requested_target,
    run_and_capture_output,
)
from cardsharp_tools.local_cloud.nested_stacks import flatten_template
from cardsharp_tools.local_cloud.template_files import (
    ARENA_TEMPLATE,
    GAME_TEMPLATE,
    PAGES_TEMPLATE,
    ROOT_STACKS,
    TEMPLATE,
    load_template,
    parse_template,
)

FUNCTION_TYPE = "AWS::Serverless::Function"
LAYER_TYPE = "AWS::Serverless::LayerVersion"
OWN_LAYER = "CardsharpLayer"  # the layer of our library
CODE_PROPERTIES = {
    FUNCTION_TYPE: "CodeUri",
    LAYER_TYPE: "ContentUri",
}  # what says where the code of each lies
MAX_FUNCTION_BYTES = 45_000_000  # bytes of a function and its layers, unzipped; AWS allows 250 MiB
MAX_BYTES_BY_FUNCTION = {"Director": 54_000_000}  # it draws rounds of a contest by networkx
BUILD_FOLDERS = {
    TEMPLATE: "build",
    ARENA_TEMPLATE: "arena",
    GAME_TEMPLATE: "game",
    PAGES_TEMPLATE: "pages",
}  # the builds, as samconfig.toml calls them


@dataclass(frozen=True)
class Build:
    """Output of `sam build` for the root templates, each in a subfolder of this folder."""

    folder: Path

    def template_path(self, root: Path = TEMPLATE) -> Path:
        """Return the path of a built root template; its code locations are built folders."""
        return self.folder / BUILD_FOLDERS[root] / "template.yaml"

    @cached_property
    def functions_and_layers(self) -> dict[str, dict[str, Any]]:
        """Functions and layers by logical name; each layer appears once."""
        return {
            name: resource
            for root, game in ROOT_STACKS
            for name, resource in flatten_template(
                self.template_path(root), _load_built_template, game
            )["Resources"].items()
            if resource["Type"] in CODE_PROPERTIES
        }

    def layer_names(self, architecture: str) -> list[str]:
        """Return the logical names of a processor's layers."""
        layers = [
            name
            for name, resource in self.functions_and_layers.items()
            if resource["Type"] == LAYER_TYPE
        ]
        return [name for name in layers if name != OTHER_ARCHITECTURE_LAYERS[architecture]]

    def built_folder(self, name: str) -> Path:
        """Return the built folder of a function or layer; raise `ConfigError` if it is missing."""
        resource = self.functions_and_layers[name]
        folder = Path(resource["Properties"][CODE_PROPERTIES[resource["Type"]]])
        if not folder.is_dir():
            raise ConfigError(f"{folder} is missing. Run `make build` again.")
        return folder

    def compiled_files(self) -> list[dict[str, Any]]:
        """Return the libraries that we compile ourselves, as components of a bill of materials."""
        folder = self.built_folder(OWN_LAYER)
        return [
            {
                "type": "file",
                "bom-ref": f"file:{file.name}",
                "name": str(file.relative_to(folder)),
                "hashes": [{"alg": "SHA-256", "content": sha256(file.read_bytes()).hexdigest()}],
            }
            for file in sorted(folder.rglob("*.so"))
        ]

    def unzipped_function_sizes_with_layers(self) -> dict[str, int]:
        """Return the unzipped bytes of each function with its layers on the larger processor."""
        layers = max(
            sum(folder_size(self.built_folder(name)) for name in self.layer_names(architecture))
            for architecture in ARCHITECTURES
        )
        return {
            name: layers + folder_size(self.built_folder(name))
            for name, resource in self.functions_and_layers.items()
            if resource["Type"] == FUNCTION_TYPE
        }


def _load_built_template(path: Path) -> dict[str, Any]:
    """Load a built template; its functions and layers get the local path of their code."""
    template = load_template(path)
    for resource in template["Resources"].values():
        key = CODE_PROPERTIES.get(resource["Type"])
        if key is not None:
            resource["Properties"][key] = str(path.parent / resource["Properties"][key])
    return template


def folder_size(folder: Path) -> int:
    """Return the total bytes of all files in a folder."""
    return sum(file.stat().st_size for file in _iter_files(folder))


def different_files(first_folder: Path, second_folder: Path) -> list[str]:
    """Return the relative names of files that differ between two folders."""
    first_files, second_files = (
        {str(file.relative_to(folder)): file.read_bytes() for file in _iter_files(folder)}
        for folder in (first_folder, second_folder)
    )
    return sorted(
        path
        for path in first_files.keys() | second_files.keys()
        if first_files.get(path) != second_files.get(path)
    )


def read_build(folder: Path) -> Build:
    """Return the build in a folder; raise `ConfigError` if there is none."""
    build = Build(folder)
    if not all(build.template_path(root).is_file() for root in BUILD_FOLDERS):
        raise ConfigError(f"There is no build in {folder}. Run `make build`.")
    return build


def _iter_files(folder: Path) -> Iterator[Path]:
    yield from sorted(file for file in folder.rglob("*") if file.is_file())


BUILD_DIR = REPOSITORY_ROOT / ".aws-sam"
SBOM_FILE = "sbom.json"  # which packages the layer has, for whoever looks for known faults
MIN_SAM_VERSION = (1, 131)  # the oldest SAM that builds the templates: before none knows python3.13

SAM = REPOSITORY_ROOT / ".venv-sam" / "bin" / "sam"


class BuildError(ConfigError):
    """SAM or a makefile failed; the message is what it printed."""


OTHER_ARCHITECTURE_LAYERS = {"arm64": "DependenciesX86", "x86_64": "DependenciesArm64"}
"""The layer of packages that is not for a processor."""

QUIET_ENVIRONMENT = {
    "SAM_CLI_TELEMETRY": "0",
    # SAM asks for a region and for credentials even where it calls nobody.
    "AWS_DEFAULT_REGION": "eu-central-1",
    **dict.fromkeys(("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"), "none"),
}


def find_sam() -> Path:
    """Return SAM's command, ours or the one on PATH; raise `ConfigError` if there is none."""
    if SAM.exists():
        return SAM
    on_path = shutil.which("sam")
    if on_path is None:
        raise ConfigError(
            "The command line of SAM is missing. Run `make build`, which installs it "
            "in a clone, or "
            "`uv tool install aws-sam-cli`."
        )
    version_text = run_and_capture_output([on_path, "--version"]).stdout
    if (
        tuple(int(component) for component in re.findall(r"\d+", version_text)[:2])
        < MIN_SAM_VERSION
    ):
        lowest = ".".join(map(str, MIN_SAM_VERSION))
        problem = f"{on_path} is {version_text.strip()}, too old"
        raise ConfigError(f"{problem}: {lowest} builds, or `make build`.")
    return Path(on_path)


def run_sam(arguments: Sequence[str], environment: Mapping[str, str]) -> str:
    """Run a SAM command in the repository root and return its output.

    Raises `BuildError` if it fails.
    """
    done = run_and_capture_output([str(find_sam()), *arguments], environment)
    output = f"{done.stdout}{done.stderr}".rstrip()
    if done.returncode != 0:
        raise BuildError(f"sam {arguments[0]} failed:\n{output}")
    return output


def sam_build(
    output_dir: Path = BUILD_DIR,
    target: BuildTarget | None = None,
    *,
    is_reproducibility_check: bool = False,
) -> Build:
    """Build all root templates; raises `BuildError`.

    The layers, which take long, are built once and used by all of them. For this machine alone
    the layer of the other processor's packages stays as it is.
    """
    target = target or BuildTarget()
    excluded = [OTHER_ARCHITECTURE_LAYERS[native_architecture()]] if target.is_native else []
    environment = {**target.environment(), **QUIET_ENVIRONMENT}
    environment |= {"UV_OFFLINE": "1", "PYTHONHASHSEED": "2"} if is_reproducibility_check else {}
    git = ["git", "describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"]
    commit = run_and_capture_output(git).stdout.strip()  # nothing where Git cannot tell
    build = Build(output_dir)
    layers: dict[str, Path] = {}
    for root, folder in BUILD_FOLDERS.items():
        build_folder = (output_dir / folder).absolute()
        words = [word for layer in {*excluded, *layers} for word in ("--exclude", layer)]
        run_sam(
            ["build", "--template", str(root), "--build-dir", str(build_folder), *words],
            environment,
        )
        for template in build_folder.rglob("template.yaml"):  # the root's, and those that it nests
            document = parse_template(template.read_text("utf-8"))
            _share_layers(document, template.parent, layers, excluded)
            if commit and (built := document.get("Mappings", {}).get("Built")):
                built["From"]["Commit"] = commit
            # SAM reads YAML many times over, and takes seconds for it.
            template.write_text(json.dumps(document, indent=1), "utf-8")
    restrict_strategy_parameters(build.template_path())
    return build


def _share_layers(
    document: dict[str, Any], folder: Path, layers: dict[str, Path], excluded: Sequence[str]
) -> None:
    """Make a built template use the layers that exist already; add its new ones to `layers`."""
    for name, resource in document["Resources"].items():
        if resource["Type"] != LAYER_TYPE:
            continue
        content = folder / resource["Properties"]["ContentUri"]
        if name in excluded:
            resource["Properties"]["ContentUri"] = str(content.resolve())  # a build may be copied
        else:
            shared = os.path.relpath(layers.setdefault(name, content), folder)
            resource["Properties"]["ContentUri"] = shared


def restrict_strategy_parameters(template: Path) -> None:
    """Restrict the parameter Strategy of a built template to the names of the built strategies."""
    document = parse_template(template.read_text("utf-8"))
    strategy_names = registry_for(all_games()[0].strategy_package).names()
    parameter = document["Parameters"]["Strategy"]
    parameter.pop("AllowedPattern", None)
    parameter["AllowedValues"] = ["", *strategy_names]
    template.write_text(json.dumps(document, indent=1), encoding="utf-8")


def main() -> None:
    """Build, print the sizes, and exit with 1 if a function is too large."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--into", type=Path, default=BUILD_DIR)
    arguments = parser.parse_args()
    print_flushed("building functions and layers ...")
    try:
        target = requested_target()
        build = sam_build(arguments.into, target)
        materials = json.loads(export_lock(*REQUIREMENTS, output_format="cyclonedx1.5"))
        materials["components"] += build.compiled_files()
        (build.folder / SBOM_FILE).write_text(json.dumps(materials, indent=2), "utf-8")
    except CardsharpError as error:
        sys.exit(str(error))
    sys.exit(check_function_sizes(build, target))


def check_function_sizes(build: Build, target: BuildTarget) -> int:
    """Print each function's size; return 1 if one is above our limit, else 0."""
    python = find_python(target.python)
    shipped = f"with bytecode by {python}" if python else "without bytecode (no such Python here)"
    processors = "this machine" if target.is_native else " and ".join(ARCHITECTURES)
    print_flushed(f"built for python{target.python} on {processors}, {shipped}: {build.folder}")
    too_large = False
    for name, byte_count in build.unzipped_function_sizes_with_layers().items():
        limit = MAX_BYTES_BY_FUNCTION.get(name, MAX_FUNCTION_BYTES)
        above = f", above the limit of {limit / 1e6:.0f} MB" if byte_count > limit else ""
        print_flushed(f"  {name:19} {byte_count / 1e6:5.1f} MB with layers{above}")
        too_large |= byte_count > limit
    return 1 if too_large else 0


if __name__ == "__main__":
    main()
