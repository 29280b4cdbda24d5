"""Everything that is checked before a deploy: `python -m cardsharp_tools.build.gates [NAME ...]`.

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
from cardsharp_tools.build.deployment_matrix import find_deployment_errors
from cardsharp_tools.build.pinned_requirements import is_current
from cardsharp_tools.build.sam_build import (
    BUILD_DIR,
    QUIET_ENVIRONMENT,
    different_files,
    find_sam,
    read_build,
    sam_build,
)
from cardsharp_tools.build.sam_transform import transform_file
from cardsharp_tools.build.target import REPOSITORY_ROOT, print_flushed, run_and_capture_output
from cardsharp_tools.build.template_rules.runner import rule_violations
from cardsharp_tools.local_cloud.template_files import ROOT_TEMPLATES, template_paths

CHECK_TOOLS_DIR = REPOSITORY_ROOT / ".venv-checks" / "bin"
SAM_TOOLS_DIR = REPOSITORY_ROOT / ".venv-sam" / "bin"
CONFIG_DIR = Path(__file__).parent
DEPLOYER_POLICY = CONFIG_DIR.parent / "operations" / "deployer.yaml"
SECRETS_BASELINE = REPOSITORY_ROOT / ".secrets.baseline"
_BASELINE_UPDATED_CODE = 3  # detect-secrets-hook's exit code where it only wrote its baseline anew
_PINNED_ACTION_PATTERN = re.compile(r"^\S+@[0-9a-f]{40}$|^\./\.github/")  # or of this very commit
_EXCLUDED_FILE_PATTERN = re.compile(
    r"^(uv\.lock|requirements/.*\.txt|layers/dependencies/requirements\.txt|docs/.*\.json"
    # Learned numbers, in which any four letters come up somewhere.
    r"|layers/.*/strategies/search/.*\.json|tests/.*|\.secrets\..*)$"
)
"""Files full of hashes, and the tests with their dummy passwords."""


def check_layer_requirements() -> Iterable[str]:
    """Check that the layer's packages are those of uv.lock, each with a hash."""
    if not is_current():
        yield (
            "layers/dependencies/requirements.txt is old; run python -m "
            "cardsharp_tools.build.pinned_requirements"
        )


def check_workflows() -> Iterable[str]:
    """Return actions not pinned to a commit, and workflows that start with all permissions."""
    for file in sorted((REPOSITORY_ROOT / ".github" / "workflows").glob("*.yml")):
        text = file.read_text("utf-8")
        used = re.findall(r"uses:\s*(\S+)", text)
        yield from (
            f"{file.name}: {action} is no commit"
            for action in used
            if not _PINNED_ACTION_PATTERN.match(action)
        )
        if not re.search(r"^permissions: \{\}$", text, re.MULTILINE):
            yield f"{file.name}: begin with permissions: {{}}"


def check_sam_validate() -> Iterable[str]:
    """Return the findings of SAM and its cfn-lint in the template."""
    for file in template_paths():
        yield from _run_check([str(find_sam()), "validate", "--lint", "--template", str(file)])


def check_cfn_lint() -> Iterable[str]:
    """Return the findings of cfn-lint in the template as CloudFormation receives it."""
    # Two are about packaging and order, which SAM sees to. W3011 wants a DeletionPolicy beside the
    # UpdateReplacePolicy that SAM copies from a function to its schedule, mapping and alias.
    ignored = ["--ignore-checks", "W3002", "W3005", "W3011"]
    with _transformed_templates() as files:
        each = _repeat_option("--template", [*files, DEPLOYER_POLICY])
        return _run_check([str(find_sam().parent / "cfn-lint"), *ignored, *each])


def check_service_rules() -> Iterable[str]:
    """Return what AWS services reject or ignore in the templates although all linters accept it."""
    for path in ROOT_TEMPLATES:
        yield from rule_violations(path)


def check_checkov() -> Iterable[str]:
    """Return the findings of checkov in the same template that are not in the reviewed list."""
    config = str(CONFIG_DIR / "checkov.yaml")
    with _transformed_templates() as files:
        return _run_check(
            [str(_find_tool("checkov")), *_repeat_option("--file", files), "--config-file", config]
        )


@contextmanager
def _transformed_templates() -> Iterator[list[Path]]:
    """Yield files with the templates as CloudFormation gets them."""
    with tempfile.TemporaryDirectory(prefix="cardsharp-gate-") as folder:
        files = {source: Path(folder, f"{source.stem}.json") for source in template_paths()}
        for source, file in files.items():
            file.write_text(json.dumps(transform_file(source), indent=1), "utf-8")
        yield list(files.values())


def _repeat_option(option: str, files: Iterable[Path]) -> list[str]:
    """Return command-line arguments that repeat an option for each of the files."""
    return [argument for file in files for argument in (option, str(file))]


