"""Everything that can be deployed, deployed into the emulator: what the gate "deployments" does.

Each combination of services and pages is deployed by `sam deploy` as a new stack, and over a stack
of version 0.2 that has the same, whose match log must be there afterwards with what it had. The
deployment of the workflow is its own script.
"""

import json
import os
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from cardsharp.errors import CardsharpError, ConfigError
from workbench.build.deploy import STACK_SERVICES, deploy, deployment, stored
from workbench.build.sam import Build
from workbench.build.target import ROOT, ran
from workbench.cloud.emulator import Emulator
from workbench.cloud.template import ARENA, TEMPLATE, parsed

RELEASED = "9acc5c66767e"  # the last commit with the templates of version 0.2

WORKFLOW = ROOT / ".github" / "workflows" / "deploy.yml"
ARENA_URL = "https://arena.example"
_KEPT = {"pk": {"S": "match#kept"}, "sk": {"S": "x"}, "told": {"S": "before the upgrade"}}


@dataclass(frozen=True)
class Combination:
    """What is deployed together: a root template and its parameters."""

    name: str
    parameters: Mapping[str, str]
    before: Mapping[str, str] | None = None  # in version 0.2; none where it could not be

    root: Path = TEMPLATE


_BLEF = {"Blef": "yes", "Feed": "yes", "Agents": "yes"}
_OLD_BLEF = {"Feed": "yes", "Agents": "yes"}
_ALL = {"Watch": "all", "AlarmEmail": "a@b.example", "MonthlyBudget": "5", "DeployWeb": "yes"}

COMBINATIONS = (
    Combination("bot", {}, {}),
    Combination("dashboard", {"Watch": "all"}, {"Watch": "all"}),
    Combination("pages", {"DeployWeb": "yes"}, {"DeployWeb": "yes"}),
    Combination("blef", _BLEF, {"Services": "blef", **_OLD_BLEF}),
    Combination("euchre", {"Euchre": "yes"}, {"Services": "euchre"}),
    Combination("further-game", {"Game": "yours"}),
    Combination(
        "everything",
        {**_ALL, **_BLEF, "Euchre": "yes", "Reserve": "yes"},
        {**_ALL, **_OLD_BLEF, "Services": "blef,euchre,deadmansdraw", "Reserve": "yes"},
    ),
    Combination("arena", {}, root=ARENA),
    Combination("arena-pages", {"ServicePublic": "yes", "Reserve": "yes"}, root=ARENA),
)


def faults(build: Build) -> Iterator[str]:
    """What cannot be deployed or upgraded, one emulator for all."""
    with Emulator(STACK_SERVICES) as emulator:
        for one in COMBINATIONS:
            try:
                deploy(emulator, build, one.name, _parameters(one), one.root)
                if one.before is not None:
                    upgrade(emulator, build, one)
            except CardsharpError as error:
                yield from f"{one.name}: {error}".splitlines()
        for stage in ("dev", "prod"):
            yield from _workflow(emulator, stage)


def _parameters(one: Combination) -> dict[str, str]:
    return {**one.parameters, **({"ArenaUrl": ARENA_URL} if one.root == TEMPLATE else {})}


def upgrade(emulator: Emulator, build: Build, one: Combination) -> None:
    """Deploy over a stack of version 0.2; raises `CardsharpError` if it fails or loses anything."""
    name, formation = f"{one.name}-upgraded", emulator.client("cloudformation")
    _deploy_released(emulator, build, name, {**(one.before or {}), "ArenaUrl": ARENA_URL})
    dynamodb = emulator.client("dynamodb")
    before = _outputs(formation, name)
    dynamodb.put_item(TableName=before["MatchTable"], Item=_KEPT)
    deploy(emulator, build, name, _parameters(one), one.root)
    after = _outputs(formation, name)
    for output in ("MatchTable", "MatchQueueUrl", "PollerName", "WorkerName", "SecretName"):
        if before[output] != after[output]:
            raise ConfigError(f"{output} was {before[output]} and is {after[output]}.")
    key = {name: _KEPT[name] for name in ("pk", "sk")}
    if dynamodb.get_item(TableName=after["MatchTable"], Key=key).get("Item") != _KEPT:
        raise ConfigError("The match log has lost what it had before the upgrade.")


