"""Which opponent this is: naive Bayes over the decisions that it has shown.

Each entry of `adaptive_opponents.json` says how a known opponent, or a kind of opponent, decides
and which weights play best against it. Somebody unknown, the stranger, is an entry like the
others: it stops by habits that are learned as they are seen and answers effects anyhow.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from math import exp, log, prod
from random import Random

from cardsharp.deadmansdraw.actions import END_TURN, EffectType
from cardsharp.deadmansdraw.cards import Card
from cardsharp.deadmansdraw.position import Position
from cardsharp.deadmansdraw.strategies import Strategy, build
from cardsharp.deadmansdraw.strategies.adaptive_seen import Seen
from cardsharp.deadmansdraw.strategies.choices import busting, busts, choices, gain, lying, rise

GENERAL = "general"  # the weights that know nothing of the opponent
SLIP = 0.02  # how often a player decides otherwise than its entry says: errors, late answers
MISS = 0.05  # a decision that an entry thought less likely than this speaks against the entry
MOST_MISSES = 0.05  # the share of decisions from which on an entry is given up
SURE = 0.9  # that the opponent is no stranger, to play otherwise than in general
STRANGER = 0.5  # the chance, before anything is seen, that the opponent is nobody known
MOST_LYING = 7  # stopping habits are the same from so many cards in the play area on
MEASURES = ("cards", "points", "risk")
"""By what habits of stopping go: the cards in the play area, three points that they would bring
the bank, a tenth of the unseen cards that would bust; each in `MOST_LYING` classes."""

BUST = "bust"

ORDERS = ("dearest", "cheapest", "between")  # what an answer is among those that do not bust
UNTRIED = 0.5  # the taste for what was never seen
Habits = tuple[tuple[float, float], ...]  # by class: the chance to stop without and with a gain
Tastes = dict[str, dict[str, float]]
"""By effect and kind: how often a card of that suit, or order, was chosen where it could be; a card
that busts is of that kind alone."""


@dataclass(frozen=True, slots=True)
class Entry:
    """How a known opponent decides; None stands for habits or tastes that nobody knows.

    `stops` and `answers` name the strategy of ours that decides likewise, or hold figures: the
    chance to stop, and the taste for suits.
    """

    name: str
    weights: str
    stops: str | float | Habits | None
    answers: str | Tastes | None
    by: str = MEASURES[0]


@dataclass(slots=True)
class _Evidence:
    """What speaks for an entry: the logarithm of its likelihood, and how often it was wrong."""

    likelihood: float = 0.0
    misses: int = 0


@dataclass(slots=True)
class Belief:
    """What is thought of the opponent after `number` of its decisions."""

    entries: tuple[Entry, ...]
    number: int = 0
    evidence: list[_Evidence] = field(default_factory=list)
    habits: list[list[int]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.evidence = self.evidence or [_Evidence() for _ in self.entries]
        self.habits = self.habits or [[0, 0] for _ in range(MOST_LYING)]

    def copy(self) -> "Belief":
        """A belief of its own that begins with what this one has seen."""
        evidence = [_Evidence(one.likelihood, one.misses) for one in self.evidence]
        return Belief(self.entries, self.number, evidence, [list(pair) for pair in self.habits])

    def see_all(self, decisions: Iterable[Seen]) -> None:
        """Take in decisions in their order."""
        for seen in decisions:
            self.see(seen)

    def see(self, seen: Seen) -> None:
        """Take in one decision."""
        said: dict[str, bool] = {}
        for entry, evidence in zip(self.entries, self.evidence, strict=True):
            if seen.position.pending is None:
                chance = self._chance_of_stopping(entry, seen, said)
            else:
                chance = _chance_of_answer(entry, seen, said)
            evidence.likelihood += log(chance)
            evidence.misses += chance < MISS
        self.number += 1
        if seen.position.pending is None:
            self.habits[count_of(seen.position) - 1][seen.action == END_TURN] += 1

    def weights(self) -> str:
        """The weights to play with: the likeliest kind's, once it is hardly a stranger."""
        by_weights = {entry.weights: 0.0 for entry in self.entries}
        for entry, chance in self.chances():
            by_weights[entry.weights] += chance
        if by_weights.pop(GENERAL) > 1 - SURE:
            return GENERAL
        return max(by_weights, key=by_weights.__getitem__)

    def chances(self) -> list[tuple[Entry, float]]:
        """Each entry with the chance that the opponent is one; the given-up ones are left out."""
        most = max(1.0, MOST_MISSES * self.number)
        known = len(self.entries) - 1
        kept = [
            (entry, found.likelihood + log(STRANGER if _is_stranger(entry) else STRANGER / known))
            for entry, found in zip(self.entries, self.evidence, strict=True)
            if found.misses <= most or _is_stranger(entry)
        ]
        top = max(likelihood for _, likelihood in kept)
        shares = [(entry, exp(likelihood - top)) for entry, likelihood in kept]
        total = sum(share for _, share in shares)
        return [(entry, share / total) for entry, share in shares]

    # --- how likely an entry thought a decision ------------------------------------------------

    def _chance_of_stopping(self, entry: Entry, seen: Seen, said: dict[str, bool]) -> float:
        stops, position = entry.stops, seen.position
        if isinstance(stops, str):
            return _by_strategy(stops, seen, said, 2)
        if stops is None:
            on, off = self.habits[count_of(position) - 1]
            chance = (off + 0.5) / (on + off + 1)
        elif isinstance(stops, float):
            chance = stops
        else:
            chance = stops[class_of(position, entry.by)][has_gain(position)]
        return chance if seen.action == END_TURN else 1 - chance


