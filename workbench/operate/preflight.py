"""Whether an account takes the stack: looked at before a deployment, without changing anything."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from cardsharp.cloud.aws import call
from cardsharp.errors import ConfigError, StoreError
from workbench.cloud.template import ARENA, TEMPLATE, all_resources, load_template
from workbench.operate.stack import Clients
from workbench.show.checks import Check, Skipped, attempt

RIGHTS = "workbench/operate/deployer.json"
"""What a deployment and these commands need, as a policy."""

ASKED = (
    (
        "cloudformation:CreateChangeSet",
        "arn:aws:cloudformation:{region}:{account}:stack/cardsharp-dev/*",
    ),
    ("s3:PutObject", "arn:aws:s3:::aws-sam-cli-managed-default-samclisourcebucket/any"),
    ("iam:CreateRole", "arn:aws:iam::{account}:role/cardsharp-dev-any"),
    ("iam:PassRole", "arn:aws:iam::{account}:role/cardsharp-dev-any"),
    ("lambda:CreateFunction", "arn:aws:lambda:{region}:{account}:function:cardsharp-dev-any"),
    ("lambda:PublishLayerVersion", "arn:aws:lambda:{region}:{account}:layer:cardsharp-dev-any"),
    ("lambda:CreateEventSourceMapping", None),
    ("dynamodb:CreateTable", "arn:aws:dynamodb:{region}:{account}:table/cardsharp-dev-any"),
    ("sqs:CreateQueue", "arn:aws:sqs:{region}:{account}:cardsharp-dev-any"),
    ("sns:CreateTopic", "arn:aws:sns:{region}:{account}:cardsharp-dev-any"),
    ("ssm:PutParameter", "arn:aws:ssm:{region}:{account}:parameter/cardsharp-dev/arena"),
    (
        "scheduler:CreateSchedule",
        "arn:aws:scheduler:{region}:{account}:schedule/default/cardsharp-dev-any",
    ),
    ("logs:CreateLogGroup", "arn:aws:logs:{region}:{account}:log-group:cardsharp-dev-any"),
    ("cloudwatch:PutMetricAlarm", "arn:aws:cloudwatch:{region}:{account}:alarm:cardsharp-dev-any"),
)
"""One action of each kind that a deployment takes, and what it does that to."""

POLLERS, PRACTICE = 2, 1
"""How many pollers overlap for a moment, and an operator's order besides."""

UNRESERVED = 100
"""Concurrent executions that AWS leaves to functions without a reservation of their own."""


@dataclass(frozen=True, slots=True)
class Demand:
    """What is to be deployed, as far as an account can refuse it."""

    matches: int
    reserve: bool
    services: tuple[str, ...] = ()
    web: bool = False

    @property
    def needed(self) -> int:
        """Concurrent executions that the bot uses at most."""
        return self.matches + POLLERS + PRACTICE

    @property
    def reserved(self) -> int:
        """Concurrent executions that `Reserve=yes` takes for functions of their own.

        Raises:
            ConfigError: there is no such service.
        """
        told = {
            name: _most(resource.properties["ReservedConcurrentExecutions"])
            for name, resource in all_resources().items()
            if "ReservedConcurrentExecutions" in resource.properties
        }
        wanted = ["Poller", *(["viewerService"] if self.web else [])]
        for service in self.services:
            if f"{service}Service" not in told:
                raise ConfigError(f"There is no service {service}.")
            wanted.append(f"{service}Service")
            wanted += ["Director"] if service == "deadmansdraw" else []
        return sum(told[name] for name in wanted)


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


def preflight(client: Clients, demand: Demand) -> Iterator[Check]:
    """Look at region, credentials, rights and quota."""
    yield attempt("region", lambda: str(client("lambda").meta.region_name))
    yield attempt("credentials", lambda: _caller(client))
    yield attempt("rights", lambda: _rights(client, _caller(client)))
    yield attempt("quota", lambda: judge_quota(_quota(client), demand))


def _caller(client: Clients) -> str:
    """The ARN of whoever we are."""
    who = call("account", client("sts").get_caller_identity)
    return str(who["Arn"])


def _quota(client: Clients) -> int:
    told = call("account's settings", client("lambda").get_account_settings)
    return int(told["AccountLimit"]["ConcurrentExecutions"])


def judge_quota(quota: int, demand: Demand) -> str:
    """What an account with so many concurrent executions makes of such a demand.

    Raises:
        ConfigError: it refuses it, or some matches would wait; the message says what to change.
    """
    raise_it = "or ask Service Quotas for more of Lambda's Concurrent executions"
    if quota < demand.needed:
        fits = max(2, quota - demand.needed + demand.matches)
        raise ConfigError(
            f"{quota} concurrent executions are too few for {demand.matches} matches at once, "
            f"which take {demand.needed}; deploy with MatchLimit={fits}, {raise_it}."
        )
    left = max(0, quota - UNRESERVED)
    if demand.reserve and demand.reserved > left:
        raise ConfigError(
            f"Of {quota} concurrent executions {left or 'none'} can be reserved, and Reserve=yes "
            f"takes {demand.reserved}; deploy with Reserve=no, {raise_it}."
        )
    told = f"{quota} concurrent executions, {demand.needed} of them used by the bot at most"
    if demand.reserve:
        told += f", {demand.reserved} reserved"
    elif demand.services or demand.web:
        told += "; without Reserve=yes who asks the services can take them from it"
    if not demand.reserve and demand.reserved <= left:
        told += "; there is room for Reserve=yes and a larger MatchLimit"
    return told


def _rights(client: Clients, arn: str) -> str:
    """Whether the identity has the rights of `RIGHTS`, as far as AWS simulates them.

    Raises:
        ConfigError: some are missing.
        Skipped: AWS cannot tell.
    """
    account, identity = arn.split(":")[4], arn.split(":", 5)[5]
    if identity == "root":
        raise Skipped("the account's root user may do everything; better use a role")
    if identity.startswith("assumed-role/"):
        arn = f"arn:aws:iam::{account}:role/{identity.split('/')[1]}"
    iam, region = client("iam"), client("lambda").meta.region_name
    missing = []
    for action, resource in ASKED:
        asked = {"ActionNames": [action], "PolicySourceArn": arn}
        if resource is not None:
            asked["ResourceArns"] = [resource.format(region=region, account=account)]
        try:
            told = call("rights", iam.simulate_principal_policy, **asked)
        except StoreError as error:
            raise Skipped(f"they cannot be looked up: {error}") from None
        missing += [action for one in told["EvaluationResults"] if one["EvalDecision"] != "allowed"]
    if missing:
        raise ConfigError(f"{arn} may not {', '.join(missing)}; attach {RIGHTS} to it.")
    return "enough to deploy"
