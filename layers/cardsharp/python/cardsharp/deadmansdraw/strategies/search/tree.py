"""The search within a turn: the chance to win of whoever's turn it is, over the exact unseen cards.

The next card is looked at card by card, what may come after it by one card that stands for its
suit. Answers to effects are the best ones; effects within effects are searched `levels`
deep. Where nothing is pending, the better of stopping and of what drawing on is learned to be
worth counts. Twin: `research/deadmansdraw/native/search.c`.
"""

from collections.abc import Iterator
from math import comb

from cardsharp.deadmansdraw.draft import KRAKEN_DRAWS, MAP_OFFER
from cardsharp.deadmansdraw.strategies.search.leaves import Leaves
from cardsharp.deadmansdraw.strategies.search.sets import (
    BITS,
    CANNON,
    EFFECTLESS,
    HOOK,
    KRAKEN,
    MAP,
    MIDDLE,
    ORACLE,
    RANKS,
    SHIFTS,
    SUIT_OF,
    SWORD,
    sword_targets,
    tops,
)
from cardsharp.deadmansdraw.strategies.search.turn import SimulatedTurn


class Search(Leaves):
    """A search with the learned numbers of a model; all values are chances to win."""

    # --- drawing -----------------------------------------------------------------------------

    def draw(self, turn: SimulatedTurn, owed: int = 0, level: int = 0) -> float:
        """The mean over the next card; the Kraken demands `owed` more after it."""
        if not turn.left:
            return self.stop(turn)
        if turn.known >= 0:
            return self.place(turn.drawn(turn.known), turn.known, owed, level)
        total = 0.0
        pile, barred = turn.pile, turn.barred
        if level and (busting := pile & barred):
            lowest = (busting & -busting).bit_length() - 1
            total += busting.bit_count() * self.bust_by_draw(turn, lowest)
        for suit, shift in SHIFTS:
            cards = pile >> shift & 0x3F
            if not cards:
                continue
            if not barred >> shift & 1:
                total += self._draw_suit(turn, suit, owed, level)
            elif not level:
                total += cards.bit_count() * self.bust_by_draw(turn, shift + BITS[cards][0])
        return total / turn.left

    def _draw_suit(self, turn: SimulatedTurn, suit: int, owed: int, level: int) -> float:
        cards = turn.pile >> RANKS * suit & 0x3F
        if level:
            groups = [(RANKS * suit + MIDDLE[cards], cards.bit_count())]
        else:
            groups = group_suit(turn.own, suit, cards, finely=True)
        total = 0.0
        for card, number in groups:
            total += number * self.place(turn.drawn(card), card, owed, level)
        return total

    def place(self, turn: SimulatedTurn, card: int, owed: int, level: int) -> float:
        """After `card`, already taken from its place, has come to the play area of `turn`.

        The turn is changed.
        """
        if turn.barred >> card & 1:
            return self.bust(turn, card)
        turn.lay(card)
        if level >= self.limits.levels:
            return self.after(turn, owed, level)
        return self._effect(turn, SUIT_OF[card], owed, level + 1)

    def after(self, turn: SimulatedTurn, owed: int, level: int) -> float:
        """Nothing to answer, but `owed` draws for a Kraken.

        Below the root, the last of them is taken to be worth what drawing on is.
        """
        if not owed or not turn.left:
            return self.rest(turn, level)
        if owed == 1 and level:
            return self.drawing_on(turn)[0]
        return self.draw(turn, owed - 1, level or 1)

    def rest(self, turn: SimulatedTurn, level: int) -> float:
        """The value where nothing is pending: the better of stopping and drawing on."""
        if not turn.left:
            return self.stop(turn)
        if level <= self.limits.second_draws:
            return max(self.stop(turn), self.draw(turn, 0, level + 1))
        return max(self.drawing_on(turn))

    # --- effects -----------------------------------------------------------------------------

    def _effect(self, turn: SimulatedTurn, suit: int, owed: int, level: int) -> float:
        """The effect of the card that was laid last, answered in the best way."""
        if suit == HOOK and turn.own:
            return max(self.hook(turn, card, level) for card in tops(turn.own))
        if suit == SWORD and (targets := sword_targets(turn.own, turn.other)):
            return max(self.sword(turn, card, level) for card in targets)
        if suit == CANNON and turn.other:
            return max(self.cannon(turn, card, owed, level) for card in tops(turn.other))
        if suit == MAP and turn.discard:
            return self._map_to_come(turn, level)
        if suit == ORACLE and turn.left:
            return self._oracle_to_come(turn, owed, level)
        return self.after(turn, KRAKEN_DRAWS if suit == KRAKEN else owed, level)

    def end_turn(self, turn: SimulatedTurn) -> float:
        """The value of banking the play area now, which counts more than where it is thought of."""
        return self.stop(turn, self.limits.root_samples)

    def take(self, turn: SimulatedTurn, card: int, owed: int) -> float:
        """The value of taking the card that an Oracle has shown."""
        return self.place(turn.drawn(card), card, max(0, owed - 1), 0)

    def hook(self, turn: SimulatedTurn, card: int, level: int = 0) -> float:
        """The value of answering a Hook with `card`."""
        return self.place(turn.hooked(card), card, 0, level)

    def sword(self, turn: SimulatedTurn, card: int, level: int = 0) -> float:
        """The value of answering a Sword with `card`."""
        return self.place(turn.robbed(card), card, 0, level)

    def cannon(self, turn: SimulatedTurn, card: int, owed: int, level: int = 0) -> float:
        """The value of answering a Cannon with `card`."""
        shot = turn.robbed(card)
        shot.discard |= 1 << card
        return self.after(shot, owed, level)

    def map(self, turn: SimulatedTurn, card: int, level: int = 0) -> float:
        """The value of taking `card` out of the discard pile for a Map."""
        return self.place(turn.salvaged(card), card, 0, level)

    def _map_to_come(self, turn: SimulatedTurn, level: int) -> float:
        values = list[float]()
        for card, number in groups_in(turn.discard, turn.own, turn.barred, finely=level <= 1):
            values += [self.map(turn, card, level)] * number
        return best_of_offer(values)

    def _oracle_to_come(self, turn: SimulatedTurn, owed: int, level: int) -> float:
        stop, total = self.stop(turn), 0.0
        duty = max(0, owed - 1)
        for _, shift in SHIFTS:
            cards = turn.pile >> shift & 0x3F
            if not cards:
                continue
            value = stop
            if not turn.barred >> shift & 1:
                card = shift + MIDDLE[cards]
                value = self.place(turn.drawn(card), card, duty, level)
            total += cards.bit_count() * max(value, stop)
        return total / turn.left


