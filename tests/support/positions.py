"""Positions, openings and matches of Dead Man's Draw for tests: written by hand, or at random."""

from collections.abc import Callable
from random import Random

from cardsharp.deadmansdraw.actions import Action, Effect, EffectType
from cardsharp.deadmansdraw.cards import RULEBOOK_DECK, SERVER_DECK, Card, Suit, bank_of
from cardsharp.deadmansdraw.events import Event
from cardsharp.deadmansdraw.position import PastMove, Position
from cardsharp.deadmansdraw.rules import start
from cardsharp.deadmansdraw.simulation import DeadMansDraw, deal, match_from
from cardsharp.deadmansdraw.state import Chance, State
from cardsharp.deadmansdraw.strategies import Strategy

SUITS = {suit.value: suit for suit in Suit}


def card(name: str) -> Card:
    """The card called, for example, `Key5`; a suit that nobody knows stays a plain string."""
    return Card(SUITS.get(name[:-1], name[:-1]), int(name[-1]))


def cards(names: str) -> tuple[Card, ...]:
    """The cards named in a string, such as `Key5 Map3`."""
    return tuple(map(card, names.split()))


def effect(effect_type: EffectType, offered: str = "", owed: int = 0) -> Effect:
    """An effect that is pending."""
    return Effect(effect_type, cards(offered), owed)


def position(  # noqa: PLR0913 - each part of a table is optional, and named where it is given
    *,
    own: str = "",
    other: str = "",
    area: str = "",
    discard: str = "",
    unseen: str | None = None,
    pending: Effect | None = None,
    known: str = "",
    refused: str = "",
) -> Position:
    """Player 0's decision; the unseen cards are those named, or all that lie nowhere else."""
    banks, lying, thrown = (cards(own), cards(other)), cards(area), cards(discard)
    placed = {*banks[0], *banks[1], *lying, *thrown}
    if pending is not None and pending.effect_type is EffectType.MAP:
        placed |= {*pending.cards}
    hidden = tuple(c for c in SERVER_DECK if c not in placed) if unseen is None else cards(unseen)
    return Position(
        me=0,
        banks=(bank_of(banks[0]), bank_of(banks[1])),
        play_area=lying,
        pending=pending,
        discard_pile=thrown,
        unseen=hidden,
        known_top=card(known) if known else None,
        refused=card(refused) if refused else None,
    )


def opening(kind: str, rng: Random) -> State:
    """A match about to begin: `server` or `rulebook` deck, or a `debug` start state."""
    if kind == "server":
        return deal(rng)
    if kind == "rulebook":
        return deal(rng, RULEBOOK_DECK)
    return debug_opening(rng)


KINDS = ("server", "rulebook", "debug")


def debug_opening(rng: Random) -> State:
    """A start state as a creator may ask for: any cards anywhere, two of an unknown suit."""
    deck = [*rng.choice((SERVER_DECK, RULEBOOK_DECK)), card("Parrot3"), card("Parrot8")]
    rng.shuffle(deck)
    piles = []
    for most in (30, 15, 8, 8, 3):
        size = rng.randrange(most + 1)
        piles.append(tuple(deck[:size]))
        deck = deck[size:]
    draw, discard, first, second, area = piles
    return start(draw, discard, rng.randrange(2), (bank_of(first), bank_of(second)), area)


Maker = Callable[[Random], Strategy]


class RunningMatch:
    """A match that is played on, move by move."""

    def __init__(self, opening: State, chance: Chance) -> None:
        self.now = match_from(opening)
        self._chance = chance

    @property
    def state(self) -> State:
        return self.now.state

    @property
    def history(self) -> tuple[PastMove, ...]:
        return self.now.history

    def position(self) -> Position:
        return self.now.position

    def play(self, action: Action) -> tuple[Event, ...]:
        self.now = self.now.after(action, self._chance)
        return self.history[-1].events

    def finish(self, *players: Strategy) -> dict[str, tuple[float, ...]]:
        """Play to the end; the counts, and the points."""
        while self.state.active is not None:
            self.play(players[self.state.active].decide(self.position()).action)
        game = DeadMansDraw()
        return {**game.counts(self.now), "points": game.points(self.now)}
