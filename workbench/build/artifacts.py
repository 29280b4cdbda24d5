"""A build as it lies on disk: one folder a function or layer, with its size and its hash."""

import hashlib
import subprocess
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import yaml

from cardsharp.errors import ConfigError
from workbench.build.target import ARCHITECTURES
from workbench.cloud.template import TEMPLATE, Resource, load_resources, load_template

FUNCTION = "AWS::Serverless::Function"
LAYER = "AWS::Serverless::LayerVersion"
NESTED = "AWS::Serverless::Application"
LIMIT = 40_000_000
"""Bytes that a function and its layers may have unzipped; what we set, AWS allows 250 MiB."""


@dataclass(frozen=True, slots=True)
class Build:
    """What `sam build` leaves: its template and a folder for each function and layer."""

    folder: Path

    @property
    def template(self) -> Path:
        """The template whose CodeUris and ContentUris are the built folders."""
        return self.folder / "template.yaml"

    @property
    def nested(self) -> dict[str, Path]:
        """The built templates of nested applications, by their logical names."""
        found = load_resources(self.template)
        return {
            name: self.folder / str(one.properties["Location"])
            for name, one in found.items()
            if one.kind == NESTED
        }

    @property
    def resources(self) -> dict[str, Resource]:
        """Functions of the template and the layers that were built, by their logical names."""
        found = load_resources(self.template)
        built = {name for name in found if (self.folder / name).is_dir()}
        return {
            n: r for n, r in found.items() if r.kind == FUNCTION or (r.kind == LAYER and n in built)
        }

    def names(self, kind: str) -> list[str]:
        """The logical names of all functions or all layers."""
        return [name for name, resource in self.resources.items() if resource.kind == kind]

    def layers(self, architecture: str) -> list[str]:
        """The logical names of the layers that functions have on that processor."""
        return [n for n, r in self.resources.items() if r.kind == LAYER and fits(r, architecture)]

    def folder_of(self, name: str) -> Path:
        """The built folder of a function or layer.

        Raises:
            ConfigError: it is not there.
        """
        folder = self.folder / name
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

    def digests(self) -> dict[str, str]:
        """The hash of each function and layer."""
        return {name: digest_of(self.folder_of(name)) for name in self.resources}


def fits(resource: Resource, architecture: str) -> bool:
    """Whether a function or layer can be had on that processor: functions on any."""
    only = resource.properties.get("CompatibleArchitectures", ARCHITECTURES)
    return isinstance(only, Collection) and architecture in only


def size_of(folder: Path) -> int:
    """The bytes of all files in a folder."""
    return sum(file.stat().st_size for file in _files(folder))


def digest_of(folder: Path) -> str:
    """A hash of all names, contents and executable bits; times do not count."""
    whole = hashlib.sha256()
    for file in _files(folder):
        executable = bool(file.stat().st_mode & 0o100)
        content = hashlib.sha256(file.read_bytes()).hexdigest()
        whole.update(f"{file.relative_to(folder)}\0{executable}\0{content}\n".encode())
    return whole.hexdigest()


def differences(one: Path, other: Path) -> list[str]:
    """The relative names of files that two folders do not have alike."""
    ours, theirs = _contents(one), _contents(other)
    return sorted(
        name for name in ours.keys() | theirs.keys() if ours.get(name) != theirs.get(name)
    )


def read_build(folder: Path) -> Build:
    """The build in a folder.

    Raises:
        ConfigError: there is none.
    """
    build = Build(folder)
    try:
        build.template.read_bytes()
    except OSError:
        raise ConfigError(f"There is no build in {folder}; run `make build`.") from None
    return build


def write_commit(template: Path) -> None:
    """Write into a built template which commit it was built from, if Git can tell."""
    git = ["git", "describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"]
    told = subprocess.run(git, cwd=TEMPLATE.parent, capture_output=True, text=True, check=False)  # noqa: S603 - no argument is a stranger's
    if told.returncode != 0:
        return
    whole = yaml.safe_load(template.read_text())
    commit = told.stdout.strip()
    whole["Globals"]["Function"]["Environment"]["Variables"]["BUILD"] = commit
    whole["Outputs"]["Build"]["Value"] = commit
    template.write_text(yaml.safe_dump(whole, sort_keys=False))


def write_template(source: Path, target: Path, folders: Mapping[str, str]) -> None:
    """Copy a template, with the code of functions and layers taken from `folders`.

    The templates of nested applications lie below it, each in a folder, as `sam build` has them.
    """
    whole = load_template(source)
    for name, resource in whole["Resources"].items():
        if resource["Type"] == NESTED:
            nested = target.parent / name / target.name
            nested.parent.mkdir(exist_ok=True)
            write_template(source.parent / resource["Properties"]["Location"], nested, {})
            resource["Properties"]["Location"] = f"{name}/{target.name}"
    for name, place in folders.items():
        resource = whole["Resources"][name]
        key = "CodeUri" if resource["Type"] == FUNCTION else "ContentUri"
        resource["Properties"][key] = place
    target.write_text(yaml.safe_dump(whole, sort_keys=False))


def _contents(folder: Path) -> dict[str, bytes]:
    return {str(file.relative_to(folder)): file.read_bytes() for file in _files(folder)}


def _files(folder: Path) -> Iterator[Path]:
    yield from sorted(file for file in folder.rglob("*") if file.is_file())
