"""A team's submission that attacks in every second turn of its own, else plays.

It does so in another way each time: a match of fifteen turns sees all, from either seat.

Whatever succeeds raises ESCAPED. The file `target` beside it names a file with the teams'
passwords and a port of the host's that listens.
"""

import os
import socket
from pathlib import Path

from cardsharp.games.deadmansdraw.actions import Action
from cardsharp.games.deadmansdraw.position import DeadMansDrawPosition
from cardsharp.games.deadmansdraw.strategies import DeadMansDrawDecision, strategy

FILE, PORT = Path(__file__).with_name("target").read_text().split("\n")


ATTACKS = (
    Path(FILE).read_text,
    lambda: socket.create_connection(("127.0.0.1", int(PORT))),
    lambda: [os.fork() for _ in range(1000)],
    lambda: os._exit(0),
)


@strategy("attacker")
class MaliciousBot:
    """Takes the first legal action, where it does not attack."""

    def __init__(self, _rng: object) -> None:
        pass

    def decide(self, position: DeadMansDrawPosition) -> DeadMansDrawDecision:
        """The first legal action."""
        played = position.turn // 2
        if played % 2 and not position.play_area:
            ATTACKS[played // 2 % len(ATTACKS)]()
            raise RuntimeError("ESCAPED")
        first: Action = position.legal_actions()[0]
        return DeadMansDrawDecision(first, "the first")
