"""`adaptive`: the captain's search with weights that were trained against this opponent's kind."""

import json
from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from dataclasses import replace
from functools import lru_cache
from random import Random

from cardsharp.deadmansdraw.actions import Action
from cardsharp.deadmansdraw.cards import Card
from cardsharp.deadmansdraw.position import PastMove, Position
from cardsharp.deadmansdraw.strategies import Decision, Late, PastMatch, Strategy, strategy
from cardsharp.deadmansdraw.strategies.adaptive_belief import (
    GENERAL,
    Belief,
    known_opponents,
    parse_entries,
)
from cardsharp.deadmansdraw.strategies.adaptive_seen import Seen, Witness, decisions_of, drawn_in
from cardsharp.deadmansdraw.strategies.captain import WEIGHTS, Captain, Weighing, is_ordinary
from cardsharp.deadmansdraw.strategies.search.leaves import SHORT, never
from cardsharp.deadmansdraw.strategies.search.model import Model
from cardsharp.deadmansdraw.strategies.search.tree import Search
from cardsharp.deadmansdraw.strategies.search.weights import model, read_weights

MOST = 0.05  # the most that one choice may cost, as a chance to win
CREDIT = 0.005  # what may be spent before the opponent has given anything: half a point in 100


def loss_of(position: Position, action: Action) -> float:
    """How much less than the best `action` promises, as a chance to win.

    Nothing where nobody can say: for a table that cannot happen in a match, and for an Oracle's
    card refused.
    """
    return _loss_of(replace(position, turn=0, history=(), refused=None), action)


@lru_cache(maxsize=1024)  # strategies are made anew each turn
def _loss_of(position: Position, action: Action) -> float:
    if not is_ordinary(position):
        return 0.0
    options = Weighing(position, Search(model(WEIGHTS), SHORT)).options()
    chosen = [option.value for option in options if option.action == action]
    return max(option.value for option in options) - chosen[0] if chosen else 0.0


class Gifts:
    """The gifts of an opponent in one match, less what was paid: what playing for one may cost.

    Whoever plays otherwise than the captain because of what an opponent is thought to be can be
    taken in by one that only pretends. So every choice of a match is held against the captain's
    best by a short search: what the opponent's lose is a gift, and what the own lose is paid from
    it (Ganzfried and Sandholm, Safe opponent exploitation, 2012). Twin:
    `research/deadmansdraw/native/belief.c`.
    """

    def __init__(self) -> None:
        self._balance = CREDIT
        self._waiting: list[tuple[Seen, bool]] = []

    def note(self, choices: Iterable[Seen], *, own: bool) -> None:
        """Choices of the match, in their order; they are judged once somebody asks."""
        self._waiting += ((seen, own) for seen in choices)

    def affords(self, choice: Seen) -> bool:
        """Whether it costs no more than one choice may, and than there is."""
        cost = loss_of(choice.position, choice.action)
        return cost <= 0 or cost <= min(MOST, self._judged())

    def _judged(self) -> float:
        for seen, own in self._waiting:
            loss = loss_of(seen.position, seen.action)
            self._balance += -loss if own else loss
        self._waiting.clear()
        return self._balance


@strategy("adaptive")
class Adaptive:
    """Plays as the captain does, but against a known opponent with weights made for it.

    Who the opponent is, is worked out from the decisions that it has shown in this match and in
    past ones. A stranger, and whoever decides otherwise than was thought, gets the captain; and so
    does whoever has given less than what playing otherwise would cost (`Gifts`).
    """

    def __init__(
        self,
        _rng: Random,
        past: Belief | None = None,
        late: Late = never,
        learned: Mapping[str, Model] | None = None,
    ) -> None:
        self._past = past or Belief(known_opponents())
        self._watched = _Watched(self._past)
        self._late = late
        self._learned = learned or {}

    def knowing(self, past: Sequence[PastMatch]) -> "Adaptive":
        """This strategy with an opponent's past matches in mind, the oldest first."""
        belief = self._past.copy()
        for match in past:
            belief.see_all(decisions_of(match))
        return Adaptive(Random(0), belief, self._late, self._learned)

    def hurried(self, late: Late) -> "Adaptive":
        """This strategy with what says that time is short."""
        hurried = copy(self)  # what was seen of the match so far stays shared
        hurried._late = late  # noqa: SLF001 - its own
        return hurried

    def decide(self, position: Position) -> Decision:
        """The captain's decision, with the weights for whoever the opponent seems to be."""
        self._watched.watch(position)
        weights = self._watched.belief.weights()
        if weights != GENERAL:
            decision = self._by(weights, position)
            if self._watched.gifts.affords(Seen(position, decision.action)):
                return replace(decision, reason=f"{decision.reason[:-1]}, as against {weights}.")
        return self._by(GENERAL, position)

    def _by(self, weights: str, position: Position) -> Decision:
        numbers = self._learned.get(weights) or model(file_of(weights))
        return Captain(numbers, late=self._late).decide(position)


def trained(text: str) -> Strategy:
    """The player of a file of opponents, or of the captain's weights; else raises `ValueError`."""
    found = json.loads(text)
    if not isinstance(found, dict) or "opponents" not in found:
        return Captain(read_weights(text))
    entries = (*known_opponents(), *parse_entries(text))
    return Adaptive(Random(0), Belief(entries), learned=learned_models(text))


def learned_models(text: str) -> dict[str, Model]:
    """The models in a file of opponents, by the names that its entries have for them."""
    packed = json.loads(text)["weights"]
    return {name: read_weights(json.dumps(one)) for name, one in packed.items()}


def file_of(weights: str) -> str:
    """The name of the weight file for a kind of opponent."""
    return WEIGHTS if weights == GENERAL else f"adaptive-{weights}"


class _Watched:
    """What is thought of the opponent in the course of a match, and what it has given.

    It goes on from where it was asked last if the match has, and begins anew if not.
    """

    def __init__(self, past: Belief) -> None:
        self._past = past
        self._table: tuple[int, frozenset[Card]] = 0, frozenset()
        self._begin()

    def _begin(self) -> None:
        self._seen: tuple[PastMove, ...] = ()
        self._witness = Witness(self._table[1])
        self.belief, self.gifts = self._past.copy(), Gifts()

    def watch(self, position: Position) -> None:
        """Take in all that was shown before `position`."""
        table = position.me, frozenset(position.unseen) | drawn_in(position.history)
        if table != self._table or position.history[: len(self._seen)] != self._seen:
            self._table = table
            self._begin()
        for move in position.history[len(self._seen) :]:
            shown = self._witness.decisions(move)
            self.gifts.note(shown, own=move.player == position.me)
            if move.player != position.me:
                self.belief.see_all(shown)
        self._seen = position.history
