"""A stack in the emulator, by `sam deploy` as one types it."""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from cardsharp.errors import CardsharpError
from workbench.build.artifacts import Build
from workbench.build.sam import BuildError, run_sam
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
    with deployment(emulator) as environment:
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
                {**os.environ, **environment},
            )
        except BuildError as error:
            raise DeployError(f"The stack {name} was not deployed: {error}") from error


@contextmanager
def deployment(emulator: Emulator) -> Iterator[dict[str, str]]:
    """What `sam deploy` must find in its environment to deploy into the emulator, meanwhile."""
    with TransformingCloudFormation(emulator) as formation:
        yield {**formation.environment, "SAM_CLI_TELEMETRY": "0", "SAM_CLI_POLL_DELAY": "0.5"}
