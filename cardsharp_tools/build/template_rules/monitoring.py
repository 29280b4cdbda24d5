"""Rules of `service_rules.toml` for what CloudWatch rejects in a template or never measures."""

import json
import re
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from cardsharp.aws.telemetry import NAMESPACE
from cardsharp_tools.build.sam_transform import Template
from cardsharp_tools.build.template_rules.expressions import (
    Expression,
    as_list,
    longest_expansion,
    max_value,
    parse_sub,
    referenced_name,
    resources_of_type,
)

ALARM, DASHBOARD = "AWS::CloudWatch::Alarm", "AWS::CloudWatch::Dashboard"
FILTER, API = "AWS::Logs::MetricFilter", "AWS::ApiGatewayV2::Api"
DAY = 86_400


@cache
def service_metrics() -> dict[str, dict[str, Any]]:
    """Return the metrics of AWS services: by namespace the source, names and sets of dimensions."""
    return tomllib.loads(Path(__file__).with_name("service_metrics.toml").read_text("utf-8"))


def check_dead_letter_alarm_metric(template: Template) -> Iterator[str]:
    """Yield each alarm on `NumberOfMessagesSent` of a queue that gets only redriven messages.

    The metric does not count messages that a redrive policy moves, so the alarm never fires.
    """
    fed = {referenced_name(reference) for reference in _iter_target_queues(template["Resources"])}
    for name, alarm in resources_of_type(template, ALARM):
        for metric in _alarm_metrics(alarm):
            queue = next(
                (referenced_name(dimension["Value"]) for dimension in metric["Dimensions"]), None
            )
            if metric["MetricName"] == "NumberOfMessagesSent" and queue not in fed:
                yield f"{name} counts what is sent to {queue}, to which messages are only moved"


def _iter_target_queues(expression: Expression) -> Iterator[Expression]:
    """Yield the queues to which roles, destinations or schedules send.

    A queue that only a redrive policy names is no such queue.
    """
    if isinstance(expression, list):
        for child in expression:
            yield from _iter_target_queues(child)
    elif isinstance(expression, dict):
        if (
            "sqs:SendMessage" in as_list(expression.get("Action", []))
            and expression.get("Effect") == "Allow"
        ):
            yield from as_list(expression["Resource"])
        if expression.get("Type") == "SQS" or "OnFailure" in expression:
            yield expression.get("OnFailure", expression).get("Destination")
        if "DeadLetterConfig" in expression:
            yield expression["DeadLetterConfig"].get("Arn")
        for key, child in expression.items():
            yield from _iter_target_queues(child) if key != "RedrivePolicy" else ()


def check_aws_metrics_exist(template: Template) -> Iterator[str]:
    """Check the metrics of alarms and widgets against those that each AWS service has.

    Yields each alarm or widget on a metric or dimensions that its service does not have.
    """
    for name, metric in metrics_in_use(template):
        namespace = _metric_namespace(metric, template)
        service = service_metrics().get(namespace)
        dimensions = sorted(dimension["Name"] for dimension in metric["Dimensions"])
        if service is None and namespace.startswith("AWS/"):
            yield f"{name} asks for {namespace}, of which no list is here"
        elif service and (
            metric["MetricName"] not in service["names"] or dimensions not in service["by"]
        ):
            yield f"{name} asks for {namespace} {metric['MetricName']} by {dimensions}"


def _metric_namespace(metric: Expression, template: Template) -> str:
    """Return a metric's namespace.

    For API Gateway it includes the protocol, because each protocol has metrics of its own.
    """
    namespace = str(longest_expansion(metric["Namespace"], template))
    if namespace != "AWS/ApiGateway":
        return namespace
    api = next((referenced_name(dimension["Value"]) for dimension in metric["Dimensions"]), None)
    protocol = dict(resources_of_type(template, API)).get(api or "", {}).get("ProtocolType")
    return f"{namespace} {protocol}"


def recorded_metrics() -> set[tuple[str, tuple[str, ...]]]:
    """Return our metrics by name and dimensions, as recorded from the functions' logs."""
    metrics = tomllib.loads(Path(__file__).with_name("recorded_metrics.toml").read_text("utf-8"))
    return {(name, tuple(by)) for name, ways in metrics.items() for by in ways}


def check_custom_metric(template: Template) -> Iterator[str]:
    """Yield each custom metric that nothing records.

    A metric of no AWS service must come from our code, by service and game, or from a metric
    filter.
    """
    counted: set[tuple[str, str, tuple[str, ...]]] = {
        (
            str(longest_expansion(transformation["MetricNamespace"], template)),
            str(transformation["MetricName"]),
            (),
        )
        for _, metric_filter in resources_of_type(template, FILTER)
        for transformation in metric_filter["MetricTransformations"]
    }
    counted |= {(NAMESPACE, name, dimensions) for name, dimensions in recorded_metrics()}
    for name, metric in metrics_in_use(template):
        namespace = str(longest_expansion(metric["Namespace"], template))
        dimensions = tuple(sorted(dimension["Name"] for dimension in metric["Dimensions"]))
        identity = (namespace, str(metric["MetricName"]), dimensions)
        if not namespace.startswith("AWS/") and identity not in counted:
            yield f"{name} asks for {identity}, which nothing counts"


