"""Tests of several teams behind one address, also with a client that learns no delays."""

import pytest

from cardsharp.client.response_times import ResponseTimes
from fault_simulation.shared_address import (
    SharedAddressConfig,
    SharedAddressScenario,
    run_shared_address,
)

SMALL = SharedAddressConfig(matches=8, teams=4, address_limit=560)  # as seven teams at 1,000


def forced_turns(scenario: SharedAddressScenario) -> int:
    return sum(len(check.forced_turns) for check in scenario.outcome.match_checks)


@pytest.mark.slow
def test_r40_an_unreported_limit_costs_us_no_more_turns_than_a_plain_client(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Mutation guard: a bot that ignores response times gives up requests that are only late."""
    scenario = run_shared_address(SMALL)
    outcome = scenario.outcome
    assert outcome.finished_count == SMALL.matches
    assert outcome.max_address_seconds > 2, "the limit was passed"
    assert forced_turns(scenario) <= scenario.plain_turns[True]
    assert not any(check.refused or check.violations for check in outcome.match_checks)
    monkeypatch.setattr(ResponseTimes, "_compute_delays", lambda *_, **__: [])
    mutated_scenario = run_shared_address(SMALL)
    assert forced_turns(mutated_scenario) > forced_turns(scenario)
