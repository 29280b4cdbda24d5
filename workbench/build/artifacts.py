"""A build as it lies on disk: one folder a function or layer, with its size and its hash."""

import io
import json
import zipfile
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from cardsharp.errors import ConfigError
from workbench.build.target import ARCHITECTURES, ran
from workbench.cloud.nested import flattened
from workbench.cloud.template import ARENA, TEMPLATE, Resource, load_template, parsed

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

    def parts(self, root: Path) -> dict[str, Resource]:
        """Functions and layers of a root template, each with the place of its code."""
        whole = flattened(self.template(root), _located)["Resources"]
        return {
            name: Resource(one["Type"], one["Properties"])
            for name, one in whole.items()
            if one["Type"] in CODE
        }

    @cached_property
    def resources(self) -> dict[str, Resource]:
        """All functions and layers by their logical names; the layers are in each root."""
        return {**self.parts(ARENA), **self.parts(TEMPLATE)}

    def names(self, kind: str) -> list[str]:
        """The logical names of all functions or all layers."""
        return [name for name, resource in self.resources.items() if resource.kind == kind]

    def layers(self, architecture: str) -> list[str]:
        """The logical names of the layers that functions have on that processor."""
        return [n for n, r in self.resources.items() if r.kind == LAYER and fits(r, architecture)]

    def folder_of(self, name: str) -> Path:
        """The built folder of a function or layer; raises `ConfigError` if it is not there."""
        resource = self.resources[name]
        folder = Path(str(resource.properties[CODE[resource.kind]]))
        if not folder.is_dir():
            raise ConfigError(f"{folder} is missing; run `make build` again.")
        return folder

    def sizes(self) -> dict[str, int]:
        """The bytes of each function with its layers on the larger processor, unzipped."""
        layers = max(
            sum(size_of(self.folder_of(name)) for name in self.layers(architecture))
            for architecture in ARCHITECTURES
        )
        return {name: layers + size_of(self.folder_of(name)) for name in self.names(FUNCTION)}


def _located(path: Path) -> dict[str, Any]:
    """A built template whose functions and layers say where their code lies on this machine."""
    template = load_template(path)
    for resource in template["Resources"].values():
        key = CODE.get(resource["Type"])
        if key is not None:
            resource["Properties"][key] = str(path.parent / resource["Properties"][key])
    return template


def fits(resource: Resource, architecture: str) -> bool:
    """Whether a function or layer can be had on that processor: functions on any."""
    only = resource.properties.get("CompatibleArchitectures", ARCHITECTURES)
    return isinstance(only, Collection) and architecture in only


def size_of(folder: Path) -> int:
    """The bytes of all files in a folder."""
    return sum(file.stat().st_size for file in _files(folder))


def archive(folder: Path) -> bytes:
    """The folder as a zip archive."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archived:
        for file in _files(folder):
            archived.write(file, file.relative_to(folder))
    return content.getvalue()


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


def write_commit(template: Path) -> None:
    """Write into a built template which commit it was built from, if Git can tell."""
    git = ["git", "describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"]
    told = ran(git)
    if told.returncode != 0:
        return
    whole = parsed(template.read_text())
    whole["Mappings"]["Built"]["From"]["Commit"] = told.stdout.strip()
    write_template(template, whole)


def write_template(template: Path, whole: Mapping[str, Any]) -> None:
    """Write a built template, as JSON: SAM reads YAML many times over, and takes seconds for it."""
    template.write_text(json.dumps(whole, indent=1))


def _files(folder: Path) -> Iterator[Path]:
    yield from sorted(file for file in folder.rglob("*") if file.is_file())
