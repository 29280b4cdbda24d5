"""Whether an account takes the stack: looked at before a deployment, without changing anything."""

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from cardsharp.cloud.aws import call
from cardsharp.errors import ConfigError, StoreError
from workbench.cloud.template import ARENA, TEMPLATE, all_resources, load_template
from workbench.operate.stack import DEFAULT_NAME, Client, Clients, find_stack
from workbench.show.checks import DoctorCheck, Finding, Skipped, attempt

RIGHTS = "workbench/operate/deployer.yaml"  # makes the policy that a deployer needs
ARENA_SERVICE = "deadmansdraw"  # deployed with a director, by the arena's own template

_ASKED = Path(__file__).with_suffix(".toml")
"""One action of each kind that a deployment takes, what it does that to, and what IAM is told."""

BOUNDARY = "arn:aws:iam::{account}:policy/boundary-of-cardsharp-{region}"
"""The boundary that `RIGHTS` makes, without which whoever has no more makes no role."""

POLLERS, PRACTICE = 2, 1  # how many pollers overlap for a moment, and an operator's order besides

TEAMS, EACH_TEAM, DIRECTORS = 20, 3, 2
"""Teams of a usual contest; of each one's clients, most of the time in long polls, how many
requests are answered at once; ticks of the director. Turns that it plays for teams wait where there
is no room for more."""

UNRESERVED = 100  # executions that AWS leaves to functions without a reservation

MORE = (
    "ask AWS for more: aws service-quotas request-service-quota-increase --service-code lambda "
    "--quota-code L-B99A9384 --desired-value 1000"
)


@dataclass(frozen=True, slots=True)
class Demand:
    """What is to be deployed; no match at once is no bot, and no team is no arena."""

    matches: int
    reserve: bool
    services: tuple[str, ...] = ()
    web: bool = False
    teams: int = 0
    stack: str = DEFAULT_NAME

    @property
    def of_bot(self) -> int:
        """Concurrent executions that the bot uses at most."""
        return self.matches + POLLERS + PRACTICE if self.matches else 0

    @property
    def of_arena(self) -> int:
        """Concurrent executions that an arena's clients and its director use at most."""
        return EACH_TEAM * self.teams + DIRECTORS if self.teams else 0

    @property
    def reserved(self) -> int:
        """What `Reserve=yes` takes for functions; raises `ConfigError` for an unknown service."""
        told = {
            name: _most(resource["Properties"]["ReservedConcurrentExecutions"])
            for name, resource in all_resources().items()
            if "ReservedConcurrentExecutions" in resource.get("Properties", {})
        }
        wanted = [f"{service}Service" for service in self.services]
        wanted += ["viewerService"] if self.web else []
        wanted += ["Poller"] if self.matches else []
        wanted += ["Director"] if ARENA_SERVICE in self.services else []
        unknown = [name for name in wanted if name not in told]
        if unknown:
            raise ConfigError(f"There is no service {unknown[0].removesuffix('Service')}.")
        # A contest of more teams is deployed with a ServiceConcurrency of its own.
        larger = max(0, EACH_TEAM * self.teams - told[f"{ARENA_SERVICE}Service"])
        return sum(told[name] for name in wanted) + larger


def _most(reserved: Any) -> int:  # noqa: ANN401 - a part of the template
    """The number in it, where no parameter sets another."""
    if not isinstance(reserved, dict):
        return int(reserved)
    if "Ref" in reserved:
        return int(load_template(ARENA)["Parameters"][reserved["Ref"]]["Default"])
    condition, yes, no = reserved["Fn::If"]
    return _most(yes if condition == "Reserved" else no)


def default_demand() -> Demand:
    """What the template asks for by itself."""
    parameters = load_template(TEMPLATE)["Parameters"]
    return Demand(parameters["MatchLimit"]["Default"], parameters["Reserve"]["Default"] == "yes")


def planned(
    services: tuple[str, ...],
    *,
    web: bool = False,
    matches: int | None = None,
    teams: int | None = None,
) -> Demand:
    """What is to be deployed: an arena where it or its teams are named, and else the bot, too."""
    usual = default_demand()
    arena = ARENA_SERVICE in services or bool(teams)
    games = tuple(one for one in services if one != ARENA_SERVICE)
    alone = arena and not games and not web and matches is None
    return replace(
        usual,
        matches=0 if alone else matches or usual.matches,
        services=(*games, *([ARENA_SERVICE] if arena else [])),
        web=web,
        teams=(teams or TEAMS) if arena else 0,
    )


def preflight(client: Clients, demand: Demand) -> Iterator[DoctorCheck]:
    """Look at region, credentials, rights and quota."""

    def caller() -> str:
        """The ARN of whoever we are."""
        return str(call("account", client("sts").get_caller_identity)["Arn"])

    yield attempt("region", lambda: str(client("lambda").meta.region_name))
    yield attempt("credentials", caller)
    yield attempt("rights", lambda: _rights(client, caller(), demand.stack))
    yield attempt("quota", lambda: judge_quota(quota_of(client), demand))