def _is_stranger(entry: Entry) -> bool:
    return entry.weights == GENERAL and entry.stops is None and entry.answers is None


def count_of(position: Position) -> int:
    """The cards in the play area, as far as habits tell them apart."""
    return min(len(position.play_area), MOST_LYING)


def class_of(position: Position, by: str) -> int:
    """The class of habits by one of `MEASURES`."""
    if by == "points":
        return min(rise(position.own, position.play_area) // 3, MOST_LYING - 1)
    if by == "risk":
        return min(10 * busting(position) // max(1, len(position.unseen)), MOST_LYING - 1)
    return count_of(position) - 1


def kinds_of(position: Position) -> dict[Card, tuple[str, ...]]:
    """As which kinds each answer is liked: its suit and its order, or that it busts."""
    cards = choices(position)
    safe = [card for card in cards if not busts(position, card)]
    values = [card.value for card in safe]
    return {
        card: (card.suit, _order(card.value, values)) if card in safe else (BUST,) for card in cards
    }


def _order(value: int, among: list[int]) -> str:
    dearest, cheapest, between = ORDERS
    return dearest if value == max(among) else cheapest if value == min(among) else between


def has_gain(position: Position) -> bool:
    """Whether the bank would gain by stopping now."""
    return any(gain(position.own, card) for card in position.play_area)


def _by_strategy(name: str, seen: Seen, said: dict[str, bool], options: int) -> float:
    """The chance of the action if the opponent decides as the strategy `name` does."""
    if name not in said:
        said[name] = _strategy(name).decide(seen.position).action == seen.action
    return 1 - SLIP if said[name] else SLIP / (options - 1)


@cache
def _strategy(name: str) -> Strategy:
    return build(name, Random(0))


def _chance_of_answer(entry: Entry, seen: Seen, said: dict[str, bool]) -> float:
    pending = seen.position.pending
    oracle = pending is not None and pending.effect_type is EffectType.ORACLE
    # An Oracle can be taken, refused, or answered by the end of the turn.
    options = 3 if oracle else len(choices(seen.position))
    if isinstance(entry.answers, str):
        return _by_strategy(entry.answers, seen, said, options)
    if entry.answers is None:
        return 1 / options
    return SLIP / options + (1 - SLIP) * _share_of_taste(entry.answers, seen)


def _share_of_taste(tastes: Tastes, seen: Seen) -> float:
    position, action = seen.position, seen.action
    pending = position.pending
    if pending is None:
        return 0.0
    taste = tastes.get(pending.effect_type, {})
    if pending.effect_type is EffectType.ORACLE:
        busts = pending.cards[0].suit in lying(position)
        takes = taste.get(BUST if busts else "safe", UNTRIED)
        refuses = (1 - takes) * (1 - taste.get("end", UNTRIED))
        if action == END_TURN:
            return 1 - takes - refuses
        return takes if action.card else refuses
    weight = {
        card: prod(taste.get(kind, UNTRIED) for kind in kinds)
        for card, kinds in kinds_of(position).items()
    }
    return weight.get(action.card, 0.0) / (sum(weight.values()) or 1.0) if action.card else 0.0


# --- the file of known opponents ---------------------------------------------------------------


@cache
def known_opponents() -> tuple[Entry, ...]:
    """The shipped entries, the stranger among them; raises `ValueError` for another version's."""
    text = files(__package__).joinpath("adaptive_opponents.json").read_text(encoding="utf-8")
    return parse_entries(text)


def parse_entries(text: str) -> tuple[Entry, ...]:
    """The entries of a file of known opponents; raises `ValueError` for another version's."""
    document = json.loads(text)
    if not isinstance(document, dict) or document.get("version") != 1:
        raise ValueError("This is no file of known opponents of version 1.")
    return tuple(_entry(one) for one in document["opponents"])


def _entry(one: dict[str, object]) -> Entry:
    name, weights = str(one["name"]), str(one["weights"])
    match one.get("stops"), one.get("answers"):
        case (str() | float() | None) as stops, (str() | dict() | None) as answers:
            return Entry(name, weights, stops, answers)
        case list() as habits, (str() | dict() | None) as answers if len(habits) == MOST_LYING:
            pairs = tuple((float(without), float(gaining)) for without, gaining in habits)
            return Entry(name, weights, pairs, answers, str(one.get("by", MEASURES[0])))
    raise ValueError(f"The opponent '{name}' decides in a way that this program cannot read.")
