"""`cardsharp cost`: what playing on AWS costs, from a dated price list and measured use."""

from dataclasses import dataclass, field

from rich.table import Table

from workbench.cost.bill import Bill, load_prices, make_bill, usual_region
from workbench.cost.load import Contest, Load
from workbench.cost.usage import MEASURED, contest_usage, load_measured, usage
from workbench.show.options import Json
from workbench.show.output import messages, plain_table, print_json, results


@dataclass(frozen=True, kw_only=True)
class CostOptions(Load):
    """What is planned, and how the bill is told."""

    region: str | None = None
    """Whose prices; else that of the environment or the profile, else Frankfurt."""
    contest: bool = False
    """Estimate a one-day contest in the cloud instead of a bot."""
    day: Contest = field(default_factory=Contest)
    measure: bool = False
    """First measure on this machine what a match uses, and keep it."""
    as_json: Json = False


def cost(*, options: CostOptions = CostOptions()) -> None:
    """Print the bill of a load."""
    if options.measure:
        # The emulator and the handlers are slow to import, and not needed to add up a bill.
        from workbench.cost.measure import measure, write_measured  # noqa: PLC0415

        messages().print("playing matches on this machine to measure them ...")
        write_measured(measure(), MEASURED)
    prices = load_prices(options.region or usual_region())
    measured = load_measured()
    day, days = options.day, 1 if options.contest else options.days
    used = contest_usage(day, measured) if options.contest else usage(options, measured)
    bill = make_bill(used, prices)
    if options.as_json:
        told = {
            "region": prices.region,
            "pricesOf": str(prices.date),
            "measuredOn": str(measured.date),
            "days": days,
            "withoutFreeTier": round(bill.full, 2),
            "afterFreeTier": round(bill.due, 2),
            "lines": [line.document() for line in bill.lines],
        }
        print_json(told | ({"executionsAtOnce": day.executions} if options.contest else {}))
    else:
        results().print(_table(bill))
        results().print()
        if options.contest:
            line = f"{day.executions} executions at once, most of them of waiting clients."
            results().print(line)
        results().print(
            f"{days:g} days in {prices.region}, prices of {prices.date}; what a match uses "
            f"was measured on {measured.date} ({measured.matches} matches). Where each price is "
            "from: workbench/cost/prices.toml. Free is what never ends, once an account; one that "
            "was opened since July 2025 pays the rest from its credits for six months."
        )


def _table(bill: Bill) -> Table:
    figures = ("units", "free", "without free tier", "after it")
    table = plain_table("USD for", *figures, right=figures, gap=1)
    for line in filter(lambda one: one.units, bill.lines):
        money = (f"{line.full:.2f}", f"{line.due:.2f}")
        table.add_row(line.item, _units(line.units), _units(line.free), *money)
    table.add_row("together", "", "", f"{bill.full:.2f}", f"{bill.due:.2f}", style="bold")
    return table


def _units(units: float) -> str:
    return f"{units:,.0f}" if units >= 100 else f"{units:.3g}"  # noqa: PLR2004 - digits to show
