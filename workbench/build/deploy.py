"""A stack in the emulator, by `sam deploy` as one types it."""

import json
import os
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Self
from urllib.parse import parse_qsl, urlsplit

import requests

from cardsharp.errors import CardsharpError, ConfigError
from workbench.build.artifacts import Build
from workbench.build.sam import BuildError, run_sam
from workbench.build.translate import Template, translate
from workbench.cloud.emulator import HOST, Emulator
from workbench.cloud.events import REGION
from workbench.cloud.nested import NESTED
from workbench.cloud.template import ARENA, TEMPLATE, read_template

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


class TransformingCloudFormation:
    """The emulator's CloudFormation with AWS's transform, between enter and exit.

    `sam deploy` uploads templates as they are written, and CloudFormation runs SAM's transform on
    each when it makes a change set or creates a nested stack. The emulator takes both steps, but
    only what is transformed already. So this stands between the two: it transforms what a change
    set is made of, with all that it nests, by the translator that AWS runs, and passes everything
    else on. Of what is made, it leaves out the few kinds of resources that the emulator does not
    know.
    """

    def __init__(self, emulator: Emulator) -> None:
        self._emulator = emulator
        self._server = ThreadingHTTPServer((HOST, 0), self._handler())
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)

    @property
    def environment(self) -> dict[str, str]:
        """What SAM and boto3 must find in their environment to deploy into the emulator."""
        here = f"http://{HOST}:{self._server.server_port}"
        return {**self._emulator.environment, "AWS_ENDPOINT_URL_CLOUDFORMATION": here}

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def transformed(self, request: Mapping[str, str]) -> dict[str, str]:
        """A request with its template transformed, if it makes a stack or a change set.

        Raises `ConfigError` if SAM refuses the template.
        """
        told = dict(request)
        if told.get("Action") in {"CreateChangeSet", "CreateStack"} and "TemplateURL" in told:
            told["TemplateURL"] = self._stored(told["TemplateURL"], self._parameters(told))
        return told

    def _parameters(self, request: Mapping[str, str]) -> dict[str, str]:
        """What the stack's parameters have, and what the request gives them."""
        stacks = self._emulator.client("cloudformation").describe_stacks()["Stacks"]
        given = {
            one["ParameterKey"]: one["ParameterValue"]
            for stack in stacks
            if stack["StackName"] == request["StackName"]
            for one in stack.get("Parameters", [])
        }
        for name in [name for name in request if name.endswith(".ParameterValue")]:
            key = request[name.replace(".ParameterValue", ".ParameterKey")]
            given[key] = request[name]
        return given

    def _stored(self, url: str, given: Mapping[str, str]) -> str:
        """The address of the transformed template, which lies beside the one at this address."""
        s3 = self._emulator.client("s3")
        bucket, _, key = urlsplit(url).path.lstrip("/").partition("/")
        text = s3.get_object(Bucket=bucket, Key=key)["Body"].read().decode()
        made = self._fitting(translate(read_template(text)), given)
        s3.put_object(Bucket=bucket, Key=f"{key}.transformed", Body=json.dumps(made).encode())
        return f"{self._emulator.endpoint}/{bucket}/{key}.transformed"

    def _fitting(self, template: Template, given: Mapping[str, str]) -> Template:
        """A transformed template, with what the emulator can take of it and of what it nests."""
        known = {n: r for n, r in template["Resources"].items() if r["Type"] not in UNKNOWN}
        for resource in known.values():
            told = resource.get("Properties", {})
            if resource["Type"] in NESTED:
                told["TemplateURL"] = self._stored(told["TemplateURL"], {})
            if resource["Type"] == "AWS::CloudWatch::Alarm" and "Metrics" in told:
                resource["Properties"] = _on_one_metric(told)
            if "MaximumConcurrency" in told.get("ScalingConfig", {}):
                most = told["ScalingConfig"]
                most["MaximumConcurrency"] = _number(most["MaximumConcurrency"], template, given)
        return {**template, "Resources": known}

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        front, emulator = self, self._emulator

        class Handler(BaseHTTPRequestHandler):
            """Passes on one request."""

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                try:
                    told = front.transformed(dict(parse_qsl(body.decode(), keep_blank_values=True)))
                except ConfigError as error:
                    self._answer(400, "text/xml", _REFUSED.format(error).encode())
                    return
                headers = {k: self.headers[k] for k in _PASSED_ON if k in self.headers}
                answer = requests.post(emulator.endpoint, told, headers=headers, timeout=_TIMEOUT)
                content = answer.content
                if told.get("Action") == "GetTemplate":
                    # `sam delete` knows no nested templates but those at AWS's addresses.
                    at_aws = f"https://s3.{REGION}.amazonaws.com/".encode()
                    content = content.replace(f"{emulator.endpoint}/".encode(), at_aws)
                self._answer(answer.status_code, answer.headers["Content-Type"], content)

            def _answer(self, status: int, kind: str, content: bytes) -> None:
                self.send_response(status)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, *_: Any) -> None:  # noqa: ANN401 - nobody reads it
                pass

        return Handler


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
    """What `sam deploy` must find in its environment to deploy into the emulator, meanwhile."""
    with TransformingCloudFormation(emulator) as formation:
        yield {**formation.environment, "SAM_CLI_TELEMETRY": "0", "SAM_CLI_POLL_DELAY": "0.5"}
