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
REGIONS = ("eu-central-1", "eu-west-1", "us-east-1")
USUAL = Load(matches_per_day=100)
ALWAYS = Load(matches_per_day=100, listening="always")


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
    units = usage(USUAL, load_measured())
    others = {"Lambda GB-seconds x86_64", "HTTP API requests"}
    for region in REGIONS:
        listed = load_prices(region)
        assert set(units) | others == set(listed.items)
        assert listed.date >= date(2026, 11, 1)
        assert all(listed.sources[one.source] for one in listed.items.values())


def test_a_region_without_prices_is_refused_with_those_that_have_some() -> None:
    with pytest.raises(ConfigError, match=r"no prices of mars-1; .* eu-central-1, eu-west-1, us-"):
        load_prices("mars-1")


def test_the_region_is_that_of_the_environment_or_else_frankfurt(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("AWS_REGION", raising=False)
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    main(["cost", "--json"])
    assert json.loads(capsys.readouterr().out)["region"] == "us-east-1"
    main(["cost", "--json", "--region", "eu-west-1"])
    assert json.loads(capsys.readouterr().out)["region"] == "eu-west-1"
    monkeypatch.delenv("AWS_DEFAULT_REGION")
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "none"))
    main(["cost", "--json"])
    told = json.loads(capsys.readouterr().out)
    assert (told["region"], told["days"]) == ("eu-central-1", 31)


def test_a_price_list_whose_source_is_not_described_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "prices.toml"
    path.write_text(
        "date = 2026-11-20\n[sources]\n[items.A]\nfree = 0\n"
        'us-east-1 = { price = 1, source = "b" }\n'
    )
    with pytest.raises(ConfigError, match="no source is described for b"):
        load_prices("us-east-1", path)


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
    assert CostOptions().load() == USUAL


@pytest.mark.parametrize("region", REGIONS)
def test_the_aims_are_met_by_default_in_every_region_in_the_second_year(region: str) -> None:
    assert (USUAL.days, USUAL.days + USUAL.days_before) == (31, 2 * 365)
    bill = make_bill(usage(USUAL, load_measured()), load_prices(region))
    assert bill.due <= 1, "USD after the free tier"
    assert bill.full <= 6, "USD without it"


def test_what_made_it_dear_before_breaks_the_aims() -> None:
    """Each lever is needed: one taken back, and a bound is broken."""
    measured, prices = load_measured(), load_prices()

    def bill(load: Load = USUAL, **used: float) -> tuple[float, float]:
        made = make_bill(usage(load, measured.model_copy(update=used)), prices)
        return made.full, made.due

    assert bill(ALWAYS)[0] > 6, "a poller that always listens"
    assert bill(match_write_units=339.0)[1] > 1, "2.77 units a line"
    assert bill(replace(USUAL, keep_days=0))[1] > 1, "matches kept for ever"
    assert bill(replace(USUAL, watch_all=True))[0] > 6, "every look a trace"


def test_matches_are_stored_as_long_as_they_are_kept() -> None:
    measured, item_name = load_measured(), "DynamoDB recovery GB"
    brief, longer, all_of_them = (
        usage(replace(USUAL, keep_days=days), measured)[item_name] for days in (30, 90, 0)
    )
    assert longer == pytest.approx(3 * brief)
    assert all_of_them == pytest.approx(100 * 730 * measured.match_stored_bytes / 1e9)


def test_looks_are_paid_by_requests_and_not_by_waiting() -> None:
    measured = load_measured()
    silent = Load(matches_per_day=0, days=1, days_before=0)
    looks, quiet = (usage(replace(silent, listening=one), measured) for one in ("looks", "quiet"))
    assert silent.looks == 12 * 24 * 60
    assert looks["Lambda requests"] - quiet["Lambda requests"] == silent.looks
    more = looks["SQS requests"] - quiet["SQS requests"]
    assert silent.looks < more < 2.2 * silent.looks, (
        "each is deleted, and its receipt is a reader's"
    )
    seconds = "Lambda GB-seconds arm64"
    always = usage(replace(silent, listening="always"), measured)[seconds]
    assert looks[seconds] < always / 5


def test_asking_aws_what_it_billed_costs_a_cent() -> None:
    bill = make_bill(usage(replace(USUAL, cost_queries=30), load_measured()), load_prices())
    assert bill.of("Cost Explorer requests").due == pytest.approx(0.30)


