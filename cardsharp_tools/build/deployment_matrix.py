"""Everything that can be deployed, deployed into the emulator: what the gate "deployments" does.

Each kind of stack is deployed by `sam deploy` as a new stack. A bot is also deployed over a stack
of version 0.2, whose match log must be there afterwards with what it had. The stacks of games and
pages use the first bot. The deployment of the workflow is its own script.
"""

import json
import os
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from cardsharp.aws.dynamodb_attributes import Item
from cardsharp.aws.dynamodb_table import DynamoTable
from cardsharp.errors import CardsharpError, ConfigError
from cardsharp_tools.build.emulator_deploy import (
    STACK_SERVICES,
    deploy,
    deployment_environment,
    upload_transformed_template,
)
from cardsharp_tools.build.sam_build import Build
from cardsharp_tools.build.target import REPOSITORY_ROOT, run_and_capture_output
from cardsharp_tools.local_cloud.emulator import Emulator
from cardsharp_tools.local_cloud.template_files import (
    ARENA_TEMPLATE,
    GAME_TEMPLATE,
    PAGES_TEMPLATE,
    TEMPLATE,
    parse_template,
)

RELEASED_COMMIT = "9acc5c66767e"  # the last commit with the templates of version 0.2

DEPLOY_WORKFLOW = REPOSITORY_ROOT / ".github" / "workflows" / "deploy.yml"
ARENA_URL = "https://arena.example"
_PROBE_ITEM: Item = {
    "pk": {"S": "match#kept"},
    "sk": {"S": "x"},
    "told": {"S": "before the upgrade"},
}


@dataclass(frozen=True)
class DeploymentVariant:
    """Root template and its parameters, deployed together."""

    name: str
    parameters: Mapping[str, str]
    previous_parameters: Mapping[str, str] | None = (
        None  # in version 0.2; none where it could not be
    )

    root: Path = TEMPLATE


_ALARM_PARAMETERS = {"AlarmEmail": "a@b.example"}
_ALL_PARAMETERS = {"Watch": "all", **_ALARM_PARAMETERS, "MonthlyBudget": "5", "Reserve": "yes"}
_OLD_SERVICES = {
    "Services": "blef,euchre,deadmansdraw",
    "Feed": "yes",
    "Agents": "yes",
    "DeployWeb": "yes",
}

DEPLOYMENT_VARIANTS = (
    DeploymentVariant("bot", {}, {}),
    DeploymentVariant("dashboard", {"Watch": "all"}, {"Watch": "all"}),
    DeploymentVariant("everything", _ALL_PARAMETERS, {**_ALL_PARAMETERS, **_OLD_SERVICES}),
    DeploymentVariant("pages", {"BotStack": "bot"}, root=PAGES_TEMPLATE),
    DeploymentVariant(
        "public-pages",
        {"BotStack": "bot", "Public": "yes", "Reserve": "yes", **_ALARM_PARAMETERS},
        root=PAGES_TEMPLATE,
    ),
    DeploymentVariant(
        "blef", {"Game": "blef", "Feed": "yes", "BotStack": "bot"}, root=GAME_TEMPLATE
    ),
    DeploymentVariant(
        "euchre", {"Game": "euchre", "Reserve": "yes", **_ALARM_PARAMETERS}, root=GAME_TEMPLATE
    ),
    DeploymentVariant("further-game", {"Game": "yours"}, root=GAME_TEMPLATE),
    DeploymentVariant("arena", {}, root=ARENA_TEMPLATE),
    DeploymentVariant(
        "arena-pages", {"ServicePublic": "yes", "Reserve": "yes"}, root=ARENA_TEMPLATE
    ),
)


def find_deployment_errors(build_output: Build) -> Iterator[str]:
    """Yield an error for each variant that fails to deploy or upgrade; all share one emulator."""
    with Emulator(STACK_SERVICES) as emulator:
        for variant in DEPLOYMENT_VARIANTS:
            try:
                deploy(
                    emulator,
                    build_output,
                    variant.name,
                    _deployment_parameters(variant),
                    variant.root,
                )
                if variant.previous_parameters is not None:
                    check_upgrade(emulator, build_output, variant)
            except CardsharpError as error:
                yield from f"{variant.name}: {error}".splitlines()
        for stage in ("dev", "prod"):
            yield from _run_deploy_workflow(emulator, stage)


def _deployment_parameters(variant: DeploymentVariant) -> dict[str, str]:
    return {**variant.parameters, **({"ArenaUrl": ARENA_URL} if variant.root == TEMPLATE else {})}


