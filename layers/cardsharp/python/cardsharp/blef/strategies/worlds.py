"""Hands that the others may hold, each weighted by how well it explains what they have bet."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from random import Random

from cardsharp.blef.cards import DECK
from cardsharp.blef.position import Position
from cardsharp.blef.strategies.minds import HABITS, OPENING, WEIGHTS, Replies, mind_of
from cardsharp.blef.strategies.odds import bit_of, bits_of, truths
from cardsharp.blef.strategies.reading import FAITH, OWN, Insight
from cardsharp.blef.strategies.taste import TastedReplies, believing, traits_of

_DRAWS = 120  # hands that are drawn for one player who has bet
_TRIES = 3  # hands among which each of several players who have bet gets one
_KEPT = 60  # worlds that are looked ahead in
NOBODY: Mapping[int, Insight] = {}  # nobody was read


@dataclass(frozen=True, slots=True)
class World:
    """One way the hidden cards may lie: which bets hold, and what the others would say.

    `replies` are of the other players in the order in which they move after us.
    """

    truth: int
    replies: tuple[Replies, ...]


@dataclass(frozen=True, slots=True)
class _Other:
    """Another player: cards held, cards not seen, the bets with what each of them was above."""

    reading: Insight | None
    cards: int
    hidden: int
    said: tuple[tuple[int, int], ...]


def worlds_of(position: Position, rng: Random, known: Mapping[int, Insight]) -> list[World]:
    """Draw worlds as likely as cards and bets make them; `known` are those who were read."""
    others = _others(position, known)
    mine = bits_of(position.hand)
    unseen = [1 << bit_of(card) for card in DECK if not mine >> bit_of(card) & 1]
    tries = _TRIES if sum(bool(other.said) for other in others) > 1 else 1
    drawn, weights = [], []
    for _ in range(_DRAWS // tries if any(other.said for other in others) else _KEPT):
        world, weight = _drawn(mine, unseen, others, (tries, rng))
        drawn.append(world)
        weights.append(weight)
    return _resampled(drawn, weights, rng)


def _others(position: Position, known: Mapping[int, Insight]) -> list[_Other]:
    """The other players who are in the game, in the order in which they move after us."""
    me, total = position.me or 0, sum(position.n_cards)
    seats = [(me + step) % len(position.n_cards) for step in range(1, len(position.n_cards))]
    said: dict[int, list[tuple[int, int]]] = {seat: [] for seat in seats}
    last = OPENING
    for seat, bet in position.history:
        if seat != me:
            said[seat].append((last, bet))
        last = bet
    return [
        _Other(known.get(seat), cards, total - cards, tuple(said[seat]))
        for seat in seats
        if (cards := position.n_cards[seat])
    ]


def _drawn(
    mine: int, unseen: Sequence[int], others: Sequence[_Other], chance: tuple[int, Random]
) -> tuple[World, float]:
    """One world and its weight.

    A player who has bet gets one of several drawn hands, by how well they explain the bets; the
    weight makes up for the choice.
    """
    tries, rng = chance
    left, weight, pool = list(unseen), 1.0, mine
    replies: list[Replies] = [{}] * len(others)
    # Whoever has bet draws first: so these hands are not what the silent ones left over.
    for place, other in sorted(enumerate(others), key=lambda pair: not pair[1].said):
        hands = [sum(rng.sample(left, other.cards)) for _ in range(tries if other.said else 1)]
        scores = [_scores(hand, other) for hand in hands]
        flat = [score for one in scores for score in one]
        pick = rng.choices(range(len(flat)), flat)[0]
        which, model = divmod(pick, len(scores[0]))
        hand = hands[which]
        replies[place] = _replies(hand, other, model, rng)
        weight *= sum(flat) / len(hands)
        pool |= hand
        left = [card for card in left if not card & hand]
    return World(truths(pool), tuple(replies)), weight


def _replies(hand: int, other: _Other, model: int, rng: Random) -> Replies:
    """What a player with this hand says by a habit, or by a taste that was read."""
    if other.reading is None or model < len(HABITS):
        return mind_of(hand, other.hidden).replies[model]
    drawn, traits = other.reading.drawn, traits_of(hand, other.hidden)
    if model == len(HABITS):
        return TastedReplies(drawn[OWN], lambda _: traits, rng)
    return TastedReplies(drawn[FAITH], lambda last: believing(hand, other.hidden, last), rng)


def _scores(hand: int, other: _Other) -> list[float]:
    """By model, how likely it is and how likely it makes the player's bets with this hand."""
    mind, reading = mind_of(hand, other.hidden), other.reading
    explained = [mind.explains(last, bet) for last, bet in other.said]
    if reading is not None:
        traits = traits_of(hand, other.hidden)
        for by_habit, (last, bet) in zip(explained, other.said, strict=True):
            by_habit.append(reading.explains(OWN, traits, last, bet))
            if reading.weights[-1]:
                seen = believing(hand, other.hidden, last)
                by_habit.append(reading.explains(FAITH, seen, last, bet))
            else:
                by_habit.append(0.0)
    return [
        weight * prod(by_model[number] for by_model in explained)
        for number, weight in enumerate(WEIGHTS if reading is None else reading.weights)
    ]


def _resampled(drawn: list[World], weights: list[float], rng: Random) -> list[World]:
    """So many worlds of equal weight: each as often as its weight says, but for less than one."""
    if len(drawn) <= _KEPT:
        return rng.choices(drawn, weights, k=len(drawn)) if len(set(weights)) > 1 else drawn
    step = sum(weights) / _KEPT
    kept: list[World] = []
    reached, mark = 0.0, rng.random() * step
    for world, weight in zip(drawn, weights, strict=True):
        reached += weight
        while mark < reached:
            kept.append(world)
            mark += step
    return kept
