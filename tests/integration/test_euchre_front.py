"""The service over real HTTP: whole games, many clients at once, and the probe for fairness."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from random import Random

import pytest
from support.euchre_api import Diary, euchre_front
from support.euchre_peeker import Peeker, Window
from support.size import cases

from cardsharp.cloud.clock import SystemClock
from cardsharp.cloud.sqlite_file import MEMORY
from cardsharp.euchre.simulation import shuffled
from cardsharp.euchre.state import Deal
from cardsharp.euchre.strategies import Strategy, build
from cardsharp.keep.sqlite import SqliteKeep
from workbench.cloud.http_front import HttpFront
from workbench.euchre.coordinator import Player, StrategyPlayer, play_deal, play_game
from workbench.euchre.probe import KINDS, Probed, probe
from workbench.euchre.remote import RemotePlayer

DEALS = cases(6, every=200)
"""Of each kind of decision: 6 are enough to catch a cheat, as the positive control shows."""


@contextmanager
def serving(strategy: Strategy | str = "rules") -> Iterator[tuple[HttpFront, Diary]]:
    diary = Diary()
    player = build(strategy) if isinstance(strategy, str) else strategy
    with euchre_front(player, diary) as front:
        yield front, diary


def test_a_game_over_http_is_the_game_in_this_process() -> None:
    """Deal for deal and point for point, against either neighbour, sharing a token or not."""
    rules, chance = StrategyPlayer(build("rules")), StrategyPlayer(build("random"))
    with (
        serving() as (front, diary),
        RemotePlayer(front.url) as remote,
        RemotePlayer(f"{front.url}/") as other,
    ):
        for seed in range(2):
            inside = play_game((rules, chance, rules, chance), Random(seed))
            assert play_game((remote, chance, remote, chance), Random(seed)) == inside
            # Each partner with a token of its own, and a base URL that ends with a slash.
            assert play_game((remote, chance, other, chance), Random(seed)) == inside
    assert diary.faults == []
    assert diary.troubles == []


def test_eight_clients_at_once_play_as_if_each_were_alone() -> None:
    rules = StrategyPlayer(build("rules"))

    def deals(player: Player, seed: int) -> list[Deal]:
        rng = Random(seed)
        seats = (player, rules, player, rules)
        return [play_deal(shuffled(rng), seats)[0] for _ in range(2)]

    with serving() as (front, diary):

        def play(seed: int) -> list[Deal]:
            with RemotePlayer(front.url) as remote:
                return deals(remote, seed)

        with ThreadPoolExecutor(8) as pool:
            played = list(pool.map(play, range(8)))
    assert played == [deals(rules, seed) for seed in range(8)]
    assert diary.faults == []


@pytest.mark.parametrize(
    ("strategy", "deals"),
    [("rules", DEALS), pytest.param("pimc", 16, marks=pytest.mark.slow)],
)
def test_the_probe_finds_no_answer_that_changes_with_hidden_cards(
    strategy: str, deals: int
) -> None:
    with serving(strategy) as (front, diary):
        findings = probe(front.url, Probed(deals))
    assert [(one.kind, one.changed) for one in findings] == [(kind, 0) for kind in KINDS]
    assert diary.faults == [], "every question was answered by the strategy"


def test_the_probe_catches_a_player_that_peeks() -> None:
    """The positive control: without it the test above would prove nothing."""
    clock = SystemClock()
    window = Window(SqliteKeep(MEMORY, clock), clock)
    with euchre_front(Peeker(window), Diary(), window) as front:
        findings = {one.kind: one.changed for one in probe(front.url, Probed(DEALS))}
    assert all(findings.values()), findings
    assert sum(findings.values()) >= DEALS, findings
