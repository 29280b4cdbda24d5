"""Dead Man's Draw in one process: the rules, and what the table has shown so far."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from random import Random

from cardsharp.deadmansdraw.actions import Action
from cardsharp.deadmansdraw.cards import SERVER_DECK, Card, deck_order, lowest_of_each_suit, without
from cardsharp.deadmansdraw.events import MatchEnded, TurnEnded, TurnStarted
from cardsharp.deadmansdraw.position import Observer, PastMove, Position
from cardsharp.deadmansdraw.rules import apply, legal_actions, start
from cardsharp.deadmansdraw.state import Chance, State
from cardsharp.deadmansdraw.strategies import PastMatch, Strategy, briefed, build
from cardsharp.errors import ConfigError, Illegal
from cardsharp.simulation import Figure, Simulation

PLAYERS = 2


@dataclass(frozen=True, slots=True)
class Match:
    """A match so far: how it began, how it stands, and every move as both players saw it."""

    opening: State
    state: State
    history: tuple[PastMove, ...]
    # Follows from the opening and the history; it is kept, as rebuilding it takes long.
    seen: Observer = field(compare=False, repr=False)

    @property
    def position(self) -> Position:
        """What the player to act may know; raises `Illegal` if the match has ended."""
        if self.state.active is None:
            raise Illegal("Nobody is to act: the match has ended.")
        return self.seen_by(self.state.active)

    def seen_by(self, player: int) -> Position:
        """What either player may know, whoever is to act."""
        turn = self.history[-1].turn + self.state.between_turns
        return self.seen.position(player, turn, self.history)

    def after(self, action: Action, chance: Chance) -> "Match":
        """The match after `action` of the player to act; raises `RulesError` if it is refused."""
        state, events = apply(self.state, action, chance)
        turn = self.history[-1].turn + self.state.between_turns
        return self.moved(state, PastMove(turn, self.state.active, events))

    def moved(self, state: State, move: PastMove) -> "Match":
        """The match after a move that led to that state."""
        seen = self.seen.copy()
        seen.see_move(move)
        return Match(self.opening, state, (*self.history, move), seen)


def match_from(opening: State) -> Match:
    """The match that begins so."""
    seen = Observer(opening.draw_pile, opening.discard_pile, opening.play_area, opening.banks)
    return Match(opening, opening, (PastMove(1, None, (TurnStarted(None),)),), seen)


def deal(dice: Random, deck: tuple[Card, ...] = SERVER_DECK) -> State:
    """A shuffled table with a random starting player; the lowest of each suit are discarded."""
    discard_pile = lowest_of_each_suit(deck)
    draw_pile = _taken(dice, without(deck, discard_pile))
    return start(draw_pile, discard_pile, dice.randrange(PLAYERS))


def fair_chance(dice: Random) -> Chance:
    """Picks from the discard pile at random, whatever order the cards lie in."""
    return lambda pile, number: _taken(dice, sorted(pile, key=deck_order), number)


def _taken(dice: Random, cards: Iterable[Card], number: int | None = None) -> tuple[Card, ...]:
    """So many of `cards`, or all of them, one after the other by chance."""
    rest = list(cards)
    times = len(rest) if number is None else number
    return tuple(rest.pop(dice.randrange(len(rest))) for _ in range(times))


class DeadMansDraw(Simulation[Match, Position, Action]):
    """Two players, on the running server's deck."""

    sides = ((0,), (1,))
    figures = (
        Figure("{:.1f} points", "scores"),
        Figure("{:.1f} turns", "turns"),
        Figure("{:.1f} actions", "actions"),
        Figure("{:.1%} of turns bust", "busts", "turns"),
    )

    def __init__(self, seats: int | None = None) -> None:
        if seats not in {None, PLAYERS}:
            raise ConfigError(f"Dead Man's Draw is played by two, not by {seats}.")

    def deal(self, dice: Random) -> Match:
        """A new match of the running server's deck."""
        return match_from(deal(dice))

    def to_act(self, state: Match) -> int | None:
        """The player to act, None when the match has ended."""
        return state.state.active

    def view(self, state: Match, seat: int) -> Position:
        """What a player may know at any time."""
        return state.seen_by(seat)

    def actions(self, state: Match) -> Sequence[Action]:
        """The legal actions that differ in what they do."""
        return legal_actions(state.state)

    def act(self, state: Match, action: Action, dice: Random) -> Match:
        """The match after the action; raises `RulesError` where it is refused."""
        return state.after(action, fair_chance(dice))

    def points(self, state: Match) -> tuple[float, ...]:
        """1 for the winner, a half each for a tie."""
        winner = _ended(state).winner
        return (0.5, 0.5) if winner is None else (1.0 - winner, float(winner))

    def counts(self, state: Match) -> Mapping[str, tuple[float, ...]]:
        """Points banked, turns, actions, and turns that ended in a bust."""
        turns, actions, busts = [0, 0], [0, 0], [0, 0]
        for move in state.history:
            if move.player is None:
                continue
            actions[move.player] += 1
            for event in move.events:
                if isinstance(event, TurnEnded):
                    turns[move.player] += 1
                    busts[move.player] += not event.successful
        scores = _ended(state).scores
        return {
            "scores": scores,
            "turns": tuple(turns),
            "actions": tuple(actions),
            "busts": tuple(busts),
        }

    def strategy(self, name: str, dice: Random, past: Sequence[tuple[int, Match]] = ()) -> Strategy:
        """The strategy of that name, with the past in mind where it asks for it."""
        known = [PastMatch(1 - seat, match.history) for seat, match in past]
        return briefed(build(name, dice), known)

    def disguised(self, state: Match, dice: Random) -> Match:
        """The match with the draw pile in another order, but for a top card that was shown."""
        table = state.state
        shown = table.draw_pile[: state.seen.known_top is not None]
        pile = (*shown, *_taken(dice, table.draw_pile[len(shown) :]))
        # What this turn has drawn already is known, and what lay behind it is the pile.
        drawn = table.turn_start.draw_pile[: -len(pile) or None]
        began = replace(table.turn_start, draw_pile=(*drawn, *pile))
        return replace(state, state=replace(table, draw_pile=pile, turn_start=began))


def _ended(match: Match) -> MatchEnded:
    if match.state.outcome is None:
        raise Illegal("The match has not ended yet.")
    return match.state.outcome
