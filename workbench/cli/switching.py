"""What `cardsharp cloud set` takes, and what it and `status` say."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated, Literal

from cyclopts import Parameter, validators

from cardsharp.errors import ConfigError
from workbench.operate.orders import Held
from workbench.operate.status import StackLook
from workbench.show.options import CommandOptions

Switch = Literal["strategy", "tags", "at-once"]


@dataclass(frozen=True, kw_only=True)
class SwitchesWanted(CommandOptions):
    """What is to be set."""

    strategy: str | None = None
    """Who plays our seat at the arena."""
    tag: tuple[str, ...] = ()
    """Tags of the matches to attend."""
    all_tags: bool = False
    """Attend matches of any tag."""
    at_once: Annotated[int | None, Parameter(validator=validators.Number(gte=1))] = None
    """The most matches that run at once."""
    default: tuple[Switch, ...] = ()
    """Go back to what the stack was deployed with."""

    def changes(self) -> dict[str, object]:
        """The new values by the names of `Switches`, None for a default; or `ConfigError`."""
        if self.tag and self.all_tags:
            raise ConfigError("Give --tag or --all-tags.")
        tags = self.tag or (() if self.all_tags else None)
        given = {"strategy": self.strategy, "tags": tags, "at_once": self.at_once}
        changes: dict[str, object] = {n: one for n, one in given.items() if one is not None}
        for switch in self.default:
            if changes.setdefault(switch.replace("-", "_")) is not None:
                raise ConfigError(f"Give a value of {switch}, or --default {switch}.")
        return changes


NOTHING = SwitchesWanted()


def settings(held: Held) -> str:
    """Who plays which matches, and what of that was set."""
    told = {
        "strategy": f"strategy {held.strategy}",
        "tags": f"tags {', '.join(held.tags)}" if held.tags else "all tags",
        "at_once": f"{held.at_once} at once",
    }
    return ", ".join(f"{one} (set)" if name in held.by_hand else one for name, one in told.items())


def listening(held: Held) -> str:
    """Whether it listens at all times, and if not, when."""
    if held.listening == "always":
        return "always"
    until = held.awake_until
    awake = until is not None and until > datetime.now(UTC)
    told = [held.listening, *filter(None, [held.windows])]
    return ", ".join([*told, f"always until {until:%Y-%m-%d %H:%M} UTC"] if awake else told)


def look_lines(look: StackLook) -> Iterator[str]:
    """What a look at a stack found, but for its problems."""
    paused = ", paused" if look.bot is not None and look.bot.held.paused else ""
    yield f"stack     {look.stack}{paused}"
    if look.bot is not None:
        bot = look.bot
        last = "never" if bot.last_poll is None else f"{bot.last_poll:%H:%M} UTC"
        yield f"settings  {settings(bot.held)}"
        when = f"schedule {bot.schedule.lower()}, last successful poll {last}"
        yield f"listening {listening(bot.held)}, {when}"
        waits = f"{bot.waiting} waiting, {bot.in_flight} in flight"
        yield f"playing   {', '.join(bot.running) or 'nothing'}; {waits}"
        counted = ", ".join(f"{number} {result}" for result, number in bot.results.items())
        yield f"results   {counted or 'none yet'}"
        yield f"match log dynamodb:{bot.table}"
    if look.director is not None:
        told = look.director
        yield (
            f"director  {told.waiting} ticks waiting, {told.dead_letters} dead; within an hour "
            f"{told.errors} errors, {told.throttles} refused for want of concurrency"
        )
    yield f"quota     {look.quota} executions at once"
    yield f"build     {look.build}"
