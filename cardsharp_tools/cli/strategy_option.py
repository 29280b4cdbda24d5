"""Types of arguments and options that name a strategy: the command line parses the text here."""

from collections.abc import Sequence
from typing import Annotated

from cyclopts import Parameter, Token

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
