"""Simulation of Dead Man's Draw in one process: the rules, and the public information."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from random import Random

from cardsharp.errors import ConfigError, IllegalAction
from cardsharp.games.deadmansdraw.actions import Action
from cardsharp.games.deadmansdraw.cards import (
    SERVER_DECK,
    Card,
    cards_without,
    deck_sort_key,
    lowest_of_each_suit,
)
from cardsharp.games.deadmansdraw.events import MatchEnded, TurnEnded, TurnStarted
from cardsharp.games.deadmansdraw.position import DeadMansDrawPosition, PastMove, PublicInfoTracker
from cardsharp.games.deadmansdraw.rules import apply, legal_actions, start
from cardsharp.games.deadmansdraw.state import CardPicker, State
from cardsharp.games.deadmansdraw.strategies import (
    PastMatch,
    Strategy,
    build,
    with_past_matches,
)
from cardsharp.play.simulation import RatioStat, Simulation

PLAYER_COUNT = 2


@dataclass(frozen=True, slots=True)
class SimulatedDeadMansDrawMatch:
    """Match so far: its opening, its state, and every move as both players saw it."""

    opening: State
    state: State
    history: tuple[PastMove, ...]
    # Follows from the opening and the history. It is stored, because rebuilding it is slow.
    public_info: PublicInfoTracker = field(compare=False, repr=False)

    @property
    def current_position(self) -> DeadMansDrawPosition:
        """Position of the player to act; raises `IllegalAction` if the match has ended."""
        if self.state.active_player is None:
            raise IllegalAction("Nobody is to act: the match has ended.")
        return self.position_for(self.state.active_player)

    def position_for(self, player: int) -> DeadMansDrawPosition:
        """Return the position of a player, also when the other one is to act."""
        turn = self.history[-1].turn + self.state.is_between_turns
        return self.public_info.position_for(player, turn, self.history)

    def with_action(self, action: Action, pick_cards: CardPicker) -> "SimulatedDeadMansDrawMatch":
        """Return the match after `action` of the player to act; raise `RulesError` if illegal."""
        state, events = apply(self.state, action, pick_cards)
        turn = self.history[-1].turn + self.state.is_between_turns
        return self.with_move(state, PastMove(turn, self.state.active_player, events))

    def with_move(self, next_state: State, move: PastMove) -> "SimulatedDeadMansDrawMatch":
        """Return the match after a move that led to this state."""
        public_info = self.public_info.copy()
        public_info.apply_move(move)
        return SimulatedDeadMansDrawMatch(
            self.opening, next_state, (*self.history, move), public_info
        )


def match_from_state(opening: State) -> SimulatedDeadMansDrawMatch:
    """Return the simulated match that begins with this state."""
    public_info = PublicInfoTracker(
        opening.draw_pile, opening.discard_pile, opening.play_area, opening.banks
    )
    return SimulatedDeadMansDrawMatch(
        opening, opening, (PastMove(1, None, (TurnStarted(None),)),), public_info
    )


def deal_state(rng: Random, deck: tuple[Card, ...] = SERVER_DECK) -> State:
    """Return a shuffled table with a random starting player.

    The lowest of each suit are discarded.
    """
    discard_pile = lowest_of_each_suit(deck)
    draw_pile = _draw_cards(rng, cards_without(deck, discard_pile))
    return start(draw_pile, discard_pile, rng.randrange(PLAYER_COUNT))


def random_card_picker(rng: Random) -> CardPicker:
    """Return a picker that takes random cards, independent of their order in the discard pile."""
    return lambda pile, count: _draw_cards(rng, sorted(pile, key=deck_sort_key), count)


def _draw_cards(dice: Random, cards: Iterable[Card], count: int | None = None) -> tuple[Card, ...]:
    """Return `count` of the cards, or all of them, in random order."""
    rest = list(cards)
    times = len(rest) if count is None else count
    return tuple(rest.pop(dice.randrange(len(rest))) for _ in range(times))


class DeadMansDrawSimulation(Simulation[SimulatedDeadMansDrawMatch, DeadMansDrawPosition, Action]):
    """Simulation of a match of two players with the deck of the running server."""

    sides = ((0,), (1,))
    stats = (
        RatioStat("{:.1f} points", "scores"),
        RatioStat("{:.1f} turns", "turns"),
        RatioStat("{:.1f} actions", "actions"),
        RatioStat("{:.1%} of turns bust", "busts", "turns"),
    )

    def __init__(self, seats: int | None = None) -> None:
        if seats not in {None, PLAYER_COUNT}:
            raise ConfigError(f"Dead Man's Draw is played by two, not by {seats}.")

    def initial_state(self, rng: Random) -> SimulatedDeadMansDrawMatch:
        """Return a new match of the running server's deck."""
        return match_from_state(deal_state(rng))

    def current_seat(self, state: SimulatedDeadMansDrawMatch) -> int | None:
        """Return the player to act, None when the match has ended."""
        return state.state.active_player

    def position_for(self, state: SimulatedDeadMansDrawMatch, seat: int) -> DeadMansDrawPosition:
        """Return the position of a player at any time."""
        return state.position_for(seat)

    def legal_actions(self, state: SimulatedDeadMansDrawMatch) -> Sequence[Action]:
        """Return the legal actions that differ in their effect."""
        return legal_actions(state.state)

    def apply_action(
        self, state: SimulatedDeadMansDrawMatch, action: Action, rng: Random
    ) -> SimulatedDeadMansDrawMatch:
        """Return the match after the action; raise `RulesError` if it is illegal."""
        return state.with_action(action, random_card_picker(rng))

    def scores(self, state: SimulatedDeadMansDrawMatch) -> tuple[float, ...]:
        """Return 1 for the winner and 0 for the loser, or 0.5 for each in a tie."""
        winner = _require_outcome(state).winner
        return (0.5, 0.5) if winner is None else (1.0 - winner, float(winner))

    def stat_counts(self, state: SimulatedDeadMansDrawMatch) -> Mapping[str, tuple[float, ...]]:
        """Return each player's points, turns, actions, and turns that ended in a bust."""
        turns, actions, busts = [0, 0], [0, 0], [0, 0]
        for move in state.history:
            if move.player is None:
                continue
            actions[move.player] += 1
            for event in move.events:
                if isinstance(event, TurnEnded):
                    turns[move.player] += 1
                    busts[move.player] += not event.is_banked
        scores = _require_outcome(state).scores
        return {
            "scores": scores,
            "turns": tuple(turns),
            "actions": tuple(actions),
            "busts": tuple(busts),
        }

    def build_strategy(
        self,
        name: str,
        rng: Random,
        past_matches: Sequence[tuple[int, SimulatedDeadMansDrawMatch]] = (),
    ) -> Strategy:
        """Build the strategy of that name, with the past matches if it uses them."""
        opponent_matches = [PastMatch(1 - seat, match.history) for seat, match in past_matches]
        return with_past_matches(build(name, rng), opponent_matches)

    def resample_hidden(
        self, state: SimulatedDeadMansDrawMatch, rng: Random
    ) -> SimulatedDeadMansDrawMatch:
        """Return the match with its draw pile reshuffled, except a top card that was shown."""
        table = state.state
        top_cards = table.draw_pile[: state.public_info.known_top is not None]
        pile = (*top_cards, *_draw_cards(rng, table.draw_pile[len(top_cards) :]))
        # The cards that this turn has drawn are known. The pile at its start was these, then the
        # new pile.
        turn_draws = table.turn_start.draw_pile[: -len(pile) or None]
        began = replace(table.turn_start, draw_pile=(*turn_draws, *pile))
        return replace(state, state=replace(table, draw_pile=pile, turn_start=began))


def _require_outcome(match: SimulatedDeadMansDrawMatch) -> MatchEnded:
    if match.state.outcome is None:
        raise IllegalAction("The match has not ended yet.")
    return match.state.outcome