def check_upgrade(emulator: Emulator, build_output: Build, variant: DeploymentVariant) -> None:
    """Deploy over a stack of version 0.2; raise `CardsharpError` if that fails or loses data."""
    name, formation = f"{variant.name}-upgraded", emulator.client("cloudformation")
    _deploy_released(
        emulator, build_output, name, {**(variant.previous_parameters or {}), "ArenaUrl": ARENA_URL}
    )
    old_outputs = _read_stack_outputs(formation, name)
    table = DynamoTable(old_outputs["MatchTable"], emulator.client("dynamodb"))
    table.put(_PROBE_ITEM)
    deploy(emulator, build_output, name, _deployment_parameters(variant), variant.root)
    new_outputs = _read_stack_outputs(formation, name)
    for output in ("MatchTable", "MatchQueueUrl", "PollerName", "WorkerName", "SecretName"):
        if old_outputs[output] != new_outputs[output]:
            raise ConfigError(
                f"The upgrade changed the output {output} from {old_outputs[output]} to "
                f"{new_outputs[output]}."
            )
    if table.get({name: _PROBE_ITEM[name] for name in ("pk", "sk")}) != _PROBE_ITEM:
        raise ConfigError("The match log has lost an item that it had before the upgrade.")


def _read_stack_outputs(formation: Any, name: str) -> dict[str, str]:  # noqa: ANN401 - boto3's client
    outputs = formation.describe_stacks(StackName=name)["Stacks"][0]["Outputs"]
    return {output["OutputKey"]: output["OutputValue"] for output in outputs}


def _deploy_released(
    emulator: Emulator, build: Build, name: str, parameters: Mapping[str, str]
) -> None:
    """Create a stack of version 0.2 with the current functions, which are never invoked."""
    s3 = emulator.client("s3")
    # Where the transform looks for code that nobody has uploaded.
    for bucket in ("not-uploaded", "released"):
        s3.create_bucket(Bucket=bucket)
    archive_path = shutil.make_archive(
        str(emulator.folder / name), "zip", build.built_folder("Poller")
    )
    watching, main_template = (
        _load_released_template("watching.yaml", {}),
        _load_released_template("template.yaml", parameters),
    )
    template_urls: dict[str, str] = {}
    for key, template in (("watching", watching), ("template", main_template)):
        for logical, resource in template["Resources"].items():
            if resource["Type"].startswith("AWS::Serverless::"):
                s3.upload_file(archive_path, "not-uploaded", f"{logical}.zip")
            if resource["Type"] == "AWS::Serverless::Application":
                resource["Properties"]["Location"] = template_urls["watching"]
        s3.put_object(Bucket="released", Key=f"{name}-{key}", Body=json.dumps(template).encode())
        template_urls[key] = f"{emulator.endpoint}/released/{name}-{key}"
    formation = emulator.client("cloudformation")
    formation.create_stack(
        StackName=name,
        TemplateURL=upload_transformed_template(emulator, template_urls["template"], parameters),
        Capabilities=["CAPABILITY_IAM", "CAPABILITY_AUTO_EXPAND"],
        Parameters=[
            {"ParameterKey": key, "ParameterValue": value} for key, value in parameters.items()
        ],
    )
    waiter = formation.get_waiter("stack_create_complete")
    waiter.wait(StackName=name, WaiterConfig={"Delay": 1})


def _load_released_template(file: str, parameters: Mapping[str, str]) -> dict[str, Any]:
    """Return a template of version 0.2 with its loops expanded.

    Current templates have no loops.
    """
    from ministack.services.cloudformation import language_extensions  # type: ignore[import-untyped]  # noqa: PLC0415 - slow

    git = ["git", "show", f"{RELEASED_COMMIT}:{file}"]
    result = run_and_capture_output(git)
    if result.returncode:
        raise ConfigError(
            f"Version 0.2 ({RELEASED_COMMIT}) is not in this clone. Run: git fetch --unshallow"
        )
    raw = parse_template(result.stdout)
    defaults = {
        name: str(parameter.get("Default", "")) for name, parameter in raw["Parameters"].items()
    }
    expanded: dict[str, Any] = language_extensions.apply(raw, {**defaults, **parameters})
    for output in expanded.get("Outputs", {}).values():
        output.pop("Description")  # a text of a loop, which stays an expression
    return {**expanded, "Transform": "AWS::Serverless-2016-10-31"}


def _run_deploy_workflow(emulator: Emulator, stage: str) -> Iterator[str]:
    """Run the deployment step as the workflow defines it, and yield its errors."""
    steps = yaml.safe_load(DEPLOY_WORKFLOW.read_text("utf-8"))["jobs"]["deploy"]["steps"]
    (script,) = [step["run"] for step in steps if step.get("name") == "Deploy"]
    with deployment_environment(emulator) as environment:
        around = {
            **os.environ,
            **environment,
            "STAGE": stage,
            "ARENA_URL": ARENA_URL,
            "RUNBOOK_URL": "docs/operations.md",
        }
        done = run_and_capture_output(
            ["bash", "-eo", "pipefail", "-c", script], around
        )  # as GitHub runs it
    if done.returncode:
        yield from f"workflow, {stage}: {done.stdout}{done.stderr}".splitlines()
