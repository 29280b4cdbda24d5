"""What a contract is worth in a world in which everybody plays perfectly: exact points."""

from collections.abc import Sequence

from cardsharp.euchre.actions import PASS
from cardsharp.euchre.cards import Card
from cardsharp.euchre.strategies.bidding import appraise
from cardsharp.euchre.strategies.estimates import discard_first
from cardsharp.euchre.strategies.solver import Search
from cardsharp.euchre.strategies.worlds import World
from cardsharp.euchre.table import DEALER, MAX_BIDS, TRICKS, Call, partner

MADE = 3


def points(*, made: bool, all_five: bool, alone: bool, lone_defender: bool = False) -> int:
    """Points of the caller's side, less those of the defenders."""
    if not made:
        return -4 if lone_defender else -2
    if not all_five:
        return 1
    return 4 if alone else 2


class Ledger:
    """One world before the first card: what each contract is worth there, to each side.

    `nodes` counts the work.
    """

    def __init__(self, world: World, turn_card: Card) -> None:
        self._dealt = world.dealt
        self._turn_card = turn_card
        self._worth: dict[tuple[object, ...], int] = {}
        self.nodes = 0

    def worth(
        self, call: Call, side: int, lone_defender: int | None = None, laid: Card | None = None
    ) -> int:
        """The points of that side, less the other's; a dealer discards by rule unless told."""
        key = (call, lone_defender, laid)
        if key not in self._worth:
            self._worth[key] = self._solved(call, lone_defender, laid)
        worth = self._worth[key]
        return worth if call.seat % 2 == side else -worth

    def worth_of_pass(self, number: int, side: int) -> int:
        """What comes of it if bid `number` is a pass, and all others go on by the rules."""
        for later in range(number + 1, MAX_BIDS):
            bid = appraise(self._dealt[later % 4], later, self._turn_card).bid
            if bid != PASS and bid.suit is not None:
                return self.worth(Call(later, bid.suit, bid.alone), side)
        return 0

    def _solved(self, call: Call, lone_defender: int | None, laid: Card | None) -> int:
        hands: list[Sequence[Card]] = [*self._dealt]
        if call.picks_up:
            six = [*hands[DEALER], self._turn_card]
            gone = discard_first(six, call.suit)[0] if laid is None else laid
            hands[DEALER] = [card for card in six if card != gone]
        out = {partner(call.seat)} if call.alone else set()
        out |= set() if lone_defender is None else {partner(lone_defender)}
        search = Search(hands, call.suit, call.seat, frozenset(out))
        made = search.makes(0, MADE)
        all_five = made and search.makes(0, TRICKS)
        self.nodes += search.nodes
        return points(
            made=made,
            all_five=all_five,
            alone=call.alone,
            lone_defender=lone_defender is not None,
        )
