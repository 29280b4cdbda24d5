"""A stack in the emulator, by `sam deploy` as one types it."""

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from cardsharp.errors import CardsharpError, ConfigError
from workbench.build.sam import Build, BuildError, run_sam
from workbench.build.translate import Template, translate
from workbench.cloud.emulator import Emulator
from workbench.cloud.events import REGION
from workbench.cloud.nested import NESTED
from workbench.cloud.template import ARENA, TEMPLATE, read_template
from workbench.listening import Background
from workbench.show.http_session import http_session

UNKNOWN = frozenset(
    {"AWS::Budgets::Budget", "AWS::CloudWatch::CompositeAlarm", "AWS::Logs::QueryDefinition"}
)
"""What the emulator cannot create: left out, as nothing else refers to it."""

_REFUSED = (
    '<ErrorResponse xmlns="http://cloudformation.amazonaws.com/doc/2010-05-15/"><Error>'
    "<Type>Sender</Type><Code>ValidationError</Code><Message>{}</Message></Error></ErrorResponse>"
)
_PASSED_ON = ("Content-Type", "Authorization", "X-Amz-Date", "X-Amz-Security-Token", "User-Agent")
_TIMEOUT = 300
_QUICK = {"SAM_CLI_TELEMETRY": "0", "SAM_CLI_POLL_DELAY": "0.5"}


def _number(part: Any, template: Template, given: Mapping[str, str]) -> int:  # noqa: ANN401 - any JSON
    """A number that is a parameter's, which the emulator would hand on as a text."""
    if isinstance(part, dict):
        part = given.get(part["Ref"], template["Parameters"][part["Ref"]].get("Default"))
    return int(part)


def _on_one_metric(alarm: Mapping[str, Any]) -> dict[str, Any]:
    """An alarm on an expression, which the emulator does not know, as one on its first metric."""
    first = next(one["MetricStat"] for one in alarm["Metrics"] if "MetricStat" in one)
    told = {key: part for key, part in alarm.items() if key != "Metrics"}
    return {**told, **first["Metric"], "Period": first["Period"], "Statistic": first["Stat"]}


def _parameters(emulator: Emulator, request: Mapping[str, str]) -> dict[str, str]:
    """What the stack's parameters have, and what the request gives them."""
    given = {
        one["ParameterKey"]: one["ParameterValue"]
        for stack in emulator.client("cloudformation").describe_stacks()["Stacks"]
        if stack["StackName"] == request["StackName"]
        for one in stack.get("Parameters", [])
    }
    for name in [name for name in request if name.endswith(".ParameterValue")]:
        given[request[name.replace(".ParameterValue", ".ParameterKey")]] = request[name]
    return given


def stored(emulator: Emulator, url: str, given: Mapping[str, str]) -> str:
    """The address of the transformed template, which lies beside the one at this address.

    Of it and of what it nests is left what the emulator can take. Raises `ConfigError`.
    """
    s3 = emulator.client("s3")
    bucket, _, key = urlsplit(url).path.lstrip("/").partition("/")
    text = s3.get_object(Bucket=bucket, Key=key)["Body"].read().decode()
    template = translate(read_template(text))
    known = {n: r for n, r in template["Resources"].items() if r["Type"] not in UNKNOWN}
    for resource in known.values():
        told = resource.get("Properties", {})
        if resource["Type"] in NESTED:
            told["TemplateURL"] = stored(emulator, told["TemplateURL"], {})
        if resource["Type"] == "AWS::CloudWatch::Alarm" and "Metrics" in told:
            resource["Properties"] = _on_one_metric(told)
        if "MaximumConcurrency" in told.get("ScalingConfig", {}):
            most = told["ScalingConfig"]
            most["MaximumConcurrency"] = _number(most["MaximumConcurrency"], template, given)
    made = json.dumps({**template, "Resources": known}).encode()
    s3.put_object(Bucket=bucket, Key=f"{key}.transformed", Body=made)
    return f"{emulator.endpoint}/{bucket}/{key}.transformed"


def _answered(emulator: Emulator, told: dict[str, str], headers: Mapping[str, str]) -> Response:
    """What the emulator answers where templates are transformed before."""
    if told.get("Action") in {"CreateChangeSet", "CreateStack"} and "TemplateURL" in told:
        try:
            url = stored(emulator, told["TemplateURL"], _parameters(emulator, told))
        except ConfigError as error:
            return Response(_REFUSED.format(error), 400, media_type="text/xml")
        told = {**told, "TemplateURL": url}
    passed = {name: headers[name] for name in _PASSED_ON if name in headers}
    with http_session(emulator.endpoint) as session:
        answer = session.post(emulator.endpoint, told, headers=passed, timeout=_TIMEOUT)
    content, kind = answer.content, {"Content-Type": answer.headers["Content-Type"]}
    if told.get("Action") == "GetTemplate":
        # `sam delete` knows no nested templates but those at AWS's addresses.
        at_aws = f"https://s3.{REGION}.amazonaws.com/".encode()
        content = content.replace(f"{emulator.endpoint}/".encode(), at_aws)
    return Response(content, answer.status_code, kind)


STACK_SERVICES = (
    *("apigateway", "cloudformation", "cloudwatch", "dynamodb", "events", "iam", "lambda", "logs"),
    *("monitoring", "s3", "scheduler", "sns", "sqs", "ssm", "sts"),
)
"""What the emulator must offer for the templates."""

CONFIG = TEMPLATE.with_name("samconfig.toml")
ENVIRONMENTS = {TEMPLATE: "default", ARENA: "arena"}
"""What samconfig.toml calls the settings with which a root template is tried."""


def deploy(
    emulator: Emulator,
    build: Build,
    name: str,
    parameters: Mapping[str, str],
    root: Path = TEMPLATE,
) -> None:
    """Create the stack, or update it if it is there; raises `CardsharpError` if that fails."""
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
            raise CardsharpError(f"The stack {name} was not deployed: {error}") from error


@contextmanager
def deployment(emulator: Emulator) -> Iterator[dict[str, str]]:
    """What SAM and boto3 must find in their environment to deploy into the emulator, meanwhile.

    `sam deploy` uploads templates as they are written, and CloudFormation runs SAM's transform on
    each when it makes a change set or creates a nested stack. The emulator takes both steps, but
    only what is transformed already. So a server stands between the two: it transforms what a
    change set is made of, with all that it nests, by the translator that AWS runs, and passes
    everything else on. Of what is made, it leaves out the few kinds of resources that the emulator
    does not know.
    """

    async def answer(request: Request) -> Response:
        told = dict(parse_qsl((await request.body()).decode(), keep_blank_values=True))
        return await run_in_threadpool(_answered, emulator, told, request.headers)

    app = Starlette(routes=[Route("/", answer, methods=["POST"])])
    with Background("The transform", app) as server:
        here = {"AWS_ENDPOINT_URL_CLOUDFORMATION": server.url}
        yield {**emulator.environment, **here, **_QUICK}
