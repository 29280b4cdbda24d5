"""Everything that is checked before a deploy: `python -m workbench.build.gates [NAME ...]`.

All gates run without network once their tools are installed and the packages of the layer are
in uv's cache (`make build` does both). Without names all of them run.
"""

import argparse
import json
import os
import re
import sys
import tempfile
import time
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from cardsharp.errors import CardsharpError, ConfigError
from workbench.build.combinations import faults
from workbench.build.pins import is_current
from workbench.build.sam import BUILD, QUIET, differences, find_sam, read_build, sam_build
from workbench.build.service_rules import findings
from workbench.build.target import ROOT, ran, say
from workbench.build.translate import translated
from workbench.cloud.template import ROOTS, templates

CHECKS = ROOT / ".venv-checks" / "bin"
SAM_TOOLS = ROOT / ".venv-sam" / "bin"
CONFIG = Path(__file__).parent
DEPLOYER = CONFIG.parent / "operate" / "deployer.yaml"
BASELINE = ROOT / ".secrets.baseline"
_LINES_MOVED = 3  # detect-secrets-hook's exit code where it only wrote its baseline anew
_PINNED = re.compile(r"^\S+@[0-9a-f]{40}$|^\./\.github/")  # or of this very commit
_NO_SECRETS = re.compile(
    r"^(uv\.lock|requirements/.*\.txt|layers/dependencies/requirements\.txt|docs/.*\.json"
    # Learned numbers, in which any four letters come up somewhere.
    r"|layers/.*/strategies/search/.*\.json|tests/.*|\.secrets\..*)$"
)
"""Files full of hashes, and the tests with their dummy passwords."""


def pins() -> Iterable[str]:
    """Whether the layer's packages are those of uv.lock, each with a hash."""
    if not is_current():
        yield "layers/dependencies/requirements.txt is old; run python -m workbench.build.pins"


def workflows() -> Iterable[str]:
    """Every action that is not pinned by a commit, and workflows that begin with all rights."""
    for file in sorted((ROOT / ".github" / "workflows").glob("*.yml")):
        text = file.read_text("utf-8")
        used = re.findall(r"uses:\s*(\S+)", text)
        yield from (f"{file.name}: {one} is no commit" for one in used if not _PINNED.match(one))
        if not re.search(r"^permissions: \{\}$", text, re.MULTILINE):
            yield f"{file.name}: begin with permissions: {{}}"


def sam_validate() -> Iterable[str]:
    """What SAM and the cfn-lint in it find in the template."""
    for file in templates():
        yield from _run([str(find_sam()), "validate", "--template", str(file)])
    # W1100 is about YAML's merges, which `sam build` writes out.
    lint = [str(find_sam().parent / "cfn-lint"), "--ignore-checks", "W1100"]
    yield from _run([*lint, *_each("--template", templates())])


def cfn_lint() -> Iterable[str]:
    """What cfn-lint finds in the template as CloudFormation gets it."""
    # Both are about packaging and order, which SAM sees to.
    ignored = ["--ignore-checks", "W3002", "W3005"]
    with _translations() as files:
        each = _each("--template", [*files, DEPLOYER])
        return _run([str(find_sam().parent / "cfn-lint"), *ignored, *each])


def service_rules() -> Iterable[str]:
    """What AWS's services refuse of the templates, or never do, though all linters let it pass."""
    for path in ROOTS:
        yield from findings(path)


def checkov() -> Iterable[str]:
    """What checkov finds in the same besides the reviewed list."""
    config = str(CONFIG / "checkov.yaml")
    with _translations() as files:
        return _run([str(_tool("checkov")), *_each("--file", files), "--config-file", config])


@contextmanager
def _translations() -> Iterator[list[Path]]:
    """The templates as CloudFormation gets them, in files."""
    with tempfile.TemporaryDirectory(prefix="cardsharp-gate-") as folder:
        files = {source: Path(folder, f"{source.stem}.json") for source in templates()}
        for source, file in files.items():
            file.write_text(json.dumps(translated(source), indent=1), "utf-8")
        yield list(files.values())


