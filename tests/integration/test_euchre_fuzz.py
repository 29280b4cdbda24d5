"""Requests made up from the published document: never a 5xx, never an answer outside it."""

from collections.abc import Iterator
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from schemathesis import GenerationMode
from support.euchre_api import Diary, euchre_front
from support.fuzzing import operations
from support.size import cases

from cardsharp.euchre.assembly import SERVICE
from cardsharp.euchre.strategies import build
from workbench.euchre.probe import KINDS
from workbench.euchre.remote import RemotePlayer

CASES = cases(10, every=500)
"""For each operation; 500 take 5 minutes."""

KNOWN = 0.7
"""How often a question or a message is about a deal that is stored."""

TOKENS = tuple(f"{number:x}" for number in range(3 * len(KINDS)))
"""Each has told of one deal, up to another decision."""


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    """A service that holds deals at every stage; at its end, what it wrote down is looked at."""
    diary = Diary()
    with euchre_front(build("rules"), diary) as front:
        tell(front.url)
        yield front.url
    assert diary.troubles == []
    assert not [fault for fault in diary.faults if "strategy" in fault]


def tell(base: str) -> None:
    """Tell of a deal for each token, up to a decision."""
    for number, token in enumerate(TOKENS):
        kind = list(KINDS)[number % len(KINDS)]
        with RemotePlayer(base, token) as player:
            deal = KINDS[kind](Random(number))
            player.begin(deal, frozenset())
            player.end(deal)


def make_known(case: Any, chance: Random) -> None:  # noqa: ANN401 - schemathesis says no more
    """Let a request be about one of the deals that were told, often but not always."""
    if case.meta.generation.mode is not GenerationMode.POSITIVE or chance.random() > KNOWN:
        return
    known = {"token": chance.choice(TOKENS), "gameNum": 0, "dealNum": 0}
    for given in (one for one in (case.query, case.body) if isinstance(one, dict)):
        given |= {name: known[name] for name in known if name in given}


@operations(SERVICE.document())
@settings(
    max_examples=CASES, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck)
)
@pytest.mark.timeout(900)
def test_no_request_is_answered_outside_of_the_document(case: Any, url: str) -> None:  # noqa: ANN401 - the same
    make_known(case, Random(repr((case.query, case.body))))
    case.call_and_validate(base_url=url)