def group_suit(own: int, suit: int, cards: int, *, finely: bool) -> list[tuple[int, int]]:
    """Cards of a suit in groups of equal worth: the card that stands for each, and their number.

    The cards below the own top bring the bank nothing; the others are taken one by one where
    `finely` and their suit has no effect.
    """
    top = (own >> RANKS * suit & 0x3F).bit_length() - 1
    idle = cards & (1 << top) - 1 if top > 0 else 0
    rising = cards & ~idle
    first = RANKS * suit
    groups = [(first + idle.bit_length() - 1, idle.bit_count())] if idle else []
    if rising and finely and suit in EFFECTLESS:
        groups += [(first + rank, 1) for rank in BITS[rising]]
    elif rising:
        groups.append((first + MIDDLE[rising], rising.bit_count()))
    return groups


def groups_in(cards: int, own: int, barred: int, *, finely: bool) -> Iterator[tuple[int, int]]:
    """A set of cards as `group_suit` groups each suit; those of a barred suit are one group."""
    for suit, shift in SHIFTS:
        of_suit = cards >> shift & 0x3F
        if of_suit and barred >> shift & 1:
            yield shift + BITS[of_suit][0], of_suit.bit_count()
        elif of_suit:
            yield from group_suit(own, suit, of_suit, finely=finely)


def best_of_offer(values: list[float]) -> float:
    """The mean, over all offers of three of the cards behind `values`, of the best of each."""
    number = len(values)
    offered = min(number, MAP_OFFER)
    total = 0.0
    for rank, value in enumerate(sorted(values)):
        total += comb(rank, offered - 1) * value
    return total / comb(number, offered)
