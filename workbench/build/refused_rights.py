"""What AWS refuses of roles and policies, or lets fail later: rules of `service_rules.toml`."""

import json
from collections.abc import Iterator

from workbench.build.expressions import Part, listed, of_kind, referred, size, target, values
from workbench.build.translate import Template

FUNCTION, ROLE, POLICY = "AWS::Lambda::Function", "AWS::IAM::Role", "AWS::IAM::Policy"
SCHEDULE = "AWS::Scheduler::Schedule"

_SERVICES = {
    "AWS::DynamoDB::Table": "dynamodb",
    "AWS::Lambda::Function": "lambda",
    "AWS::Logs::LogGroup": "logs",
    "AWS::SNS::Topic": "sns",
    "AWS::SQS::Queue": "sqs",
}
"""As which service's its resources are named in a policy."""

_TAKE = ("sqs:ReceiveMessage", "sqs:DeleteMessage", "sqs:GetQueueAttributes")
_TRACE = ("xray:PutTraceSegments", "xray:PutTelemetryRecords")


def statements(template: Template, role: str | None) -> Iterator[Part]:
    """All statements of a role's own policies and of those that are put to it."""
    for name, told in of_kind(template, ROLE):
        for policy in told.get("Policies", []) if name == role else []:
            yield from _all(policy["PolicyDocument"], template)
    for _, told in of_kind(template, POLICY):
        if role in {target(one) for one in told.get("Roles", [])}:
            yield from _all(told["PolicyDocument"], template)


def _all(document: Part, template: Template) -> Iterator[Part]:
    """A policy's statements, also those that only some deployments have."""
    for one in listed(document["Statement"]):
        yield from values(one, template)


def may(template: Template, role: str | None, action: str, resource: str | None) -> bool:
    """Whether a role is allowed an action on a resource of the template, by its logical name."""
    return any(
        one["Effect"] == "Allow"
        and action in listed(one["Action"])
        and any(each == "*" or target(each) == resource for each in listed(one["Resource"]))
        for one in statements(template, role)
    )


def right_to_receive(template: Template) -> Iterator[str]:
    """Lambda makes a queue's mapping only where the function may receive from it."""
    for name, told in of_kind(template, "AWS::Lambda::EventSourceMapping"):
        queue = target(told.get("EventSourceArn"))
        role = target(referred(told["FunctionName"], template).get("Role"))
        missing = [action for action in _TAKE if not may(template, role, action, queue)]
        if missing:
            yield f"{name}: the function may not {', '.join(missing)} of {queue}"


def right_to_send(template: Template) -> Iterator[str]:
    """Lambda sets a destination only where the function may send to it."""
    for name, told in of_kind(template, "AWS::Lambda::EventInvokeConfig"):
        for one in told.get("DestinationConfig", {}).values():
            role = target(referred(told["FunctionName"], template).get("Role"))
            queue = target(one["Destination"])
            if not may(template, role, "sqs:SendMessage", queue):
                yield f"{name}: the function may not send to {queue}"


def right_to_trace(template: Template) -> Iterator[str]:
    """Lambda makes a function with tracing only where its role may trace."""
    for name, told in of_kind(template, FUNCTION):
        active = "Active" in values(told.get("TracingConfig", {}).get("Mode"), template)
        if active and not all(may(template, target(told["Role"]), one, None) for one in _TRACE):
            yield f"{name} traces, which {target(told['Role'])} does not let it"


def right_to_start(template: Template) -> Iterator[str]:
    """A schedule's role may start what it is for, and send what it cannot deliver."""
    for name, told in of_kind(template, SCHEDULE):
        to, role = told["Target"], target(told["Target"]["RoleArn"])
        if not may(template, role, "lambda:InvokeFunction", target(to["Arn"])):
            yield f"{name} may not start {target(to['Arn'])}"
        letters = target(to.get("DeadLetterConfig", {}).get("Arn"))
        if letters and not may(template, role, "sqs:SendMessage", letters):
            yield f"{name} may not send to {letters}"


def taken_on(template: Template) -> Iterator[str]:
    """A role trusts the service that takes it on: Lambda, or the scheduler."""
    documents = ((name, told["AssumeRolePolicyDocument"]) for name, told in of_kind(template, ROLE))
    trusting = {name: json.dumps(document) for name, document in documents}
    users = [(name, told["Role"], "lambda") for name, told in of_kind(template, FUNCTION)]
    starting = ((name, told["Target"]["RoleArn"]) for name, told in of_kind(template, SCHEDULE))
    users += [(name, role, "scheduler") for name, role in starting]
    for name, role, service in users:
        if f"{service}.amazonaws.com" not in trusting.get(target(role) or "", ""):
            yield f"{name} cannot take on {target(role)}, which does not trust {service}"


def confused_deputy(template: Template) -> Iterator[str]:
    """A service that acts for anybody is let in for this account, or this resource, only."""
    for name, told in template["Resources"].items():
        properties = told.get("Properties", {})
        for document in (
            properties.get("AssumeRolePolicyDocument"),
            properties.get("PolicyDocument"),
        ):
            for one in listed((document or {}).get("Statement", [])):
                if _lets_in(one) and "aws:Source" not in json.dumps(one.get("Condition", {})):
                    yield f"{name} lets {one['Principal']['Service']} in for whoever asks it"
        if told["Type"] == "AWS::Lambda::Permission" and not (
            {"SourceArn", "SourceAccount"} & properties.keys()
        ):
            yield f"{name} lets {properties['Principal']} in for whoever asks it"


def _lets_in(statement: Part) -> bool:
    """Whether a statement lets a service in that acts for others; a function's role is its own."""
    principal = statement.get("Principal")
    services = listed(principal.get("Service", [])) if isinstance(principal, dict) else []
    return statement["Effect"] == "Allow" and bool(set(services) - {"lambda.amazonaws.com"})


def policy_sizes(template: Template) -> Iterator[str]:
    """Of a role 10,240 characters in all of its own policies, 2,048 in its trust; managed 6,144."""
    for name, told in of_kind(template, ROLE):
        written = sum(size(one, template) for one in statements(template, name))
        if written > 10_240:
            yield f"{name} has policies of {written:,} characters"
        if size(told["AssumeRolePolicyDocument"], template) > 2_048:
            yield f"{name} says of whom it trusts more than 2,048 characters"
    for name, told in of_kind(template, "AWS::IAM::ManagedPolicy"):
        if size(told["PolicyDocument"], template) > 6_144:
            yield f"{name} has more than 6,144 characters"


def bounded(template: Template) -> Iterator[str]:
    """A role takes the boundary that a deployment names."""
    for name, told in of_kind(template, ROLE):
        asked = {"Fn::If": ["Bounded", {"Ref": "Boundary"}, {"Ref": "AWS::NoValue"}]}
        if told.get("PermissionsBoundary") != asked:
            yield f"{name} takes no boundary"


def idle_right(template: Template) -> Iterator[str]:
    """An action is allowed on what its service has; each resource is one for such an action."""
    kinds = {name: _SERVICES.get(told["Type"]) for name, told in template["Resources"].items()}
    for name, told in template["Resources"].items():
        for statement in statements(template, name) if told["Type"] == ROLE else []:
            about = {kinds.get(target(one) or "") for one in listed(statement["Resource"])}
            services = {one for one in about if one is not None}
            actions = [one for one in listed(statement["Action"]) if isinstance(one, str)]
            named = {action.partition(":")[0] for action in actions}
            if None not in about and actions:
                for idle in sorted(named ^ services):
                    yield f"{name} allows {', '.join(actions)}, of which {idle} knows nothing"
