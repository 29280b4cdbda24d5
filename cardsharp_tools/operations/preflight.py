"""Check of an account before a deployment, without changing anything."""

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from cardsharp.aws.client import call_with_retries
from cardsharp.errors import ConfigError, StoreError
from cardsharp_tools.cli.health_checks import CheckResult, CheckSkipped, CheckStatus, run_check
from cardsharp_tools.local_cloud.arena_concurrency import (
    DIRECTOR_EXECUTIONS,
    TEAM_EXECUTIONS,
    arena_executions,
)
from cardsharp_tools.local_cloud.template_files import (
    ARENA_TEMPLATE,
    TEMPLATE,
    all_template_resources,
    load_template,
    service_resource_prefix,
)
from cardsharp_tools.operations.stack import DEFAULT_NAME, Client, Clients, find_stack

DEPLOYER_TEMPLATE = (
    "cardsharp_tools/operations/deployer.yaml"  # makes the policy that a deployer needs
)
ARENA_SERVICE = "deadmansdraw"  # deployed with a director, by the arena's own template

_PERMISSION_TABLE = Path(__file__).with_suffix(".toml")
"""One action of each kind that a deployment takes, what it does that to, and what IAM is told."""

BOUNDARY_ARN = "arn:aws:iam::{account}:policy/boundary-of-cardsharp-{region}"
"""The boundary that `RIGHTS` makes, without which whoever has no more makes no role."""

POLLERS, PRACTICE = 2, 1  # how many pollers overlap for a moment, and an operator's order besides

TEAMS = 20  # of a usual contest

MIN_UNRESERVED_CONCURRENCY = 100  # executions that AWS leaves to functions without a reservation

QUOTA_INCREASE_HINT = (
    "ask AWS for more: aws service-quotas request-service-quota-increase --service-code lambda "
    "--quota-code L-B99A9384 --desired-value 1000"
)


@dataclass(frozen=True, slots=True)
class ConcurrencyDemand:
    """Planned deployment, from which the demand for concurrent executions is computed.

    `matches` is 0 without a bot, and `teams` is 0 without an arena.
    """

    matches: int
    reserve_concurrency: bool
    services: tuple[str, ...] = ()
    web: bool = False
    teams: int = 0
    stack: str = DEFAULT_NAME

    @property
    def bot_concurrency(self) -> int:
        """Concurrent executions that the bot uses at most."""
        return self.matches + POLLERS + PRACTICE if self.matches else 0

    @property
    def arena_concurrency(self) -> int:
        """Concurrent executions that an arena's clients and its director use at most."""
        return arena_executions(self.teams) if self.teams else 0

    @property
    def reserved_concurrency(self) -> int:
        """Concurrency that `Reserve=yes` reserves for functions.

        Raises `ConfigError` for an unknown service.
        """
        reserved_by_function = {
            name: _resolve_reserved_concurrency(
                resource["Properties"]["ReservedConcurrentExecutions"]
            )
            for name, resource in all_template_resources().items()
            if "ReservedConcurrentExecutions" in resource.get("Properties", {})
        }
        function_names = [f"{service_resource_prefix(service)}Service" for service in self.services]
        function_names += ["ViewerService"] if self.web else []
        function_names += ["Poller"] if self.matches else []
        function_names += ["Director"] if ARENA_SERVICE in self.services else []
        unknown = [name for name in function_names if name not in reserved_by_function]
        if unknown:
            name = unknown[0].removesuffix("Service").lower()
            raise ConfigError(f"There is no service {name}.")
        # A contest of more teams is deployed with a ServiceConcurrency of its own.
        larger = max(0, TEAM_EXECUTIONS * self.teams - reserved_by_function["ArenaService"])
        return sum(reserved_by_function[name] for name in function_names) + larger


