"""The positions and actions of a hosted game as numbers, by its rules alone."""

from collections.abc import Mapping
from functools import cached_property
from random import Random
from typing import Any

from cardsharp.encoding import Encoding, Marks
from cardsharp.errors import ConfigError
from cardsharp.host.house import house
from cardsharp.host.rules import Rules


class _HostedNumbers:
    """The numbers that the rules of the game in a folder give; pickled as that folder's name."""

    def __init__(self, folder: str) -> None:
        self._folder = folder

    def __reduce__(self) -> tuple[type["_HostedNumbers"], tuple[str]]:
        return _HostedNumbers, (self._folder,)

    @cached_property
    def rules(self) -> Rules[Any, Any, Any]:
        """The game's rules."""
        return house(self._folder).rules()

    @cached_property
    def numbers(self) -> Mapping[Any, int]:
        """The number of each action that there is."""
        return {action: number for number, action in enumerate(self.rules.every)}

    def marks(self, position: object) -> Marks:
        """The position, which is one block."""
        return {"position": [*enumerate(self.rules.numbers(position))]}

    def choices(self, position: object) -> Mapping[int, Any]:
        """The legal actions by their numbers."""
        return {self.numbers[action]: action for action in self.rules.options(position)}


def encoding_of(folder: str) -> Encoding[Any, Any]:
    """How the hosted game in a folder is told in numbers; raises `ConfigError` if it is not."""
    hosted = _HostedNumbers(folder)
    rules = hosted.rules
    if not rules.every:
        title = house(folder).game.title
        raise ConfigError(f"{title} is no environment: nothing tells it in numbers.")
    return Encoding(
        blocks={"position": len(rules.numbers(rules.position(rules.deal(Random(0)))))},
        marks=hosted.marks,
        actions=len(hosted.numbers),
        choices=hosted.choices,
    )
