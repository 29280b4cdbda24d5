"""What CloudWatch refuses of a template, or never measures: rules of `service_rules.toml`."""

import json
import re
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from cardsharp.cloud.telemetry import NAMESPACE
from workbench.build.expressions import Part, largest, listed, most, of_kind, substituted, target
from workbench.build.translate import Template

ALARM, DASHBOARD = "AWS::CloudWatch::Alarm", "AWS::CloudWatch::Dashboard"
FILTER, API = "AWS::Logs::MetricFilter", "AWS::ApiGatewayV2::Api"
DAY = 86_400


@cache
def measured() -> dict[str, dict[str, Any]]:
    """What AWS's services measure: by namespace the source, the names, the sets of dimensions."""
    return tomllib.loads(Path(__file__).with_name("service_metrics.toml").read_text("utf-8"))


def redriven_unseen(template: Template) -> Iterator[str]:
    """No alarm counts what is sent to a queue to which nobody but a redrive policy sends."""
    fed = {target(one) for one in _fed(template["Resources"])}
    for name, told in of_kind(template, ALARM):
        for metric in _metrics_of(told):
            queue = next((target(one["Value"]) for one in metric["Dimensions"]), None)
            if metric["MetricName"] == "NumberOfMessagesSent" and queue not in fed:
                yield f"{name} counts what is sent to {queue}, to which messages are only moved"


def _fed(part: Part) -> Iterator[Part]:
    """Queues that somebody else than a redrive policy sends to: roles, destinations, schedules."""
    if isinstance(part, list):
        for one in part:
            yield from _fed(one)
    elif isinstance(part, dict):
        if "sqs:SendMessage" in listed(part.get("Action", [])) and part.get("Effect") == "Allow":
            yield from listed(part["Resource"])
        if part.get("Type") == "SQS" or "OnFailure" in part:
            yield part.get("OnFailure", part).get("Destination")
        if "DeadLetterConfig" in part:
            yield part["DeadLetterConfig"].get("Arn")
        for key, one in part.items():
            yield from _fed(one) if key != "RedrivePolicy" else ()


def known_metric(template: Template) -> Iterator[str]:
    """An alarm or widget asks for a metric that its service measures, by dimensions that it has."""
    for name, metric in watched(template):
        namespace = _namespace(metric, template)
        told = measured().get(namespace)
        dimensions = sorted(one["Name"] for one in metric["Dimensions"])
        if told is None and namespace.startswith("AWS/"):
            yield f"{name} asks for {namespace}, of which no list is here"
        elif told and (metric["MetricName"] not in told["names"] or dimensions not in told["by"]):
            yield f"{name} asks for {namespace} {metric['MetricName']} by {dimensions}"


def _namespace(metric: Part, template: Template) -> str:
    """The namespace, and of API Gateway the protocol, whose metrics have names of their own."""
    namespace = str(largest(metric["Namespace"], template))
    if namespace != "AWS/ApiGateway":
        return namespace
    api = next((target(one["Value"]) for one in metric["Dimensions"]), None)
    protocol = dict(of_kind(template, API)).get(api or "", {}).get("ProtocolType")
    return f"{namespace} {protocol}"


def recorded() -> set[tuple[str, tuple[str, ...]]]:
    """Our metrics by name and dimensions, as they stood in lines that the functions wrote."""
    told = tomllib.loads(Path(__file__).with_name("recorded_metrics.toml").read_text("utf-8"))
    return {(name, tuple(by)) for name, ways in told.items() for by in ways}


def own_metric(template: Template) -> Iterator[str]:
    """What is no service's is counted: by our code, by service and game, or by a metric filter."""
    counted: set[tuple[str, str, tuple[str, ...]]] = {
        (str(largest(one["MetricNamespace"], template)), str(one["MetricName"]), ())
        for _, told in of_kind(template, FILTER)
        for one in told["MetricTransformations"]
    }
    counted |= {(NAMESPACE, name, dimensions) for name, dimensions in recorded()}
    for name, asked in watched(template):
        namespace = str(largest(asked["Namespace"], template))
        dimensions = tuple(sorted(one["Name"] for one in asked["Dimensions"]))
        identity = (namespace, str(asked["MetricName"]), dimensions)
        if not namespace.startswith("AWS/") and identity not in counted:
            yield f"{name} asks for {identity}, which nothing counts"


