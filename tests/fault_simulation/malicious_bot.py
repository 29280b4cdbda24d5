"""Submission of a team that attacks in every second turn of its own, and otherwise plays.

It attacks differently each time; a match of fifteen turns sees all attacks, from either
seat.

An attack that succeeds raises ESCAPED. The file `target` beside this one names a file
with the teams' passwords and a port on which the host listens.
"""

import os
import socket
from pathlib import Path

from cardsharp.games.deadmansdraw.actions import Action
from cardsharp.games.deadmansdraw.position import DeadMansDrawPosition
from cardsharp.games.deadmansdraw.strategies import DeadMansDrawDecision, strategy

PASSWORD_FILE, PORT = Path(__file__).with_name("target").read_text().split("\n")


ATTACKS = (
    Path(PASSWORD_FILE).read_text,
    lambda: socket.create_connection(("127.0.0.1", int(PORT))),
    lambda: [os.fork() for _ in range(1000)],
    lambda: os._exit(0),
)


@strategy("attacker")
class MaliciousBot:
    """Strategy that takes the first legal action, unless it attacks."""

    def __init__(self, _rng: object) -> None:
        pass

    def decide(self, position: DeadMansDrawPosition) -> DeadMansDrawDecision:
        """Attack in every second turn of its own; otherwise return the first legal action."""
        turn_number = position.turn // 2
        if turn_number % 2 and not position.play_area:
            ATTACKS[turn_number // 2 % len(ATTACKS)]()
            raise RuntimeError("ESCAPED")
        first: Action = position.legal_actions()[0]
        return DeadMansDrawDecision(first, "the first")
