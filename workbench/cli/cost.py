"""`cardsharp cost`: what playing on AWS costs, from a dated price list and measured use."""

from dataclasses import dataclass
from typing import Annotated, Literal

from cyclopts import Parameter, validators
from rich.table import Table

from workbench.cost.bill import Bill, make_bill
from workbench.cost.prices import Prices, load_prices
from workbench.cost.usage import MEASURED, Load, Measured, load_measured, usage
from workbench.show.exits import Exit
from workbench.show.options import Json
from workbench.show.output import messages, print_json, results

Positive = validators.Number(gt=0)


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class CostOptions:
    """What is planned; the defaults are those of template.yaml."""

    matches_per_day: Annotated[
        float, Parameter(validator=validators.Number(gte=0), help="Matches a day.")
    ] = 100
    hours_listening: Annotated[
        float, Parameter(validator=validators.Number(gte=0, lte=24), help="Hours a day.")
    ] = 24
    days: Annotated[float, Parameter(validator=Positive, help="Days that are paid for.")] = 30
    match_seconds: Annotated[
        float, Parameter(validator=Positive, help="How long a match takes, mostly their thinking.")
    ] = 60
    pollers: Annotated[
        int, Parameter(validator=validators.Number(gte=1, lte=2), help="How many listen at a time.")
    ] = 1
    memory: Annotated[int, Parameter(validator=Positive, help="Megabytes of the worker.")] = 512
    poller_memory: Annotated[
        int, Parameter(validator=Positive, help="Megabytes of the poller.")
    ] = 128
    architecture: Annotated[
        Literal["arm64", "x86_64"], Parameter(help="Processor of the functions.")
    ] = "arm64"
    watch: Annotated[
        Literal["all", "alarms"], Parameter(help="The template's parameter Watch.")
    ] = "alarms"
    quiet: Annotated[bool, Parameter(negative=(), help="With Listening=quiet.")] = False
    measure: Annotated[
        bool,
        Parameter(
            negative=(), help="First measure on this machine what a match uses, and keep it."
        ),
    ] = False
    as_json: Json = False

    def load(self) -> Load:
        """The load that the bill is for."""
        return Load(
            matches_per_day=self.matches_per_day,
            hours_listening=self.hours_listening,
            days=self.days,
            match_seconds=self.match_seconds,
            pollers=self.pollers,
            poller_memory=self.poller_memory,
            worker_memory=self.memory,
            architecture=self.architecture,
            watch_all=self.watch == "all",
            quiet=self.quiet,
        )


def cost(*, options: CostOptions = CostOptions()) -> int:
    """Print the bill of a load."""
    if options.measure:
        _measure_anew()
    prices, measured, load = load_prices(), load_measured(), options.load()
    bill = make_bill(usage(load, measured), prices)
    if options.as_json:
        print_json(_document(load, prices, measured, bill))
    else:
        _print(load, prices, measured, bill)
    return Exit.OK


def _measure_anew() -> None:
    # The emulator and the handlers are slow to import, and not needed to add up a bill.
    from workbench.cost.games import request_uses  # noqa: PLC0415
    from workbench.cost.measure import measure, write_measured  # noqa: PLC0415

    messages().print("playing matches on this machine to measure them ...")
    write_measured(measure().model_copy(update={"requests": request_uses()}), MEASURED)


def _document(load: Load, prices: Prices, measured: Measured, bill: Bill) -> dict[str, object]:
    return {
        "region": prices.region,
        "pricesOf": str(prices.date),
        "measuredOn": str(measured.date),
        "days": load.days,
        "withoutFreeTier": round(bill.full, 2),
        "afterFreeTier": round(bill.due, 2),
        "lines": [line.document() for line in bill.lines],
    }


def _print(load: Load, prices: Prices, measured: Measured, bill: Bill) -> None:
    table = Table(box=None, pad_edge=False)
    for title in ("USD for", "units", "free", "without free tier", "after it"):
        table.add_column(title, justify="left" if title == "USD for" else "right")
    for line in bill.lines:
        table.add_row(
            line.item,
            _units(line.units),
            _units(line.free),
            f"{line.full:.2f}",
            f"{line.due:.2f}",
        )
    table.add_row("together", "", "", f"{bill.full:.2f}", f"{bill.due:.2f}", style="bold")
    console = results()
    console.print(table)
    console.print(
        f"\n{load.days:g} days in {prices.region}, prices of {prices.date}; what a match uses was "
        f"measured on {measured.date} ({measured.matches} matches). Where each price is from: "
        "workbench/cost/prices.toml."
    )


def _units(units: float) -> str:
    return f"{units:,.0f}" if units >= 100 else f"{units:.3g}"  # noqa: PLR2004 - digits to show