def watched(template: Template) -> Iterator[tuple[str, Part]]:
    """Every metric that an alarm or a widget asks for, as an alarm writes it."""
    for name, told in of_kind(template, ALARM):
        yield from ((name, metric) for metric in _metrics_of(told))
    for name, told in of_kind(template, DASHBOARD):
        for widget in _widgets(told, template):
            yield from ((name, metric) for metric in _drawn(widget))


def _metrics_of(alarm: Part) -> Iterator[Part]:
    queries = alarm.get("Metrics", [])
    for metric in [alarm, *(one["MetricStat"]["Metric"] for one in queries if "MetricStat" in one)]:
        if "MetricName" in metric:
            yield {"Dimensions": [], **metric}


def _drawn(widget: Part) -> Iterator[Part]:
    """The metrics of a widget, with what "." repeats of the line above, and what it searches."""
    above: list[Part] = []
    for line in widget["properties"].get("metrics", []):
        if isinstance(line[0], dict):
            yield from _searched(line[0].get("expression", ""))
            continue
        names = {"Ref", "Fn::GetAtt"}
        said = [one for one in line if not (isinstance(one, dict) and one.keys() - names)]
        above = [above[n] if one == "." else one for n, one in enumerate(said)]
        pairs = zip(above[2::2], above[3::2], strict=True)
        named = [{"Name": name, "Value": value} for name, value in pairs]
        yield {"Namespace": above[0], "MetricName": above[1], "Dimensions": named}


def _searched(expression: str) -> Iterator[Part]:
    """What a search for metrics asks for: `SEARCH('{Namespace,dimension} MetricName="Name"')`."""
    found = re.search(r"""\{([^}]+)\} MetricName=\\?"(\w+)""", expression)
    if found:
        namespace, *names = found[1].split(",")
        dimensions = [{"Name": name, "Value": ""} for name in names]
        yield {"Namespace": namespace, "MetricName": found[2], "Dimensions": dimensions}


def _widgets(dashboard: Part, template: Template) -> list[Part]:
    """A dashboard's widgets, in which references to resources are left as references."""
    body = dashboard["DashboardBody"]
    text, names = substituted(body["Fn::Sub"] if isinstance(body, dict) else body)

    def named(found: re.Match[str]) -> str:
        name = found[1]
        return json.dumps(names.get(name, {"Fn::GetAtt" if "." in name else "Ref": name}))

    text = re.sub(r'"\$\{([^}]+)\}"', named, text)
    plain = largest({"Fn::Sub": [text, names]}, template)
    found: list[Part] = json.loads(plain)["widgets"]
    return found


def dashboard_limits(template: Template) -> Iterator[str]:
    """Its body is JSON, with at most 500 widgets of 500 metrics; its name plain."""
    for name, told in of_kind(template, DASHBOARD):
        try:
            widgets = _widgets(told, template)
        except (ValueError, TypeError, KeyError) as error:
            yield f"{name} has a body that cannot be read: {error}"
            continue
        if len(widgets) > 500 or any(len(list(_drawn(one))) > 500 for one in widgets):
            yield f"{name} has more than 500 widgets, or 500 metrics in one"
        if not re.fullmatch(r"[\w-]{1,255}", str(largest(told["DashboardName"], template))):
            yield f"{name} is called {told['DashboardName']}"


def alarm_window(template: Template) -> Iterator[str]:
    """An alarm looks back over a day at most, over a week where its periods are hours."""
    for name, told in of_kind(template, ALARM):
        periods = [told.get("Period", 0)]
        periods += [one.get("MetricStat", {}).get("Period", 0) for one in told.get("Metrics", [])]
        longest = max(most(one, template) for one in periods)
        window = longest * most(told["EvaluationPeriods"], template)
        if window > (7 * DAY if longest >= 3600 else DAY):
            yield f"{name} looks back over {window:g} s"
