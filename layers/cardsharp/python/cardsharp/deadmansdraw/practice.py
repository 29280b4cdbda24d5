"""Create practice matches: against oneself, or against the dummy, whose seat we play as well."""

import logging
from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta
from typing import Annotated, Any, Literal

from pydantic import Field

from cardsharp.cloud.messages import OrderBody
from cardsharp.cloud.offering import Offering
from cardsharp.deadmansdraw.assembly import assembly_of
from cardsharp.deadmansdraw.client import DUMMY_ID, ArenaClient
from cardsharp.deadmansdraw.game import GAME
from cardsharp.deadmansdraw.wire import MatchParams
from cardsharp.deadmansdraw.wire_views import Cards
from cardsharp.errors import ConfigError
from cardsharp.game import Job

_log = logging.getLogger("cardsharp.practice")

MOST = 100  # practice matches that one order may ask for


class PracticeOrder(OrderBody):
    """What an operator asks for; without anything, one match against oneself."""

    refusal = "The practice order cannot be used."

    matches: Annotated[int, Field(ge=0, le=MOST)] = 1
    """None only looks whether one could be created: the settings, and who we are at the arena."""
    opponent: Literal["self", "dummy"] = "self"
    tags: tuple[str, ...] = ()
    seed: str | None = None
    timeout_seconds: Annotated[int, Field(ge=1)] | None = None
    play_area: Cards | None = None
    draw_pile: Cards | None = None
    discard_pile: Cards | None = None
    banks: tuple[Cards, Cards] | None = None


def order(event: Mapping[str, Any], job: Job) -> Sequence[str]:
    """Create the practice matches that an event orders; their ids.

    Raises `Malformed` if the order cannot be used, `ConfigError` if new matches are paused, or the
    strategy that an operator wants is not there, and `ArenaError` if the arena refused, or failed
    after some matches were created.
    """
    wanted, assembly = PracticeOrder.parse(event), assembly_of(job)
    assembly.wanted_strategy()
    with assembly.client() as client:
        if not wanted.matches:
            client.whoami()
            return []
        return list(create(wanted, assembly.player_id, client, assembly.offering))


def create(order: PracticeOrder, me: str, arena: ArenaClient, offering: Offering) -> Iterator[str]:
    """Create the matches of an order and put each on the queue; their ids, one by one.

    The arena would name only those in which it is our own turn, so each is offered at once. Where
    turns have a limit, no more are created than the arena's limit of requests feeds at once, and a
    warning says so; matches that ran before are not counted. Raises `ConfigError` if new matches
    are paused.
    """
    if offering.switchboard.read().paused:
        raise ConfigError("New matches are paused; `cardsharp cloud resume` ends that.")
    timeout = None if order.timeout_seconds is None else timedelta(seconds=order.timeout_seconds)
    params = MatchParams(
        player_ids=(me, DUMMY_ID if order.opponent == "dummy" else me),
        tags=order.tags,
        play_area=order.play_area,
        draw_pile=order.draw_pile,
        discard_pile=order.discard_pile,
        banks=order.banks,
        random_seed=order.seed,
        timeout=timeout,
    )
    for created in range(1, order.matches + 1):
        match_id = arena.create_match(params).id
        offering.offer_one(match_id, GAME.name)
        yield match_id
        fed = arena.contact.budget.feeds(timeout)
        if fed is not None and fed <= created < order.matches:
            text = "created %d of %d matches: the limit of requests feeds %d at once"
            _log.warning(text, created, order.matches, fed)
            return
