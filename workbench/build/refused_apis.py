"""What API Gateway refuses of a template, or never does: rules of `service_rules.toml`."""

import json
import re
from collections.abc import Iterator

from workbench.build.expressions import Part, largest, listed, most, of_kind, target, values
from workbench.build.translate import Template

FUNCTION = "AWS::Lambda::Function"
API, INTEGRATION = "AWS::ApiGatewayV2::Api", "AWS::ApiGatewayV2::Integration"
ROUTE, STAGE = "AWS::ApiGatewayV2::Route", "AWS::ApiGatewayV2::Stage"


def route_settings(template: Template) -> Iterator[str]:
    """A stage sets something of a route that is there before it."""
    routes = dict(of_kind(template, ROUTE))
    for name, told in of_kind(template, STAGE):
        resource = template["Resources"][name]
        # What it depends on, or what it names beside its properties, where that may be missing.
        named = re.findall(r'"Ref": "(\w+)"', json.dumps(resource.get("Metadata", {})))
        waits_for = [*listed(resource.get("DependsOn", [])), *named]
        there = {routes[one]["RouteKey"] for one in waits_for if one in routes}
        for settings in values(told.get("RouteSettings", {}), template):
            for key in settings.keys() - there:
                yield f"{name} sets something of the route {key!r}, which it does not depend on"


def route_key(template: Template) -> Iterator[str]:
    """A route of an HTTP API is a method and a path; of a WebSocket API, a word; or $default."""
    protocols = {name: told["ProtocolType"] for name, told in of_kind(template, API)}
    method = r"(ANY|DELETE|GET|HEAD|OPTIONS|PATCH|POST|PUT) /\S*"
    for name, told in of_kind(template, ROUTE):
        http = protocols.get(target(told["ApiId"]) or "") == "HTTP"
        pattern = rf"\$default|{method}" if http else r"\$(connect|default|disconnect)|[^$\s]\S*"
        if not re.fullmatch(pattern, told["RouteKey"]):
            yield f"{name} has the key {told['RouteKey']!r}"


def api_throttle(template: Template) -> Iterator[str]:
    """No stage promises more than an account has: 10,000 requests a second, in bursts 5,000."""
    for name, told in of_kind(template, STAGE):
        routes = values(told.get("RouteSettings", {}), template)
        every = [told.get("DefaultRouteSettings", {}), *(v for one in routes for v in one.values())]
        for one in every:
            rate = most(one.get("ThrottlingRateLimit", 0), template)
            burst = most(one.get("ThrottlingBurstLimit", 0), template)
            if rate > 10_000 or burst > 5_000:
                yield f"{name} lets {rate:g} a second through, in bursts {burst:g}"


def answer_in_time(template: Template) -> Iterator[str]:
    """A function ends before the API that waits for it gives up: 30 s, of a WebSocket API 29 s."""
    functions = dict(of_kind(template, FUNCTION))
    sockets = _sockets(template)
    for name, told in of_kind(template, INTEGRATION):
        limit = 29_000 if target(told["ApiId"]) in sockets else 30_000
        waits = most(told.get("TimeoutInMillis", limit), template)
        function = functions.get(_function_of(told["IntegrationUri"]) or "", {})
        if waits > limit or most(function.get("Timeout", 3), template) * 1000 > waits:
            yield f"{name} waits {waits / 1000:g} s, of {limit / 1000:g}, for its function"


def _function_of(uri: Part) -> str | None:
    """The function whose ARN a part is or contains."""
    found = re.search(r'"(?:Fn::GetAtt": "|.*?\$\{)(\w+)\.Arn', json.dumps(uri))
    return found[1] if found else target(uri)


def access_log_group(template: Template) -> Iterator[str]:
    """What an HTTP API logs goes below /aws/vendedlogs/, where the policy for it does not grow."""
    groups = dict(of_kind(template, "AWS::Logs::LogGroup"))
    sockets = _sockets(template)
    for name, told in of_kind(template, STAGE):
        group = target(told.get("AccessLogSettings", {}).get("DestinationArn"))
        if group is None or target(told["ApiId"]) in sockets:
            continue
        called = str(largest(groups.get(group, {}).get("LogGroupName", ""), template))
        if not called.startswith("/aws/vendedlogs/"):
            yield f"{name} logs to {called or group}"


def access_log_format(template: Template) -> Iterator[str]:
    """A format of access logs has the id of the request."""
    for name, told in of_kind(template, STAGE):
        text = str(told.get("AccessLogSettings", {}).get("Format", "$context.requestId"))
        if not re.search(r"\$context\.(requestId|extendedRequestId)\b", text):
            yield f"{name} logs no id of a request"


def account_role(template: Template) -> Iterator[str]:
    """No WebSocket API logs, for which a new account's API Gateway has no role."""
    sockets = _sockets(template)
    for name, told in of_kind(template, STAGE):
        if target(told["ApiId"]) in sockets and ("AccessLogSettings" in told or _logs(told)):
            yield f"{name} logs, for which API Gateway has no role in a new account"


def _logs(stage: Part) -> bool:
    return bool(stage.get("DefaultRouteSettings", {}).get("LoggingLevel", "OFF") != "OFF")


def _sockets(template: Template) -> set[str]:
    """The logical names of the WebSocket APIs."""
    return {name for name, told in of_kind(template, API) if told["ProtocolType"] == "WEBSOCKET"}
