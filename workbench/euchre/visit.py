"""A typical game over the service: what its cost is measured by."""

from random import Random

from workbench.euchre.coordinator import play_game
from workbench.euchre.remote import RemotePlayer


def visit(url: str, random: Random) -> None:
    """Play a game in which the service has all four seats.

    Raises:
        CardsharpError: the service broke off, or cannot be reached.
    """
    with RemotePlayer(url) as player:
        play_game((player, player, player, player), random)
