"""Change the code at random, bit by bit, and count the changes that the tests notice.

python tests/mutation/mutants.py TARGET [--sample N] [--seed S] [--report]

mutmut changes the files of a target in a copy (`.mutants/TARGET`), because it expects all
packages in one folder, and runs fast tests that should fail. A test that never ends is
stopped, and counts as a failure. Results are stored, so that a run can be stopped and
resumed; `--report` only prints the progress. The output has the number of noticed
changes, and each change that was missed.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from random import Random

ROOT = Path(__file__).parents[2]
COPIED_FOLDERS = (
    ("layers/cardsharp/python", "."),
    ("functions", "."),
    ("cardsharp_tools", "cardsharp_tools"),
)
COPIED_FOLDERS += (("tests", "tests"), ("docs", "docs"), ("events", "events"), ("stacks", "stacks"))
SURVIVED, UNTESTED = 0, 33  # mutmut's codes; anything else was noticed

MUTATION_FOLDER = Path(__file__).parent
TARGETS = tomllib.loads((MUTATION_FOLDER / "targets.toml").read_text("utf-8"))
"""Modules of the library, and tests that are meant to notice each change of them."""

IMPORT_TIME_FUNCTIONS = ("x__iter_rank_bets__", "x__iter_bets_above_full_house__")
"""Functions that run while a module is imported, where mutmut cannot change what they do."""


def prepare(target: dict[str, list[str]], folder: Path) -> None:
    """Copy what mutmut needs into one folder."""
    ignored = shutil.ignore_patterns("__pycache__")
    for source, destination in COPIED_FOLDERS:
        shutil.copytree(ROOT / source, folder / destination, ignore=ignored, dirs_exist_ok=True)
    shutil.copy(ROOT / "template.yaml", folder)
    files = [f"cardsharp/{module}.py" for module in target["modules"]]
    tests = [f"tests/{test}" for test in target["tests"]]
    config = (MUTATION_FOLDER / "mutmut.toml").read_text("utf-8")
    text = config.format(files=json.dumps(files), tests=json.dumps(tests))
    (folder / "pyproject.toml").write_text(text, encoding="utf-8")


def exit_codes(folder: Path) -> dict[str, int | None]:
    """Return mutmut's exit code by the name of the change, None for an untried one."""
    codes: dict[str, int | None] = {}
    for file in folder.glob("mutants/cardsharp/**/*.meta"):
        codes |= json.loads(file.read_text(encoding="utf-8"))["exit_code_by_key"]
    return {
        name: code
        for name, code in codes.items()
        if not any(map(name.count, IMPORT_TIME_FUNCTIONS))
    }


def run_mutmut(folder: Path, *arguments: str) -> str:
    """Run mutmut in the copy, and return its output."""
    environment = {**os.environ, "PYTHONPATH": str(folder / "mutants")}
    command = (sys.executable, "-m", "mutmut", *arguments)
    completed = subprocess.run(  # noqa: S603 - our own tool
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    return completed.stdout + completed.stderr


def main() -> None:
    """Run one target, all of it or a random sample, and print the result."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("target", choices=TARGETS)
    parser.add_argument("--sample", type=int, help="how many changes to try; all without it")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--report", action="store_true", help="try nothing, tell what was tried")
    args = parser.parse_args()
    folder = ROOT / ".mutants" / args.target
    if not folder.exists():
        prepare(TARGETS[args.target], folder)
    if not exit_codes(folder):
        # Makes the changes, then finds none of that name. Only the next process can import them.
        run_mutmut(folder, "run", "none")
    names = sorted(exit_codes(folder))
    output = ""
    sample_names = Random(args.seed).sample(names, args.sample) if args.sample else []
    untried = [name for name in sample_names if exit_codes(folder)[name] is None]
    if not args.report and (
        untried or not sample_names
    ):  # mutmut would try what it is given by name again
        output = run_mutmut(
            folder, "run", "--max-children", str(len(os.sched_getaffinity(0))), *untried
        )
    codes = exit_codes(folder)
    tried = {name: codes[name] for name in sample_names or codes if codes[name] is not None}
    if not tried:
        sys.exit(output[-3000:])
    missed = sorted(name for name, code in tried.items() if code in {SURVIVED, UNTESTED})
    for name in missed:
        print(run_mutmut(folder, "show", name))  # noqa: T201
    noticed = len(tried) - len(missed)
    share = f"{noticed / len(tried):.1%}"
    print(f"{args.target}: {noticed} of {len(tried)} changes noticed, {share}")  # noqa: T201
    print(f"{len(tried)} of {len(sample_names or codes)} tried, of {len(codes)} in all")  # noqa: T201


if __name__ == "__main__":
    main()
