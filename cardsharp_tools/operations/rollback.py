"""Rollback of a deployed stack: its functions' alias goes back to the versions before."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from cardsharp.aws.client import call_with_retries
from cardsharp.errors import ConfigError
from cardsharp_tools.operations.stack import Client, Stack

ALIAS = "live"  # AutoPublishAlias of all functions


@dataclass(frozen=True, slots=True)
class VersionChange:
    """A function whose alias was moved from one version to another."""

    function: str
    old_version: str
    new_version: str

    def document(self) -> dict[str, str]:
        """Return the function and its earlier and new version as a JSON document."""
        return {"function": self.function, "from": self.old_version, "to": self.new_version}

    def __str__(self) -> str:
        return f"{self.function}: version {self.old_version} -> {self.new_version}"


@dataclass(frozen=True, slots=True)
class PublishedVersion:
    """A version of a function; code, layers and settings of it never change."""

    number: int
    published_at: datetime


def roll_back(stack: Stack) -> list[VersionChange]:
    """Have all that the last deployment changed use the version before; return what changed.

    Functions that the last deployment did not change stay as they are. Raises `ConfigError` if
    it changed none, or has been rolled back already, or a function has no earlier version.
    """
    changes = []
    for function, current, versions in _list_functions(stack):
        newest = versions[-1]
        if newest.number != current or newest.published_at < stack.updated_at:
            continue
        if len(versions) == 1:
            raise ConfigError(f"{function} has no version before {current}; nothing was changed.")
        changes.append(VersionChange(function, str(current), str(versions[-2].number)))
    if not changes:
        raise ConfigError(
            f"The last deployment of {stack.name} changed no function, or is rolled back already."
        )
    _apply_changes(stack, changes)
    return changes


def undo_rollback(stack: Stack) -> list[VersionChange]:
    """Have all functions use their newest version; return what changed.

    Raises `ConfigError` if all do.
    """
    changes = [
        VersionChange(function, str(current), str(versions[-1].number))
        for function, current, versions in _list_functions(stack)
        if versions[-1].number != current
    ]
    if not changes:
        raise ConfigError(f"All functions of {stack.name} use their newest version already.")
    _apply_changes(stack, changes)
    return changes


def _apply_changes(stack: Stack, changes: list[VersionChange]) -> None:
    update = stack.client("lambda").update_alias
    for change in changes:
        call_with_retries(
            "alias",
            update,
            FunctionName=change.function,
            Name=ALIAS,
            FunctionVersion=change.new_version,
        )


def _list_functions(stack: Stack) -> Iterator[tuple[str, int, list[PublishedVersion]]]:
    """Yield each function that has an alias.

    The tuple has its name, the version in use, and all versions in order.
    """
    client = stack.client("lambda")
    for logical_name in sorted(stack.ids):
        if not logical_name.endswith(f"Alias{ALIAS}"):
            continue
        function = stack.ids[logical_name.removesuffix(f"Alias{ALIAS}")]
        alias = call_with_retries("alias", client.get_alias, FunctionName=function, Name=ALIAS)
        yield function, int(alias["FunctionVersion"]), _list_versions(client, function)


def _list_versions(client: Client, function: str) -> list[PublishedVersion]:
    """Return the published versions of a function, the oldest first."""
    pages = client.get_paginator("list_versions_by_function").paginate(FunctionName=function)
    items = call_with_retries(
        "versions", lambda: [item for page in pages for item in page["Versions"]]
    )
    versions = [
        PublishedVersion(int(item["Version"]), datetime.fromisoformat(item["LastModified"]))
        for item in items
        if item["Version"].isdecimal()
    ]
    return sorted(versions, key=lambda version: version.number)
