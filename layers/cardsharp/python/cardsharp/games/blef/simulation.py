"""Simulation of Blef in one process, for two to eight players."""

from bisect import bisect_right
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from random import Random

from cardsharp.errors import ConfigError, IllegalAction
from cardsharp.games.blef import rules
from cardsharp.games.blef.actions import LOST_MARKER
from cardsharp.games.blef.cards import DECK, sort_hand
from cardsharp.games.blef.position import BlefPosition, position_of
from cardsharp.games.blef.rules import DealHand, Round
from cardsharp.games.blef.strategies import Strategy, build
from cardsharp.play.simulation import RatioStat, Simulation


@dataclass(frozen=True, slots=True)
class SimulatedBlefMatch:
    """Current round and closed rounds; after the end `current_round` is as in `ActionResult`."""

    current_round: Round
    closed_rounds: tuple[Round, ...] = ()


CARD_COUNT_RANGES = ("2 to 3", "4 to 7", "8 to 18", "19 and more")
"""Ranges of the cards in play, for which lost rounds are counted separately."""
_RANGE_STARTS = (2, 4, 8, 19)


def make_deal_function(rng: Random) -> DealHand:
    """Return a function that deals cards with this random generator."""
    return lambda card_count: tuple(rng.sample(DECK, card_count))


def resample_hidden_hands(live: Round, seat: int | None, rng: Random) -> Round:
    """Return the round with new hands for all seats but this one; for all, if `seat` is None."""
    visible_cards = () if seat is None else live.hands[seat]
    hidden_cards = iter(
        rng.sample(
            [card for card in DECK if card not in visible_cards], len(DECK) - len(visible_cards)
        )
    )
    hands = tuple(
        hand if at == seat else sort_hand([next(hidden_cards) for _ in range(card_count)])
        for at, (hand, card_count) in enumerate(zip(live.hands, live.n_cards, strict=True))
    )
    return replace(live, hands=hands)


class BlefSimulation(Simulation[SimulatedBlefMatch, BlefPosition, int]):
    """Simulation of a match of Blef: each seat plays for itself, and the last one left wins."""

    stats = (RatioStat("{:.1f} rounds", "rounds"), RatioStat("{:.1f} moves", "moves"))

    def __init__(self, seats: int | None = None) -> None:
        players = rules.MIN_PLAYERS if seats is None else seats
        if not rules.MIN_PLAYERS <= players <= rules.MAX_PLAYERS:
            raise ConfigError(f"Blef is played by two to eight, not by {players}.")
        self._sides = tuple((seat,) for seat in range(players))

    @property
    def sides(self) -> Sequence[tuple[int, ...]]:
        """Sides of a match: each seat is its own side."""
        return self._sides

    def initial_state(self, rng: Random) -> SimulatedBlefMatch:
        """Return a new match, with one card for each player."""
        return SimulatedBlefMatch(rules.start(self.seats, make_deal_function(rng)))

    def current_seat(self, state: SimulatedBlefMatch) -> int | None:
        """Return the seat whose turn it is, None when one player is left."""
        return state.current_round.turn

    def position_for(self, state: SimulatedBlefMatch, seat: int) -> BlefPosition:
        """Return the position of a seat in the current round, at any time."""
        return position_of(state.current_round, seat, state.closed_rounds)

    def legal_actions(self, state: SimulatedBlefMatch) -> Sequence[int]:
        """Return the ids of the bets above the last one, and of the check."""
        return rules.legal_actions(state.current_round)

    def apply_action(
        self, state: SimulatedBlefMatch, action: int, rng: Random
    ) -> SimulatedBlefMatch:
        """Return the match after the action; if it ends the round, the next one is dealt.

        Raises `IllegalAction` if the action is illegal.
        """
        step = rules.apply(state.current_round, action, make_deal_function(rng))
        closed = () if step.closed_round is None else (step.closed_round,)
        return SimulatedBlefMatch(step.current_round, (*state.closed_rounds, *closed))

    def scores(self, state: SimulatedBlefMatch) -> tuple[float, ...]:
        """Return 1 for the winner and 0 for the others; raise `IllegalAction` before the end."""
        if state.current_round.turn is not None:
            raise IllegalAction("The match has not ended yet.")
        return tuple(float(seat == state.current_round.winner) for seat in range(self.seats))

    def stat_counts(self, state: SimulatedBlefMatch) -> Mapping[str, tuple[float, ...]]:
        """Return the rounds, the moves, and each seat's lost rounds by cards in play."""
        all_moves = chain.from_iterable(played.history for played in state.closed_rounds)
        moves = sum(move.action != LOST_MARKER for move in all_moves)
        lost_rounds = Counter(
            (bisect_right(_RANGE_STARTS, sum(played.n_cards)) - 1, played.history[-1].seat)
            for played in state.closed_rounds
        )
        by_cards = {
            f"lost with {cards}": tuple(float(lost_rounds[at, seat]) for seat in range(self.seats))
            for at, cards in enumerate(CARD_COUNT_RANGES)
        }
        return {"rounds": (len(state.closed_rounds),), "moves": (moves,), **by_cards}

    def build_strategy(
        self, name: str, rng: Random, _past_matches: Sequence[tuple[int, SimulatedBlefMatch]] = ()
    ) -> Strategy:
        """Return the strategy with this name. No strategy of Blef learns from past matches."""
        return build(name, rng)

    def resample_hidden(self, state: SimulatedBlefMatch, rng: Random) -> SimulatedBlefMatch:
        """Return the match with the hands of the other players dealt anew."""
        return replace(
            state,
            current_round=resample_hidden_hands(state.current_round, state.current_round.turn, rng),
        )
