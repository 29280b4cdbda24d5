"""Rules for limits of AWS services; each function is a rule of `service_rules.toml`.

The table gives the meaning of each rule and AWS's documentation of it. A function checks a
complete transformed template and yields a sentence for each violation. This module covers
queues, functions, tables, names, accounts and APIs.
"""

import json
import re
from collections.abc import Iterator

from cardsharp_tools.build.sam_transform import Template
from cardsharp_tools.build.template_rules import expressions
from cardsharp_tools.build.template_rules.expressions import (
    Expression,
    as_list,
    longest_expansion,
    max_value,
    min_value,
    possible_values,
    referenced_name,
    resources_of_type,
)
from cardsharp_tools.local_cloud.nested_stacks import apply_default_parameters

FUNCTION, MAPPING = "AWS::Lambda::Function", "AWS::Lambda::EventSourceMapping"
QUEUE, QUEUE_POLICY = "AWS::SQS::Queue", "AWS::SQS::QueuePolicy"
TABLE = "AWS::DynamoDB::Table"
DAY = 86_400

_RELEASED_INDEXES = {"Matches": ["by-day", "by-status"], "Table": ["by-change"]}
"""The indexes that version 0.2 made, by how the tables' logical names end."""

NEW_ACCOUNT_CONCURRENCY = 10  # concurrent executions of an account that is new


def check_queue_policy_resource(template: Template) -> Iterator[str]:
    """Yield each queue policy statement that is not about the policy's single queue."""
    for name, properties in resources_of_type(template, QUEUE_POLICY):
        queues = {referenced_name(reference) for reference in properties["Queues"]}
        for statement in as_list(properties["PolicyDocument"]["Statement"]):
            resources = as_list(statement.get("Resource", []))
            if len(queues) != 1 or [referenced_name(reference) for reference in resources] != list(
                queues
            ):
                yield f"{name} has a statement that is not about its one queue alone"


def check_queue_policy_limits(template: Template) -> Iterator[str]:
    """Yield each queue policy above SQS's limits, or without the version an update needs."""
    for name, properties in resources_of_type(template, QUEUE_POLICY):
        document = properties["PolicyDocument"]
        statements = as_list(document["Statement"])
        if document.get("Version") != "2012-10-17":
            yield f"{name} does not say Version 2012-10-17"
        if len(statements) > 20 or expressions.max_document_length(document, template) > 8192:
            yield f"{name} has more than 20 statements or 8,192 characters"
        if any(len(as_list(statement.get("Action", []))) > 7 for statement in statements):
            yield f"{name} has more than 7 actions in a statement"


def check_redrive_policy(template: Template) -> Iterator[str]:
    """Yield each queue that does not try 1 to 1,000 times or keeps dead letters too briefly."""
    for name, queue_properties in resources_of_type(template, QUEUE):
        policy = queue_properties.get("RedrivePolicy")
        if policy is None:
            continue
        if not 1 <= max_value(policy["maxReceiveCount"], template) <= 1000:
            yield f"{name} tries a message {policy['maxReceiveCount']} times"
        letters = expressions.referenced_properties(policy["deadLetterTargetArn"], template)
        retention_periods = (
            properties.get("MessageRetentionPeriod", 4 * DAY)
            for properties in (letters, queue_properties)
        )
        if min_value(next(retention_periods), template) < max_value(
            next(retention_periods), template
        ):
            yield f"{name} keeps messages longer than its dead letters are kept"


def check_event_source_queues(template: Template) -> Iterator[str]:
    """Yield each queue whose visibility timeout or concurrency does not fit its function."""
    for name, mapping in resources_of_type(template, MAPPING):
        function = expressions.referenced_properties(mapping["FunctionName"], template)
        queue = expressions.referenced_properties(mapping.get("EventSourceArn"), template)
        hidden = min_value(queue.get("VisibilityTimeout", 30), template)
        if hidden < max_value(function.get("Timeout", 3), template):
            yield f"{name} hides messages for {hidden:g} s, less than its function's timeout"
        window = min_value(mapping.get("MaximumBatchingWindowInSeconds", 0), template)
        if max_value(mapping.get("BatchSize", 10), template) > 10 and window < 1:
            yield f"{name} asks for batches of more than 10 without a window"
        started = max_value(mapping.get("ScalingConfig", {}).get("MaximumConcurrency", 2), template)
        reserved = min_value(function.get("ReservedConcurrentExecutions", started), template)
        if reserved and started > reserved:
            yield f"{name} starts {started:g} at once of a function that has {reserved:g}"


