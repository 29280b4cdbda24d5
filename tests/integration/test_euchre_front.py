"""The service over real HTTP: whole games, many clients at once, and the probe for fairness."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from random import Random

from support.case_counts import case_count
from support.euchre_deals import play_deal, strategy_player
from support.euchre_service import RecordingLog, memory_store

from cardsharp.core.clock import SystemClock
from cardsharp.games.euchre.position import EuchrePosition
from cardsharp.games.euchre.public_state import SEATS
from cardsharp.games.euchre.rules import Deal
from cardsharp.games.euchre.service.deal_store import DealStore, deal_key_of
from cardsharp.games.euchre.service.routes import API
from cardsharp.games.euchre.service.service import EuchreService
from cardsharp.games.euchre.simulation import shuffled_deck
from cardsharp.games.euchre.strategies import EuchreDecision, Strategy, build
from cardsharp_tools.games.euchre.leak_probe import (
    DECISION_KINDS,
    LeakProbeResult,
    ProbeOptions,
    probe_decision_kind,
)
from cardsharp_tools.games.euchre.remote_player import RemotePlayerClient
from cardsharp_tools.lab.game_adapter import LabPlayer
from cardsharp_tools.local_play.game_service import api_server


@dataclass
class Peeker:
    """Decides by its left neighbour's highest card, which it reads in the deal begun last."""

    deals: DealStore

    def decide(self, view: EuchrePosition) -> EuchreDecision:
        place, _ = next(iter(self.deals.documents.keys_and_expiries()))
        deal = Deal(self.deals.read(deal_key_of(place)).cards, view.public_state, view.discard)
        highest = max(deal.hand((view.seat + 1) % len(SEATS)), default=0)
        return EuchreDecision(view.legal_actions[highest % len(view.legal_actions)], "I looked.")


DEALS = case_count(3, full=200)
"""Of each kind of decision: 3 are enough to catch a cheat, as the positive control shows."""


@contextmanager
def serving(strategy: Strategy, store: DealStore) -> Iterator[tuple[str, RecordingLog]]:
    """A service with that player, its address, and what it writes down."""
    diary = RecordingLog()
    with api_server(API, EuchreService(store, strategy, SystemClock(), diary)) as gateway:
        yield gateway.url, diary


def test_clients_at_once_play_as_if_each_were_alone() -> None:
    """Deal for deal as in this process; of partners each has a token of its own, or both share one.

    One has a base URL that ends with a slash.
    """
    rules = strategy_player("rules")

    def deals(seated: Callable[[], Sequence[LabPlayer]], seed: int) -> list[Deal]:
        rng = Random(seed)
        pairs = (seated() for _ in range(case_count(1, full=2)))
        return [
            play_deal(shuffled_deck(rng), (first_partner, rules, second_partner, rules))
            for first_partner, second_partner in pairs
        ]

    with serving(build("rules"), memory_store()) as (url, diary):

        def play(seed: int) -> list[Deal]:
            with (
                RemotePlayerClient(url) as first_player,
                RemotePlayerClient(f"{url}/") as second_player,
            ):
                if seed % 2:
                    return deals(
                        lambda: (first_player.for_match((0,)), second_player.for_match((2,))), seed
                    )
                return deals(lambda: [first_player.for_match((0, 2))] * 2, seed)

        with ThreadPoolExecutor(4) as pool:
            played = list(pool.map(play, range(4)))
    assert played == [deals(lambda: (rules, rules), seed) for seed in range(4)]
    assert (diary.strategy_failures, diary.other_errors) == ([], [])


def probe(url: str) -> list[LeakProbeResult]:
    """Probe a service for hidden cards that change its answers: a result per kind of decision."""
    with RemotePlayerClient(url) as player:
        return [
            probe_decision_kind(player, kind, ProbeOptions(deals=DEALS)) for kind in DECISION_KINDS
        ]


def test_the_probe_finds_no_answer_that_changes_by_hidden_cards() -> None:
    with serving(build("rules"), memory_store()) as (url, diary):
        findings = probe(url)
    assert [(finding.kind, finding.changed) for finding in findings] == [
        (kind, 0) for kind in DECISION_KINDS
    ]
    assert diary.strategy_failures == [], "every question was answered by the strategy"


def test_the_probe_catches_a_player_that_peeks() -> None:
    """The positive control: without it the test above would prove nothing."""
    store = memory_store()
    with serving(Peeker(store), store) as (url, _):
        findings = {finding.kind: finding.changed for finding in probe(url)}
    assert all(findings.values()), findings
    assert sum(findings.values()) >= DEALS, findings
