"""Which deployed stack a command of `cardsharp cloud` is about."""

from dataclasses import dataclass
from typing import Annotated

from cyclopts import Parameter

from workbench.operate.stack import DEFAULT_NAME, Stack, account_clients, find_stack
from workbench.show.options import Json


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class StackOptions:
    """Which stack, and how its answer is printed; the account is that of the environment."""

    stack: Annotated[str, Parameter(help="The stack's name.")] = DEFAULT_NAME
    region: Annotated[str | None, Parameter(help="Its region; else AWS_DEFAULT_REGION.")] = None
    as_json: Json = False

    def find(self) -> Stack:
        """The stack."""
        return find_stack(self.stack, account_clients(self.region))


USUAL = StackOptions()
"""The stack of the usual name, where the environment says."""
