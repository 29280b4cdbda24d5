"""`cardsharp cloud deploy`: build and deploy, from a clone or from the installed command."""

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from workbench.cli.cloud_where import USUAL, StackOptions
from workbench.operate import deploying
from workbench.operate.stack import DEFAULT_NAME


def deploy(
    parameters: Annotated[
        tuple[str, ...],
        Parameter(
            help="Parameters of the template, as ArenaUrl=https://arena.example MatchLimit=4."
        ),
    ] = (),
    /,
    *,
    stage: Annotated[
        Literal["dev", "prod", "arena"],
        Parameter(help="The bot to try, the bot to keep, or an arena alone."),
    ] = "dev",
    yes: Annotated[bool, Parameter(negative=(), help="Do not ask before the change.")] = False,
    into: Annotated[
        Path | None,
        Parameter(help="Where the project is unpacked if this is no clone; else cardsharp-stack."),
    ] = None,
    options: StackOptions = USUAL,
) -> int:
    """Build the stack and deploy it by SAM, which shows what it changes and asks.

    An update keeps every parameter that is not named.
    """
    stack = f"cardsharp-{stage}" if options.stack == DEFAULT_NAME else options.stack
    more = ["--no-confirm-changeset"] if yes else []
    more += ["--region", options.region] if options.region else []
    return deploying.deploy(deploying.project(into), stage, stack, parameters, more)