def _each(option: str, files: Iterable[Path]) -> list[str]:
    """An option once for each of the files."""
    return [part for file in files for part in (option, str(file))]


def bandit() -> Iterable[str]:
    """What bandit finds in everything that is deployed."""
    command = [str(_tool("bandit")), "-q", "-c", str(CONFIG / "bandit.yaml"), "-r"]
    return _run([*command, str(ROOT / "layers" / "cardsharp" / "python"), str(ROOT / "functions")])


def secrets() -> Iterable[str]:
    """What looks like a secret and is not in the reviewed baseline."""
    listed = ran(["git", "ls-files", "--cached", "--others", "--exclude-standard"])
    files = [name for name in listed.stdout.splitlines() if not _NO_SECRETS.match(name)]
    there = [name for name in files if (ROOT / name).is_file()]
    # The hook rewrites its baseline when lines have moved; the reviewed one stays as it is.
    with tempfile.TemporaryDirectory(prefix="cardsharp-gate-") as folder:
        baseline = Path(folder, "baseline")
        baseline.write_text(BASELINE.read_text("utf-8"), encoding="utf-8")
        hook = [str(_tool("detect-secrets-hook", SAM_TOOLS)), "--no-verify"]
        return _run([*hook, "--baseline", str(baseline), *there], passing=(0, _LINES_MOVED))


def build() -> Iterable[str]:
    """Whether everything is built for Lambda, and small enough."""
    return _run([sys.executable, "-m", "workbench.build.sam"])


def reproducible() -> Iterable[str]:
    """The files in which a second build, made without network, differs from the first."""
    with tempfile.TemporaryDirectory(prefix="cardsharp-twice-") as folder:
        one, other = read_build(BUILD), sam_build(Path(folder), again=True)
        for name in sorted(one.resources.keys() | other.resources.keys()):
            found = differences(one.folder_of(name), other.folder_of(name))
            yield from (f"{name}/{file}" for file in found)


def deployments() -> Iterable[str]:
    """Whether the build can be deployed in each combination, also over version 0.2."""
    return faults(read_build(BUILD))


def run() -> Iterable[str]:
    """Whether the built functions play a match, and within our aims."""
    return _run([sys.executable, "-m", "workbench.operate.built"])


_GATES: tuple[Callable[[], Iterable[str]], ...] = (
    *(pins, workflows, sam_validate, cfn_lint, service_rules, checkov, bandit, secrets),
    *(build, reproducible, deployments, run),
)
GATES = {one.__name__.replace("_", "-"): one for one in _GATES}
"""Each check by its name; it tells what is wrong, nothing if it may pass."""


def _run(command: Iterable[str], passing: Collection[int] = (0,)) -> list[str]:
    """What a command printed if it failed, nothing if it succeeded."""
    done = ran(command, {**os.environ, **QUIET})
    if done.returncode in passing:
        return []
    lines = f"{done.stdout}{done.stderr}".splitlines()
    return [line for line in lines if line.strip()] or [f"exit {done.returncode}"]


def _tool(name: str, folder: Path | None = None) -> Path:
    tool = (folder or CHECKS) / name
    if not tool.exists():
        raise ConfigError(f"{name} is missing; run `make gates`, which installs it.")
    return tool


def main() -> None:
    """Run the gates, say how each went, and exit with 1 if one is shut."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(GATES))
    wanted = parser.parse_args().names or list(GATES)
    unknown = set(wanted) - GATES.keys()
    if unknown:
        parser.error(f"there is no gate {', '.join(sorted(unknown))}")
    shut = [name for name in GATES if name in wanted and not _passes(name)]
    if shut:
        sys.exit(f"shut: {', '.join(shut)}")


def _passes(name: str) -> bool:
    began = time.monotonic()
    sys.stdout.write(f"{name:13} ... ")
    sys.stdout.flush()
    try:
        faults = list(GATES[name]())
    except CardsharpError as error:
        faults = str(error).splitlines()
    say(f"{'open' if not faults else 'SHUT'} {time.monotonic() - began:6.1f} s")
    for fault in faults:
        say(f"      {fault}")
    return not faults


if __name__ == "__main__":
    main()
