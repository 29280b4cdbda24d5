"""A real match uses what is recorded in measured.toml: code that costs more has to be measured."""

from collections import Counter
from collections.abc import Iterator

import pytest

from cardsharp.game import Game
from workbench.cost.games import a_request, visited
from workbench.cost.games import measure as measure_requests
from workbench.cost.measure import PLATFORM_BYTES, Bench, bench, queue_requests, write_requests
from workbench.cost.usage import Measured, load_measured

RECORDED = load_measured()
FEW = 0.06
"""How far reads may lie from what is recorded: matches differ by about 2 %."""

SOME = 0.14
"""The same of writes, of which 14 matches differed by up to 6 %: facts come in handfuls."""

MANY = 0.5
"""The same of bytes logged, which go by how many moves an opponent makes us wait for."""


@pytest.fixture(scope="module")
def at() -> Iterator[Bench]:
    with bench() as running:
        yield running


def unlike(used: Counter[str], recorded: Measured = RECORDED) -> set[str]:
    """What a match used otherwise than is recorded."""
    renewals = round(used["milliseconds"] / 1000 * recorded.renewals_per_second)
    lines = used["lines"]
    found = {
        "reads": (used["read units"], recorded.match_read_units, FEW),
        "queue": (queue_requests(used), recorded.match_queue_requests, FEW),
        "units written": (
            (used["write units"] - renewals) / lines,
            recorded.line_write_units,
            SOME,
        ),
        "writes": ((write_requests(used) - renewals) / lines, recorded.line_write_requests, SOME),
        "bytes logged": (used["log bytes"] + PLATFORM_BYTES, recorded.match_log_bytes, MANY),
    }
    return {what for what, (now, then, by) in found.items() if now != pytest.approx(then, rel=by)}


def test_a_match_uses_what_was_measured(at: Bench) -> None:
    assert unlike(at.played()) == set(), "measure it anew with `cardsharp cost --measure`"


@pytest.mark.slow
@pytest.mark.parametrize("game", visited(), ids=lambda game: game.name)
def test_a_request_to_a_service_uses_what_was_measured(
    game: Game, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EUCHRE_STRATEGY", "rules")  # what it thinks costs seconds, not requests
    used, then = a_request(measure_requests(game, 1)), RECORDED.requests[game.name]
    assert used.read_units == pytest.approx(then.read_units, rel=FEW)
    assert used.write_units == pytest.approx(then.write_units, rel=FEW)
    assert used.log_bytes == pytest.approx(then.log_bytes, rel=MANY)
