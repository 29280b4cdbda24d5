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
from cardsharp_tools.build.sam_build import Build, BuildError, run_sam
from cardsharp_tools.build.sam_transform import Template, transform
from cardsharp_tools.http_session import http_session
from cardsharp_tools.local_cloud.emulator import Emulator
from cardsharp_tools.local_cloud.lambda_events import REGION
from cardsharp_tools.local_cloud.nested_stacks import NESTED_STACK_TYPES
from cardsharp_tools.local_cloud.template_files import (
    ARENA_TEMPLATE,
    GAME_TEMPLATE,
    PAGES_TEMPLATE,
    TEMPLATE,
    parse_template_cached,
)
from cardsharp_tools.local_server.http_server import BackgroundServer

UNSUPPORTED_TYPES = frozenset(
    {"AWS::Budgets::Budget", "AWS::CloudWatch::CompositeAlarm", "AWS::Logs::QueryDefinition"}
)
"""Resource types that the emulator cannot create; the deployment leaves them out."""

_ERROR_RESPONSE = (
    '<ErrorResponse xmlns="http://cloudformation.amazonaws.com/doc/2010-05-15/"><Error>'
    "<Type>Sender</Type><Code>ValidationError</Code><Message>{}</Message></Error></ErrorResponse>"
)
_FORWARDED_HEADERS = (
    "Content-Type",
    "Authorization",
    "X-Amz-Date",
    "X-Amz-Security-Token",
    "User-Agent",
)
_STACK_TIMEOUT_SECONDS = 300
_FAST_SAM_ENVIRONMENT = {"SAM_CLI_TELEMETRY": "0", "SAM_CLI_POLL_DELAY": "0.5"}


def _resolve_number(value: Any, template: Template, parameters: Mapping[str, str]) -> int:  # noqa: ANN401 - any JSON
    """Return a number, resolving a parameter that the emulator would pass on as text."""
    if isinstance(value, dict):
        value = parameters.get(value["Ref"], template["Parameters"][value["Ref"]].get("Default"))
    return int(value)


def _single_metric_alarm(alarm: Mapping[str, Any]) -> dict[str, Any]:
    """Replace an alarm on an expression by an alarm on its first metric.

    The emulator has no alarms on expressions.
    """
    metric_stat = next(query["MetricStat"] for query in alarm["Metrics"] if "MetricStat" in query)
    properties = {key: value for key, value in alarm.items() if key != "Metrics"}
    return {
        **properties,
        **metric_stat["Metric"],
        "Period": metric_stat["Period"],
        "Statistic": metric_stat["Stat"],
    }


def _merge_parameters(emulator: Emulator, request: Mapping[str, str]) -> dict[str, str]:
    """Return the stack's current parameters, overridden by those of the request."""
    parameters = {
        parameter["ParameterKey"]: parameter["ParameterValue"]
        for stack in emulator.client("cloudformation").describe_stacks()["Stacks"]
        if stack["StackName"] == request["StackName"]
        for parameter in stack.get("Parameters", [])
    }
    for name in [name for name in request if name.endswith(".ParameterValue")]:
        parameters[request[name.replace(".ParameterValue", ".ParameterKey")]] = request[name]
    return parameters


def upload_transformed_template(emulator: Emulator, url: str, parameters: Mapping[str, str]) -> str:
    """Upload a transformed copy of a template beside it and return the URL of the copy.

    Of it and of what it nests is left what the emulator can take. Raises `ConfigError`.
    """
    s3 = emulator.client("s3")
    bucket, _, key = urlsplit(url).path.lstrip("/").partition("/")
    text = s3.get_object(Bucket=bucket, Key=key)["Body"].read().decode()
    template = transform(parse_template_cached(text))
    supported = {
        n: r for n, r in template["Resources"].items() if r["Type"] not in UNSUPPORTED_TYPES
    }
    for resource in supported.values():
        properties = resource.get("Properties", {})
        if resource["Type"] in NESTED_STACK_TYPES:
            properties["TemplateURL"] = upload_transformed_template(
                emulator, properties["TemplateURL"], {}
            )
        if resource["Type"] == "AWS::CloudWatch::Alarm" and "Metrics" in properties:
            resource["Properties"] = _single_metric_alarm(properties)
        if "MaximumConcurrency" in properties.get("ScalingConfig", {}):
            scaling = properties["ScalingConfig"]
            scaling["MaximumConcurrency"] = _resolve_number(
                scaling["MaximumConcurrency"], template, parameters
            )
    body = json.dumps({**template, "Resources": supported}).encode()
    s3.put_object(Bucket=bucket, Key=f"{key}.transformed", Body=body)
    return f"{emulator.endpoint}/{bucket}/{key}.transformed"


