"""The exact chance to win with perfect play on both sides, for tables with a few unseen cards.

Nothing but the rules: every order of the unseen cards and every pick from the discard pile is
tried, and a decision is the best for whoever makes it, who knows no more than is public.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import permutations

from cardsharp.deadmansdraw.actions import Action, Effect, EffectType
from cardsharp.deadmansdraw.bank import Bank
from cardsharp.deadmansdraw.cards import Card
from cardsharp.deadmansdraw.position import Position
from cardsharp.deadmansdraw.rules import State, apply, legal_actions


@dataclass(frozen=True)
class Public:
    """What both players know where somebody is to act."""

    banks: tuple[Bank, Bank]
    unseen: frozenset[Card]
    discard: tuple[Card, ...]
    area: tuple[Card, ...]
    pending: Effect | None
    player: int
    known: Card | None


def public_of(position: Position) -> Public:
    return Public(
        position.banks,
        frozenset(position.unseen),
        position.discard_pile,
        position.play_area,
        position.pending,
        position.me,
        position.known_top,
    )


class Solver:
    """Values of actions; positions are remembered."""

    def __init__(self) -> None:
        self._known: dict[Public, float] = {}

    def values(self, position: Position) -> dict[str, float]:
        """By action, the chance of the player to act to win, a tie counting half."""
        public = public_of(position)
        actions = legal_actions(_state(public, tuple(sorted(public.unseen))))
        return {str(action): self._value(public, action, public.player) for action in actions}

    def _best(self, public: Public) -> float:
        """The chance of the player to act."""
        if public not in self._known:
            actions = legal_actions(_state(public, _piles(public)[0]))
            self._known[public] = max(self._value(public, a, public.player) for a in actions)
        return self._known[public]

    def _value(self, public: Public, action: Action, me: int) -> float:
        total = weight = 0.0
        for pile in _piles(public):
            for state, share in _outcomes(_state(public, pile), action):
                total += share * self._after(state, public, me)
                weight += share
        return total / weight

    def _after(self, state: State, before: Public, me: int) -> float:
        if state.outcome is not None:
            winner = state.outcome.winner
            return 0.5 if winner is None else float(winner == me)
        active = state.active
        assert active is not None
        pending = None if state.between_turns else state.pending
        oracle = pending is not None and pending.effect_type is EffectType.ORACLE
        known = state.draw_pile[0] if oracle else None
        if len(state.draw_pile) == len(before.unseen):
            known = before.known  # nothing was drawn: it still lies there
        after = Public(
            state.banks,
            frozenset(state.draw_pile),
            tuple(sorted(state.discard_pile)),
            state.play_area,
            pending,
            active,
            known,
        )
        best = self._best(after)
        return best if active == me else 1 - best


def _piles(public: Public) -> list[tuple[Card, ...]]:
    orders = permutations(sorted(public.unseen))
    return [pile for pile in orders if public.known is None or pile[0] == public.known]


def _state(public: Public, pile: tuple[Card, ...]) -> State:
    position = Position(
        me=public.player,
        banks=public.banks,
        play_area=public.area,
        pending=public.pending,
        discard_pile=public.discard,
        unseen=tuple(public.unseen),
    )
    return position.state(pile)


def _outcomes(state: State, action: Action) -> Iterator[tuple[State, float]]:
    """The state after `action` for every pick from the discard pile, each with its share.

    One action picks at most once: a Map's offer, or the bonus at the end of the turn.
    """
    asked: list[tuple[tuple[Card, ...], int]] = []

    def note(pile: tuple[Card, ...], number: int) -> tuple[Card, ...]:
        asked.append((pile, number))
        return pile[:number]

    only, _ = apply(state, action, note)
    if not asked:
        yield only, 1.0
        return
    picks = {tuple(sorted(pick)) for pick in permutations(*asked[0])}
    for pick in sorted(picks):
        after, _ = apply(state, action, lambda _pile, _number, pick=pick: pick)  # type: ignore[misc]
        yield after, 1 / len(picks)