def _resolve_reserved_concurrency(reserved: Any) -> int:  # noqa: ANN401 - a part of the template
    """Return the reserved concurrency with `Reserve=yes` and the parameters' defaults."""
    if not isinstance(reserved, dict):
        return int(reserved)
    if "Ref" in reserved:
        return int(load_template(ARENA_TEMPLATE)["Parameters"][reserved["Ref"]]["Default"])
    condition, yes, no = reserved["Fn::If"]
    return _resolve_reserved_concurrency(yes if condition.endswith("HasReserve") else no)


def default_demand() -> ConcurrencyDemand:
    """Return the demand of the template with its default parameters."""
    parameters = load_template(TEMPLATE)["Parameters"]
    return ConcurrencyDemand(
        parameters["MatchLimit"]["Default"], parameters["Reserve"]["Default"] == "yes"
    )


def planned_demand(
    services: tuple[str, ...],
    *,
    web: bool = False,
    matches: int | None = None,
    teams: int | None = None,
) -> ConcurrencyDemand:
    """Return the demand of a planned deployment.

    It includes an arena if the arena or its teams are given. Otherwise it also includes the
    bot.
    """
    usual = default_demand()
    arena = ARENA_SERVICE in services or bool(teams)
    games = tuple(service for service in services if service != ARENA_SERVICE)
    alone = arena and not games and not web and matches is None
    return replace(
        usual,
        matches=0 if alone else matches or usual.matches,
        services=(*games, *([ARENA_SERVICE] if arena else [])),
        web=web,
        teams=(teams or TEAMS) if arena else 0,
    )


def run_preflight_checks(client: Clients, demand: ConcurrencyDemand) -> Iterator[CheckResult]:
    """Check region, credentials, permissions and quota, and yield the results."""

    def caller() -> str:
        """The ARN of whoever we are."""
        return str(call_with_retries("account", client("sts").get_caller_identity)["Arn"])

    yield run_check("region", lambda: str(client("lambda").meta.region_name))
    yield run_check("credentials", caller)
    yield run_check("rights", lambda: _check_permissions(client, caller(), demand.stack))
    yield run_check("quota", lambda: check_quota(account_quota(client), demand))


def account_quota(client: Clients) -> int:
    """Return the account's limit of concurrent executions."""
    settings = call_with_retries("account's settings", client("lambda").get_account_settings)
    return int(settings["AccountLimit"]["ConcurrentExecutions"])


