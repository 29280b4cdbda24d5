"""`cardsharp matches`: what is in the match log."""

from dataclasses import dataclass
from datetime import date, datetime
from typing import Annotated

from cyclopts import Parameter, validators
from rich.table import Table

from cardsharp.cloud.ports import MatchRecord, Status
from cardsharp.replay import fault_of, header_of, outcome_of
from workbench.deadmansdraw.drawing import Labels
from workbench.show.lookup import open_to_read, store_or_default
from workbench.show.options import Json, Store
from workbench.show.output import print_json, results


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class MatchesOptions:
    """Which matches to list."""

    day: Annotated[
        datetime | None, Parameter(help="Only matches that started on this day (UTC).")
    ] = None
    status: Annotated[
        Status | None, Parameter(help="Only announced, running or finished matches.")
    ] = None
    limit: Annotated[
        int, Parameter(validator=validators.Number(gte=1), help="How many at most.")
    ] = 20
    store: Store = None
    as_json: Json = False


def matches(*, options: MatchesOptions = MatchesOptions()) -> None:
    """Print matches, the last started first."""
    with open_to_read(options.store) as log:
        found = log.matches(_day(options), options.status, options.limit)
    if options.as_json:
        print_json([_document(record) for record in found])
        return
    console = results()
    if not found:
        console.print(f"no such match in {store_or_default(options.store)}")
        return
    table = Table(box=None, padding=(0, 2), pad_edge=False)
    for name in ("match", "started (UTC)", "players", "result", "score", "turns"):
        table.add_column(name, justify="right" if name in {"score", "turns"} else "left")
    for record in found:
        table.add_row(*_cells(record))
    console.print(table)


def _day(options: MatchesOptions) -> date | None:
    return None if options.day is None else options.day.date()


def _cells(record: MatchRecord) -> tuple[str, ...]:
    if fault_of(record) is not None:
        return record.match_id, "", "", "cannot be read", "", ""
    labels = Labels.of(header_of(record))
    outcome = outcome_of(record)
    started = record.started.strftime("%Y-%m-%d %H:%M:%S")
    players = labels.title() if record.header else ""
    if outcome is None:
        return record.match_id, started, players, record.status.value, "", ""
    score = "" if outcome.scores is None else labels.score(outcome.scores)
    return record.match_id, started, players, outcome.result, score, str(outcome.turns)


def _document(record: MatchRecord) -> dict[str, object]:
    return {
        "match": record.match_id,
        "status": record.status.value,
        "started": record.started.isoformat(),
        "finished": None if record.finished is None else record.finished.isoformat(),
        "header": dict(record.header),
        "outcome": None if record.outcome is None else dict(record.outcome),
        "fault": fault_of(record),
    }
