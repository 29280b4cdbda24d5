"""Extreme values in the arena's responses, for all fields that our client reads.

The fields are those of the models that read responses. `VALUES_BY_FIELD` has a row for
each field, so a field without a row is noticed. An `ExtremeValue` is a value of a field
or a header, in one response of a kind or in all of them.
"""

import json
from collections.abc import Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import product
from pathlib import Path
from random import Random
from typing import Any, get_args

import requests
from pydantic import BaseModel

from cardsharp.bot.timing import SessionTiming
from cardsharp.games.deadmansdraw.arena_bot.wire_views import (
    MatchView,
    PendingEffectView,
    TurnDeltaView,
)
from cardsharp_tools.local_cloud.api_gateway_events import HttpResponse
from fault_simulation.match_harness import MatchHarness, run_harness
from fault_simulation.simulated_arena import TABLE, SimulatedArena

NUMBERS = (-1, 2**31, 10**30, 1e308, 0.5, "1", None, True, [])
SEATS = (-1, 2, 10**30, "0", None, [])
TEXTS = ("", "x" * 100_000, "\ud800", "\u202e\0\n", 7, None, {})
IDS = (*TEXTS, "../whoami", "%2e%2e", "0" * 24)
DATES = ("", "soon", "9999-12-31T23:59:59.999Z", "0001-01-01T00:00:00Z", "2026-02-30", 0, None)
LISTS = (None, [], {}, "", [None], [[]], [{"suit": "Parrot", "value": 1}], ["\ud800"] * 1000)
OBJECTS = (None, [], "", {}, 7, [{}] * 3)
SECONDS = (0, -1, 1e-9, 1e308, 10**30, "7", None, [], True)

_VALUES_BY_FIELD_NAMES: Mapping[str, tuple[object, ...]] = {
    "_id createdByPlayerId": IDS,
    "startedAt lastMoveAt moves.at": DATES,
    "creationParams moves.events.turnStartedDelta moves.events.turnEndedDelta": OBJECTS,
    "state moves.events.drawCard moves.events.cardPlayedEffect": OBJECTS,
    "moves.events.cardPlacedToPlayAreaCard moves.events.cardRemovedFromBankCard": OBJECTS,
    "moves.events.responseToEffectCard": OBJECTS,
    "state.pendingEffect": (*OBJECTS, {"effectType": "Siren"}),
    "moves.userAction": (*OBJECTS, {"etype": 7, "autopick": "no"}),
    "creationParams.playArea creationParams.drawPile creationParams.discardPile": LISTS,
    "creationParams.banks state.playArea moves moves.events": LISTS,
    "moves.events.turnEndedBonusCards moves.events.matchEndedScores": LISTS,
    "creationParams.tags": (*LISTS, "GAMETAG", [7, None, {}]),
    "playerids": (*LISTS, [None, None], [7, 8]),
    "playernames": (*LISTS, ["\ud800", "\u202e"]),
    "state.banks": (*LISTS, [{"Parrot": [1]}, {}], [{"Hook": None}, {}]),
    "creationParams.timeout": SECONDS,
    "moveCount turnCount moveCountInTurn state.timeoutCount drawPileSize": NUMBERS,
    "moves.sequenceId moves.sequenceInTurnId moves.turnId": NUMBERS,
    "state.winnerIdx activePlayerIndex": SEATS,
    "moves.events.playerIndex moves.events.cardRemovedFromBankIndex": SEATS,
    "moves.events.turnEndedIsSuccessful moves.events.matchEndedWinnerIdx": SEATS,
    "moves.events.matchEndedTerminated": SEATS,
    "moves.events.responseToEffectType moves.events.comment": TEXTS,
    "moves.events.eventType": (*TEXTS, "Mutiny", "MatchEnded"),
}
VALUES_BY_FIELD = {
    name: values for names, values in _VALUES_BY_FIELD_NAMES.items() for name in names.split()
}

RETRY_AFTER_VALUES = (
    "0",
    "-1",
    "3600",
    "1e308",
    "9" * 400,
    "nan",
    "soon",
    "Fri, 31 Dec 9999 23:59:59 GMT",
)
HEADERS: Mapping[str, tuple[str, ...]] = {
    "Retry-After": RETRY_AFTER_VALUES,
    "Date": ("", "soon", "Thu, 01 Jan 1970 00:00:00 GMT", "Fri, 31 Dec 9999 23:59:59 GMT"),
    "X-SlowDown-Limit": ("0", "-1", "9" * 400, "many", ""),
    "X-SlowDown-Remaining": ("0", "-1", "9" * 400, "many", ""),
    "X-SlowDown-Reset": ("0", "-1", "9" * 400, "253402300799", "soon"),
    "Content-Type": ("", "text/html", "\x7f", "x" * 10_000),
}
CLOSED_MODELS = {
    TurnDeltaView,
    PendingEffectView,
}  # models that one row stands for, with all that they hold

FULL_RATE_LIMIT_HEADERS = {
    "X-SlowDown-Limit": "100",
    "X-SlowDown-Remaining": "1",
    "X-SlowDown-Reset": "1795188020",
}
"""Those that are believed only together."""

TURN_SECONDS = 30  # seconds of a turn, which no lie may cost us


def model_fields(model: type[BaseModel], prefix: str = "") -> Iterator[str]:
    """Yield the dotted paths of all fields in the JSON that a model reads."""
    for name, info in model.model_fields.items():
        alias = f"{prefix}{info.validation_alias or info.alias or name}"
        yield alias
        for annotation_type in (info.annotation, *get_args(info.annotation)):
            is_model = isinstance(annotation_type, type) and issubclass(annotation_type, BaseModel)
            if is_model and annotation_type not in CLOSED_MODELS:
                yield from model_fields(annotation_type, f"{alias}.")


