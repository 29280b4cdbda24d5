"""The whole template in the emulator: uploaded, translated and created as `sam deploy` does it."""

import io
import json
import tomllib
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

from cardsharp.cloud.clock import SystemClock
from cardsharp.errors import CardsharpError
from workbench.build.artifacts import Build
from workbench.build.translate import Template, translate, with_code
from workbench.cloud.emulator import Emulator
from workbench.cloud.template import TEMPLATE, load_template

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
"""What the emulator must offer for the template."""

BUCKET = "cardsharp-artifacts"
CONFIG = TEMPLATE.with_name("samconfig.toml")
_EPOCH = (1980, 1, 1, 0, 0, 0)
"""The time of every file in an archive, so that the same build gives the same bytes."""

_LIMIT = timedelta(seconds=120)


class DeployError(CardsharpError):
    """The stack was not created or updated; the message says which resources failed and why."""


@dataclass(frozen=True, slots=True)
class Deployed:
    """A stack in the emulator: its name, outputs, and physical ids by logical name."""

    name: str
    outputs: dict[str, str]
    ids: dict[str, str]


def deploy(emulator: Emulator, build: Build, name: str, parameters: Mapping[str, str]) -> Deployed:
    """Create the stack, or update it if it is there.

    Raises:
        DeployError: a resource failed.
    """
    formation = emulator.client("cloudformation")
    s3 = emulator.client("s3")
    places = _upload(s3, build)
    template = _numbers_inlined(
        translate(with_code(load_template(build.template), places)), parameters
    )
    given = {
        "StackName": name,
        "TemplateURL": _uploaded(s3, name, template),
        "Parameters": [
            {"ParameterKey": key, "ParameterValue": value} for key, value in parameters.items()
        ],
        "Capabilities": ["CAPABILITY_IAM", "CAPABILITY_AUTO_EXPAND"],
        "Tags": [{"Key": key, "Value": value} for key, value in stack_tags().items()],
    }
    there = any(one["StackName"] == name for one in formation.describe_stacks()["Stacks"])
    (formation.update_stack if there else formation.create_stack)(**given)
    return _await(formation, name)


def stack_tags(environment: str = "default") -> dict[str, str]:
    """The tags of a stack and all of its resources, as `sam deploy` takes them from samconfig."""
    told = tomllib.loads(CONFIG.read_text())[environment]["deploy"]["parameters"]["tags"]
    return dict(one.split("=", 1) for one in told.split())


def _numbers_inlined(template: Template, parameters: Mapping[str, str]) -> Template:
    """The template with numeric parameters written out in its resources.

    CloudFormation passes them on as numbers, the emulator as texts, which its queue mapping then
    cannot compare. Conditions compare texts.
    """
    numbers = {
        name: int(parameters.get(name, parameter.get("Default", 0)))
        for name, parameter in template["Parameters"].items()
        if parameter["Type"] == "Number"
    }
    return {**template, "Resources": _replaced(template["Resources"], numbers)}


def _replaced(part: Any, numbers: Mapping[str, int]) -> Any:  # noqa: ANN401 - any JSON
    if isinstance(part, dict):
        if part.keys() == {"Ref"} and part["Ref"] in numbers:
            return numbers[part["Ref"]]
        return {key: _replaced(value, numbers) for key, value in part.items()}
    if isinstance(part, list):
        return [_replaced(one, numbers) for one in part]
    return part


def archive(folder: Path) -> bytes:
    """The folder as a zip archive, the same bytes for the same files."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archived:
        for file in sorted(one for one in folder.rglob("*") if one.is_file()):
            info = zipfile.ZipInfo(str(file.relative_to(folder)), _EPOCH)
            info.compress_type = zipfile.ZIP_DEFLATED
            info.external_attr = (file.stat().st_mode & 0o777) << 16
            archived.writestr(info, file.read_bytes())
    return content.getvalue()


def _upload(s3: Any, build: Build) -> dict[str, str]:  # noqa: ANN401 - boto3's client
    """Put functions, layers and nested templates into a bucket; where each is."""
    s3.create_bucket(Bucket=BUCKET)
    places = {}
    for name, digest in build.digests().items():
        key = f"{name}-{digest[:16]}.zip"
        s3.put_object(Bucket=BUCKET, Key=key, Body=archive(build.folder_of(name)))
        places[name] = f"s3://{BUCKET}/{key}"
    for name, file in build.nested.items():
        places[name] = _uploaded(s3, name, translate(load_template(file)))
    return places


def _uploaded(s3: Any, name: str, template: Template) -> str:  # noqa: ANN401 - as above
    """Where a template is now; a request itself holds 51,200 characters of one."""
    body = json.dumps(template).encode()
    s3.put_object(Bucket=BUCKET, Key=f"{name}.template", Body=body)
    return f"{s3.meta.endpoint_url}/{BUCKET}/{name}.template"


def _await(formation: Any, name: str) -> Deployed:  # noqa: ANN401 - as above
    """The stack once all of it is there."""
    clock = SystemClock()
    end = clock.now() + _LIMIT
    while True:
        stack = formation.describe_stacks(StackName=name)["Stacks"][0]
        if stack["StackStatus"] in {"CREATE_COMPLETE", "UPDATE_COMPLETE"}:
            outputs = {one["OutputKey"]: one["OutputValue"] for one in stack.get("Outputs", [])}
            return Deployed(name, outputs, _physical_ids(formation, name))
        if not stack["StackStatus"].endswith("_IN_PROGRESS") or clock.now() > end:
            reasons = "; ".join(_failures(formation, name))
            raise DeployError(f"The stack {name} is {stack['StackStatus']}: {reasons}")
        clock.sleep(timedelta(milliseconds=200))


def _physical_ids(formation: Any, name: str) -> dict[str, str]:  # noqa: ANN401 - as above
    listed = formation.describe_stack_resources(StackName=name)["StackResources"]
    return {one["LogicalResourceId"]: one["PhysicalResourceId"] for one in listed}


def _failures(formation: Any, name: str) -> Iterator[str]:  # noqa: ANN401 - as above
    for event in formation.describe_stack_events(StackName=name)["StackEvents"]:
        if event["ResourceStatus"].endswith("_FAILED"):
            yield f"{event['LogicalResourceId']}: {event.get('ResourceStatusReason', '?')}"
