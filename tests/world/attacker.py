"""A team's submission that attacks in every third turn, each time in another way, and else plays.

Whatever succeeds raises ESCAPED. The file `target` beside it names a file with the teams'
passwords and a port of the host's that listens.
"""

import os
import socket
from pathlib import Path

from cardsharp.deadmansdraw.actions import Action
from cardsharp.deadmansdraw.position import Position
from cardsharp.deadmansdraw.strategies import Decision, strategy

FILE, PORT = Path(__file__).with_name("target").read_text().split("\n")


ATTACKS = (
    Path(FILE).read_text,
    lambda: socket.create_connection(("127.0.0.1", int(PORT))),
    lambda: [os.fork() for _ in range(1000)],
    lambda: os._exit(0),
)


@strategy("attacker")
class Attacker:
    """Takes the first legal action, where it does not attack."""

    def __init__(self, _rng: object) -> None:
        pass

    def decide(self, position: Position) -> Decision:
        """The first legal action."""
        if position.turn % 3 == 0 and not position.play_area:
            ATTACKS[position.turn // 3 % len(ATTACKS)]()
            raise RuntimeError("ESCAPED")
        first: Action = position.legal_actions()[0]
        return Decision(first, "the first")