def quota_of(client: Clients) -> int:
    """The concurrent executions that an account has for all functions together."""
    told = call("account's settings", client("lambda").get_account_settings)
    return int(told["AccountLimit"]["ConcurrentExecutions"])


def judge_quota(quota: int, demand: Demand) -> str:
    """What an account makes of a demand; raises `ConfigError` with what to change if too little."""
    needed = demand.of_bot + demand.of_arena
    bot = [f"{demand.matches} matches at once"] if demand.matches else []
    users = " and ".join([*bot, *([f"{demand.teams} teams"] if demand.teams else [])])
    if quota < needed:
        fits = max(2, quota - POLLERS - PRACTICE)
        teams = max(0, (quota - demand.of_bot - DIRECTORS) // EACH_TEAM)
        room = f" ({teams} teams fit)" if demand.teams else ""
        less = f"deploy with MatchLimit={fits}, or " if not demand.teams else ""
        raise ConfigError(
            f"{quota} concurrent executions are too few for {users}, which take {needed}{room}; "
            f"{less}{MORE}"
        )
    left = max(0, quota - UNRESERVED)
    if demand.reserve and demand.reserved > left:
        raise ConfigError(
            f"Of {quota} concurrent executions {left or 'none'} can be reserved, and Reserve=yes "
            f"takes {demand.reserved}; deploy with Reserve=no, or {MORE}"
        )
    told = f"{quota} concurrent executions, at most {needed} of them used by {users}"
    if demand.reserve:
        told += f", {demand.reserved} reserved"
    elif demand.services or demand.web:
        told += "; without Reserve=yes who asks the services can take them from it"
    if not demand.reserve and demand.reserved <= left:
        told += "; there is room for Reserve=yes and a larger MatchLimit"
    return told


def _rights(client: Clients, arn: str, stack: str) -> str:
    """Whether AWS simulates the rights of `RIGHTS`; raises `ConfigError`, or `Skipped`."""
    account, identity = arn.split(":")[4], arn.split(":", 5)[5]
    if identity == "root":
        raise Skipped("the account's root user may do everything; better use a role")
    if identity.startswith("assumed-role/"):
        arn = f"arn:aws:iam::{account}:role/{identity.split('/')[1]}"
    names = {"region": client("lambda").meta.region_name, "account": account, "stack": stack}
    boundary = BOUNDARY.format(**names)

    def may(action: str, resource: str, told: Mapping[str, str]) -> bool:
        place = resource.format(service=action.partition(":")[0], **names)
        return _simulated(client("iam"), arn, action, place, told)

    missing, advice = [], ""
    for one in tomllib.loads(_ASKED.read_text("utf-8"))["asked"]:
        action, resource, context = one["action"], one["resource"], one.get("told", {})
        if may(action, resource, {key: told.format(**names) for key, told in context.items()}):
            continue
        bounded = {"iam:PermissionsBoundary": boundary}
        if action == "iam:CreateRole" and may(action, resource, bounded):
            advice = f", with Boundary={boundary}"
        else:
            missing.append(action)
    if missing:
        raise ConfigError(f"{arn} may not {', '.join(missing)}; attach what {RIGHTS} makes to it.")
    return f"enough to deploy {stack}{advice}"


def _simulated(
    iam: Client, arn: str, action: str, resource: str, context: Mapping[str, str]
) -> bool:
    """Whether IAM says that an identity may do something; raises `Skipped` if it does not say."""
    entries = [
        {"ContextKeyName": key, "ContextKeyValues": [value], "ContextKeyType": "string"}
        for key, value in context.items()
    ]
    asked = {"PolicySourceArn": arn, "ActionNames": [action], "ResourceArns": [resource]}
    try:
        told = call("rights", iam.simulate_principal_policy, **asked, ContextEntries=entries)
    except StoreError as error:
        raise Skipped(f"they cannot be looked up: {error}") from None
    return all(one["EvalDecision"] == "allowed" for one in told["EvaluationResults"])


UPGRADE = "docs/operations.md, From version 0.2"


def outdated(client: Clients, name: str) -> Iterator[DoctorCheck]:
    """Nothing, unless the stack is there and its games, pages or arena are of version 0.2."""
    try:
        parameters = find_stack(name, client).parameters
    except (ConfigError, StoreError):
        return  # there is none, or no access, which preflight says itself
    games = [one for one in parameters.get("Services", "none").split(",") if one != "none"]
    pages = ["the pages"] if "Services" in parameters and parameters["DeployWeb"] == "yes" else []
    if games or pages:
        gone = ", ".join([*games, *pages])
        text = (
            f"{name} is of version 0.2: its match log stays, but {gone} will have new addresses "
            f"and empty tables, or are gone where they are not asked for ({UPGRADE})."
        )
        yield DoctorCheck("upgrade", Finding.FAILED, text)
