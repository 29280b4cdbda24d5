"""The arena's JSON, both ways: its answers become views, our actions become bodies.

Every `parse_*` takes the bytes of a body (or JSON already loaded) and raises `Garbled` with one
short sentence, never the body, where it is not what it should be. The views and what they leave
out on purpose (the random seed!) are in `wire_views`.
"""

import json
import logging
import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache, partial
from typing import Annotated, Any, TypeVar

from pydantic import ConfigDict, Field, PlainSerializer, TypeAdapter, ValidationError
from pydantic.alias_generators import to_camel

from cardsharp.deadmansdraw.wire_views import (
    Cards,
    Ending,
    EventView,
    Hello,
    MatchCreated,
    MatchView,
    PlayerRecord,
    WhoAmI,
)
from cardsharp.errors import Garbled

_log = logging.getLogger("cardsharp.arena")
_ID = re.compile(r"[0-9A-Za-z]{1,64}\Z")


def _seconds(limit: timedelta) -> object:
    seconds = limit.total_seconds()
    return int(seconds) if seconds.is_integer() else seconds


@dataclass(frozen=True, slots=True)
class MatchParams:
    """A match to create; what is None is left to the server (docs/spec/arena.md section 4).

    Without `player_ids` it is a practice match against oneself.
    """

    __pydantic_config__ = ConfigDict(alias_generator=to_camel)

    player_ids: Annotated[tuple[str, str] | None, Field(serialization_alias="playerids")] = None
    tags: tuple[str, ...] = ()
    play_area: Cards | None = None
    draw_pile: Cards | None = None
    discard_pile: Cards | None = None
    banks: tuple[Cards, Cards] | None = None
    random_seed: str | None = None
    timeout: Annotated[timedelta, PlainSerializer(_seconds)] | None = None


_T = TypeVar("_T")


def _parse(adapter: TypeAdapter[_T], raw: object, what: str) -> _T:
    """`raw` as the adapter reads it; `Garbled` names the first fault and never quotes the body."""
    try:
        if isinstance(raw, bytes | str):
            return adapter.validate_json(_whole_letters(raw))
        return adapter.validate_python(raw)
    except ValidationError as error:
        # `from None`: the chained error would quote the body in a traceback.
        raise Garbled(f"The arena's answer is not {what}: {_first_fault(error, raw)}.") from None


def _whole_letters(raw: bytes | str) -> bytes | str:
    """The same JSON with a question mark for each half of a letter, which no text can hold."""
    text = raw if isinstance(raw, bytes) else raw.encode("utf-8", "surrogatepass")
    if b"\\ud" not in text.lower():
        return raw
    try:
        return json.dumps(json.loads(text), ensure_ascii=False).encode("utf-8", "replace")
    except (ValueError, RecursionError):
        return raw


def _first_fault(error: ValidationError, raw: object) -> str:
    if isinstance(raw, bytes | str) and raw.lstrip()[:1] in {b"<", "<"}:
        return "it is an HTML page; check the arena's address"
    first = error.errors(include_url=False, include_context=False, include_input=False)[0]
    place = ".".join(str(part) for part in first["loc"])[:80]
    fault = first["msg"][:120]
    return f"{place}: {fault}" if place else fault


_parse_list = partial(_parse, TypeAdapter(list[Any]), what="a list of matches")

parse_view = partial(_parse, TypeAdapter(MatchView), what="a match")
"""The match of GET /api/matches/{id}, also of its 410; raises Garbled."""


def parse_whole_view(raw: object) -> MatchView:
    """The match asked for with its events; raises Garbled, also where some moves are missing."""
    view = parse_view(raw)
    if len(view.moves) < view.move_count and not view.finished:
        raise Garbled(f"The arena tells {len(view.moves)} of {view.move_count} moves.")
    return view


def parse_views(raw: object) -> list[MatchView]:
    """The matches of GET /api/matches that are such; raises `Garbled` if it is no list."""
    entries = _parse_list(raw)
    return [view for one in entries for view in _readable(one) if _has_id(view)]


def _has_id(view: MatchView) -> bool:
    """Whether a match can be asked for, and be put on a queue, by the id that it says."""
    if _ID.match(view.id):
        return True
    _tell_once(f"{view.id[:40]!r} in the list of matches is left out: that is no id.")
    return False


def _readable(entry: object) -> list[MatchView]:
    try:
        return [parse_view(entry)]
    except Garbled as fault:
        name = entry.get("_id") if isinstance(entry, dict) else None
        _tell_once(f"{str(name)[:40]!r} in the list of matches is left out. {fault}")
        return []


@lru_cache(maxsize=256)
def _tell_once(line: str) -> None:
    """Log a line that this process has not logged lately: a list is asked for again and again."""
    _log.warning("%s", line)


parse_events = partial(_parse, TypeAdapter(list[EventView]), what="a list of events")
"""The events that an accepted action caused; raises Garbled."""


parse_ending = partial(_parse, TypeAdapter(Ending), what="the end of a match")
"""The end as told by the 410 of an action, `{"events": [...]}`; raises Garbled."""

parse_created = partial(_parse, TypeAdapter(MatchCreated), what="a created match")
"""The answer of POST /api/matches; raises Garbled."""

parse_whoami = partial(_parse, TypeAdapter(WhoAmI), what="a user")
"""The answer of GET /api/whoami; raises Garbled."""

parse_hello = partial(_parse, TypeAdapter(Hello), what="the arena's greeting")
"""The answer of GET /api/hello; raises Garbled."""

parse_players = partial(_parse, TypeAdapter(list[PlayerRecord]), what="a list of players")
"""The answer of GET /api/players; raises Garbled."""


def instant(text: str) -> datetime | None:
    """The moment that a view's time names, None where it cannot be read.

    Times are read only where one is needed, so that a newer server's format stops no match.
    """
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)


def params_body(params: MatchParams) -> dict[str, object]:
    """The body that creates a match; what is None is left out."""
    adapter = TypeAdapter(MatchParams)
    body: dict[str, object] = adapter.dump_python(
        params, mode="json", by_alias=True, exclude_defaults=True
    )
    return body
