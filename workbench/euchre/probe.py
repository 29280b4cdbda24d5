"""Whether an answer depends on cards that its player cannot see (docs/spec/euchre.md section 9).

A deal is told up to a decision, again and again with the hidden cards exchanged. A fair service
gives the same answer every time. Own cards, the turn card and every card already played stay
where they are; all others change places, a remote dealer's discard too.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from random import Random
from typing import Annotated

from cyclopts import Parameter, validators

from cardsharp.euchre.actions import PASS, Action, Question
from cardsharp.euchre.assembly import DEFAULT_STRATEGY
from cardsharp.euchre.rules import Deal, apply, legal_actions, start
from cardsharp.euchre.simulation import exchanged, shuffled
from cardsharp.euchre.table import DEALER, SEATS, Table, ToAct, turn
from workbench.euchre.remote import RemotePlayer
from workbench.show.options import CommandOptions, Json, ProxyAddress

PASSING = 0.6  # how often a bidder passes rather than choose at random


@dataclass(frozen=True, slots=True)
class ProbeFinding:
    """How many answers of one kind of decision were changed by hidden cards."""

    kind: str
    deals: int
    changed: int

    def __str__(self) -> str:
        return f"{self.kind:>20}: {self.changed} of {self.deals} deals changed"


def stations(rng: Random) -> Iterator[Deal]:
    """Each state of a deal that is played at random, from before the first bid until it is over."""
    deal = start(shuffled(rng))
    yield deal
    while turn(deal.table) is not None:
        actions = legal_actions(deal)
        may_pass = PASS in actions and rng.random() < PASSING
        deal = apply(deal, PASS if may_pass else rng.choice(actions))
        yield deal


KINDS: dict[str, Callable[[Table, ToAct], bool]] = {
    "first-round bid": lambda table, now: (
        now.question is Question.BID and len(table.bids) < len(SEATS)
    ),
    "second-round bid": lambda table, now: (
        now.question is Question.BID and len(table.bids) >= len(SEATS)
    ),
    "discard": lambda _, now: now.question is Question.DISCARD,
    "opening lead": lambda table, now: now.question is Question.PLAY and not table.tricks,
    # What a dealer laid aside who picked up is known only to a service that was asked for it.
    "later card": lambda table, now: bool(table.tricks) and now.seat != DEALER,
}
"""The kinds of decisions: which they are."""


def met(kind: str, rng: Random) -> Deal:
    """A deal before a decision of that kind."""
    while True:
        asked = [(deal, turn(deal.table)) for deal in stations(rng)]
        found = [deal for deal, now in asked if now is not None and KINDS[kind](deal.table, now)]
        if found:
            return rng.choice(found)


@dataclass(frozen=True, kw_only=True)
class ProbeOptions(CommandOptions):
    """Who is asked, and how often."""

    strategy: str = DEFAULT_STRATEGY
    """The strategy to test."""
    proxy: ProxyAddress = None
    url: str | None = None
    """Test the service at this address instead."""
    deals: Annotated[int, Parameter(validator=validators.Number(gte=1))] = 200
    """Deals for each of the five kinds of decision."""
    permutations: Annotated[int, Parameter(validator=validators.Number(gte=1))] = 3
    """Permutations of each deal's hidden cards."""
    seed: Annotated[int, Parameter(help="The same seed deals the same cards.")] = 1
    as_json: Json = False


USUAL = ProbeOptions()


def probe_kind(
    player: RemotePlayer, kind: str, options: ProbeOptions, done: Callable[[], None] = lambda: None
) -> ProbeFinding:
    """What hidden cards change in one kind of decision; `done` is called after each deal."""
    changed = 0
    for number in range(options.deals):
        rng = Random(f"{options.seed}/{kind}/{number}")
        deal = met(kind, rng)
        answers = {_asked(player, deal)}
        answers |= {_asked(player, exchanged(deal, rng)) for _ in range(options.permutations)}
        changed += len(answers) > 1
        done()
    return ProbeFinding(kind, options.deals, changed)


def _asked(player: RemotePlayer, deal: Deal) -> Action:
    """The answer of whoever's turn it is; all that happened is told, its own part too."""
    player.begin(deal, frozenset())
    return player.decide(deal)
