"""`cardsharp research study`."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter, validators

from research.deadmansdraw.study import ENTRIES, write_entry
from research.deadmansdraw.study import study as studied
from workbench.show.lookup import open_to_read
from workbench.show.options import Json, Store
from workbench.show.output import print_json, results

_POSITIVE = validators.Number(gte=1)


def study(
    opponent: Annotated[str, Parameter(help="A player's id or name in the log.")],
    *,
    matches: Annotated[int, Parameter(validator=_POSITIVE, help="The last so many of them.")] = 200,
    out: Annotated[Path, Parameter(help="The file of known opponents to write.")] = ENTRIES,
    store: Store = None,
    as_json: Json = False,
) -> None:
    """Make an entry for `adaptive` from an opponent's logged matches."""
    with open_to_read(store) as log:
        found = studied(log, opponent, matches)
    write_entry(found.entry, out)
    if as_json:
        print_json(asdict(found))
        return
    console = results()
    console.print(f"{opponent}: {found.decisions} decisions in {found.matches} matches")
    for model, shares in found.agreement.items():
        told = ", ".join(f"{100 * share:.0f} % of its {what}" for what, share in shares.items())
        console.print(f"  decides as {model}: {told}")
    console.print(f"plays with the weights '{found.entry.weights}' against it; written to {out}")
