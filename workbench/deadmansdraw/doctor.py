"""`cardsharp doctor`: is everything right that a bot needs, and if not, what to do."""

import os
import platform
from collections.abc import Iterator
from contextlib import suppress
from datetime import timedelta

from cardsharp.access import proxy_to
from cardsharp.cloud.clock import SystemClock
from cardsharp.cloud.settings import PREFIX
from cardsharp.deadmansdraw.game import GAME
from cardsharp.deadmansdraw.settings import Settings
from cardsharp.errors import ArenaError, CardsharpError
from cardsharp.far_clock import NEVER
from workbench.deadmansdraw.connection import ArenaOptions, client_for, variables_for
from workbench.show.checks import DoctorCheck, Finding, Skipped, attempt, report
from workbench.show.lookup import open_log, store_or_default
from workbench.show.options import Json
from workbench.strategy_file import strategy_named

MOST_SKEW = timedelta(seconds=5)  # beyond it a clock is wrong; dates are in whole seconds

_FROM_ENVIRONMENT = ArenaOptions()


def doctor(*, arena: ArenaOptions = _FROM_ENVIRONMENT, as_json: Json = False) -> int:
    """Print what was checked; 1 if anything fails."""
    return report(all_checks(arena), as_json=as_json)


def all_checks(options: ArenaOptions) -> Iterator[DoctorCheck]:
    """Every check, in the order in which one builds on another."""
    yield attempt("Python", platform.python_version)
    yield attempt("strategy", strategy)
    yield attempt("match log", match_log)
    if options.url is None and not any(name.startswith(PREFIX) for name in os.environ):
        text = "none named; `cardsharp play` needs none, `cardsharp bot` takes --url and --user"
        yield DoctorCheck("arena", Finding.SKIPPED, text)
        return
    found: list[Settings] = []

    def settings() -> str:
        found.append(Settings.load(variables_for(options)))
        return f"{found[0].arena_url} as {found[0].user or 'the secret says'}"

    yield attempt("settings", settings)
    if found:
        yield attempt("queue", lambda: queue(found[0]))
        yield attempt("proxy", lambda: proxy(found[0]))
        yield attempt("arena", lambda: arena(found[0]))
        yield attempt("clock", lambda: clock(found[0]))
        yield attempt("credentials", lambda: who(found[0]))


def strategy() -> str:
    """Whether the strategy that would play can be made."""
    return strategy_named(os.environ.get("CARDSHARP_STRATEGY") or GAME.default_strategy)


def match_log() -> str:
    """Whether the match log takes a note and gives it back."""
    store = store_or_default(None)
    with open_log(store) as log:
        log.note("doctor", "check", {"by": "cardsharp doctor"})
        if not log.notes("doctor"):
            raise CardsharpError(f"{store} did not keep what was written to it.")
    return f"{store} can be written"


def queue(settings: Settings) -> str:
    """Whether the queue can be reached; one in memory always can."""
    if settings.queue.startswith("memory:"):
        return "in this process"
    # boto3 is slow to import, and not needed at every start.
    from cardsharp.cloud.aws import ANSWER, call, client  # noqa: PLC0415

    answer = call(
        f"SQS queue {settings.queue}",
        client("sqs", ANSWER).get_queue_attributes,
        QueueUrl=settings.queue,
        AttributeNames=["ApproximateNumberOfMessages"],
    )
    waiting = answer["Attributes"].get("ApproximateNumberOfMessages", "?")
    return f"{settings.queue}, {waiting} messages wait"


_UNREAD = ("HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy")


def proxy(settings: Settings) -> str:
    """Name the proxy that leads to the arena; raises `ConfigError` for one that may not."""
    through = proxy_to(settings.arena_url, settings.proxy)
    if through is not None:
        return f"{through} leads to the arena"
    if settings.proxy is not None:
        raise Skipped(f"{settings.proxy} is not used: the arena is on this machine")
    named = next((name for name in _UNREAD if os.environ.get(name)), None)
    if named is None:
        raise Skipped("none; --proxy or CARDSHARP_PROXY names one")
    raise Skipped(f"none; {named} is not read for an arena, --proxy or CARDSHARP_PROXY is")


def arena(settings: Settings) -> str:
    """Whether an arena answers."""
    with client_for(settings) as client:
        return f'says "{client.hello()}"'


def clock(settings: Settings) -> str:
    """Whether our clock agrees with the one by which the arena dates its answers."""
    system, client = SystemClock(), client_for(settings)
    with suppress(ArenaError), client:
        client.hello()
    now = system.monotonic()
    there = client.contact.far.when(system.now(), now)
    if there == NEVER:
        raise Skipped("the arena tells no time")
    skew = timedelta(seconds=(there.earliest + there.latest) / 2 - now)
    if abs(skew) > MOST_SKEW:
        way = "ahead of" if skew > timedelta(0) else "behind"
        raise CardsharpError(
            f"Our clock is {abs(skew.total_seconds()):.0f} s {way} the arena's; "
            "set it by NTP, or AWS will refuse us."
        )
    return f"within {max(1, round(abs(skew.total_seconds())))} s of the arena's"


def who(settings: Settings) -> str:
    """Whether the arena accepts our credentials."""
    with client_for(settings) as client:
        me = client.whoami()
    return f"{me.name or me.username}, {me.role or 'player'}"
