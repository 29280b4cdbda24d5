"""`cardsharp cost`: what playing on AWS costs, from a dated price list and measured use."""

from dataclasses import dataclass, field

from rich.table import Table

from cardsharp_tools.cli.console import (
    borderless_table,
    message_console,
    print_json,
    result_console,
)
from cardsharp_tools.cli.options import Json
from cardsharp_tools.costs.bill import Bill, default_region, load_prices, make_bill
from cardsharp_tools.costs.usage import MEASURED, bot_usage, contest_usage, load_measured
from cardsharp_tools.costs.workload import BotWorkload, ContestWorkload


@dataclass(frozen=True, kw_only=True)
class CostOptions(BotWorkload):
    """Workload to be estimated, and the format of the bill."""

    region: str | None = None
    """The AWS region. Default: that of the environment or the profile, or Frankfurt."""
    contest: bool = False
    """Estimate a one-day contest in the cloud instead of a bot."""
    contest_workload: ContestWorkload = field(default_factory=ContestWorkload)
    measure: bool = False
    """First measure on this machine what a match uses, and store the result."""
    as_json: Json = False


def cost(*, options: CostOptions = CostOptions()) -> None:
    """Print the estimated bill."""
    if options.measure:
        # The emulator and the handlers are slow to import, and not needed to add up a bill.
        from cardsharp_tools.costs.measure import measure, write_measured  # noqa: PLC0415

        message_console().print("Playing matches on this machine to measure what they use ...")
        write_measured(measure(), MEASURED)
    prices = load_prices(options.region or default_region())
    measured = load_measured()
    day, days = options.contest_workload, 1 if options.contest else options.days
    used = contest_usage(day, measured) if options.contest else bot_usage(options, measured)
    bill = make_bill(used, prices)
    if options.as_json:
        document = {
            "region": prices.region,
            "pricesOf": str(prices.date),
            "measuredOn": str(measured.date),
            "days": days,
            "withoutFreeTier": round(bill.total_full_price, 2),
            "afterFreeTier": round(bill.total_due, 2),
            "lines": [line.document() for line in bill.lines],
        }
        print_json(document | ({"executionsAtOnce": day.executions} if options.contest else {}))
    else:
        result_console().print(_table(bill))
        result_console().print()
        if options.contest:
            line = f"{day.executions} executions at once, most of them of waiting clients."
            result_console().print(line)
        result_console().print(
            f"{days:g} days in {prices.region}, with prices of {prices.date}. The usage of a match "
            f"was measured on {measured.date} ({measured.matches} matches). Sources of the prices "
            "are in cardsharp_tools/costs/prices.toml. The free tier is the one that never ends; "
            "an "
            "account has it once. Accounts opened since July 2025 pay the rest from their "
            "credits for six months."
        )


def _table(bill: Bill) -> Table:
    figures = ("units", "free", "without free tier", "after it")
    table = borderless_table("USD for", *figures, right_aligned=figures, column_gap=1)
    for line in filter(lambda bill_line: bill_line.units, bill.lines):
        money = (f"{line.full_price:.2f}", f"{line.amount_due:.2f}")
        table.add_row(line.item, _units(line.units), _units(line.free_units), *money)
    table.add_row(
        "together", "", "", f"{bill.total_full_price:.2f}", f"{bill.total_due:.2f}", style="bold"
    )
    return table


def _units(units: float) -> str:
    return f"{units:,.0f}" if units >= 100 else f"{units:.3g}"  # noqa: PLR2004 - digits to show
