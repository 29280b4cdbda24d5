"""Who makes what when all cards are open: an exact search, fast enough to ask thousands of times.

Cards are bits. For given trumps the 24 are laid out suit by suit, trumps on top and higher cards
on higher bits, so that the winner of a trick is the greatest of a few integers. Whose a card is
never changes, so a position between two tricks is the set of cards still held, the leader, and
how many tricks the caller's side still needs. The search says yes or no only: points grow with
tricks, and so "at least three?" and "all five?" tell everything.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import cache

from cardsharp.euchre.cards import DECK, SUITS, Card, Suit, strength, suit_of
from cardsharp.euchre.table import SEATS

Mask = int
"""A set of cards of one layout."""

Lead = Callable[[Mask, int, int], bool]
Follow = Callable[[Mask, Mask, int, Mask, int, Mask, int, int], bool]

_MOST_MOVES = 200_000
"""Remembered lists of moves, some 40 MB; then all are forgotten."""


class Layout:
    """Where each card lies for one trump suit, and which of a hand's cards differ."""

    def __init__(self, trump: Suit) -> None:
        def place(card: Card) -> tuple[bool, Suit, int]:
            suit = suit_of(card, trump)
            return suit == trump, suit, strength(card, trump, suit)

        self.card = tuple(sorted(DECK, key=place))
        self.bit: dict[Card, Mask] = {card: 1 << spot for spot, card in enumerate(self.card)}
        suits = {
            suit: self.mask(card for card in DECK if suit_of(card, trump) == suit) for suit in SUITS
        }
        self.trumps = suits[trump]
        self.suit: dict[Mask, Mask] = {
            bit: suits[suit_of(card, trump)] for card, bit in self.bit.items()
        }
        self._moves: dict[int, tuple[Mask, ...]] = {}

    def mask(self, cards: Iterable[Card]) -> Mask:
        """The cards as a set."""
        return sum(self.bit[card] for card in cards)

    def moves(self, legal: Mask, present: Mask) -> tuple[Mask, ...]:
        """The cards that differ, high ones first; of neighbours in a suit only the highest.

        Cards are neighbours when nothing that is `present` (held, or in the trick) lies between.
        """
        key = legal << 24 | present
        found = self._moves.get(key)
        if found is None:
            if len(self._moves) > _MOST_MOVES:
                self._moves.clear()
            found = self._moves[key] = self._different(legal, present)
        return found

    def _different(self, legal: Mask, present: Mask) -> tuple[Mask, ...]:
        found = []
        while legal:
            bit = 1 << (legal.bit_length() - 1)
            found.append(bit)
            legal ^= bit
            below = present & (bit - 1) & self.suit[bit]
            while below:
                bit = 1 << (below.bit_length() - 1)
                if not bit & legal:
                    break
                legal ^= bit
                below ^= bit
        return tuple(found)


@cache
def layout(trump: Suit) -> Layout:
    """The layout of a trump suit, made once."""
    return Layout(trump)


class Search:
    """One world, searched: `hands` are the cards that each seat holds before `trick`.

    `nodes` counts the positions looked at, which is what work is limited by.
    """

    def __init__(
        self,
        hands: Sequence[Iterable[Card]],
        trump: Suit,
        caller: int,
        sitting_out: frozenset[int] = frozenset(),
    ) -> None:
        self._layout = layout(trump)
        active = [seat for seat in SEATS if seat not in sitting_out]
        masks = [self._layout.mask(hands[seat] if seat in active else ()) for seat in SEATS]
        self._ours = [seat % 2 == caller % 2 for seat in SEATS]
        self._after = _neighbours(active)
        self._chairs = len(active)
        self._held = sum(masks)
        self._count = [0]
        self._lead, self._follow = _search(
            self._layout, masks, self._ours, self._after, self._count
        )

    @property
    def nodes(self) -> int:
        """Positions looked at so far."""
        return self._count[0]

    def makes(self, leader: int, need: int) -> bool:
        """Whether the caller's side wins `need` of the tricks to come; an empty chair may lead."""
        while leader not in self._after:
            leader = (leader + 1) % 4
        return self._lead(self._held, leader, need)

    def makes_after(self, trick: Sequence[tuple[int, Card]], need: int) -> bool:
        """The same when a trick has begun with these cards, `need` counting that trick too.

        The cards of the trick may be among those of the hands, or not any more.
        """
        bits = [(seat, self._layout.bit[card]) for seat, card in trick]
        led = self._layout.suit[bits[0][1]]
        win = led | self._layout.trumps
        best_seat, best = max(bits, key=lambda played: played[1] & win)
        laid = sum(bit for _, bit in bits)
        held = self._held & ~laid
        left = self._chairs - len(bits)
        if not left:
            return self._lead(held, best_seat, need - self._ours[best_seat])
        seat = self._after[bits[-1][0]]
        return self._follow(held, laid, seat, best, best_seat, led, need, left)


def _neighbours(active: list[int]) -> dict[int, int]:
    """Who plays after each seat."""
    return dict(zip(active, [*active[1:], active[0]], strict=True))


def _search(  # noqa: C901 - two functions, which share what they know
    cards: Layout,
    hands: list[Mask],
    ours: list[bool],
    after: dict[int, int],
    count: list[int],
) -> tuple[Lead, Follow]:
    """The two functions that search a world; they share what they have found out.

    Closures and integers instead of objects: here a decision spends its time.
    """
    known: dict[int, bool] = {}
    suit, trumps, moves, others = cards.suit, cards.trumps, cards.moves, len(after) - 1

    def lead(held: Mask, seat: int, need: int) -> bool:
        own = hands[seat] & held
        if need <= 0 or need > own.bit_count():
            return need <= 0
        key = held | seat << 24 | need << 26
        found = known.get(key)
        if found is None:
            count[0] += 1
            us, following = ours[seat], after[seat]
            found = not us
            for card in moves(own, held):
                led = suit[card]
                if follow(held ^ card, card, following, card, seat, led, need, others) == us:
                    found = us
                    break
            known[key] = found
        return found

    def follow(  # noqa: PLR0913, PLR0917 - a tuple or an object would double the time
        held: Mask, laid: Mask, seat: int, best: Mask, by: int, led: Mask, need: int, left: int
    ) -> bool:
        count[0] += 1
        own, win = hands[seat] & held, led | trumps
        us, following = ours[seat], after[seat]
        for card in moves(own & led or own, held | laid):
            top, who = (card, seat) if card & win and card > best else (best, by)
            if left == 1:
                makes = lead(held ^ card, who, need - ours[who])
            else:
                rest = held ^ card
                makes = follow(rest, laid | card, following, top, who, led, need, left - 1)
            if makes == us:
                return us
        return not us

    return lead, follow
