"""Tests that seeded bugs are caught: each bug breaks one rule, and a test must fail.

`make evidence-seeded-bugs` runs this in a copy of the repository with nothing beside it,
so only the data of `tests/samples` is available. A bug whose old text is no longer in its
file fails in every run.
"""

import os
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Sequence
from importlib.util import cache_from_source
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[2]
LIBRARY = "layers/cardsharp/python/cardsharp"


class SeededBug(NamedTuple):
    """Bug to seed: its rule, its file, the old and the new text, and the groups of its tests."""

    rule: str
    file: str
    old: str
    new: str
    by: list[str]

    @property
    def tests(self) -> list[str]:
        return [f"tests/{test}" for group in self.by for test in CONFIG["tests"][group]]


CONFIG = tomllib.loads(Path(__file__).with_name("planted.toml").read_text(encoding="utf-8"))
SEEDED_BUGS = [SeededBug(**fault) for fault in CONFIG["fault"]]


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a copy of the repository with nothing beside it."""
    folder = tmp_path_factory.mktemp("alone") / "clone"
    return shutil.copytree(ROOT, folder, ignore=shutil.ignore_patterns("__pycache__", ".*"))


def run_tests(clone: Path, tests: Sequence[str]) -> subprocess.CompletedProcess[str]:
    """Run tests in the clone until one fails."""
    import_paths = (f"{clone}/layers/cardsharp/python", f"{clone}/functions", str(clone))
    return subprocess.run(  # noqa: S603 - our own tests
        (sys.executable, "-m", "pytest", "-qx", "-p", "no:cacheprovider", "-m", "not slow", *tests),
        cwd=clone,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(import_paths), "TESTS": "sample"},
        capture_output=True,
        text=True,
        check=False,
    )


def test_every_bug_can_be_seeded() -> None:
    for bug in SEEDED_BUGS:
        text = (ROOT / LIBRARY / bug.file).read_text(encoding="utf-8")
        assert text.count(bug.old) == 1, f"{bug.file} no longer says once: {bug.old}"


@pytest.mark.slow
def test_a_clone_without_a_bug_passes(clone: Path) -> None:
    """Without a bug all tests pass, so a failure of another test is due to its bug."""
    completed = run_tests(
        clone, list(dict.fromkeys(test for bug in SEEDED_BUGS for test in bug.tests))
    )
    assert completed.returncode == 0, completed.stdout[-3000:]


@pytest.mark.slow
@pytest.mark.parametrize("fault", SEEDED_BUGS, ids=lambda fault: fault.rule.replace(" ", "-"))
def test_a_wrong_rule_is_caught(clone: Path, fault: SeededBug) -> None:
    file = clone / LIBRARY / fault.file
    text = file.read_text(encoding="utf-8")
    try:
        write_module(file, text.replace(fault.old, fault.new))
        completed = run_tests(clone, fault.tests)
    finally:
        write_module(file, text)
    failed_tests = [line for line in completed.stdout.splitlines() if line.startswith("FAILED")]
    assert failed_tests, completed.stdout[-2000:]
    print(fault.rule, "|", *failed_tests)  # noqa: T201 - `make evidence-seeded-bugs` shows it


def write_module(file: Path, text: str) -> None:
    """Write a module, and delete the bytecode of its previous text."""
    file.write_text(text, encoding="utf-8")
    Path(cache_from_source(str(file))).unlink(missing_ok=True)
