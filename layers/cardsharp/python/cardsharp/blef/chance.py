"""Where deals, seats and ids come from: the operating system's cryptographic generator."""

import secrets
import uuid

from cardsharp.blef.cards import DECK, Hand

_GENERATOR = secrets.SystemRandom()


class SecretChance:
    """The chance of real games: nobody can foretell it."""

    def deal(self, number: int) -> Hand:
        """So many different cards, each choice and order equally likely."""
        return tuple(_GENERATOR.sample(DECK, number))

    def seats(self, players: int) -> tuple[int, ...]:
        """Who of the players in order of joining sits where, each order equally likely."""
        return tuple(_GENERATOR.sample(range(players), players))

    def uuid(self) -> str:
        """A new random uuid of version 4, in lower case."""
        return str(uuid.uuid4())
