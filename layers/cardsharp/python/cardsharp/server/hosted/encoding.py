"""The positions and actions of a hosted game as numbers, by its rules alone."""

from collections.abc import Mapping
from functools import cached_property
from random import Random
from typing import Any

from cardsharp.errors import ConfigError
from cardsharp.play.encoding import Encoding, Marks
from cardsharp.play.hosted_rules import HostedRules
from cardsharp.server.hosted.hosted_game import load_hosted_game


class _HostedGameEncoder:
    """The numbers that the rules of the game in a folder give; pickled as that folder's name."""

    def __init__(self, folder: str) -> None:
        self._folder = folder

    def __reduce__(self) -> tuple[type["_HostedGameEncoder"], tuple[str]]:
        return _HostedGameEncoder, (self._folder,)

    @cached_property
    def rules(self) -> HostedRules[Any, Any, Any]:
        """Rules object of the hosted game, which encodes its positions and actions."""
        return load_hosted_game(self._folder).build_rules()

    @cached_property
    def action_indices(self) -> Mapping[Any, int]:
        """Index of each action in the game's action space."""
        return {action: number for number, action in enumerate(self.rules.action_space)}

    def position_marks(self, position: object) -> Marks:
        """Return the encoded position as one block of pairs of index and value."""
        return {"position": [*enumerate(self.rules.encode_position(position))]}

    def choices(self, position: object) -> Mapping[int, Any]:
        """The legal actions by their numbers."""
        return {
            self.action_indices[action]: action for action in self.rules.legal_actions_in(position)
        }


def encoding_of(folder: str) -> Encoding[Any, Any]:
    """Return the encoding of a hosted game; raise `ConfigError` if its rules define none."""
    hosted = _HostedGameEncoder(folder)
    rules = hosted.rules
    if not rules.action_space:
        title = load_hosted_game(folder).game.title
        raise ConfigError(f"{title} is no environment: nothing tells it in numbers.")
    return Encoding(
        blocks={
            "position": len(
                rules.encode_position(rules.current_position(rules.initial_state(Random(0))))
            )
        },
        marks=hosted.position_marks,
        actions=len(hosted.action_indices),
        choices=hosted.choices,
    )
