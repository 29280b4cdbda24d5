"""Which games there are: one line a game, and nobody else lists them."""

from collections.abc import Mapping
from datetime import timedelta
from typing import TYPE_CHECKING

from cardsharp.cloud.metrics import Meter
from cardsharp.errors import Malformed
from cardsharp.game import Game, Job, Part

if TYPE_CHECKING:
    from aws_lambda_powertools.utilities.typing import LambdaContext

MOUNTED: tuple[str, ...] = (
    "cardsharp.deadmansdraw.game:GAME",
    "cardsharp.blef.game:GAME",
    "cardsharp.euchre.game:GAME",
)
"""Where each game says what it is; the first is meant where a message names none."""


def games() -> tuple[Game, ...]:
    """All games, in the order in which they are mounted."""
    return tuple(map(mounted, MOUNTED))


def mounted(place: str) -> Game:
    """The game that says of itself what it is at that place."""
    return Part[Game](place).load()


def game(name: str | None) -> Game:
    """The game of that name, the first one for None; `Malformed` lists those that are."""
    there = map(mounted, MOUNTED)
    found = next((one for one in there if name in {None, one.name}), None)
    if found is None:
        names = ", ".join(one.name for one in games())
        raise Malformed(f"No game is called '{name}' here. There are: {names}.")
    return found


def settings_names() -> frozenset[str]:
    """The names of all settings that any game may be told."""
    told = (one.settings.load() for one in games() if one.settings is not None)
    return frozenset(name for settings in told for name in settings.names())


def job_of(context: "LambdaContext", environment: Mapping[str, str], meter: Meter) -> Job:
    """The job of an invocation of Lambda."""
    return Job(
        environment=environment,
        others=settings_names,
        meter=meter,
        worker=context.aws_request_id,
        remaining=lambda: timedelta(milliseconds=context.get_remaining_time_in_millis()),
    )