def _outputs(formation: Any, name: str) -> dict[str, str]:  # noqa: ANN401 - boto3's client
    told = formation.describe_stacks(StackName=name)["Stacks"][0]["Outputs"]
    return {one["OutputKey"]: one["OutputValue"] for one in told}


def _deploy_released(
    emulator: Emulator, build: Build, name: str, parameters: Mapping[str, str]
) -> None:
    """Create a stack of version 0.2; its functions are today's, which nothing calls."""
    s3 = emulator.client("s3")
    # Where the transform looks for code that nobody has uploaded.
    for bucket in ("not-uploaded", "released"):
        s3.create_bucket(Bucket=bucket)
    code = shutil.make_archive(str(emulator.folder / name), "zip", build.folder_of("Poller"))
    watching, whole = _released("watching.yaml", {}), _released("template.yaml", parameters)
    places: dict[str, str] = {}
    for key, template in (("watching", watching), ("template", whole)):
        for logical, resource in template["Resources"].items():
            if resource["Type"].startswith("AWS::Serverless::"):
                s3.upload_file(code, "not-uploaded", f"{logical}.zip")
            if resource["Type"] == "AWS::Serverless::Application":
                resource["Properties"]["Location"] = places["watching"]
        s3.put_object(Bucket="released", Key=f"{name}-{key}", Body=json.dumps(template).encode())
        places[key] = f"{emulator.endpoint}/released/{name}-{key}"
    formation = emulator.client("cloudformation")
    formation.create_stack(
        StackName=name,
        TemplateURL=stored(emulator, places["template"], parameters),
        Capabilities=["CAPABILITY_IAM", "CAPABILITY_AUTO_EXPAND"],
        Parameters=[
            {"ParameterKey": key, "ParameterValue": value} for key, value in parameters.items()
        ],
    )
    made = formation.get_waiter("stack_create_complete")
    made.wait(StackName=name, WaiterConfig={"Delay": 1})


def _released(file: str, parameters: Mapping[str, str]) -> dict[str, Any]:
    """A template of version 0.2 with its loops written out, which today's have none of."""
    from ministack.services.cloudformation import language_extensions  # type: ignore[import-untyped]  # noqa: PLC0415 - slow

    git = ["git", "show", f"{RELEASED}:{file}"]
    shown = ran(git)
    if shown.returncode:
        raise ConfigError(f"Version 0.2 is not in this clone ({RELEASED}): git fetch --unshallow")
    raw = parsed(shown.stdout)
    given = {name: str(one.get("Default", "")) for name, one in raw["Parameters"].items()}
    whole: dict[str, Any] = language_extensions.apply(raw, {**given, **parameters})
    for output in whole.get("Outputs", {}).values():
        output.pop("Description")  # a text of a loop, which stays an expression
    return {**whole, "Transform": "AWS::Serverless-2016-10-31"}


def _workflow(emulator: Emulator, stage: str) -> Iterator[str]:
    """What fails of the workflow's own deployment, run as it is written there."""
    steps = yaml.safe_load(WORKFLOW.read_text("utf-8"))["jobs"]["deploy"]["steps"]
    (script,) = [step["run"] for step in steps if step.get("name") == "Deploy"]
    with deployment(emulator) as environment:
        around = {**os.environ, **environment, "STAGE": stage, "ARENA_URL": ARENA_URL}
        done = ran(["bash", "-eo", "pipefail", "-c", script], around)  # as GitHub runs it
    if done.returncode:
        yield from f"workflow, {stage}: {done.stdout}{done.stderr}".splitlines()
