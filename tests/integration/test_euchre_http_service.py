"""Tests of the Euchre service over real HTTP: deals, concurrent clients, the leak probe."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from random import Random

import requests
from support.case_counts import case_count
from support.euchre_deals import play_deal, strategy_player
from support.euchre_service import RecordingLog, memory_store
from support.waiting import HANG_SECONDS

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
class CheatingStrategy:
    """Strategy that reads its left neighbour's highest card from the latest stored deal."""

    deals: DealStore

    def decide(self, view: EuchrePosition) -> EuchreDecision:
        deal_key, _ = next(iter(self.deals.documents.keys_and_expiries()))
        deal = Deal(self.deals.read(deal_key_of(deal_key)).cards, view.public_state, view.discard)
        highest = max(deal.hand((view.seat + 1) % len(SEATS)), default=0)
        return EuchreDecision(view.legal_actions[highest % len(view.legal_actions)], "I looked.")


DEALS = case_count(3, full=200)
"""Of each kind of decision: 3 are enough to catch a cheat, as the positive control shows."""


@contextmanager
def serve_strategy(strategy: Strategy, store: DealStore) -> Iterator[tuple[str, RecordingLog]]:
    """Serve a strategy; yield the address of the service and its recording log."""
    recording_log = RecordingLog()
    with api_server(API, EuchreService(store, strategy, SystemClock(), recording_log)) as gateway:
        yield gateway.url, recording_log


def test_a_page_of_another_site_cannot_begin_a_session() -> None:
    """The protocol is one of programs, so no page needs to use it."""
    message = {"sessionId": 1, "pos": 0}
    with serve_strategy(build("random", SystemClock().monotonic), memory_store()) as (url, _):
        for origin, is_rejected in ((None, False), (url, False), ("http://evil.example", True)):
            headers = {} if origin is None else {"Origin": origin}
            response = requests.post(
                f"{url}/session", json=message, headers=headers, timeout=HANG_SECONDS
            )
            assert (response.status_code == 403) == is_rejected


def test_concurrent_clients_do_not_affect_each_other() -> None:
    """Every deal equals that of a local run.

    Partners have separate tokens or share one. The base URL of a client ends with a slash.
    """
    rules_player = strategy_player("rules")

    def play_deals(build_partners: Callable[[], Sequence[LabPlayer]], seed: int) -> list[Deal]:
        rng = Random(seed)
        pairs = (build_partners() for _ in range(case_count(1, full=2)))
        return [
            play_deal(
                shuffled_deck(rng), (first_partner, rules_player, second_partner, rules_player)
            )
            for first_partner, second_partner in pairs
        ]

    with serve_strategy(build("rules"), memory_store()) as (url, recording_log):

        def play(seed: int) -> list[Deal]:
            with (
                RemotePlayerClient(url) as first_player,
                RemotePlayerClient(f"{url}/") as second_player,
            ):
                if seed % 2:
                    return play_deals(
                        lambda: (first_player.for_match((0,)), second_player.for_match((2,))), seed
                    )
                return play_deals(lambda: [first_player.for_match((0, 2))] * 2, seed)

        with ThreadPoolExecutor(4) as pool:
            deals_by_client = list(pool.map(play, range(4)))
    assert deals_by_client == [
        play_deals(lambda: (rules_player, rules_player), seed) for seed in range(4)
    ]
    assert (recording_log.strategy_failures, recording_log.other_errors) == ([], [])


def probe_service(url: str) -> list[LeakProbeResult]:
    """Probe a service for hidden cards that change its answers: a result per kind of decision."""
    with RemotePlayerClient(url) as player:
        return [
            probe_decision_kind(player, kind, ProbeOptions(deals=DEALS)) for kind in DECISION_KINDS
        ]


def test_the_probe_finds_no_answer_that_changes_by_hidden_cards() -> None:
    with serve_strategy(build("rules"), memory_store()) as (url, recording_log):
        findings = probe_service(url)
    assert [(finding.kind, finding.changed) for finding in findings] == [
        (kind, 0) for kind in DECISION_KINDS
    ]
    assert recording_log.strategy_failures == [], "every question was answered by the strategy"


def test_the_probe_detects_a_cheating_strategy() -> None:
    """The probe detects a cheating strategy, which proves that the probe is effective."""
    store = memory_store()
    with serve_strategy(CheatingStrategy(store), store) as (url, _):
        findings = {finding.kind: finding.changed for finding in probe_service(url)}
    assert all(findings.values()), findings
    assert sum(findings.values()) >= DEALS, findings
