"""What a contract is worth in a world: its points when everybody plays on as the rules do."""

from cardsharp.euchre.actions import PASS
from cardsharp.euchre.cards import Card
from cardsharp.euchre.strategies.bidding import appraise
from cardsharp.euchre.strategies.layout import layout
from cardsharp.euchre.strategies.playout import ALL, PlayStage, Seating, played_out
from cardsharp.euchre.strategies.worlds import World
from cardsharp.euchre.table import DEALER, MAX_BIDS, Call


class Ledger:
    """What contracts are worth before the first card, world by world."""

    def __init__(self, turn_card: Card) -> None:
        self._turn_card = turn_card
        self._seatings: dict[tuple[Call, int | None], Seating] = {}

    def worth(
        self,
        world: World,
        call: Call,
        side: int,
        lone_defender: int | None = None,
        laid: Card | None = None,
    ) -> int:
        """The points of that side, less the other's; a dealer discards by rule unless told."""
        table = self._seatings.get((call, lone_defender))
        if table is None:
            table = self._seatings[call, lone_defender] = Seating(call, lone_defender)
        cards = layout(call.suit)
        turn = cards.bit[self._turn_card]
        hands = [cards.of(dealt) for dealt in world.dealt]
        seen = ALL if call.picks_up else ALL ^ turn
        hidden = [seen & ~hand for hand in hands]
        if call.picks_up:
            six = hands[DEALER] | turn
            hidden[DEALER] &= ~turn
            hands[DEALER] = six ^ (cards.spare(six) if laid is None else cards.bit[laid])
        points = played_out(table, hands, hidden, PlayStage(table.next_from(0)))
        return points if call.seat % 2 == side else -points

    def worth_of_pass(self, world: World, number: int, side: int) -> int:
        """What comes of it if bid `number` is a pass, and all others go on by the rules."""
        for later in range(number + 1, MAX_BIDS):
            bid = appraise(world.dealt[later % 4], later, self._turn_card).bid
            if bid != PASS and bid.suit is not None:
                return self.worth(world, Call(later, bid.suit, bid.alone), side)
        return 0
