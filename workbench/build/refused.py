"""What AWS's services refuse of a template: each function is a rule of `service_rules.toml`.

The table says what each means and where AWS says so. A function looks at a whole template
(`translate.whole`) and yields a sentence for each breach. Here: queues, functions, tables,
names, accounts and APIs.
"""

import json
import re
from collections.abc import Iterator

from workbench.build import expressions
from workbench.build.expressions import Part, largest, least, listed, most, of_kind, target, values
from workbench.build.translate import Template
from workbench.cloud.nested import by_default

FUNCTION, MAPPING = "AWS::Lambda::Function", "AWS::Lambda::EventSourceMapping"
QUEUE, QUEUE_POLICY = "AWS::SQS::Queue", "AWS::SQS::QueuePolicy"
TABLE = "AWS::DynamoDB::Table"
DAY = 86_400

_RELEASED = {"Matches": ["by-day", "by-status"], "Table": ["by-change"]}
"""The indexes that version 0.2 made, by how the tables' logical names end."""

NEW_ACCOUNT = 10  # concurrent executions of an account that is new


def queue_policy_resource(template: Template) -> Iterator[str]:
    """A statement is about one resource, the queue that its policy is for."""
    for name, told in of_kind(template, QUEUE_POLICY):
        queues = {target(one) for one in told["Queues"]}
        for statement in listed(told["PolicyDocument"]["Statement"]):
            resources = listed(statement.get("Resource", []))
            if len(queues) != 1 or [target(one) for one in resources] != list(queues):
                yield f"{name} has a statement that is not about its one queue alone"


def queue_policy_limits(template: Template) -> Iterator[str]:
    """As large as SQS takes it, and of the version without which an update hangs."""
    for name, told in of_kind(template, QUEUE_POLICY):
        document = told["PolicyDocument"]
        statements = listed(document["Statement"])
        if document.get("Version") != "2012-10-17":
            yield f"{name} does not say Version 2012-10-17"
        if len(statements) > 20 or expressions.size(document, template) > 8192:
            yield f"{name} has more than 20 statements or 8,192 characters"
        if any(len(listed(one.get("Action", []))) > 7 for one in statements):
            yield f"{name} has more than 7 actions in a statement"


def redrive(template: Template) -> Iterator[str]:
    """Tries from 1 to 1,000, and letters that are kept no shorter than messages."""
    for name, told in of_kind(template, QUEUE):
        policy = told.get("RedrivePolicy")
        if policy is None:
            continue
        if not 1 <= most(policy["maxReceiveCount"], template) <= 1000:
            yield f"{name} tries a message {policy['maxReceiveCount']} times"
        letters = expressions.referred(policy["deadLetterTargetArn"], template)
        kept = (one.get("MessageRetentionPeriod", 4 * DAY) for one in (letters, told))
        if least(next(kept), template) < most(next(kept), template):
            yield f"{name} keeps messages longer than its dead letters are kept"


def event_source(template: Template) -> Iterator[str]:
    """A queue hides a message as long as the function may take, and starts no more than it may."""
    for name, told in of_kind(template, MAPPING):
        function = expressions.referred(told["FunctionName"], template)
        queue = expressions.referred(told.get("EventSourceArn"), template)
        hidden = least(queue.get("VisibilityTimeout", 30), template)
        if hidden < most(function.get("Timeout", 3), template):
            yield f"{name} hides messages for {hidden:g} s, less than its function's timeout"
        window = least(told.get("MaximumBatchingWindowInSeconds", 0), template)
        if most(told.get("BatchSize", 10), template) > 10 and window < 1:
            yield f"{name} asks for batches of more than 10 without a window"
        started = most(told.get("ScalingConfig", {}).get("MaximumConcurrency", 2), template)
        reserved = least(function.get("ReservedConcurrentExecutions", started), template)
        if reserved and started > reserved:
            yield f"{name} starts {started:g} at once of a function that has {reserved:g}"


def new_account(template: Template) -> Iterator[str]:
    """A new account of ten executions takes the defaults: nothing reserved, no role to be set."""
    deployed = by_default(template)
    reserved = [
        name
        for name, told in of_kind(deployed, FUNCTION)
        if most(told.get("ReservedConcurrentExecutions", 0), deployed)
    ]
    if reserved:
        names = ", ".join(reserved)
        yield f"by default {names} reserve executions, of which a new account has none"
    started = sum(
        most(told.get("ScalingConfig", {}).get("MaximumConcurrency", 0), deployed)
        for _, told in of_kind(deployed, MAPPING)
    )
    if started > NEW_ACCOUNT:
        yield f"by default {started:g} functions are started at once, of {NEW_ACCOUNT} executions"


def given_names(template: Template) -> Iterator[str]:
    """A name that the template itself gives is no longer than its service takes it."""
    for kind, (key, limit) in expressions.told_of("names").items():
        for name, told in of_kind(template, kind):
            called = str(largest(told.get(key, ""), template))
            if len(called) > limit:
                yield f"{name} is called {called}, more than {limit} characters"


