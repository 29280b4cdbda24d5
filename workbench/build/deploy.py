"""A stack in the emulator, by `sam deploy` as one types it."""

import tomllib
from collections.abc import Mapping
from pathlib import Path

from cardsharp.errors import CardsharpError
from workbench.build.artifacts import Build
from workbench.build.sam import BuildError, run_sam
from workbench.build.target import Target
from workbench.build.transform import TransformingCloudFormation
from workbench.cloud.emulator import Emulator
from workbench.cloud.template import ARENA, TEMPLATE

STACK_SERVICES = (
    "apigateway",
    "cloudformation",
    "cloudwatch",
    "dynamodb",
    "events",
    "iam",
    "lambda",
    "logs",
    "monitoring",
    "s3",
    "scheduler",
    "sns",
    "sqs",
    "ssm",
    "sts",
)
"""What the emulator must offer for the templates."""

CONFIG = TEMPLATE.with_name("samconfig.toml")
ENVIRONMENTS = {TEMPLATE: "default", ARENA: "arena"}
"""What samconfig.toml calls the settings with which a root template is tried."""


class DeployError(CardsharpError):
    """The stack was not created or updated; the message is what SAM printed."""


def deploy(
    emulator: Emulator,
    build: Build,
    name: str,
    parameters: Mapping[str, str],
    root: Path = TEMPLATE,
) -> None:
    """Create the stack, or update it if it is there.

    Raises:
        DeployError: a resource failed.
    """
    given = [f"{key}={value}" for key, value in {"Stage": "dev", **parameters}.items()]
    with TransformingCloudFormation(emulator) as formation:
        try:
            run_sam(
                [
                    "deploy",
                    *("--config-file", str(CONFIG), "--config-env", ENVIRONMENTS[root]),
                    *("--template-file", str(build.template(root))),
                    *("--stack-name", name),
                    "--no-confirm-changeset",
                    *("--parameter-overrides", *given),
                ],
                {**Target().environment(), "SAM_CLI_TELEMETRY": "0", **formation.environment},
            )
        except BuildError as error:
            raise DeployError(f"The stack {name} was not deployed: {error}") from error


def stack_tags(environment: str = "default") -> dict[str, str]:
    """The tags of a stack and all of its resources, as `sam deploy` takes them from samconfig."""
    told = tomllib.loads(CONFIG.read_text())[environment]["deploy"]["parameters"]["tags"]
    return dict(one.split("=", 1) for one in told.split())
