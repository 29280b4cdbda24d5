"""Makefile: grouped help, documented targets, and names of 0.2 that still work."""

import os
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MAKEFILE = (ROOT / "Makefile").read_text("utf-8")
MAX_TARGETS = 20
OLD_TARGETS = (
    "bench-hold", "bench-services", "bench-wake", "chaos", "cloud", "compiled", "contest",
    "explore", "faults-all", "gates", "limits", "mutants", "planted", "probe-euchre",
    "research-test",
)  # fmt: skip


def make(*arguments: str) -> str:
    command = ("make", "--no-print-directory", "--file", str(ROOT / "Makefile"), *arguments)
    environment = {name: os.environ[name] for name in os.environ if not name.startswith("MAKE")}
    return subprocess.run(  # noqa: S603 - our own Makefile
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True
    ).stdout


def help_targets(help_text: str) -> list[str]:
    return re.findall(r"^  make (\S+) ", help_text, re.MULTILINE)


def test_help_has_at_most_20_targets_in_groups() -> None:
    help_text = make("help")
    assert re.findall(r"^\w+$", help_text, re.MULTILINE) == [
        "Play", "Develop", "Check", "Deploy", "Measure",
    ]  # fmt: skip
    assert {"play", "test", "build", "evidence"} <= set(help_targets(help_text))
    assert len(help_targets(help_text)) <= MAX_TARGETS
    assert make() == help_text


def test_contributing_explains_every_target_of_the_evidence_family() -> None:
    family = help_targets(make("evidence"))
    assert family == re.findall(r"^(evidence-[\w-]+):", MAKEFILE, re.MULTILINE)
    page = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    assert [name for name in family if f"`make {name}`" not in page] == []


@pytest.mark.parametrize("old_target", OLD_TARGETS)
def test_a_target_of_0_2_runs_the_new_one_and_stays_out_of_the_help(old_target: str) -> None:
    alias = re.search(rf"^{old_target}: ([\w-]+)$", MAKEFILE, re.MULTILINE)
    assert alias
    assert re.search(rf"^{alias[1]}:.*\n\t", MAKEFILE, re.MULTILINE)
    assert old_target not in help_targets(make("help") + make("evidence"))


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("chaos", "AT_ONCE=3", "TURN=9"), "--turn-seconds 9 --concurrency 3"),
        (("contest", "TIMEOUT=5"), "--turn-seconds 5"),
        (("bench-load", "AT_ONCE=30"), "for number in 30;"),
        (("cloud", "STAY=1"), "emulated_stack"),
    ],
)
def test_variables_of_0_2_still_count(arguments: tuple[str, ...], expected: str) -> None:
    assert expected in make("--dry-run", *arguments)
