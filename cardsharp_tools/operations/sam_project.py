"""A deployment by SAM from wherever we run: in a clone from there, else from an unpacked copy."""

import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

import cardsharp
from cardsharp.errors import ConfigError
from cardsharp_tools.build.sam_build import (
    QUIET_ENVIRONMENT,
    find_sam,
    restrict_strategy_parameters,
)
from cardsharp_tools.build.target import BuildTarget
from cardsharp_tools.project_files import PROJECT_ROOT


def prepare_project_folder(folder: Path | None) -> Path:
    """Return a folder that SAM can build: our clone, or `folder` with our files unpacked.

    What lies in the folder is written over, so that it is of the version that runs. Raises
    `ConfigError` if we are not a clone, and no folder is given or it holds something else.
    """
    if (PROJECT_ROOT / "pyproject.toml").exists():
        return PROJECT_ROOT
    folder = folder or Path("cardsharp-stack")
    if folder.exists() and not (folder / "template.yaml").exists():
        raise ConfigError(
            f"{folder} exists and contains something else. Name another folder with --into."
        )
    shutil.copytree(PROJECT_ROOT, folder, dirs_exist_ok=True)
    library = folder / "layers" / "cardsharp" / "python" / "cardsharp"
    shutil.rmtree(library, ignore_errors=True)
    package_folder, bytecode = (
        Path(cardsharp.__file__).parent,
        shutil.ignore_patterns("__pycache__"),
    )
    shutil.copytree(package_folder, library, ignore=bytecode)
    return folder


def deploy(
    folder: Path, stage: str, stack: str, parameters: Sequence[str], extra_args: Sequence[str]
) -> int:
    """Build and deploy the project in a folder with SAM, and return SAM's exit code.

    `more` are words for `sam deploy`, such as --no-confirm-changeset. Raises `ConfigError` if SAM's
    command line or make is missing.
    """
    sam, config = str(find_sam()), "default" if stage == "dev" else stage
    if shutil.which("make") is None:
        raise ConfigError(
            "SAM needs make, which is missing. Install it (Debian: `apt install make`)."
        )
    environment = BuildTarget().environment()
    built = _run_sam(
        [sam, "build", "--config-env", config], folder, {**environment, **QUIET_ENVIRONMENT}
    )
    if built != 0:
        return built
    is_bot = stage in {"dev", "prod"}
    template = Path(".aws-sam", "build" if is_bot else stage, "template.yaml")
    if is_bot:
        restrict_strategy_parameters(folder / template)
    overrides = [f"Stage={'prod' if stage == 'prod' else 'dev'}", *parameters]
    words = [
        *("--config-file", str((folder / "samconfig.toml").resolve()), "--config-env", config),
        *("--template-file", str(template), "--stack-name", stack, *extra_args),
    ]  # SAM looks for its settings beside the built template, where there are none
    return _run_sam(
        [sam, "deploy", *words, "--parameter-overrides", *overrides], folder, environment
    )


def _run_sam(command: Sequence[str], folder: Path, environment: Mapping[str, str]) -> int:
    """Run a SAM command in a folder; return its exit code.

    The command uses this terminal: it may ask questions, and prints its own output.
    """
    variables = {**os.environ, **environment, "SAM_CLI_TELEMETRY": "0"}
    return subprocess.run(command, cwd=folder, env=variables, check=False).returncode  # noqa: S603 - SAM itself