def check_quota(quota: int, demand: ConcurrencyDemand) -> str:
    """Return a summary of a demand against a quota; raise `ConfigError` if the quota is too low.

    The error says what to change.
    """
    needed = demand.bot_concurrency + demand.arena_concurrency
    bot = [f"{demand.matches} matches at once"] if demand.matches else []
    users = " and ".join([*bot, *([f"{demand.teams} teams"] if demand.teams else [])])
    if quota < needed:
        fits = max(2, quota - POLLERS - PRACTICE)
        teams = max(0, (quota - demand.bot_concurrency - DIRECTOR_EXECUTIONS) // TEAM_EXECUTIONS)
        room = f" ({teams} teams fit)" if demand.teams else ""
        less = f"deploy with MatchLimit={fits}, or " if not demand.teams else ""
        raise ConfigError(
            f"{quota} concurrent executions are too few for {users}, which need {needed}{room}; "
            f"{less}{QUOTA_INCREASE_HINT}"
        )
    reservable = max(0, quota - MIN_UNRESERVED_CONCURRENCY)
    if demand.reserve_concurrency and demand.reserved_concurrency > reservable:
        raise ConfigError(
            f"Of {quota} concurrent executions, {reservable or 'none'} can be "
            "reserved, but Reserve=yes "
            f"needs {demand.reserved_concurrency}; deploy with Reserve=no, or {QUOTA_INCREASE_HINT}"
        )
    has_public_address = bool(demand.services) or demand.web
    has_room = demand.reserved_concurrency <= reservable
    if has_public_address and has_room and not demand.reserve_concurrency:
        raise ConfigError(
            f"A flood of requests to the services could use all {quota} concurrent executions, and "
            "you would pay for them. Deploy with Reserve=yes, which limits them to "
            f"{demand.reserved_concurrency}, and check it with --reserve (docs/cost.md)."
        )
    summary = f"{quota} concurrent executions, at most {needed} of them used by {users}"
    if demand.reserve_concurrency:
        summary += f", {demand.reserved_concurrency} reserved"
    elif has_public_address:
        summary += "; without Reserve=yes, requests to the services can use them up"
    if not demand.reserve_concurrency and has_room:
        summary += "; there is room for Reserve=yes and a larger MatchLimit"
    return summary


def _check_permissions(client: Clients, arn: str, stack: str) -> str:
    """Check the permissions in the permission table by IAM's policy simulation.

    Raise `ConfigError` if one is missing, or `CheckSkipped` if they cannot be simulated.
    """
    account, identity = arn.split(":")[4], arn.split(":", 5)[5]
    if identity == "root":
        raise CheckSkipped("the account's root user has all rights; better use a role")
    if identity.startswith("assumed-role/"):
        arn = f"arn:aws:iam::{account}:role/{identity.split('/')[1]}"
    template_values = {
        "region": client("lambda").meta.region_name,
        "account": account,
        "stack": stack,
    }
    boundary = BOUNDARY_ARN.format(**template_values)

    def may(action: str, resource: str, context_values: Mapping[str, str]) -> bool:
        resource_arn = resource.format(service=action.partition(":")[0], **template_values)
        return _is_allowed_by_simulation(client("iam"), arn, action, resource_arn, context_values)

    missing, advice = [], ""
    for permission in tomllib.loads(_PERMISSION_TABLE.read_text("utf-8"))["asked"]:
        action, resource, context = (
            permission["action"],
            permission["resource"],
            permission.get("told", {}),
        )
        if may(
            action,
            resource,
            {key: template.format(**template_values) for key, template in context.items()},
        ):
            continue
        bounded = {"iam:PermissionsBoundary": boundary}
        if action == "iam:CreateRole" and may(action, resource, bounded):
            advice = f", with Boundary={boundary}"
        else:
            missing.append(action)
    if missing:
        raise ConfigError(
            f"{arn} lacks permission for {', '.join(missing)}. Attach the policy that "
            f"{DEPLOYER_TEMPLATE} creates."
        )
    return f"enough to deploy {stack}{advice}"


def _is_allowed_by_simulation(
    iam: Client, arn: str, action: str, resource: str, context: Mapping[str, str]
) -> bool:
    """Return True if IAM's simulation allows an identity an action.

    Raise `CheckSkipped` if the simulation is not available.
    """
    context_entries = [
        {"ContextKeyName": key, "ContextKeyValues": [value], "ContextKeyType": "string"}
        for key, value in context.items()
    ]
    request = {"PolicySourceArn": arn, "ActionNames": [action], "ResourceArns": [resource]}
    try:
        response = call_with_retries(
            "rights", iam.simulate_principal_policy, **request, ContextEntries=context_entries
        )
    except StoreError as error:
        raise CheckSkipped(f"IAM cannot simulate them: {error}") from None
    return all(
        evaluation["EvalDecision"] == "allowed" for evaluation in response["EvaluationResults"]
    )


UPGRADE_RUNBOOK = "docs/operations.md, From version 0.2"


def check_update_keeps_services(client: Clients, name: str) -> Iterator[CheckResult]:
    """Yield a failed check if the stack is of version 0.2 and would lose services."""
    try:
        parameters = find_stack(name, client).parameters
    except (ConfigError, StoreError):
        return  # there is none, or no access, which preflight says itself
    games = [
        service for service in parameters.get("Services", "none").split(",") if service != "none"
    ]
    pages = ["the pages"] if "Services" in parameters and parameters["DeployWeb"] == "yes" else []
    if games or pages:
        deleted_parts = ", ".join([*games, *pages])
        text = (
            f"{name} is of version 0.2. Its match log stays, but an update deletes "
            f"{deleted_parts} with "
            f"their tables. Deploy them as stacks of their own ({UPGRADE_RUNBOOK})."
        )
        yield CheckResult("upgrade", CheckStatus.FAILED, text)