def metrics_in_use(template: Template) -> Iterator[tuple[str, Expression]]:
    """Yield every metric that an alarm or a widget uses, in the notation of alarms."""
    for name, properties in resources_of_type(template, ALARM):
        yield from ((name, metric) for metric in _alarm_metrics(properties))
    for name, properties in resources_of_type(template, DASHBOARD):
        for widget in _parse_widgets(properties, template):
            yield from ((name, metric) for metric in _widget_metrics(widget))


def _alarm_metrics(alarm: Expression) -> Iterator[Expression]:
    queries = alarm.get("Metrics", [])
    for metric in [
        alarm,
        *(query["MetricStat"]["Metric"] for query in queries if "MetricStat" in query),
    ]:
        if "MetricName" in metric:
            yield {"Dimensions": [], **metric}


def _widget_metrics(widget: Expression) -> Iterator[Expression]:
    """Yield the metrics of a widget, and those of its searches.

    Each "." is replaced by the field of the line above.
    """
    above: list[Expression] = []
    for metric_fields in widget["properties"].get("metrics", []):
        if isinstance(metric_fields[0], dict):
            yield from _parse_search_metric(metric_fields[0].get("expression", ""))
            continue
        reference_keys = {"Ref", "Fn::GetAtt"}
        fields = [
            field
            for field in metric_fields
            if not (isinstance(field, dict) and field.keys() - reference_keys)
        ]
        above = [above[n] if field == "." else field for n, field in enumerate(fields)]
        pairs = zip(above[2::2], above[3::2], strict=True)
        dimensions = [{"Name": name, "Value": value} for name, value in pairs]
        yield {"Namespace": above[0], "MetricName": above[1], "Dimensions": dimensions}


def _parse_search_metric(expression: str) -> Iterator[Expression]:
    """Yield the metric of a search: `SEARCH('{Namespace,dimension} MetricName="Name"')`."""
    match = re.search(r"""\{([^}]+)\} MetricName=\\?"(\w+)""", expression)
    if match:
        namespace, *dimension_names = match[1].split(",")
        dimensions = [{"Name": name, "Value": ""} for name in dimension_names]
        yield {"Namespace": namespace, "MetricName": match[2], "Dimensions": dimensions}


def _parse_widgets(dashboard: Expression, template: Template) -> list[Expression]:
    """Return a dashboard's widgets; references to resources stay references."""
    body = dashboard["DashboardBody"]
    text, variables = parse_sub(body["Fn::Sub"] if isinstance(body, dict) else body)

    def resolve_reference(match: re.Match[str]) -> str:
        name = match[1]
        return json.dumps(variables.get(name, {"Fn::GetAtt" if "." in name else "Ref": name}))

    text = re.sub(r'"\$\{([^}]+)\}"', resolve_reference, text)
    plain = longest_expansion({"Fn::Sub": [text, variables]}, template)
    widgets: list[Expression] = json.loads(plain)["widgets"]
    return widgets


def check_dashboard_limits(template: Template) -> Iterator[str]:
    """Yield each dashboard that breaks a limit: JSON, 500 widgets, 500 metrics, a plain name."""
    for name, dashboard in resources_of_type(template, DASHBOARD):
        try:
            widgets = _parse_widgets(dashboard, template)
        except (ValueError, TypeError, KeyError) as error:
            yield f"{name} has a body that cannot be read: {error}"
            continue
        if len(widgets) > 500 or any(
            len(list(_widget_metrics(widget))) > 500 for widget in widgets
        ):
            yield f"{name} has more than 500 widgets, or 500 metrics in one"
        if not re.fullmatch(
            r"[\w-]{1,255}", str(longest_expansion(dashboard["DashboardName"], template))
        ):
            yield f"{name} is called {dashboard['DashboardName']}"


def check_alarm_window(template: Template) -> Iterator[str]:
    """Yield each alarm that looks back too far: a day, or a week for periods of hours."""
    for name, alarm in resources_of_type(template, ALARM):
        periods = [alarm.get("Period", 0)]
        periods += [
            query.get("MetricStat", {}).get("Period", 0) for query in alarm.get("Metrics", [])
        ]
        longest = max(max_value(period, template) for period in periods)
        window = longest * max_value(alarm["EvaluationPeriods"], template)
        if window > (7 * DAY if longest >= 3600 else DAY):
            yield f"{name} looks back over {window:g} s"
