"""Probe for answers that depend on cards their player cannot see (docs/spec/euchre.md section 9).

A deal is sent up to a decision, repeatedly and with the hidden cards exchanged. A fair service
gives the same answer every time. The player's hand, the turn card and all played cards stay in
place; all other cards change places, a remote dealer's discard too.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from random import Random
from typing import Annotated

from cyclopts import Parameter, validators

from cardsharp.games.euchre.actions import PASS, Action, DecisionType
from cardsharp.games.euchre.public_state import (
    DEALER,
    SEATS,
    PendingDecision,
    PublicState,
    pending_decision,
)
from cardsharp.games.euchre.rules import Deal, apply, legal_actions, start
from cardsharp.games.euchre.service.bootstrap import DEFAULT_STRATEGY
from cardsharp.games.euchre.simulation import resample_unseen_cards, shuffled_deck
from cardsharp_tools.cli.options import CommandOptions, Json, ProxyAddress
from cardsharp_tools.games.euchre.remote_player import RemotePlayerClient

PASS_RATE = 0.6  # probability that a bidder passes instead of choosing at random


@dataclass(frozen=True, slots=True)
class LeakProbeResult:
    """Result of a probe: the number of deals in which hidden cards changed the answer."""

    kind: str
    deals: int
    changed: int

    def __str__(self) -> str:
        return f"{self.kind:>20}: {self.changed} of {self.deals} deals changed"


def random_deal_states(rng: Random) -> Iterator[Deal]:
    """Yield each state of a randomly played deal, from the first bid to its end."""
    deal = start(shuffled_deck(rng))
    yield deal
    while pending_decision(deal.public_state) is not None:
        actions = legal_actions(deal)
        may_pass = PASS in actions and rng.random() < PASS_RATE
        deal = apply(deal, PASS if may_pass else rng.choice(actions))
        yield deal


DECISION_KINDS: dict[str, Callable[[PublicState, PendingDecision], bool]] = {
    "first-round bid": lambda table, pending: (
        pending.decision_type is DecisionType.BID and len(table.bids) < len(SEATS)
    ),
    "second-round bid": lambda table, pending: (
        pending.decision_type is DecisionType.BID and len(table.bids) >= len(SEATS)
    ),
    "discard": lambda _, pending: pending.decision_type is DecisionType.DISCARD,
    "opening lead": lambda table, pending: (
        pending.decision_type is DecisionType.PLAY and not table.tricks
    ),
    # Only a service that was asked for the discard knows it.
    "later card": lambda table, pending: bool(table.tricks) and pending.seat != DEALER,
}
"""Kinds of decisions, with the condition for each."""


def random_deal_with_decision(kind: str, rng: Random) -> Deal:
    """Return a random deal at a decision of that kind."""
    while True:
        candidates = [
            (deal, pending_decision(deal.public_state)) for deal in random_deal_states(rng)
        ]
        matching = [
            deal
            for deal, pending in candidates
            if pending is not None and DECISION_KINDS[kind](deal.public_state, pending)
        ]
        if matching:
            return rng.choice(matching)


@dataclass(frozen=True, kw_only=True)
class ProbeOptions(CommandOptions):
    """Options of the probe: the player, and the number of deals."""

    strategy: str = DEFAULT_STRATEGY
    """Strategy to test."""
    proxy: ProxyAddress = None
    url: str | None = None
    """Test the service at this address instead."""
    deals: Annotated[int, Parameter(validator=validators.Number(gte=1))] = 200
    """Number of deals for each of the five kinds of decisions."""
    permutations: Annotated[int, Parameter(validator=validators.Number(gte=1))] = 3
    """Number of permutations of each deal's hidden cards."""
    seed: Annotated[int, Parameter(help="The same seed deals the same cards.")] = 1
    as_json: Json = False


DEFAULT_PROBE_OPTIONS = ProbeOptions()


def probe_decision_kind(
    player: RemotePlayerClient,
    kind: str,
    options: ProbeOptions,
    on_deal: Callable[[], None] = lambda: None,
) -> LeakProbeResult:
    """Probe one kind of decision and return the result; `on_deal` is called after each deal."""
    changed = 0
    for deal_index in range(options.deals):
        rng = Random(f"{options.seed}/{kind}/{deal_index}")
        deal = random_deal_with_decision(kind, rng)
        actions = {_request_action(player, deal)}
        actions |= {
            _request_action(player, resample_unseen_cards(deal, rng))
            for _ in range(options.permutations)
        }
        changed += len(actions) > 1
        on_deal()
    return LeakProbeResult(kind, options.deals, changed)


def _request_action(player: RemotePlayerClient, deal: Deal) -> Action:
    """Return the answer of the player to act, after sending all events."""
    player.begin_deal(deal, frozenset())
    return player.decide(deal)
