"""What a load of matches costs: units times prices, with the free tier taken off once."""

import json
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest

from cardsharp.errors import ConfigError
from cardsharp.viewer.assembly import PAUSE
from workbench.cli import main
from workbench.cli.cost import CostOptions
from workbench.cloud.template import TEMPLATE, load_template
from workbench.cost.bill import make_bill
from workbench.cost.measure import write_measured
from workbench.cost.prices import Item, Prices, load_prices
from workbench.cost.usage import Load, alarm_metrics, load_measured, usage

DOCS = Path(__file__).parents[2] / "docs" / "cost.md"
ALWAYS = Load(matches_per_day=100)


def prices(**items: Item) -> Prices:
    given = {name.replace("_", " "): item for name, item in items.items()}
    return Prices(date=date(2026, 11, 20), region="here", sources={"page": "a page"}, items=given)


def item(price: float, free: float) -> Item:
    return Item(source="page", price=price, free=free)


def test_an_item_costs_its_units_times_its_price_beyond_what_is_free() -> None:
    bill = make_bill({"Things": 150, "Others": 3}, prices(Things=item(2, 100), Others=item(1, 10)))
    assert [(line.item, line.full, line.due) for line in bill.lines] == [
        ("Things", 300, 100),
        ("Others", 3, 0),
    ]
    assert (bill.full, bill.due) == (303, 100)


def test_an_item_without_a_price_is_no_gift() -> None:
    with pytest.raises(ConfigError, match="no price of Things; add it"):
        make_bill({"Things": 1}, prices())


def test_every_item_of_a_plan_has_a_price_with_its_source_and_the_list_its_date() -> None:
    listed = load_prices()
    units = usage(ALWAYS, load_measured())
    others = {"Lambda GB-seconds x86_64", "HTTP API requests"}
    assert set(units) | others == set(listed.items)
    assert listed.date >= date(2026, 11, 1)
    assert all(listed.sources[one.source] for one in listed.items.values())


def test_a_price_list_whose_source_is_not_described_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "prices.toml"
    path.write_text(
        'date = 2026-11-20\nregion = "x"\n[sources]\n[items.A]\nsource = "b"\nprice = 1\nfree = 0\n'
    )
    with pytest.raises(ConfigError, match="no source is described for b"):
        load_prices(path)


def test_a_load_has_the_defaults_of_the_template() -> None:
    parameters = load_template(TEMPLATE)["Parameters"]
    told = {
        "PollerMemory": ALWAYS.poller_memory,
        "WorkerMemory": ALWAYS.worker_memory,
        "Architecture": ALWAYS.architecture,
        "Pollers": str(ALWAYS.pollers),
        "Listening": "quiet" if ALWAYS.quiet else "always",
        "TableBilling": "provisioned" if ALWAYS.provisioned else "on-demand",
        "Watch": "all" if ALWAYS.watch_all else "alarms",
    }
    assert {name: parameters[name]["Default"] for name in told} == told
    assert CostOptions().load() == ALWAYS


def test_the_aim_is_met_a_dollar_by_default_and_six_without_free_tier_where_it_is_quiet() -> None:
    prices, measured = load_prices(), load_measured()
    quiet = Load(matches_per_day=100, quiet=True)
    always, quieter = (make_bill(usage(load, measured), prices) for load in (ALWAYS, quiet))
    assert always.due <= 1
    assert quieter.due <= 1
    assert quieter.full <= 6


def test_listening_is_paid_by_hours_and_megabytes() -> None:
    measured = load_measured()
    silent = Load(matches_per_day=0)
    item_name = "Lambda GB-seconds arm64"
    hours = 24 * 30
    per_hour = usage(silent, measured)[item_name] / hours
    assert per_hour == pytest.approx(3600 / 8, rel=0.02), "an eighth of a GB, without a gap"
    half = usage(Load(matches_per_day=0, hours_listening=12), measured)
    assert half[item_name] == pytest.approx(per_hour * hours / 2)
    large = usage(Load(matches_per_day=0, poller_memory=256), measured)
    assert large[item_name] == pytest.approx(per_hour * hours * 2)


def test_a_quiet_poller_is_paid_by_the_matches_it_finds() -> None:
    measured, seconds = load_measured(), "Lambda GB-seconds arm64"
    silent = usage(Load(matches_per_day=0, quiet=True), measured)[seconds]
    assert silent < usage(Load(matches_per_day=0), measured)[seconds] / 25
    one = usage(Load(matches_per_day=1, days=1, quiet=True), measured)[seconds]
    none = usage(Load(matches_per_day=0, days=1, quiet=True), measured)[seconds]
    assert one - none == pytest.approx(60 * ALWAYS.worker_memory / 1024 + 2 * 59 / 8, rel=0.01)
    busy = Load(matches_per_day=2000, quiet=True)
    assert busy.waking == busy.ticks, "never more than always"


def test_matches_are_paid_by_their_writes_and_their_time() -> None:
    measured = load_measured()
    one = usage(Load(matches_per_day=1, days=1, match_seconds=60), measured)
    two = usage(Load(matches_per_day=2, days=1, match_seconds=60), measured)
    slow = usage(Load(matches_per_day=1, days=1, match_seconds=120), measured)
    writes = "DynamoDB write units"
    ticks = one["Schedule invocations"]
    assert two[writes] - ticks == 2 * (one[writes] - ticks), "each tick writes once besides"
    assert slow[writes] - one[writes] == 60 * measured.renewals_per_second
    seconds = "Lambda GB-seconds arm64"
    assert slow[seconds] - one[seconds] == pytest.approx(60 * ALWAYS.worker_memory / 1024)


