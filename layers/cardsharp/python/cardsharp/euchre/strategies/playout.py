"""A world played to its end with every seat playing as `rules` does: some 30 microseconds.

Cards are bits (see `layout`), and the rules those of `thumb`.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import accumulate

from cardsharp.euchre.rules import MADE
from cardsharp.euchre.strategies.layout import Mask, layout
from cardsharp.euchre.strategies.thumb import CALLER, CALLERS_PARTNER, DEFENDER, following, leading
from cardsharp.euchre.table import SEATS, TRICKS, Call, partner

ALL: Mask = (1 << 24) - 1


@dataclass(frozen=True, slots=True)
class PlayStage:
    """How far the play has come: who is next, the trick so far, and tricks won before it.

    `laid` cards lie in the trick, of suit `led`; `best` is the highest, `by` the seat that has it.
    `gone` are all cards that have been played.
    """

    seat: int = 0
    gone: Mask = 0
    laid: int = 0
    led: Mask = 0
    best: Mask = 0
    by: int = 0
    won: int = 0
    lost: int = 0

    def after(self, card: Mask, table: "Seating") -> "PlayStage":
        """The stage after the next seat has played that card."""
        led = self.led if self.laid else table.suit[card]
        best, by, laid = self.best, self.by, self.laid + 1
        if not self.laid or (card & (led | table.trumps) and card > best):
            best, by = card, self.seat
        gone, won, lost = self.gone | card, self.won, self.lost
        if laid < table.chairs:
            return PlayStage(table.after[self.seat], gone, laid, led, best, by, won, lost)
        ours = table.ours[by]
        return PlayStage(by, gone, won=won + ours, lost=lost + (not ours))


class Seating:
    """Who plays, and in which order, under a call."""

    def __init__(self, call: Call, lone_defender: int | None = None) -> None:
        cards = layout(call.suit)
        self.trump, self.trumps, self.suit = call.suit, cards.trumps, cards.suit
        self.alone, self.lone_defender = call.alone, lone_defender is not None
        self.out = {partner(call.seat)} if call.alone else set()
        self.out |= set() if lone_defender is None else {partner(lone_defender)}
        self.chairs = len(SEATS) - len(self.out)
        self.ours = [seat % 2 == call.seat % 2 for seat in SEATS]
        self.after = [self.next_from(seat + 1) for seat in SEATS]
        self.place = [
            CALLER if seat == call.seat else (CALLERS_PARTNER if ours else DEFENDER)
            for seat, ours in enumerate(self.ours)
        ]

    def next_from(self, seat: int) -> int:
        """That seat, or the next one that plays."""
        while seat % 4 in self.out:
            seat += 1
        return seat % 4

    def points(self, won: int, lost: int) -> int:
        """Points of the caller's side less those of the defenders, when all is known."""
        if lost > TRICKS - MADE:
            return -4 if self.lone_defender else -2
        if won < TRICKS:
            return 1
        return 4 if self.alone else 2


seated = cache(Seating)


def stages(cards: Iterable[Mask], table: Seating) -> list[PlayStage]:
    """How far the play has come before each card of a deal, in order, and after all of them."""
    first = PlayStage(table.next_from(0))
    return list(accumulate(cards, lambda stage, card: stage.after(card, table), initial=first))


def played_out(
    table: Seating, hands: Sequence[Mask], hidden: Sequence[Mask], stage: PlayStage
) -> int:
    """The points of the caller's side when all play on by the rules of thumb.

    `hands` are the cards that each seat holds, `hidden` those that it has not been dealt and that
    do not lie turned down; the cards that were played are taken away here.
    """
    lead, follow = leading(table.trump), following(table.trump)
    suit, trumps, ours = table.suit, table.trumps, table.ours
    after, place = table.after, table.place
    others, first = table.chairs - 1, not stage.won + stage.lost
    held = [*hands]
    seat, gone, laid = stage.seat, stage.gone, stage.laid
    led, best, by = stage.led, stage.best, stage.by
    won, lost = stage.won, stage.lost
    while True:
        if (lost and (won >= MADE or lost > TRICKS - MADE)) or won == TRICKS:
            return table.points(won, lost)
        if not laid:
            hand = held[seat]
            best = lead(hand, hidden[seat] & ~gone, place[seat], first) if hand & hand - 1 else hand
            led, by = suit[best], seat
            held[seat] ^= best
            gone |= best
            seat = after[seat]
            laid = 1
        while laid <= others:
            hand = held[seat]
            card = hand & led or hand
            if card & card - 1:
                card = follow(hand, hidden[seat] & ~gone, led, best, by == seat ^ 2, laid == others)
            if card > best and card & (led | trumps):
                best, by = card, seat
            held[seat] ^= card
            gone |= card
            seat = after[seat]
            laid += 1
        if ours[by]:
            won += 1
        else:
            lost += 1
        seat, laid, first = by, 0, False