@dataclass(frozen=True, eq=False)
class ExtremeValue:
    """Extreme value in a response.

    `location` is "header", "entry" (of a list, beside the true one) or "view".
    """

    location: str
    name: str
    value: Any
    is_permanent: bool = False

    def __str__(self) -> str:
        frequency = "for ever" if self.is_permanent else "once"
        return f"{self.location} {self.name}={str(self.value)[:40]!r} {frequency}"


def single_values() -> list[ExtremeValue]:
    """Return each row with each value.

    List entries are changed permanently, headers once and permanently, and a match once.
    """
    rows = [(name, value) for name, values in VALUES_BY_FIELD.items() for value in values]
    headers = [(name, value) for name, values in HEADERS.items() for value in values]
    header_values = [
        ExtremeValue("header", name, value, is_permanent)
        for (name, value), is_permanent in product(headers, (False, True))
        if not (name == "Retry-After" and is_permanent)  # that is no arena any more
    ]
    entries = [ExtremeValue("entry", name, value, is_permanent=True) for name, value in rows]
    return [*header_values, *entries, *(ExtremeValue("view", name, value) for name, value in rows)]


def value_pairs(count: int, seed: int) -> list[tuple[ExtremeValue, ExtremeValue]]:
    rng, values = Random(seed), single_values()
    return [(rng.choice(values), rng.choice(values)) for _ in range(count)]


@dataclass
class TamperingArena(SimulatedArena):
    """Arena of the match harness that puts extreme values into its responses."""

    values: tuple[ExtremeValue, ...] = ()
    injected: set[ExtremeValue] = field(default_factory=set)

    def handle_request(self, request: requests.PreparedRequest) -> HttpResponse:
        step, response = self.request_kind(request), super().handle_request(request)
        for extreme_value in self.values:
            if extreme_value.is_permanent or extreme_value not in self.injected:
                response = self._tampered_response(extreme_value, step, response)
        return response

    def _tampered_response(
        self, extreme_value: ExtremeValue, step: str, response: HttpResponse
    ) -> HttpResponse:
        if extreme_value.location == "header" and step != "act":
            self.injected.add(extreme_value)
            return _with_header(response, extreme_value)
        fits = (extreme_value.location, step) in {
            ("entry", "list"),
            ("view", "view"),
            ("view", "wait"),
        }
        is_over = self.match.active_player is None
        if (
            not fits
            or response.status != requests.codes.ok
            or (is_over and extreme_value.location == "entry")
        ):
            return response
        body = json.loads(response.body)
        if extreme_value.location == "entry":
            entry = {
                **deepcopy(body[0] if body else self.match_json(as_admin=False)),
                "_id": "f" * 24,
            }
            body = [_with_field(entry, extreme_value), None, *body]
        else:
            body = _with_field(body, extreme_value)
        self.injected.add(extreme_value)
        tampered_body = json.dumps(body).encode()
        return _with_body(response, tampered_body)


def _with_body(response: HttpResponse, body: bytes) -> HttpResponse:
    remaining_headers = ((k, v) for k, v in response.headers if k.lower() != "content-length")
    return replace(
        response, headers=(*remaining_headers, ("Content-Length", str(len(body)))), body=body
    )


def _with_header(response: HttpResponse, extreme_value: ExtremeValue) -> HttpResponse:
    other_headers = {
        name: value
        for name, value in response.headers
        if name.lower() != extreme_value.name.lower()
    }
    headers = {
        **(FULL_RATE_LIMIT_HEADERS if extreme_value.name in FULL_RATE_LIMIT_HEADERS else {}),
        **other_headers,
        extreme_value.name: extreme_value.value,
    }
    response = replace(response, headers=tuple(headers.items()))
    if extreme_value.name != "Retry-After":
        return response
    return _with_body(replace(response, status=503), b"<html>maintenance</html>")


def _with_field(body: dict[str, Any], extreme_value: ExtremeValue) -> dict[str, Any]:
    *path, last = extreme_value.name.split(".")
    target = body
    for name in path:
        target = target.setdefault(name, {})
        if isinstance(target, list):
            target = target[-1] if target else {}
        if not isinstance(target, dict):  # the other lie of a pair was here
            return body
    target[last] = extreme_value.value
    return body


def uncovered_fields() -> set[str]:
    """Return the fields that have no row, and the rows whose field is never read."""
    return set(model_fields(MatchView)) ^ set(VALUES_BY_FIELD)


def harm_of(values: tuple[ExtremeValue, ...], folder: Path) -> list[str]:
    """Return the harm that extreme values do to a match with a time limit for each turn.

    Harm is an error, a lost turn, a match that is not logged to its end, or an unintended
    action. Wrong tables or histories that the arena itself reports do not count.
    """
    make_server = partial(TamperingArena, table={**TABLE, "timeout": TURN_SECONDS}, values=values)
    try:
        harness = run_harness(MatchHarness(make_server, folder, timing=SessionTiming()))
    except Exception as error:  # noqa: BLE001 - nothing that is told may end a worker like this
        return [f"it raised {error!r}"]
    harmful_faults = [
        fault
        for fault in harness.observed_violations
        if "was meant and" in fault or "not know" in fault
    ]
    timeout_count = harness.server.match.state.timeout_count
    return [
        *harmful_faults,
        *([f"{timeout_count} turns were ended by force"] if timeout_count else []),
    ]
