"""The service over real HTTP: whole games, many clients at once, and the probe for fairness."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from random import Random

from support.euchre_api import Diary, memory_store
from support.euchre_random import play_deal, thinking
from support.size import cases

from cardsharp.cloud.clock import SystemClock
from cardsharp.euchre.position import Position
from cardsharp.euchre.routes import API
from cardsharp.euchre.rules import Deal
from cardsharp.euchre.service import EuchreService
from cardsharp.euchre.simulation import shuffled
from cardsharp.euchre.store import Deals, key_at
from cardsharp.euchre.strategies import Decision, Strategy, build
from cardsharp.euchre.table import SEATS
from workbench.euchre.probe import KINDS, ProbeFinding, ProbeOptions, probe_kind
from workbench.euchre.remote import RemotePlayer
from workbench.lab.extras import LabPlayer
from workbench.stage.serving import front


@dataclass
class Peeker:
    """Decides by its left neighbour's highest card, which it reads in the deal begun last."""

    deals: Deals

    def decide(self, view: Position) -> Decision:
        place, _ = next(iter(self.deals.keep.listed()))
        deal = Deal(self.deals.read(key_at(place)).cards, view.table, view.discard)
        highest = max(deal.hand((view.seat + 1) % len(SEATS)), default=0)
        return Decision(view.choices[highest % len(view.choices)], "I looked.")


DEALS = cases(3, every=200)
"""Of each kind of decision: 3 are enough to catch a cheat, as the positive control shows."""


@contextmanager
def serving(strategy: Strategy, store: Deals) -> Iterator[tuple[str, Diary]]:
    """A service with that player, its address, and what it writes down."""
    diary = Diary()
    with front(API, EuchreService(store, strategy, SystemClock(), diary)) as found:
        yield found.url, diary


def test_clients_at_once_play_as_if_each_were_alone() -> None:
    """Deal for deal as in this process; of partners each has a token of its own, or both share one.

    One has a base URL that ends with a slash.
    """
    rules = thinking("rules")

    def deals(seated: Callable[[], Sequence[LabPlayer]], seed: int) -> list[Deal]:
        rng = Random(seed)
        pairs = (seated() for _ in range(cases(1, every=2)))
        return [play_deal(shuffled(rng), (one, rules, two, rules)) for one, two in pairs]

    with serving(build("rules"), memory_store()) as (url, diary):

        def play(seed: int) -> list[Deal]:
            with RemotePlayer(url) as one, RemotePlayer(f"{url}/") as two:
                if seed % 2:
                    return deals(lambda: (one.seated((0,)), two.seated((2,))), seed)
                return deals(lambda: [one.seated((0, 2))] * 2, seed)

        with ThreadPoolExecutor(4) as pool:
            played = list(pool.map(play, range(4)))
    assert played == [deals(lambda: (rules, rules), seed) for seed in range(4)]
    assert (diary.faults, diary.troubles) == ([], [])


def probe(url: str) -> list[ProbeFinding]:
    """What hidden cards change at the service there."""
    with RemotePlayer(url) as player:
        return [probe_kind(player, kind, ProbeOptions(deals=DEALS)) for kind in KINDS]


def test_the_probe_finds_no_answer_that_changes_by_hidden_cards() -> None:
    with serving(build("rules"), memory_store()) as (url, diary):
        findings = probe(url)
    assert [(one.kind, one.changed) for one in findings] == [(kind, 0) for kind in KINDS]
    assert diary.faults == [], "every question was answered by the strategy"


def test_the_probe_catches_a_player_that_peeks() -> None:
    """The positive control: without it the test above would prove nothing."""
    store = memory_store()
    with serving(Peeker(store), store) as (url, _):
        findings = {one.kind: one.changed for one in probe(url)}
    assert all(findings.values()), findings
    assert sum(findings.values()) >= DEALS, findings
