"""The strategies of Blef by name, some of which take numbers: `threshold(0.2, 0.5)`."""

import re
from random import Random

from cardsharp.blef.strategies.base import Strategy
from cardsharp.errors import ConfigError
from cardsharp.registry import Registry

_CALL = re.compile(r"([a-z][a-z0-9-]*)(?:\(([0-9., ]*)\))?")


class _Numbered(Registry[Random, Strategy]):
    """Each is made from a `Random`, and the numbers in parentheses, each with a default."""

    def build(self, name: str, given: Random) -> Strategy:
        """A new strategy, e.g. `greedy` or `threshold(0.2, 0.5)`; its only chance is `given`.

        Raises:
            ConfigError: there is no such strategy, or the numbers are not what it takes.
        """
        call = _CALL.fullmatch(name.strip())
        maker = self.maker(name if call is None else call[1])
        try:
            numbers = [float(number) for number in call[2].split(",")] if call and call[2] else []
            return maker(given, *numbers)
        except (TypeError, ValueError):
            raise ConfigError(
                f"The numbers of '{name}' are not what the strategy takes; "
                "write them as in threshold(0.2, 0.5)."
            ) from None


STRATEGIES = _Numbered("cardsharp.blef.strategies")

strategy, build = STRATEGIES.strategy, STRATEGIES.build
names, about = STRATEGIES.names, STRATEGIES.about
