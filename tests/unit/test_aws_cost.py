"""What a load of matches costs: units times prices, with the free tier taken off once."""

import json
import re
from datetime import date
from pathlib import Path

import pytest

from cardsharp.errors import ConfigError
from workbench.cli import main
from workbench.cloud.template import TEMPLATE, load_template
from workbench.cost.bill import load_prices, make_bill
from workbench.cost.load import Load
from workbench.cost.measure import write_measured
from workbench.cost.usage import load_measured, usage

DOCS = Path(__file__).parents[2] / "docs" / "cost.md"
REGIONS = ("eu-central-1", "eu-west-1", "us-east-1")
USUAL = Load(matches_per_day=100)


def test_every_item_of_a_plan_has_a_price_with_its_source_and_other_regions_are_refused() -> None:
    units = usage(USUAL, load_measured())
    others = {"Lambda GB-seconds x86_64", "HTTP API requests"}
    for region in REGIONS:
        listed = load_prices(region)
        assert set(units) | others == set(listed.items)
        assert listed.date >= date(2026, 11, 1)
        assert all(listed.sources[one.source] for one in listed.items.values())
    with pytest.raises(ConfigError, match=r"no prices of mars-1; .* eu-central-1, eu-west-1, us-"):
        load_prices("mars-1")


def test_a_load_has_the_defaults_of_the_template() -> None:
    parameters = load_template(TEMPLATE)["Parameters"]
    told = {
        "PollerMemory": USUAL.poller_memory,
        "WorkerMemory": USUAL.worker_memory,
        "Architecture": USUAL.architecture,
        "Pollers": str(USUAL.pollers),
        "Listening": USUAL.listening,
        "KeepDays": f"{USUAL.keep_days:g}",
        "TableBilling": "provisioned" if USUAL.provisioned else "on-demand",
        "Watch": "all" if USUAL.watch_all else "alarms",
    }
    assert {name: parameters[name]["Default"] for name in told} == told


@pytest.mark.parametrize("region", REGIONS)
def test_the_aims_are_met_by_default_in_every_region_in_the_second_year(region: str) -> None:
    assert (USUAL.days, USUAL.days + USUAL.days_before) == (31, 2 * 365)
    bill = make_bill(usage(USUAL, load_measured()), load_prices(region))
    assert bill.due <= 1, "USD after the free tier"
    assert bill.full <= 6, "USD without it"


def test_the_measured_figures_are_written_as_they_are_read(tmp_path: Path) -> None:
    measured = load_measured()
    write_measured(measured, tmp_path / "measured.json")
    assert load_measured(tmp_path / "measured.json") == measured
    assert measured.matches >= 5
    (tmp_path / "measured.json").write_text('{"matches": -1}')
    with pytest.raises(ConfigError, match="measure them anew with `cardsharp cost --measure`"):
        load_measured(tmp_path / "measured.json")


ROWS = re.findall(r"\| `cardsharp (cost [^`]+)` \| ([\d.]+) \| ([\d.]+) \|", DOCS.read_text())


@pytest.mark.parametrize(("command", "full", "due"), ROWS)
def test_the_docs_tell_the_figures_of_today(
    command: str, full: str, due: str, capsys: pytest.CaptureFixture[str]
) -> None:
    there = [] if "--region" in command else ["--region", "eu-central-1"]
    assert main([*command.split(), *there, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert f"{told['withoutFreeTier']:.2f}" == full
    assert f"{told['afterFreeTier']:.2f}" == due
