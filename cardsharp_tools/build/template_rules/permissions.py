"""Rules of `service_rules.toml` for roles and policies that AWS rejects or that fail later."""

import json
from collections.abc import Iterator

from cardsharp_tools.build.sam_transform import Template
from cardsharp_tools.build.template_rules.expressions import (
    Expression,
    as_list,
    max_document_length,
    possible_values,
    referenced_name,
    referenced_properties,
    resources_of_type,
)

FUNCTION, ROLE, POLICY = "AWS::Lambda::Function", "AWS::IAM::Role", "AWS::IAM::Policy"
SCHEDULE_TYPE = "AWS::Scheduler::Schedule"

_SERVICE_BY_TYPE = {
    "AWS::DynamoDB::Table": "dynamodb",
    "AWS::Lambda::Function": "lambda",
    "AWS::Logs::LogGroup": "logs",
    "AWS::SNS::Topic": "sns",
    "AWS::SQS::Queue": "sqs",
}
"""As which service's its resources are named in a policy."""

_RECEIVE_ACTIONS = ("sqs:ReceiveMessage", "sqs:DeleteMessage", "sqs:GetQueueAttributes")
_TRACE_ACTIONS = ("xray:PutTraceSegments", "xray:PutTelemetryRecords")


def role_policy_statements(template: Template, role: str | None) -> Iterator[Expression]:
    """Yield all statements of a role's inline policies and of the policies attached to it."""
    for name, properties in resources_of_type(template, ROLE):
        for policy in properties.get("Policies", []) if name == role else []:
            yield from _iter_statements(policy["PolicyDocument"], template)
    for _, properties in resources_of_type(template, POLICY):
        if role in {referenced_name(reference) for reference in properties.get("Roles", [])}:
            yield from _iter_statements(properties["PolicyDocument"], template)


def _iter_statements(document: Expression, template: Template) -> Iterator[Expression]:
    """Yield a policy's statements, also those that only some deployments have."""
    for statement in as_list(document["Statement"]):
        yield from possible_values(statement, template)


def is_allowed(template: Template, role: str | None, action: str, resource: str | None) -> bool:
    """Return True if a role allows an action on a resource, given by its logical name."""
    return any(
        statement["Effect"] == "Allow"
        and action in as_list(statement["Action"])
        and any(
            each == "*" or referenced_name(each) == resource
            for each in as_list(statement["Resource"])
        )
        for statement in role_policy_statements(template, role)
    )


def check_queue_receive(template: Template) -> Iterator[str]:
    """Yield each queue mapping whose function may not receive from the queue."""
    for name, mapping in resources_of_type(template, "AWS::Lambda::EventSourceMapping"):
        queue = referenced_name(mapping.get("EventSourceArn"))
        role = referenced_name(referenced_properties(mapping["FunctionName"], template).get("Role"))
        missing = [
            action for action in _RECEIVE_ACTIONS if not is_allowed(template, role, action, queue)
        ]
        if missing:
            yield f"{name}: the function may not {', '.join(missing)} of {queue}"


def check_destination_send(template: Template) -> Iterator[str]:
    """Yield each destination that the function may not send to."""
    for name, invoke_config in resources_of_type(template, "AWS::Lambda::EventInvokeConfig"):
        for destination in invoke_config.get("DestinationConfig", {}).values():
            role = referenced_name(
                referenced_properties(invoke_config["FunctionName"], template).get("Role")
            )
            queue = referenced_name(destination["Destination"])
            if not is_allowed(template, role, "sqs:SendMessage", queue):
                yield f"{name}: the function may not send to {queue}"


def check_tracing(template: Template) -> Iterator[str]:
    """Yield each function with tracing whose role does not allow tracing."""
    for name, function in resources_of_type(template, FUNCTION):
        active = "Active" in possible_values(
            function.get("TracingConfig", {}).get("Mode"), template
        )
        if active and not all(
            is_allowed(template, referenced_name(function["Role"]), action, None)
            for action in _TRACE_ACTIONS
        ):
            yield f"{name} traces, which {referenced_name(function['Role'])} does not let it"


def check_schedule_role(template: Template) -> Iterator[str]:
    """Yield each schedule whose role may not start its target or send to its dead-letter queue."""
    for name, schedule in resources_of_type(template, SCHEDULE_TYPE):
        to, role = schedule["Target"], referenced_name(schedule["Target"]["RoleArn"])
        if not is_allowed(template, role, "lambda:InvokeFunction", referenced_name(to["Arn"])):
            yield f"{name} may not start {referenced_name(to['Arn'])}"
        letters = referenced_name(to.get("DeadLetterConfig", {}).get("Arn"))
        if letters and not is_allowed(template, role, "sqs:SendMessage", letters):
            yield f"{name} may not send to {letters}"