def test_listening_is_paid_by_hours_and_megabytes() -> None:
    measured = load_measured()
    silent = Load(matches_per_day=0, listening="always")
    item_name = "Lambda GB-seconds arm64"
    hours = 24 * 31
    per_hour = usage(silent, measured)[item_name] / hours
    assert per_hour == pytest.approx(3600 / 8, rel=0.02), "an eighth of a GB, without a gap"
    half = usage(replace(silent, hours_listening=12), measured)
    assert half[item_name] == pytest.approx(per_hour * hours / 2)
    large = usage(replace(silent, poller_memory=256), measured)
    assert large[item_name] == pytest.approx(per_hour * hours * 2)


def test_a_poller_that_rests_is_paid_by_the_matches_it_guards() -> None:
    measured, seconds = load_measured(), "Lambda GB-seconds arm64"
    quiet = Load(matches_per_day=0, days=1, listening="quiet")
    silent = usage(quiet, measured)[seconds]
    assert silent < usage(replace(quiet, listening="always"), measured)[seconds] / 25
    busy = Load(matches_per_day=2000, listening="quiet")
    assert busy.waking == busy.ticks, "never more than always"
    one = replace(quiet, matches_per_day=1, match_seconds=120)
    assert one.waking == 2.5, "and what is left of a long poll"
    assert replace(one, listening="looks").waking == 2, "a look tells the poller's next start"


def test_matches_are_paid_by_their_writes_and_their_time() -> None:
    measured = load_measured()
    day = Load(matches_per_day=1, days=1, listening="always")
    one, two, slow = (
        usage(load, measured)
        for load in (day, replace(day, matches_per_day=2), replace(day, match_seconds=120))
    )
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
    load = replace(ALWAYS, provisioned=True)
    bill = make_bill(usage(load, measured), prices)
    by_use = make_bill(usage(ALWAYS, measured), prices)
    capacity = [bill.of(f"DynamoDB {kind} capacity hours") for kind in ("write", "read")]
    assert [(line.units, line.due) for line in capacity] == [(25 * 24 * 31, 0)] * 2
    units = [f"DynamoDB {kind} units" for kind in ("write", "read")]
    assert [bill.of(item).full for item in units] == [0, 0]
    assert [by_use.of(line.item).full for line in capacity] == [0, 0]
    spared = sum(by_use.of(item).due for item in units)
    assert bill.due == pytest.approx(by_use.due - spared)


def test_a_quiet_stack_is_paid_for_the_hours_in_which_it_is_awake() -> None:
    asleep, awake = (Load(matches_per_day=0, listening="quiet", hours_awake=h) for h in (0, 8))
    assert awake.waking - asleep.waking == 8 * 60 * 31
    assert Load(matches_per_day=0, listening="quiet", hours_awake=24).waking == asleep.ticks


def test_a_bill_stands_beside_an_earlier_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["cost", "--json"])
    earlier = tmp_path / "before.json"
    earlier.write_text(capsys.readouterr().out)
    told = json.loads(earlier.read_text())
    assert main(["cost", "--listening", "quiet", "--against", str(earlier)]) == 0
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
        "--matches-per-day 50 --hours-listening 2 --days 7 --days-before 0",
        "--matches-per-day 300 --days 1 --days-before 0",
        "--matches-per-day 100",
        "--matches-per-day 100 --listening always",
        "--matches-per-day 100 --listening quiet",
        "--matches-per-day 100 --match-seconds 300",
        "--matches-per-day 100 --listening always --match-seconds 300",
        "--matches-per-day 100 --region us-east-1",
        "--matches-per-day 100 --region eu-west-1",
        "--matches-per-day 100 --keep-days 90",
        "--matches-per-day 100 --keep-days 365",
        "--matches-per-day 100 --keep-days 0",
        "--matches-per-day 100 --listening looks --hours-awake 8",
        "--matches-per-day 100 --table provisioned",
        "--matches-per-day 100 --page-views 1000 --watched-hours 10",
    ],
)
def test_the_docs_tell_the_figures_of_today(
    options: str, capsys: pytest.CaptureFixture[str]
) -> None:
    there = [] if "--region" in options else ["--region", "eu-central-1"]
    assert main(["cost", *options.split(), *there, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    row = next(
        line for line in DOCS.read_text().splitlines() if f"`cardsharp cost {options}`" in line
    )
    assert f"{told['withoutFreeTier']:.2f}" in row
    assert f"{told['afterFreeTier']:.2f}" in row