def schedule_expression(template: Template) -> Iterator[str]:
    """`rate(1 minute)`, `rate(2 minutes)`, a cron line of six fields, or `at(...)`."""
    for name, told in of_kind(template, "AWS::Scheduler::Schedule"):
        for one in values(told["ScheduleExpression"], template):
            rate = r"rate\((1 (minute|hour|day)|([2-9]|[1-9]\d+) (minutes|hours|days))\)"
            if not re.fullmatch(rf"{rate}|cron\(\S+( \S+){{5}}\)|at\([\dT:-]+\)", str(one)):
                yield f"{name} comes {one}"


def table_indexes(template: Template) -> Iterator[str]:
    """At most 20 indexes, and of a released table one made or deleted by an update."""
    for name, told in of_kind(template, TABLE):
        indexes = told.get("GlobalSecondaryIndexes", [])
        carried = [n for one in indexes for n in one["Projection"].get("NonKeyAttributes", [])]
        if len(indexes) > 20 or len(carried) > 100:
            yield f"{name} has {len(indexes)} indexes that carry {len(carried)} attributes"
        before = next((found for end, found in _RELEASED.items() if name.endswith(end)), None)
        if before and len({one["IndexName"] for one in indexes} ^ set(before)) > 1:
            yield f"{name} had the indexes {before}; an update makes or deletes one at a time"


def subscription(template: Template) -> Iterator[str]:
    """A topic is subscribed to by a protocol that SNS speaks."""
    mail, mobile = {"email", "email-json"}, {"application", "sms"}
    known = {"firehose", "http", "https", "lambda", "sqs"} | mail | mobile
    for name, told in of_kind(template, "AWS::SNS::Subscription"):
        if not known >= set(values(told["Protocol"], template)):
            yield f"{name} is told by {told['Protocol']}"


def function_memory(template: Template) -> Iterator[str]:
    """From 128 to 10,240 MB for a function that runs on instances of Lambda's own."""
    for name, told in of_kind(template, FUNCTION):
        memory = told.get("MemorySize", 128)
        if least(memory, template) < 128 or most(memory, template) > 10_240:
            yield f"{name} has {most(memory, template):g} MB"


def template_counts(template: Template) -> Iterator[str]:
    """200 parameters and 200 mappings at most in what is deployed."""
    for section in ("Parameters", "Mappings"):
        if len(template.get(section, {})) > 200:
            yield f"{len(template[section])} {section.lower()}"


INTEGRATION = "AWS::ApiGatewayV2::Integration"
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
    method = r"(ANY|DELETE|GET|HEAD|OPTIONS|PATCH|POST|PUT) /\S*"
    for name, told in of_kind(template, ROUTE):
        word = r"\$(connect|default|disconnect)|[^$\s]\S*"
        pattern = word if _is_socket(told, template) else rf"\$default|{method}"
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
    for name, told in of_kind(template, INTEGRATION):
        limit = 29_000 if _is_socket(told, template) else 30_000
        waits = most(told.get("TimeoutInMillis", limit), template)
        function = expressions.referred({"Ref": _function_of(told["IntegrationUri"])}, template)
        if waits > limit or most(function.get("Timeout", 3), template) * 1000 > waits:
            yield f"{name} waits {waits / 1000:g} s, of {limit / 1000:g}, for its function"


def _function_of(uri: Part) -> str | None:
    """The function whose ARN a part is or contains."""
    found = re.search(r'"(?:Fn::GetAtt": "|.*?\$\{)(\w+)\.Arn', json.dumps(uri))
    return found[1] if found else target(uri)


def access_log_group(template: Template) -> Iterator[str]:
    """What an HTTP API logs goes below /aws/vendedlogs/, where the policy for it does not grow."""
    for name, told in of_kind(template, STAGE):
        group = told.get("AccessLogSettings", {}).get("DestinationArn")
        if group is None or _is_socket(told, template):
            continue
        called = str(
            largest(expressions.referred(group, template).get("LogGroupName", ""), template)
        )
        if not called.startswith("/aws/vendedlogs/"):
            yield f"{name} logs to {called or target(group)}"


def access_log_format(template: Template) -> Iterator[str]:
    """A format of access logs has the id of the request."""
    for name, told in of_kind(template, STAGE):
        text = str(told.get("AccessLogSettings", {}).get("Format", "$context.requestId"))
        if not re.search(r"\$context\.(requestId|extendedRequestId)\b", text):
            yield f"{name} logs no id of a request"


def account_role(template: Template) -> Iterator[str]:
    """No WebSocket API logs, for which a new account's API Gateway has no role."""
    for name, told in of_kind(template, STAGE):
        level = told.get("DefaultRouteSettings", {}).get("LoggingLevel", "OFF")
        if _is_socket(told, template) and ("AccessLogSettings" in told or level != "OFF"):
            yield f"{name} logs, for which API Gateway has no role in a new account"


def _is_socket(part: Part, template: Template) -> bool:
    """Whether a route, a stage or an integration is one of a WebSocket API."""
    return bool(expressions.referred(part["ApiId"], template).get("ProtocolType") == "WEBSOCKET")
