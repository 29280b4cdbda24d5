"""What a simulated turn is worth where it ends, and where it might go on."""

from dataclasses import dataclass
from typing import NamedTuple

from cardsharp.deadmansdraw.strategies.search.layout import (
    KNOT_PARTS,
    LEFTS,
    ONE,
    OTHER,
    PLACE_DIGIT,
)
from cardsharp.deadmansdraw.strategies.search.model import SIZES, STARTS, Model, Sums, chance_of
from cardsharp.deadmansdraw.strategies.search.sets import (
    NO_CARD,
    RANKS,
    SUIT_OF,
    SplitMix,
    holds_treasure,
    numbers_in,
)
from cardsharp.deadmansdraw.strategies.search.turn import SimulatedTurn

HOPE_SHIFT = 20  # a step of `hope` is half a unit of log-odds
_SIZE, _LEFT, _RISK, _HOPE = (STARTS[part] for part in ("size", "left", "risk", "hope"))
_SIZES, _HOPES = SIZES["size"], SIZES["hope"]


@dataclass(frozen=True, slots=True)
class SearchLimits:
    """How far a search goes; all in counts, so that a machine's speed changes nothing.

    `levels`: effects within effects that are searched; `second_draws`: the level down to
    which a second draw is searched, not learned; `samples`, `root_samples`: picks of a bonus at
    the leaves, and where stopping now is weighed; `endgame`: cards left from which the match is
    searched to its end, if that takes no more than `most_ends` ends of turns.
    """

    levels: int = 2
    second_draws: int = 1
    samples: int = 4
    root_samples: int = 16
    endgame: int = 5
    most_ends: int = 15_000


SHORT = SearchLimits(levels=1, second_draws=-1, endgame=0)  # for who weighs many decisions


def never() -> bool:
    """There is time enough."""
    return False


class Worth(NamedTuple):
    """The end of a turn: the chance of who ends it, and the next player's log-odds and sums."""

    chance: float
    log_odds: int
    sums: Sums


def with_cards(keys: list[int], cards: list[int]) -> list[int]:
    """The keys of a turn's end once `cards` of the discard pile were banked too."""
    keys = keys.copy()
    for card in cards:
        keys[SUIT_OF[card]] += OTHER * PLACE_DIGIT[card % RANKS]
    return keys


class Leaves:
    """Values by the learned numbers of a model; `nodes` are the ends valued so far."""

    def __init__(self, model: Model, limits: SearchLimits | None = None) -> None:
        self.model, self.network = model, model.network
        self.limits = limits or SearchLimits()
        self.nodes = 0

    # --- the end of a turn -------------------------------------------------------------------

    def stop(self, turn: SimulatedTurn, samples: int = 0) -> float:
        """The value of banking the play area now."""
        return self._stopped(turn, samples or self.limits.samples).chance

    def bust(self, turn: SimulatedTurn, card: int) -> float:
        """The value after `card`, already taken from its place, has busted the turn."""
        if not holds_treasure(turn.saved):
            return self._worth(turn, turn.bust).chance
        thrown = turn.area & ~turn.saved | 1 << card
        discard, samples = numbers_in(turn.discard | thrown), self.limits.samples
        return self._with_bonus(turn, turn.bust, discard, turn.rescued, samples).chance

    def bust_by_draw(self, turn: SimulatedTurn, card: int) -> float:
        """The value after `card` was drawn and busted the turn."""
        return self.bust(turn.drawn(card), card)

    def end(self, turn: SimulatedTurn, keys: list[int]) -> float:
        """The value of a turn that has ended with these keys."""
        return self._worth(turn, keys).chance

    def _stopped(self, turn: SimulatedTurn, samples: int) -> Worth:
        if not holds_treasure(turn.area):
            return self._worth(turn, turn.stop)
        discard = numbers_in(turn.discard)
        return self._with_bonus(turn, turn.stop, discard, turn.lying, samples)

    def _worth(self, turn: SimulatedTurn, keys: list[int]) -> Worth:
        left = turn.left
        sums = self.model.sums(keys, left)
        self.nodes += 1
        if not left:
            lead = sums[1]
            return Worth(0.0 if lead > 0 else 1.0 if lead else 0.5, lead * ONE, sums)
        known = turn.known
        log_odds = self.model.log_odds(sums, left, NO_CARD if known < 0 else SUIT_OF[known])
        if self.network is not None:
            log_odds += self.network.begins.adds(keys, left, sums[1], log_odds, known)
        return Worth(chance_of(-log_odds), log_odds, sums)

    def _with_bonus(
        self, turn: SimulatedTurn, keys: list[int], discard: list[int], wanted: int, samples: int
    ) -> Worth:
        """The mean over so many picks of the cards `wanted`; exact where there is no choice."""
        if len(discard) <= wanted:
            return self._worth(turn, with_cards(keys, discard))
        dice = SplitMix(sum(1 << card for card in discard) + wanted)
        chance, log_odds = 0.0, 0
        for _ in range(samples):
            pick(dice, discard, wanted)
            worth = self._worth(turn, with_cards(keys, discard[:wanted]))
            chance += worth.chance
            log_odds += worth.log_odds
        return Worth(chance / samples, _quotient(log_odds, samples), worth.sums)

    # --- drawing on, as it is learned --------------------------------------------------------

    def drawing_on(self, turn: SimulatedTurn) -> tuple[float, float]:
        """What drawing on is learned to be worth, and stopping; the pile must not be empty."""
        stopped = self._stopped(turn, self.limits.samples)
        busting = turn.pile & turn.barred
        risk = busting.bit_count() / turn.left
        lowest = (busting & -busting).bit_length() - 1
        bust = self.bust_by_draw(turn, lowest) if busting else 0.0
        on = stopped.sums[2] + self._on(turn, busting.bit_count(), stopped.log_odds)
        log_odds = on * KNOT_PARTS - stopped.log_odds
        if self.network is not None:
            lead = stopped.sums[1]
            log_odds += self.network.goes_on.adds(turn.stop, turn.left, lead, log_odds, NO_CARD)
        safe = chance_of(log_odds)
        return (1.0 - risk) * safe + risk * bust, stopped.chance

    def _on(self, turn: SimulatedTurn, busting: int, log_odds: int) -> int:
        """What D adds for the turn as a whole."""
        numbers = self.model.numbers
        return (
            numbers[_SIZE + min(turn.lying, _SIZES - 1)]
            + numbers[_LEFT + min(turn.left, LEFTS - 1)]
            + numbers[_RISK + 16 * busting // turn.left]
            + numbers[_HOPE + max(0, min((-log_odds >> HOPE_SHIFT) + _HOPES // 2, _HOPES - 1))]
        )


def pick(dice: SplitMix, cards: list[int], wanted: int) -> None:
    """Move `wanted` cards, picked by chance, to the front of `cards`."""
    for i in range(wanted):
        at = i + dice.below(len(cards) - i)
        cards[i], cards[at] = cards[at], cards[i]


def _quotient(number: int, by: int) -> int:
    """`number` divided by `by`, rounded towards 0 as in C."""
    return number // by if number >= 0 else -(-number // by)