def check_new_account_limits(template: Template) -> Iterator[str]:
    """Yield each setting that a new account with ten concurrent executions does not allow."""
    deployed = apply_default_parameters(template)
    reserved = [
        name
        for name, function in resources_of_type(deployed, FUNCTION)
        if max_value(function.get("ReservedConcurrentExecutions", 0), deployed)
    ]
    if reserved:
        reserved_names = ", ".join(reserved)
        yield f"by default {reserved_names} reserve executions, of which a new account has none"
    started = sum(
        max_value(mapping.get("ScalingConfig", {}).get("MaximumConcurrency", 0), deployed)
        for _, mapping in resources_of_type(deployed, MAPPING)
    )
    if started > NEW_ACCOUNT_CONCURRENCY:
        yield (
            f"by default {started:g} functions are started at once, of "
            f"{NEW_ACCOUNT_CONCURRENCY} executions"
        )


def check_name_lengths(template: Template) -> Iterator[str]:
    """Yield each name given by the template that is longer than its service allows."""
    for kind, (key, limit) in expressions.load_service_rule_table("names").items():
        for name, properties in resources_of_type(template, kind):
            full_name = str(longest_expansion(properties.get(key, ""), template))
            if len(full_name) > limit:
                yield f"{name} is called {full_name}, more than {limit} characters"


def check_schedule_expression(template: Template) -> Iterator[str]:
    """Yield each schedule whose expression is no valid `rate(...)`, `cron(...)` or `at(...)`."""
    for name, schedule in resources_of_type(template, "AWS::Scheduler::Schedule"):
        for expression in possible_values(schedule["ScheduleExpression"], template):
            rate = r"rate\((1 (minute|hour|day)|([2-9]|[1-9]\d+) (minutes|hours|days))\)"
            if not re.fullmatch(rf"{rate}|cron\(\S+( \S+){{5}}\)|at\([\dT:-]+\)", str(expression)):
                yield f"{name} comes {expression}"


def check_table_indexes(template: Template) -> Iterator[str]:
    """Yield each table with too many indexes, or several index changes in one update."""
    for name, table in resources_of_type(template, TABLE):
        indexes = table.get("GlobalSecondaryIndexes", [])
        carried = [n for index in indexes for n in index["Projection"].get("NonKeyAttributes", [])]
        if len(indexes) > 20 or len(carried) > 100:
            yield f"{name} has {len(indexes)} indexes that carry {len(carried)} attributes"
        released_indexes = next(
            (released for end, released in _RELEASED_INDEXES.items() if name.endswith(end)), None
        )
        if (
            released_indexes
            and len({index["IndexName"] for index in indexes} ^ set(released_indexes)) > 1
        ):
            yield (
                f"{name} had the indexes {released_indexes}; an update makes or deletes "
                "one at a time"
            )


def check_subscription_protocol(template: Template) -> Iterator[str]:
    """Yield each subscription with a protocol that SNS does not support."""
    mail, mobile = {"email", "email-json"}, {"application", "sms"}
    protocols = {"firehose", "http", "https", "lambda", "sqs"} | mail | mobile
    for name, subscription in resources_of_type(template, "AWS::SNS::Subscription"):
        if not protocols >= set(possible_values(subscription["Protocol"], template)):
            yield f"{name} is told by {subscription['Protocol']}"


def check_function_memory(template: Template) -> Iterator[str]:
    """Yield each function whose memory is not 128 to 10,240 MB."""
    for name, function in resources_of_type(template, FUNCTION):
        memory = function.get("MemorySize", 128)
        if min_value(memory, template) < 128 or max_value(memory, template) > 10_240:
            yield f"{name} has {max_value(memory, template):g} MB"


def check_template_counts(template: Template) -> Iterator[str]:
    """Yield each section with more than 200 parameters or 200 mappings."""
    for section in ("Parameters", "Mappings"):
        if len(template.get(section, {})) > 200:
            yield f"{len(template[section])} {section.lower()}"


INTEGRATION = "AWS::ApiGatewayV2::Integration"
ROUTE, STAGE = "AWS::ApiGatewayV2::Route", "AWS::ApiGatewayV2::Stage"


def check_stage_depends_on_routes(template: Template) -> Iterator[str]:
    """Yield each stage that configures a route which is not created before the stage."""
    routes = dict(resources_of_type(template, ROUTE))
    for name, stage in resources_of_type(template, STAGE):
        resource = template["Resources"][name]
        # What it depends on, or what it names beside its properties, where that may be missing.
        metadata_references = re.findall(
            r'"Ref": "(\w+)"', json.dumps(resource.get("Metadata", {}))
        )
        waits_for = [*as_list(resource.get("DependsOn", [])), *metadata_references]
        existing_keys = {
            routes[dependency]["RouteKey"] for dependency in waits_for if dependency in routes
        }
        for settings in possible_values(stage.get("RouteSettings", {}), template):
            for key in settings.keys() - existing_keys:
                yield f"{name} sets something of the route {key!r}, which it does not depend on"


