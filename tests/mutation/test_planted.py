"""Wrong rules are caught by a clone alone: faults are planted one by one, and tests must fail.

`make evidence-seeded-bugs` runs this in a copy of the repository with nothing beside it. It has the
data of `tests/samples` only. A fault whose old text is no longer in its file fails in every run.
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


class Fault(NamedTuple):
    """A rule, and how it is broken: in which file, which text becomes which, what must fail."""

    rule: str
    file: str
    old: str
    new: str
    by: list[str]

    @property
    def tests(self) -> list[str]:
        return [f"tests/{test}" for group in self.by for test in PLANTED["tests"][group]]


PLANTED = tomllib.loads(Path(__file__).with_name("planted.toml").read_text(encoding="utf-8"))
FAULTS = [Fault(**fault) for fault in PLANTED["fault"]]


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the repository with nothing beside it."""
    folder = tmp_path_factory.mktemp("alone") / "clone"
    return shutil.copytree(ROOT, folder, ignore=shutil.ignore_patterns("__pycache__", ".*"))


def run(clone: Path, tests: Sequence[str]) -> subprocess.CompletedProcess[str]:
    """Run tests in the clone until one fails."""
    rooms = (f"{clone}/layers/cardsharp/python", f"{clone}/functions", str(clone))
    return subprocess.run(  # noqa: S603 - our own tests
        (sys.executable, "-m", "pytest", "-qx", "-p", "no:cacheprovider", "-m", "not slow", *tests),
        cwd=clone,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(rooms), "TESTS": "sample"},
        capture_output=True,
        text=True,
        check=False,
    )


def test_every_fault_can_be_planted() -> None:
    for fault in FAULTS:
        text = (ROOT / LIBRARY / fault.file).read_text(encoding="utf-8")
        assert text.count(fault.old) == 1, f"{fault.file} no longer says once: {fault.old}"


@pytest.mark.slow
def test_a_clone_without_a_fault_passes(clone: Path) -> None:
    """Without a fault all tests pass, so a failure below is due to the planted fault."""
    done = run(clone, list(dict.fromkeys(test for fault in FAULTS for test in fault.tests)))
    assert done.returncode == 0, done.stdout[-3000:]


@pytest.mark.slow
@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.rule.replace(" ", "-"))
def test_a_wrong_rule_is_caught(clone: Path, fault: Fault) -> None:
    file = clone / LIBRARY / fault.file
    text = file.read_text(encoding="utf-8")
    try:
        plant(file, text.replace(fault.old, fault.new))
        done = run(clone, fault.tests)
    finally:
        plant(file, text)
    caught = [line for line in done.stdout.splitlines() if line.startswith("FAILED")]
    assert caught, done.stdout[-2000:]
    print(fault.rule, "|", *caught)  # noqa: T201 - `make evidence-seeded-bugs` shows it


def plant(file: Path, text: str) -> None:
    """Write a module; what Python compiled of it before is not used again."""
    file.write_text(text, encoding="utf-8")
    Path(cache_from_source(str(file))).unlink(missing_ok=True)
