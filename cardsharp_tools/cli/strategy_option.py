"""Arguments and options that name a strategy, and the options for running strategies of users.

The command line parses the text of a strategy here.
"""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from cyclopts import Parameter, Token

from cardsharp_tools.cli.options import CommandOptions
from cardsharp_tools.executors.clean_environment import pass_variables
from cardsharp_tools.executors.strategy_reference import StrategyReference, parse_strategy


def _parse_tokens(_type: object, tokens: Sequence[Token]) -> StrategyReference:
    return parse_strategy(tokens[0].value)


def _parse_optional_tokens(_type: object, tokens: Sequence[Token]) -> StrategyReference | None:
    """Return the reference, or None for an empty text, as from an empty variable of a script."""
    return parse_strategy(tokens[0].value) if tokens[0].value else None


_ONE_TEXT = Parameter(n_tokens=1, accepts_keys=False, metavar="STRATEGY")

StrategyArgument = Annotated[StrategyReference, _ONE_TEXT, Parameter(converter=_parse_tokens)]
OptionalStrategy = Annotated[
    StrategyReference | None, _ONE_TEXT, Parameter(converter=_parse_optional_tokens)
]


def _check_are_set(_type: object, names: tuple[str, ...]) -> None:
    for name in names:
        if name not in os.environ:
            raise ValueError(f"There is no environment variable {name}.")


@dataclass(frozen=True, kw_only=True)
class UserCodeOptions(CommandOptions):
    """Options of each command that runs strategy files or programs of users."""

    pass_env: Annotated[
        tuple[str, ...],
        Parameter(
            negative=(),
            validator=_check_are_set,
            metavar="NAME",
            help="Pass this environment variable on to strategy files and programs. Can be "
            "repeated. Default: only variables such as PATH and HOME, which hold no passwords.",
        ),
    ] = ()

    def __post_init__(self) -> None:
        pass_variables(self.pass_env)


NO_PASSED_VARIABLES = UserCodeOptions()
