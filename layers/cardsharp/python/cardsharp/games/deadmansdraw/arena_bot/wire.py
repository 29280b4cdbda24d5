"""Codec of the arena's JSON: responses become views, and actions become request bodies.

Every `parse_*` takes the bytes of a body (or JSON already loaded). It raises
`MalformedResponse` with one short sentence, never the body, if the body is not as expected. The
views, and what they leave out on purpose (the random seed!), are in `wire_views`.
"""

import json
import logging
import re
from dataclasses import dataclass
from datetime import timedelta
from functools import cache, lru_cache, partial
from typing import Annotated, Any, TypeVar

from pydantic import ConfigDict, Field, PlainSerializer, TypeAdapter, ValidationError
from pydantic.alias_generators import to_camel

from cardsharp.errors import MalformedResponse
from cardsharp.games.deadmansdraw.arena_bot.wire_views import (
    Cards,
    EventView,
    HelloView,
    MatchCreatedView,
    MatchOverErrorView,
    MatchView,
    PlayerView,
    WhoAmIView,
)

_log = logging.getLogger("cardsharp.arena")
_ID_PATTERN = re.compile(r"[0-9A-Za-z]{1,64}\Z")


def _to_seconds(limit: timedelta) -> object:
    seconds = limit.total_seconds()
    return int(seconds) if seconds.is_integer() else seconds


@dataclass(frozen=True, slots=True)
class MatchParams:
    """Parameters of a new match; None leaves one to the server (docs/spec/arena.md section 4).

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
    timeout: Annotated[timedelta, PlainSerializer(_to_seconds)] | None = None


_T = TypeVar("_T")


def _parse(adapter: TypeAdapter[_T], raw: object, description: str) -> _T:
    """Return `raw` as parsed by the adapter.

    Raises `MalformedResponse`, which names the first error and never quotes the body.
    """
    try:
        if isinstance(raw, bytes | str):
            return adapter.validate_json(_replace_lone_surrogates(raw))
        return adapter.validate_python(raw)
    except ValidationError as error:
        # `from None`: the chained error would quote the body in a traceback.
        raise MalformedResponse(
            f"The arena's answer is not {description}: {_describe_first_error(error, raw)}."
        ) from None


def _replace_lone_surrogates(raw: bytes | str) -> bytes | str:
    """Return the same JSON with a question mark for each lone surrogate, which is invalid."""
    encoded = raw if isinstance(raw, bytes) else raw.encode("utf-8", "surrogatepass")
    if b"\\ud" not in encoded.lower():
        return raw
    try:
        return json.dumps(json.loads(encoded), ensure_ascii=False).encode("utf-8", "replace")
    except (ValueError, RecursionError):
        return raw


def _describe_first_error(error: ValidationError, raw: object) -> str:
    if isinstance(raw, bytes | str) and raw.lstrip()[:1] in {b"<", "<"}:
        return "it is an HTML page; check the arena's address"
    first_error = error.errors(include_url=False, include_context=False, include_input=False)[0]
    field_path = ".".join(str(key) for key in first_error["loc"])[:80]
    fault = first_error["msg"][:120]
    return f"{field_path}: {fault}" if field_path else fault


_parse_list = partial(_parse, TypeAdapter(list[Any]), description="a list of matches")

parse_view = partial(_parse, TypeAdapter(MatchView), description="a match")
"""The match of GET /api/matches/{id}, also of its 410; raises Garbled."""


def parse_match_with_events(raw: object) -> MatchView:
    """Return a match with its events; raise `MalformedResponse`, also if moves are missing."""
    view = parse_view(raw)
    if len(view.moves) < view.move_count and not view.finished:
        raise MalformedResponse(f"The arena tells {len(view.moves)} of {view.move_count} moves.")
    return view


def parse_match_list(raw: object) -> list[MatchView]:
    """Return the readable matches of GET /api/matches; raise `MalformedResponse` if no list."""
    raw_views = _parse_list(raw)
    return [
        view
        for raw_view in raw_views
        for view in _parse_readable_view(raw_view)
        if _has_valid_id(view)
    ]


def _has_valid_id(view: MatchView) -> bool:
    """Return True if the match's id is valid for requests and for the queue."""
    if _ID_PATTERN.match(view.id):
        return True
    _warn_once(f"{view.id[:40]!r} in the list of matches is left out: that is no id.")
    return False


def _parse_readable_view(raw_view: object) -> list[MatchView]:
    try:
        return [parse_view(raw_view)]
    except MalformedResponse as fault:
        name = raw_view.get("_id") if isinstance(raw_view, dict) else None
        _warn_once(f"{str(name)[:40]!r} in the list of matches is left out. {fault}")
        return []


@lru_cache(maxsize=256)
def _warn_once(line: str) -> None:
    """Log a line that this process has not logged lately; lists are requested repeatedly."""
    _log.warning("%s", line)


parse_events = partial(_parse, TypeAdapter(list[EventView]), description="a list of events")
"""The events that an accepted action caused; raises Garbled."""


parse_ending = partial(_parse, TypeAdapter(MatchOverErrorView), description="the end of a match")
"""The end as told by the 410 of an action, `{"events": [...]}`; raises Garbled."""

parse_created = partial(_parse, TypeAdapter(MatchCreatedView), description="a created match")
"""The answer of POST /api/matches; raises Garbled."""

parse_whoami = partial(_parse, TypeAdapter(WhoAmIView), description="a user")
"""The answer of GET /api/whoami; raises Garbled."""

parse_hello = partial(_parse, TypeAdapter(HelloView), description="the arena's greeting")
"""The answer of GET /api/hello; raises Garbled."""

parse_players = partial(_parse, TypeAdapter(list[PlayerView]), description="a list of players")
"""The answer of GET /api/players; raises Garbled."""


def match_params_json(params: MatchParams) -> dict[str, object]:
    """Return the body that creates a match, without the parameters that are None."""
    body: dict[str, object] = _match_params_adapter().dump_python(
        params, mode="json", by_alias=True, exclude_defaults=True
    )
    return body


@cache
def _match_params_adapter() -> TypeAdapter[MatchParams]:
    """Return the encoder of match parameters; building it takes as long as playing many moves."""
    return TypeAdapter(MatchParams)
