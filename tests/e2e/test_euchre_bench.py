"""The benchmark of the Euchre service as a command, over one game."""

import json

import pytest

from workbench.bench.euchre_bench import app


def test_it_tells_what_a_call_costs_and_what_of_it_is_ours(
    capsys: pytest.CaptureFixture[str],
) -> None:
    app(
        ["calls", "--strategy", "rules", "--games", "1", "--json"],
        result_action="return_value",
    )
    rows = json.loads(capsys.readouterr().out)
    assert {"GET /bid", "GET /play", "POST /deal", "all"} <= set(rows)
    means = rows["all"]
    assert means["calls"] > 200
    parts = means["store"] + means["strategy"] + means["overhead"]
    assert means["all"] == pytest.approx(parts, abs=0.01)
    assert 0 < means["overhead"] < means["all"]