def check_bandit() -> Iterable[str]:
    """Return the findings of bandit in everything that is deployed."""
    command = [str(_find_tool("bandit")), "-q", "-c", str(CONFIG_DIR / "bandit.yaml"), "-r"]
    return _run_check(
        [
            *command,
            str(REPOSITORY_ROOT / "layers" / "cardsharp" / "python"),
            str(REPOSITORY_ROOT / "functions"),
        ]
    )


def check_secrets() -> Iterable[str]:
    """Return possible secrets that are not in the reviewed baseline."""
    listed = run_and_capture_output(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    )
    files = [name for name in listed.stdout.splitlines() if not _EXCLUDED_FILE_PATTERN.match(name)]
    existing_files = [name for name in files if (REPOSITORY_ROOT / name).is_file()]
    # The hook rewrites its baseline when lines have moved; the reviewed one stays as it is.
    with tempfile.TemporaryDirectory(prefix="cardsharp-gate-") as folder:
        baseline = Path(folder, "baseline")
        baseline.write_text(SECRETS_BASELINE.read_text("utf-8"), encoding="utf-8")
        hook = [str(_find_tool("detect-secrets-hook", SAM_TOOLS_DIR)), "--no-verify"]
        return _run_check(
            [*hook, "--baseline", str(baseline), *existing_files],
            success_codes=(0, _BASELINE_UPDATED_CODE),
        )


def check_build() -> Iterable[str]:
    """Build everything for Lambda; return the errors, also of a build that is too large."""
    return _run_check([sys.executable, "-m", "cardsharp_tools.build.sam_build"])


def check_reproducible() -> Iterable[str]:
    """Check that a second build, made offline, equals the first; yield the files that differ."""
    with tempfile.TemporaryDirectory(prefix="cardsharp-twice-") as folder:
        first_build, second_build = (
            read_build(BUILD_DIR),
            sam_build(Path(folder), is_reproducibility_check=True),
        )
        for name in sorted(
            first_build.functions_and_layers.keys() | second_build.functions_and_layers.keys()
        ):
            differing_files = different_files(
                first_build.built_folder(name), second_build.built_folder(name)
            )
            yield from (f"{name}/{file}" for file in differing_files)


def check_deployable_combinations() -> Iterable[str]:
    """Check that each combination can be deployed, also over a stack of version 0.2."""
    return find_deployment_errors(read_build(BUILD_DIR))


def check_artifact_performance() -> Iterable[str]:
    """Check that the built functions play a match within the performance targets."""
    return _run_check([sys.executable, "-m", "cardsharp_tools.operations.artifact_test"])


_GATES: tuple[Callable[[], Iterable[str]], ...] = (
    *(
        check_layer_requirements,
        check_workflows,
        check_sam_validate,
        check_cfn_lint,
        check_service_rules,
        check_checkov,
        check_bandit,
        check_secrets,
    ),
    *(check_build, check_reproducible, check_deployable_combinations, check_artifact_performance),
)
GATES = {gate.__name__.replace("_", "-"): gate for gate in _GATES}
"""Each check by its name; it tells what is wrong, nothing if it may pass."""


def _run_check(command: Iterable[str], success_codes: Collection[int] = (0,)) -> list[str]:
    """Run a check; return its output if it failed, an empty list if it succeeded."""
    done = run_and_capture_output(command, {**os.environ, **QUIET_ENVIRONMENT})
    if done.returncode in success_codes:
        return []
    lines = f"{done.stdout}{done.stderr}".splitlines()
    return [line for line in lines if line.strip()] or [f"exit {done.returncode}"]


def _find_tool(name: str, folder: Path | None = None) -> Path:
    tool = (folder or CHECK_TOOLS_DIR) / name
    if not tool.exists():
        raise ConfigError(f"{name} is missing. Run `make check-deploy`, which installs it.")
    return tool


def main() -> None:
    """Run the gates and print their results; exit with 1 if one fails."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(GATES))
    requested = parser.parse_args().names or list(GATES)
    unknown = set(requested) - GATES.keys()
    if unknown:
        parser.error(f"there is no gate {', '.join(sorted(unknown))}")
    shut = [name for name in GATES if name in requested and not _run_gate(name)]
    if shut:
        sys.exit(f"shut: {', '.join(shut)}")


def _run_gate(name: str) -> bool:
    began = time.monotonic()
    sys.stdout.write(f"{name:13} ... ")
    sys.stdout.flush()
    try:
        faults = list(GATES[name]())
    except CardsharpError as error:
        faults = str(error).splitlines()
    print_flushed(f"{'open' if not faults else 'SHUT'} {time.monotonic() - began:6.1f} s")
    for fault in faults:
        print_flushed(f"      {fault}")
    return not faults


if __name__ == "__main__":
    main()
