"""Whether an answer depends on cards that its player cannot see (docs/spec/euchre.md section 9).

A deal is told up to a decision, again and again with the hidden cards exchanged. A fair service
gives the same answer every time. Own cards, the turn card and every card already played stay
where they are; all others change places, a remote dealer's discard too.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from random import Random

from cardsharp.euchre.actions import PASS, Action, Bid, Defend, Discard, Question
from cardsharp.euchre.cards import SUITS
from cardsharp.euchre.position import project
from cardsharp.euchre.rules import apply, start
from cardsharp.euchre.simulation import exchanged, shuffled
from cardsharp.euchre.state import Deal
from cardsharp.euchre.strategies import build
from cardsharp.euchre.table import DEALER, turn
from workbench.euchre.remote import RemotePlayer

LONE = 0.15
"""How many of the calls are alone."""

_LAST_BID = 8


@dataclass(frozen=True, slots=True)
class ProbeFinding:
    """How many answers of one kind of decision were changed by hidden cards."""

    kind: str
    deals: int
    changed: int

    def __str__(self) -> str:
        return f"{self.kind:>20}: {self.changed} of {self.deals} deals changed"


def first_bid(rng: Random) -> Deal:
    """A deal before a bid of the first round."""
    return _passed(start(shuffled(rng)), rng.randrange(4))


def second_bid(rng: Random) -> Deal:
    """A deal before a bid of the second round."""
    return _passed(start(shuffled(rng)), 4 + rng.randrange(4))


def discard(rng: Random) -> Deal:
    """A deal in which the dealer has to lay a card aside."""
    return _called(start(shuffled(rng)), rng.randrange(4), rng)


def opening_lead(rng: Random) -> Deal:
    """A deal before its first card."""
    deal = _called(start(shuffled(rng)), rng.randrange(_LAST_BID), rng)
    while (now := turn(deal.table)) is not None and now.question is not Question.PLAY:
        deal = apply(deal, Defend(alone=False) if now.question is Question.DEFEND else _rule(deal))
    return deal


def later_card(rng: Random) -> Deal:
    """A deal in the middle of its card play; not the turn of a dealer who picked up.

    What such a dealer laid aside is known only to a service that was asked for it.
    """
    deal = opening_lead(rng)
    for _ in range(rng.randrange(1, 16)):
        deal = apply(deal, _rule(deal)) if turn(deal.table) is not None else deal
    now = turn(deal.table)
    return deal if now is not None and now.seat != DEALER else later_card(rng)


KINDS: dict[str, Callable[[Random], Deal]] = {
    "first-round bid": first_bid,
    "second-round bid": second_bid,
    "discard": discard,
    "opening lead": opening_lead,
    "later card": later_card,
}


@dataclass(frozen=True, slots=True)
class Probed:
    """How many deals are probed of each kind of decision, and how often their cards change."""

    deals: int
    permutations: int = 3
    seed: int = 1


def probe(base: str, probed: Probed, kinds: Iterable[str] = KINDS) -> list[ProbeFinding]:
    """What hidden cards change at the service there."""
    with RemotePlayer(base) as player:
        return [probe_kind(player, kind, probed) for kind in kinds]


def probe_kind(
    player: RemotePlayer, kind: str, probed: Probed, done: Callable[[], None] = lambda: None
) -> ProbeFinding:
    """What hidden cards change in one kind of decision; `done` is called after each deal."""
    changed = 0
    for number in range(probed.deals):
        rng = Random(f"{probed.seed}/{kind}/{number}")
        deal = KINDS[kind](rng)
        answers = {_asked(player, deal)}
        answers |= {_asked(player, exchanged(deal, rng)) for _ in range(probed.permutations)}
        changed += len(answers) > 1
        done()
    return ProbeFinding(kind, probed.deals, changed)


def _asked(player: RemotePlayer, deal: Deal) -> Action:
    """The answer of whoever's turn it is; all that happened is told, its own part too."""
    now = turn(deal.table)
    if now is None:
        raise ValueError("Nobody has to decide: the deal is over.")
    player.begin(deal, frozenset())
    return player.decide(deal, now.seat)


def _passed(deal: Deal, times: int) -> Deal:
    for _ in range(times):
        deal = apply(deal, PASS)
    return deal


def _called(deal: Deal, number: int, rng: Random) -> Deal:
    """A deal in which that bid names trumps."""
    turned = deal.table.turn_card & 3
    others = [suit for suit in SUITS if suit != turned]
    suit = turned if number < 4 else rng.choice(others)  # noqa: PLR2004 - seats at the table
    return apply(_passed(deal, number), Bid(suit, rng.random() < LONE))


_RULES = build("rules")


def _rule(deal: Deal) -> Action:
    """What the player by rules does."""
    now = turn(deal.table)
    return Discard(-1) if now is None else _RULES.decide(project(deal, now.seat)).action