def check_route_key(template: Template) -> Iterator[str]:
    """Yield each route whose key is not valid for its API, e.g. `GET /path` or `$default`."""
    method = r"(ANY|DELETE|GET|HEAD|OPTIONS|PATCH|POST|PUT) /\S*"
    for name, route in resources_of_type(template, ROUTE):
        websocket_pattern = r"\$(connect|default|disconnect)|[^$\s]\S*"
        pattern = websocket_pattern if _is_websocket(route, template) else rf"\$default|{method}"
        if not re.fullmatch(pattern, route["RouteKey"]):
            yield f"{name} has the key {route['RouteKey']!r}"


def check_throttle_limits(template: Template) -> Iterator[str]:
    """Yield each stage that allows more than 10,000 requests a second or bursts of 5,000."""
    for name, stage in resources_of_type(template, STAGE):
        routes = possible_values(stage.get("RouteSettings", {}), template)
        every = [
            stage.get("DefaultRouteSettings", {}),
            *(v for route in routes for v in route.values()),
        ]
        for settings in every:
            rate = max_value(settings.get("ThrottlingRateLimit", 0), template)
            burst = max_value(settings.get("ThrottlingBurstLimit", 0), template)
            if rate > 10_000 or burst > 5_000:
                yield f"{name} lets {rate:g} a second through, in bursts {burst:g}"


def check_function_within_api_timeout(template: Template) -> Iterator[str]:
    """Yield each function that may run longer than its API waits: 30 s, or 29 s for WebSockets."""
    for name, integration in resources_of_type(template, INTEGRATION):
        limit = 29_000 if _is_websocket(integration, template) else 30_000
        waits = max_value(integration.get("TimeoutInMillis", limit), template)
        function = expressions.referenced_properties(
            {"Ref": _find_referenced_function(integration["IntegrationUri"])}, template
        )
        if waits > limit or max_value(function.get("Timeout", 3), template) * 1000 > waits:
            yield f"{name} waits {waits / 1000:g} s, of {limit / 1000:g}, for its function"


def _find_referenced_function(uri: Expression) -> str | None:
    """Return the function whose ARN a part of the template is or contains."""
    match = re.search(r'"(?:Fn::GetAtt": "|.*?\$\{)(\w+)\.Arn', json.dumps(uri))
    return match[1] if match else referenced_name(uri)


def check_access_log_group_prefix(template: Template) -> Iterator[str]:
    """Yield each HTTP API that logs outside /aws/vendedlogs/.

    Below that prefix the resource policy for log delivery does not grow.
    """
    for name, stage in resources_of_type(template, STAGE):
        group = stage.get("AccessLogSettings", {}).get("DestinationArn")
        if group is None or _is_websocket(stage, template):
            continue
        log_group_name = str(
            longest_expansion(
                expressions.referenced_properties(group, template).get("LogGroupName", ""), template
            )
        )
        if not log_group_name.startswith("/aws/vendedlogs/"):
            yield f"{name} logs to {log_group_name or referenced_name(group)}"


def check_access_log_format(template: Template) -> Iterator[str]:
    """Yield each stage whose access log format lacks the request id."""
    for name, stage in resources_of_type(template, STAGE):
        text = str(stage.get("AccessLogSettings", {}).get("Format", "$context.requestId"))
        if not re.search(r"\$context\.(requestId|extendedRequestId)\b", text):
            yield f"{name} logs no id of a request"


def check_api_logging_role(template: Template) -> Iterator[str]:
    """Yield each WebSocket API with logging, for which a new account has no role."""
    for name, stage in resources_of_type(template, STAGE):
        level = stage.get("DefaultRouteSettings", {}).get("LoggingLevel", "OFF")
        if _is_websocket(stage, template) and ("AccessLogSettings" in stage or level != "OFF"):
            yield f"{name} logs, for which API Gateway has no role in a new account"


def _is_websocket(properties: Expression, template: Template) -> bool:
    """Return True if a route, stage or integration belongs to a WebSocket API."""
    return bool(
        expressions.referenced_properties(properties["ApiId"], template).get("ProtocolType")
        == "WEBSOCKET"
    )
