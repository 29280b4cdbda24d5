"""What an operator sets without a deployment: who plays, which matches, how many, and whether.

None of it stops what runs: the matches of the match log are watched over and played on.
"""

import logging
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Annotated

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, ValidationError

from cardsharp.cloud.ports import Clock
from cardsharp.cloud.settings import Names
from cardsharp.errors import StoreError

KEPT = timedelta(seconds=10)  # so long a process goes by what it has read of them
_log = logging.getLogger("cardsharp.switches")


class Switches(BaseModel):
    """What is set; where it is None, the parameters of the deployment hold."""

    model_config = ConfigDict(frozen=True, defer_build=True)

    paused: bool = False  # whether new matches are to be left alone
    awake_until: AwareDatetime | None = None  # until when a quiet poller is to listen at all times
    strategy: str | None = None  # who plays our seat at the arena
    tags: Names | None = None  # the tags of the matches to attend; empty means all
    at_once: Annotated[int, Field(ge=1)] | None = None  # beyond which new matches are left alone


class Switchboard:
    """The switches as the functions see them; raises `StoreError`.

    Those of a home on this machine, which is stopped where it is not to go on: nothing is set, and
    a quiet poller is to listen.
    """

    def read(self) -> Switches:
        """What is set."""
        return Switches(awake_until=datetime.max.replace(tzinfo=UTC))


class KeptSwitchboard(Switchboard):
    """A switchboard that is read again when what was read is too old."""

    def __init__(self, board: Switchboard, clock: Clock) -> None:
        self._board = board
        self._clock = clock
        self._read: tuple[datetime, Switches] | None = None

    def read(self) -> Switches:
        """What is set, or was `KEPT` ago; older where the board fails, if it was read before."""
        now, kept = self._clock.now(), self._read
        # A clock of the world's time, since a function may have stood still in between.
        if kept is not None and abs(now - kept[0]) < KEPT:
            return kept[1]
        try:
            switches = self._board.read()
        except StoreError as error:
            if kept is None:
                raise
            _log.warning("%s", error)
            switches = kept[1]
        self._read = now, switches
        return switches


def usable(given: Mapping[str, object]) -> Switches:
    """What was set as far as it can be used; the rest is told as an error, and goes unheeded.

    Nobody checks what is written into a table by hand, and a match is better played otherwise
    than not at all.
    """
    try:
        return Switches.model_validate(given)
    except ValidationError as error:
        wrong = {str(fault["loc"][0]) for fault in error.errors()}
        names = ", ".join(sorted(wrong))
        _log.error("What is set as %s cannot be used; `cardsharp cloud set` mends it.", names)
        return Switches.model_validate({k: v for k, v in given.items() if k not in wrong})
