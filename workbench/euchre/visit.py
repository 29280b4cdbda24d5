"""A typical game over the service: what its cost is measured by."""

from random import Random

from cardsharp.euchre.simulation import CHAIRS, Euchre
from workbench.euchre.remote import RemotePlayer
from workbench.lab.tempered import play


def visit(url: str, random: Random) -> None:
    """Play a game in which the service has all four seats.

    Raises:
        CardsharpError: the service broke off, or cannot be reached.
    """
    euchre, chairs = Euchre(), tuple(range(CHAIRS))
    with RemotePlayer(url) as remote:
        player = remote.seated(chairs)
        player.ended(play(euchre, euchre.deal(random), [player] * CHAIRS, random))
