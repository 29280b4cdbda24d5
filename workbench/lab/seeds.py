"""On which seeds a strategy of one's own has been tuned.

Who tries version after version on the same deals comes to play these well, and no others.
"""

from contextlib import suppress
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from cardsharp.cloud.private import make_private
from cardsharp.games import game
from workbench.lab.plan import Plan
from workbench.strategy_file import files_of, is_own, version_of

MANY = 5
"""So many versions on one seed are warned of."""

_KEPT = 200
"""Strategies and seeds that are remembered, the last used ones."""

_BOOK: TypeAdapter[dict[str, list[str]]] = TypeAdapter(dict[str, list[str]])


def overused(plan: Plan, book: Path) -> str | None:
    """A warning where a player of the user's has had many versions tried on the plan's seed.

    The plan's own players are written into the file `book` as tried.
    """
    own = dict.fromkeys(filter(is_own, (plan.first, plan.second)))
    if not own:
        return None
    tried, warning = _read(book), None
    for name in own:
        versions = _versions(tried, plan, name)
        if len(versions) >= MANY:
            warning = (
                f"{len(versions)} versions of {name} have been tried on seed {plan.seed}: they may "
                "fit its deals and no others. Leave --seed out to see."
            )
    with suppress(OSError):  # a duel needs no book
        make_private(book)
        book.write_bytes(_BOOK.dump_json(dict(list(tried.items())[-_KEPT:])))
    return warning


def _versions(tried: dict[str, list[str]], plan: Plan, name: str) -> list[str]:
    """The versions of a player that were tried on the seed, with the present one."""
    files = files_of(name, game(plan.game))
    digest = version_of(name, game(plan.game)) or ""
    place = " ".join(str(file.absolute()) for file in files[:1]) or name
    key = f"{plan.game} {plan.seed} {place}"
    versions = list(dict.fromkeys((*tried.pop(key, ()), digest)))
    tried[key] = versions
    return versions


def _read(book: Path) -> dict[str, list[str]]:
    """What was tried; nothing where the file is missing or broken, for it is only a warning's."""
    try:
        return _BOOK.validate_json(book.read_bytes())
    except (OSError, ValidationError):
        return {}