def _forward_request(
    emulator: Emulator, form_data: dict[str, str], headers: Mapping[str, str]
) -> Response:
    """Forward a request to the emulator, with its templates transformed; return the response."""
    if form_data.get("Action") in {"CreateChangeSet", "CreateStack"} and "TemplateURL" in form_data:
        try:
            url = upload_transformed_template(
                emulator, form_data["TemplateURL"], _merge_parameters(emulator, form_data)
            )
        except ConfigError as error:
            return Response(_ERROR_RESPONSE.format(error), 400, media_type="text/xml")
        form_data = {**form_data, "TemplateURL": url}
    passed = {name: headers[name] for name in _FORWARDED_HEADERS if name in headers}
    with http_session(emulator.endpoint) as session:
        response = session.post(
            emulator.endpoint, form_data, headers=passed, timeout=_STACK_TIMEOUT_SECONDS
        )
    content, kind = response.content, {"Content-Type": response.headers["Content-Type"]}
    if form_data.get("Action") == "GetTemplate":
        # `sam delete` knows no nested templates but those at AWS's addresses.
        at_aws = f"https://s3.{REGION}.amazonaws.com/".encode()
        content = content.replace(f"{emulator.endpoint}/".encode(), at_aws)
    return Response(content, response.status_code, kind)


STACK_SERVICES = (
    *("apigateway", "cloudformation", "cloudwatch", "dynamodb", "events", "iam", "lambda", "logs"),
    *("monitoring", "s3", "scheduler", "sns", "sqs", "ssm", "sts"),
)
"""Services that the emulator must offer for the templates."""

CONFIG = TEMPLATE.with_name("samconfig.toml")
CONFIG_ENVIRONMENTS = {
    TEMPLATE: "default",
    ARENA_TEMPLATE: "arena",
    GAME_TEMPLATE: "game",
    PAGES_TEMPLATE: "pages",
}
"""Environments of samconfig.toml whose settings are used to deploy a root template."""


def deploy(
    emulator: Emulator,
    build: Build,
    name: str,
    parameters: Mapping[str, str],
    root: Path = TEMPLATE,
) -> None:
    """Create the stack, or update it if it is there; raises `CardsharpError` if that fails."""
    overrides = [f"{key}={value}" for key, value in {"Stage": "dev", **parameters}.items()]
    with deployment_environment(emulator) as environment:
        try:
            run_sam(
                [
                    "deploy",
                    *("--config-file", str(CONFIG), "--config-env", CONFIG_ENVIRONMENTS[root]),
                    *("--template-file", str(build.template_path(root))),
                    *("--stack-name", name),
                    "--no-confirm-changeset",
                    *("--parameter-overrides", *overrides),
                ],
                {**os.environ, **environment},
            )
        except BuildError as error:
            raise CardsharpError(f"The stack {name} was not deployed: {error}") from error


@contextmanager
def deployment_environment(emulator: Emulator) -> Iterator[dict[str, str]]:
    """Yield the environment with which SAM and boto3 deploy into the emulator.

    `sam deploy` uploads templates unchanged, and CloudFormation runs SAM's transform on each
    when it creates a change set or a nested stack. The emulator supports both steps, but only
    for templates that are already transformed. A proxy server therefore stands between the two:
    it transforms the template of a change set and all templates nested in it with the
    translator that AWS runs, and forwards everything else. From the result it removes the few
    kinds of resources that the emulator does not support.
    """

    async def answer(request: Request) -> Response:
        form_data = dict(parse_qsl((await request.body()).decode(), keep_blank_values=True))
        return await run_in_threadpool(_forward_request, emulator, form_data, request.headers)

    app = Starlette(routes=[Route("/", answer, methods=["POST"])])
    with BackgroundServer("The transform", app) as server:
        server_variables = {"AWS_ENDPOINT_URL_CLOUDFORMATION": server.url}
        yield {**emulator.environment, **server_variables, **_FAST_SAM_ENVIRONMENT}
