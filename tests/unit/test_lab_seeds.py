"""A seed on which version after version of a strategy was tried is warned of."""

from pathlib import Path

import pytest

from workbench.lab.plan import Plan
from workbench.lab.seeds import MANY, overused


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "w.json"  # a file whose content is not looked at to tell versions apart


def plan(file: Path, seed: int = 7) -> Plan:
    return Plan(first=str(file), second="captain", pairs=1, seed=seed)


def tried(file: Path, versions: int, seed: int = 7) -> str | None:
    """What is said of the last of so many versions."""
    said = None
    for version in range(versions):
        file.write_text(f"version {version}")
        said = overused(plan(file, seed), file.with_name("seeds.json"))
    return said


def test_many_versions_on_one_seed_are_warned_of(file: Path) -> None:
    assert tried(file, MANY - 1) is None
    assert f"{MANY} versions of {file} have been tried on seed 7" in str(tried(file, MANY))


def test_the_same_version_again_counts_once(file: Path) -> None:
    file.write_text("one")
    assert not any(overused(plan(file), file.with_name("seeds.json")) for _ in range(2 * MANY))


def test_another_seed_and_another_file_are_counted_apart(file: Path) -> None:
    assert tried(file, MANY - 1) is None
    assert tried(file, MANY - 1, seed=8) is None
    assert tried(file.with_name("v.json"), MANY - 1) is None
