"""`cardsharp cost`: what playing on AWS costs, from a dated price list and measured usage."""

import os
from dataclasses import dataclass, field
from typing import Annotated

from cyclopts import Parameter
from rich.table import Table

from cardsharp.errors import ConfigError
from cardsharp_tools.cli.console import borderless_table, print_json, result_console
from cardsharp_tools.cli.options import Json
from cardsharp_tools.costs.model import (
    BillItem,
    BotWorkload,
    ContestWorkload,
    MeasuredUsage,
    Positive,
    bot_usage,
    contest_usage,
    load_measured,
    load_price_list,
    make_bill,
    service_usage,
)

DEFAULT_REGION = "eu-central-1"  # where nothing names a region, as in docs/first-deployment.md


@dataclass(frozen=True, kw_only=True)
class CostOptions(BotWorkload):
    """Workload to be estimated, and the format of the bill."""

    region: str | None = None
    """The AWS region. Default: that of the environment or the profile, or Frankfurt."""
    service: str | None = None
    """Estimate games at the HTTP service of this game, such as blef, instead of a bot."""
    games: Annotated[float, Parameter(validator=Positive)] = 1000
    """With --service: number of games."""
    contest: bool = False
    """Estimate a one-day contest in the cloud instead of a bot."""
    contest_workload: ContestWorkload = field(default_factory=ContestWorkload)
    as_json: Json = False


def cost(*, options: CostOptions = CostOptions()) -> None:
    """Print the estimated bill."""
    region, measured = options.region or _default_region(), load_measured()
    units, workload = _estimate_usage(options, measured)
    bill = make_bill(units, region)
    full_price = sum(bill_item.full_price for bill_item in bill)
    amount_due = sum(bill_item.amount_due for bill_item in bill)
    prices_of = load_price_list().date
    if options.as_json:
        document = {
            "region": region,
            "pricesOf": str(prices_of),
            "measuredOn": str(measured.date),
            "workload": workload,
            "withoutFreeTier": round(full_price, 2),
            "afterFreeTier": round(amount_due, 2),
            "lines": [_line_document(bill_item) for bill_item in bill],
        }
        print_json(document)
        return
    result_console().print(_build_table(bill, full_price, amount_due))
    result_console().print()
    result_console().print(
        f"{workload} in {region}, with prices of {prices_of}. The usage was measured on "
        f"{measured.date}. Sources of the prices are in cardsharp_tools/costs/prices.toml. The "
        "free tier is the one that never ends; an account has it once. Accounts opened since July "
        "2025 pay the rest from their credits for six months."
    )


def _estimate_usage(options: CostOptions, measured: MeasuredUsage) -> tuple[dict[str, float], str]:
    """Return the units of the chosen workload, and its description."""
    if options.contest and options.service is not None:
        raise ConfigError("Give either --contest or --service, because each is a bill of its own.")
    if options.contest:
        contest = options.contest_workload
        text = (
            f"A contest day with {contest.teams} teams, {contest.matches:,.0f} matches and at most "
            f"{contest.executions} functions at a time,"
        )
        return contest_usage(contest, measured), text
    if options.service is not None:
        if options.service not in measured.games:
            raise ConfigError(
                f"There is no service of the game '{options.service}'. Give --service with one of "
                f"{', '.join(sorted(measured.games))}."
            )
        units = service_usage(options.service, options.games, measured)
        return units, f"{options.games:,g} games of {options.service}"
    text = f"{options.days:g} days with {options.matches_per_day:g} matches a day"
    return bot_usage(options, measured), text


def _default_region() -> str:
    """Return the region of the environment or of the profile in use, or else Frankfurt."""
    for name in ("AWS_REGION", "AWS_DEFAULT_REGION"):
        if os.environ.get(name):
            return os.environ[name]
    from boto3.session import Session  # noqa: PLC0415 - slow to import

    return Session().region_name or DEFAULT_REGION


def _line_document(bill_item: BillItem) -> dict[str, object]:
    """Return a line of the bill as a JSON document."""
    return {
        "item": bill_item.item,
        "units": round(bill_item.units, 3),
        "withoutFreeTier": round(bill_item.full_price, 4),
        "unitsFree": round(bill_item.free_units, 3),
        "afterFreeTier": round(bill_item.amount_due, 4),
    }


def _build_table(bill: list[BillItem], full_price: float, amount_due: float) -> Table:
    """Return the bill as a table with its totals."""
    numeric_columns = ("units", "free", "without free tier", "after it")
    table = borderless_table(
        "USD for", *numeric_columns, right_aligned=numeric_columns, column_gap=1
    )
    for bill_item in filter(lambda bill_line: bill_line.units, bill):
        money = (f"{bill_item.full_price:.2f}", f"{bill_item.amount_due:.2f}")
        table.add_row(
            bill_item.item,
            _format_units(bill_item.units),
            _format_units(bill_item.free_units),
            *money,
        )
    table.add_row("together", "", "", f"{full_price:.2f}", f"{amount_due:.2f}", style="bold")
    return table


def _format_units(units: float) -> str:
    """Return a number of units with as many digits as matter."""
    return f"{units:,.0f}" if units >= 100 else f"{units:.3g}"  # noqa: PLR2004 - digits to show
