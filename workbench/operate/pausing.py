"""Pause and resume: no new matches, and where wanted nobody who listens at all."""

from cardsharp.cloud.aws import call
from cardsharp.errors import ConfigError
from workbench.operate.stack import Stack
from workbench.operate.switching import change

_KEPT = (
    "Name",
    "GroupName",
    "ScheduleExpression",
    "ScheduleExpressionTimezone",
    "FlexibleTimeWindow",
    "Target",
    "Description",
)
"""What an update of a schedule must repeat, or it is forgotten."""


def pause(stack: Stack, *, stop_schedule: bool = False) -> None:
    """Let no new match be taken up from now on; those that run are watched over and finished.

    `stop_schedule` also stops the poller's schedule, for a time in which nothing is to be paid.

    Raises:
        ConfigError: the schedule is to stop while matches run, which nobody would watch over.
    """
    change(stack, paused=True)
    if not stop_schedule:
        return
    running = stack.log.running()
    if running:
        names = ", ".join(record.match_id for record in running)
        raise ConfigError(f"Paused, but still playing {names}; stop the schedule afterwards.")
    _set_schedule(stack, "DISABLED")


def resume(stack: Stack) -> None:
    """Take up new matches again, with a schedule that runs."""
    change(stack, paused=False)
    _set_schedule(stack, "ENABLED")


def _set_schedule(stack: Stack, state: str) -> None:
    scheduler, name = stack.client("scheduler"), stack.ids["PollerEveryMinute"]
    found = call("schedule", scheduler.get_schedule, Name=name)
    if found["State"] != state:
        kept = {key: found[key] for key in _KEPT if found.get(key)}
        call("schedule", scheduler.update_schedule, **kept, State=state)
