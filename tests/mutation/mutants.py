"""Changes the code at random, a little at a time, and counts what the tests notice.

python tests/mutation/mutants.py TARGET [--sample N] [--seed S] [--report]

mutmut changes the files of a target in a copy (`.mutants/TARGET`), as it wants packages to lie in
one folder, and runs fast tests that are meant to notice; a test that waits for ever is stopped, and
has noticed. What was tried before is kept, so that a run can be stopped and goes on; `--report`
tells how far it is. Prints how many changes were noticed, and each that was not.
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
PLACES = (
    ("layers/cardsharp/python", "."),
    ("functions", "."),
    ("cardsharp_tools", "cardsharp_tools"),
)
PLACES += (("tests", "tests"), ("docs", "docs"), ("events", "events"))
SURVIVED, UNTESTED = 0, 33  # mutmut's codes; anything else was noticed

HERE = Path(__file__).parent
TARGETS = tomllib.loads((HERE / "targets.toml").read_text("utf-8"))
"""Modules of the library, and tests that are meant to notice each change of them."""

AT_IMPORT = ("x__of_values__", "x__above_full_houses__")
"""Functions that run while a module is imported, where mutmut cannot change what they do."""


def prepare(target: dict[str, list[str]], folder: Path) -> None:
    """Copy what mutmut needs, packages beside each other."""
    ignored = shutil.ignore_patterns("__pycache__")
    for place, below in PLACES:
        shutil.copytree(ROOT / place, folder / below, ignore=ignored, dirs_exist_ok=True)
    shutil.copy(ROOT / "template.yaml", folder)
    files = [f"cardsharp/{module}.py" for module in target["modules"]]
    tests = [f"tests/{test}" for test in target["tests"]]
    config = (HERE / "mutmut.toml").read_text("utf-8")
    text = config.format(files=json.dumps(files), tests=json.dumps(tests))
    (folder / "pyproject.toml").write_text(text, encoding="utf-8")


def results(folder: Path) -> dict[str, int | None]:
    """Every change by name, with mutmut's code once it was tried."""
    found: dict[str, int | None] = {}
    for file in folder.glob("mutants/cardsharp/**/*.meta"):
        found |= json.loads(file.read_text(encoding="utf-8"))["exit_code_by_key"]
    return {name: code for name, code in found.items() if not any(map(name.count, AT_IMPORT))}


def mutmut(folder: Path, *words: str) -> str:
    """Run mutmut in the copy; what it prints."""
    environment = {**os.environ, "PYTHONPATH": str(folder / "mutants")}
    command = (sys.executable, "-m", "mutmut", *words)
    done = subprocess.run(  # noqa: S603 - our own tool
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    return done.stdout + done.stderr


def main() -> None:
    """Run one target, all of it or a random sample, and print what was found."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("target", choices=TARGETS)
    parser.add_argument("--sample", type=int, help="how many changes to try; all without it")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--report", action="store_true", help="try nothing, tell what was tried")
    given = parser.parse_args()
    folder = ROOT / ".mutants" / given.target
    if not folder.exists():
        prepare(TARGETS[given.target], folder)
    if not results(folder):
        # Makes the changes, then finds none of that name. Only the next process can import them.
        mutmut(folder, "run", "none")
    names = sorted(results(folder))
    said = ""
    chosen = Random(given.seed).sample(names, given.sample) if given.sample else []
    left = [name for name in chosen if results(folder)[name] is None]
    if not given.report and (left or not chosen):  # mutmut would try what it is given by name again
        said = mutmut(folder, "run", "--max-children", str(len(os.sched_getaffinity(0))), *left)
    found = results(folder)
    tried = {name: found[name] for name in chosen or found if found[name] is not None}
    if not tried:
        sys.exit(said[-3000:])
    missed = sorted(name for name, code in tried.items() if code in {SURVIVED, UNTESTED})
    for name in missed:
        print(mutmut(folder, "show", name))  # noqa: T201
    noticed = len(tried) - len(missed)
    share = f"{noticed / len(tried):.1%}"
    print(f"{given.target}: {noticed} of {len(tried)} changes noticed, {share}")  # noqa: T201
    print(f"{len(tried)} of {len(chosen or found)} tried, of {len(found)} in all")  # noqa: T201


if __name__ == "__main__":
    main()