def check_trust_policy(template: Template) -> Iterator[str]:
    """Yield each role that does not trust its service: Lambda or the scheduler."""
    documents = (
        (name, role["AssumeRolePolicyDocument"]) for name, role in resources_of_type(template, ROLE)
    )
    trusting = {name: json.dumps(document) for name, document in documents}
    users = [
        (name, function["Role"], "lambda")
        for name, function in resources_of_type(template, FUNCTION)
    ]
    starting = (
        (name, schedule["Target"]["RoleArn"])
        for name, schedule in resources_of_type(template, SCHEDULE_TYPE)
    )
    users += [(name, role, "scheduler") for name, role in starting]
    for name, role, service in users:
        if f"{service}.amazonaws.com" not in trusting.get(referenced_name(role) or "", ""):
            yield f"{name} cannot take on {referenced_name(role)}, which does not trust {service}"


def check_confused_deputy(template: Template) -> Iterator[str]:
    """Yield each service that is admitted without a source account or source ARN."""
    for name, resource in template["Resources"].items():
        properties = resource.get("Properties", {})
        for document in (
            properties.get("AssumeRolePolicyDocument"),
            properties.get("PolicyDocument"),
        ):
            for statement in as_list((document or {}).get("Statement", [])):
                if _admits_foreign_service(statement) and "aws:Source" not in json.dumps(
                    statement.get("Condition", {})
                ):
                    yield f"{name} lets {statement['Principal']['Service']} in for whoever asks it"
        if resource["Type"] == "AWS::Lambda::Permission" and not (
            {"SourceArn", "SourceAccount"} & properties.keys()
        ):
            yield f"{name} lets {properties['Principal']} in for whoever asks it"


def _admits_foreign_service(statement: Expression) -> bool:
    """Return True if a statement admits a service that acts for other accounts.

    A function's role trusts only a service that acts for the function itself.
    """
    principal = statement.get("Principal")
    services = as_list(principal.get("Service", [])) if isinstance(principal, dict) else []
    return statement["Effect"] == "Allow" and bool(set(services) - {"lambda.amazonaws.com"})


def check_policy_sizes(template: Template) -> Iterator[str]:
    """Yield each role or policy above IAM's size limits.

    The limits are 10,240 characters for all inline policies of a role, 2,048 for its trust policy,
    and 6,144 for a managed policy.
    """
    for name, properties in resources_of_type(template, ROLE):
        written = sum(
            max_document_length(statement, template)
            for statement in role_policy_statements(template, name)
        )
        if written > 10_240:
            yield f"{name} has policies of {written:,} characters"
        if max_document_length(properties["AssumeRolePolicyDocument"], template) > 2_048:
            yield f"{name} says of whom it trusts more than 2,048 characters"
    for name, properties in resources_of_type(template, "AWS::IAM::ManagedPolicy"):
        if max_document_length(properties["PolicyDocument"], template) > 6_144:
            yield f"{name} has more than 6,144 characters"


def check_permission_boundary(template: Template) -> Iterator[str]:
    """Yield each role without the permission boundary that a deployment names."""
    is_given = {"Fn::Not": [{"Fn::Equals": [{"Ref": "Boundary"}, ""]}]}
    conditions = [name for name, test in template.get("Conditions", {}).items() if test == is_given]
    expected = [
        {"Fn::If": [condition, {"Ref": "Boundary"}, {"Ref": "AWS::NoValue"}]}
        for condition in conditions
    ]
    for name, role in resources_of_type(template, ROLE):
        if role.get("PermissionsBoundary") not in expected:
            yield f"{name} takes no boundary"


def check_action_resource_mismatch(template: Template) -> Iterator[str]:
    """Yield each statement whose actions and resources belong to different services."""
    kinds = {
        name: _SERVICE_BY_TYPE.get(resource["Type"])
        for name, resource in template["Resources"].items()
    }
    for name, resource in template["Resources"].items():
        for statement in role_policy_statements(template, name) if resource["Type"] == ROLE else []:
            about = {
                kinds.get(referenced_name(reference) or "")
                for reference in as_list(statement["Resource"])
            }
            services = {service for service in about if service is not None}
            actions = [action for action in as_list(statement["Action"]) if isinstance(action, str)]
            allowed_services = {action.partition(":")[0] for action in actions}
            if None not in about and actions:
                for idle in sorted(allowed_services ^ services):
                    yield f"{name} allows {', '.join(actions)}, of which {idle} knows nothing"
