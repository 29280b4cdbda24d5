"""Who makes what when all cards are open: an exact search, fast enough to ask thousands of times.

Cards are bits, see `layout`. Whose a card is never changes, so a position between two tricks is
the set of cards still held, the leader, and how many tricks the caller's side still needs. The
search says yes or no only: points grow with tricks, and so "at least three?" and "all five?" tell
everything.
"""

from collections.abc import Callable, Sequence

from cardsharp.euchre.rules import MADE
from cardsharp.euchre.strategies.layout import Mask, layout
from cardsharp.euchre.strategies.playout import PlayStage, Seating
from cardsharp.euchre.table import SEATS, TRICKS

Lead = Callable[[Mask, int, int], bool]
Follow = Callable[[Mask, Mask, int, Mask, int, Mask, int, int], bool]


class Search:
    """One world, searched: `hands` are what each seat holds, or held before `stage.gone`."""

    def __init__(self, table: Seating, hands: Sequence[Mask]) -> None:
        self._table = table
        masks = [0 if seat in table.out else hands[seat] for seat in SEATS]
        self._held = sum(masks)
        self._lead, self._follow = _search(table, masks)

    def makes(self, stage: PlayStage, need: int, laid: Mask = 0) -> bool:
        """Whether the caller's side wins `need` of the tricks to come from that stage on.

        A trick that has begun counts; `laid` are its cards. An empty chair may be to lead.
        """
        table, held = self._table, self._held & ~stage.gone
        if not stage.laid:
            return self._lead(held, table.next_from(stage.seat), need)
        left = table.chairs - stage.laid
        return self._follow(held, laid, stage.seat, stage.best, stage.by, stage.led, need, left)

    def points(self, stage: PlayStage, laid: Mask = 0) -> int:
        """Points of the caller's side less those of the defenders."""
        if not self.makes(stage, MADE - stage.won, laid):
            return self._table.points(0, TRICKS)
        if stage.lost or not self.makes(stage, TRICKS - stage.won, laid):
            return self._table.points(MADE, TRICKS - MADE)
        return self._table.points(TRICKS, 0)


def _search(table: Seating, hands: list[Mask]) -> tuple[Lead, Follow]:  # noqa: C901 - two functions, which share what they know
    """The functions that search a world; closures and integers, as here a decision takes time."""
    known: dict[int, bool] = {}
    cards, ours, after, others = layout(table.trump), table.ours, table.after, table.chairs - 1
    suit, trumps, moves = cards.suit, cards.trumps, cards.moves

    def lead(held: Mask, seat: int, need: int) -> bool:
        own = hands[seat] & held
        if need <= 0 or need > own.bit_count():
            return need <= 0
        key = held | seat << 24 | need << 26
        found = known.get(key)
        if found is None:
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