def test_pages_cost_nothing_while_nobody_looks_and_else_by_views_and_hours() -> None:
    measured = load_measured()
    idle, reads = usage(ALWAYS, measured), "DynamoDB read units"
    assert "HTTP API requests" not in idle
    view = usage(replace(ALWAYS, page_views=1), measured)
    assert measured.pages is not None
    assert view["HTTP API requests"] == measured.pages.view.requests
    assert view[reads] - idle[reads] == pytest.approx(measured.pages.view.read_units)
    hour, two = (usage(replace(ALWAYS, watched_hours=hours), measured) for hours in (1, 2))
    assert two[reads] - idle[reads] == pytest.approx(2 * (hour[reads] - idle[reads]))
    assert hour["HTTP API requests"] > 3600 / PAUSE.total_seconds()
    bare = measured.model_copy(update={"pages": None})
    with pytest.raises(ConfigError, match=r"python -m workbench\.cost\.pages"):
        usage(Load(matches_per_day=1, page_views=1), bare)


def test_what_is_watched_less_costs_less() -> None:
    assert alarm_metrics(watch_all=True) > 10 >= alarm_metrics(watch_all=False)
    measured = load_measured()
    plain = usage(Load(matches_per_day=1, watch_all=False), measured)
    whole = usage(Load(matches_per_day=1, watch_all=True), measured)
    assert plain["CloudWatch dashboards"] == plain["CloudWatch composite alarms"] == 0
    assert plain["CloudWatch metrics"] < whole["CloudWatch metrics"] == measured.metrics


def test_a_provisioned_table_costs_its_capacity_and_no_requests() -> None:
    measured, prices = load_measured(), load_prices()
    load = Load(matches_per_day=100, provisioned=True)
    bill = make_bill(usage(load, measured), prices)
    by_use = make_bill(usage(ALWAYS, measured), prices)
    capacity = [bill.of(f"DynamoDB {kind} capacity hours") for kind in ("write", "read")]
    assert [(line.units, line.due) for line in capacity] == [(25 * 24 * 30, 0)] * 2
    units = [f"DynamoDB {kind} units" for kind in ("write", "read")]
    assert [bill.of(item).full for item in units] == [0, 0]
    assert [by_use.of(line.item).full for line in capacity] == [0, 0]
    spared = sum(by_use.of(item).due for item in units)
    assert bill.due == pytest.approx(by_use.due - spared)


def test_a_quiet_stack_is_paid_for_the_hours_in_which_it_is_awake() -> None:
    asleep, awake = (Load(matches_per_day=0, quiet=True, hours_awake=h) for h in (0, 8))
    assert awake.waking - asleep.waking == 8 * 60 * 30
    assert Load(matches_per_day=0, quiet=True, hours_awake=24).waking == asleep.ticks


def test_a_bill_stands_beside_an_earlier_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["cost", "--json"])
    earlier = tmp_path / "before.json"
    earlier.write_text(capsys.readouterr().out)
    told = json.loads(earlier.read_text())
    assert main(["cost", "--quiet", "--against", str(earlier)]) == 0
    lines = capsys.readouterr().out.splitlines()
    (sums,) = [line.split()[1:] for line in lines if line.startswith("together")]
    assert sums[:2] == [f"{told[key]:.2f}" for key in ("withoutFreeTier", "afterFreeTier")]
    assert float(sums[2]) < float(sums[0])
    assert any(line.startswith("Lambda GB-seconds") for line in lines)
    assert not any(line.startswith("CloudWatch dashboards") for line in lines), "nothing in both"
    earlier.write_text("[]")
    assert main(["cost", "--against", str(earlier)]) == 2
    assert "is no bill" in capsys.readouterr().err


def test_the_measured_figures_are_written_as_they_are_read(tmp_path: Path) -> None:
    measured = load_measured()
    write_measured(measured, tmp_path / "measured.toml")
    assert load_measured(tmp_path / "measured.toml") == measured
    assert measured.matches >= 5
    (tmp_path / "measured.toml").write_text("match_seconds = -1")
    with pytest.raises(ConfigError, match="measure them anew with `cardsharp cost --measure`"):
        load_measured(tmp_path / "measured.toml")


def test_the_bill_is_printed_and_spoken_in_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["cost", "--matches-per-day", "100", "--hours-listening", "24"]) == 0
    said = capsys.readouterr().out
    assert "together" in said
    assert main(["cost", "--memory", "1024", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["withoutFreeTier"] > told["afterFreeTier"] > 0
    assert sum(line["afterFreeTier"] for line in told["lines"]) == pytest.approx(
        told["afterFreeTier"], abs=0.01
    )


@pytest.mark.parametrize(
    "options",
    [
        "--matches-per-day 50 --hours-listening 2 --days 7",
        "--matches-per-day 300 --days 1",
        "--matches-per-day 100",
        "--matches-per-day 100 --quiet",
        "--matches-per-day 100 --quiet --hours-awake 8",
        "--matches-per-day 100 --table provisioned",
        "--matches-per-day 100 --page-views 1000 --watched-hours 10",
    ],
)
def test_the_docs_tell_the_figures_of_today(
    options: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["cost", *options.split(), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    row = next(
        line for line in DOCS.read_text().splitlines() if f"`cardsharp cost {options}`" in line
    )
    assert f"{told['withoutFreeTier']:.2f}" in row
    assert f"{told['afterFreeTier']:.2f}" in row
