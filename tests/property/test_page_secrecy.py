"""No hidden card reaches a page: neither a spectator nor a player learns one from any answer.

A match is played to some moment, and on from there twice: once as it was dealt, once with all dealt
anew that is hidden from the seat to act. What is told of the two up to that moment is the same,
byte for byte: every route of the site, the page as a file, its steps and the turn that plays.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from starlette.applications import Starlette
from starlette.routing import Route
from support.bot_events import context
from support.games import simulated
from support.played import Decides, Kept, begun, kept, taken
from support.size import cases
from support.stored import PLAYERS, OneMatch

from cardsharp.cloud.ports import Body, Status
from cardsharp.euchre.cards import DECK
from cardsharp.euchre.records import SwapEvent, decode_event, encode_event
from cardsharp.euchre.table import DEALER
from cardsharp.games import game
from cardsharp.viewer.assets import ASSETS
from cardsharp.viewer.moment import moment
from cardsharp.viewer.pages import match_file, steps_document
from cardsharp.viewer.shown import shown
from cardsharp.viewer.site import SITE, Manner, Pages, application
from cardsharp.web.asgi import handler_of
from workbench.cloud.http_events import WireRequest, http_event, read_answer

ASKED: Mapping[str, tuple[str, ...]] = {
    "/": ("",),
    "/matches": ("", "?limit=1", "?status=running"),
    "/matches/{id}": ("", "?step=1", "?step=3", "?analysis=yes"),
    "/matches/{id}/steps": ("", "?from=2", "?wait=1&from=9999"),
    "/matches/{id}/analysis": ("",),
    "/page/{name}": ("",),
}
"""What is asked of each route; one that is not here fails the test."""


def twins(name: str, seed: int, share: float) -> tuple[Kept, Kept, int | None]:
    """Two running matches that look the same to the seat to act, and that seat."""
    of = game(name)
    players = [Decides(of, PLAYERS[name], seed + one) for one in (0, 1)]
    notes = taken(begun(of, seed), players, Random(seed))
    whole = [move for move in kept(of, notes)[0][1] if move.intent is not None]
    at = int(share * len(whole))
    state = notes[at].state
    futures = (state, simulated(of).disguised(state, Random(seed)))
    one, other = (
        kept(of, [*notes[:at], *taken(start, players, Random(number))])[0]
        for number, start in enumerate(futures)
    )
    steps = [frame.step for frame in shown(*one).frames if frame.step.ours is not None]
    return running(one, at), running(other, at), steps[at].seat


def running(match: Kept, at: int) -> Kept:
    record, moves = match
    decisions = [move.sequence for move in moves if move.intent is not None]
    record = replace(record, status=Status.RUNNING, outcome=None)
    return record, [move for move in moves if move.sequence < decisions[at]]


def of_seat(match: Kept, seat: int | None) -> Kept:
    """The match with the reasons of one seat alone, as the log of who plays there has it."""
    steps = shown(*match).frames
    ours = {frame.step.sequence for frame in steps if frame.step.seat == seat}
    record, moves = match
    own = [move if move.sequence in ours else replace(move, intent=None) for move in moves]
    return record, own


def with_secrets(match: Kept, seat: int | None, number: int) -> Kept:
    """The match with facts of that number where nobody but the seat may know them; None is nobody.

    The seed with which an arena begins a match, and the card that a dealer of Euchre lays aside.
    """
    record, moves = match
    facts = [_secret(move.facts or {}, seat, number) for move in moves]
    return record, [replace(move, facts=one) for move, one in zip(moves, facts, strict=True)]


def _secret(facts: Body, seat: int | None, number: int) -> Body:
    if facts.get("sequenceId") == 0:
        begun = {"eventType": "MatchStarted", "matchStartedSeed": f"canary-{number}"}
        return {**facts, "events": [begun, *facts["events"]], "clientIP": f"10.0.0.{number}"}
    if "event" not in facts or seat == DEALER:
        return facts
    event = decode_event(str(facts["event"]))
    if isinstance(event, SwapEvent):
        event = event._replace(card=(event.card + number) % len(DECK))
    return {**facts, "event": encode_event(event)}


def everything_told(
    match: Kept, *, public: bool, judged: bool = False
) -> Iterator[tuple[str, bytes]]:
    """Yield all that the site and the exports say of a match, by what was asked."""
    record, moves = match
    manner = Manner(site=SITE._replace(judged=judged), public=public, hold=timedelta())
    app = application(Pages(OneMatch(record, moves), manner))
    paths = [route.path for route in app.routes if isinstance(route, Route)]
    assert set(paths) == set(ASKED)
    for path in paths:
        for name in ASSETS if "{name}" in path else ("",):
            for query in ASKED[path]:
                at = path.format(id=record.match_id, name=name)
                yield at + query, answer(app, at + query)
    told = shown(record, moves, public=public)
    yield "file", match_file(told).encode()
    yield "steps", json.dumps(steps_document(told)).encode()
    if told.frames:
        yield "picture", moment(told, None).encode()


def answer(app: Starlette, target: str) -> bytes:
    event = http_event(WireRequest("GET", target), datetime.now(UTC))
    read = read_answer(handler_of(app)(event, context()))
    assert read.status in {200, 307, 404}
    return repr(read.headers).encode() + read.body


@pytest.mark.parametrize("name", PLAYERS)
@settings(max_examples=cases(3, every=100), deadline=None)
@given(seed=st.integers(0, 10**6), share=st.floats(0, 0.999))
def test_nobody_is_told_what_is_hidden_from_them(name: str, seed: int, share: float) -> None:
    """Spectators not even what we thought, and of which strategies of ours there are.

    Players are told their own reasons and cards, on the page of their own log.
    """
    one, twin, seat = twins(name, seed, share)
    shown, (record, moves) = with_secrets(one, None, 0), with_secrets(twin, None, 1)
    header = {**record.header, "seats": {"0": "canary"}, "opponent": "canary"}
    bare = [replace(move, intent=None) for move in moves]
    other = replace(record, header=header), bare
    assert dict(everything_told(shown, public=True)) == dict(everything_told(other, public=True))
    matches = [with_secrets(of_seat(match, seat), seat, at) for at, match in enumerate((one, twin))]
    pages = [dict(everything_told(match, public=False)) for match in matches]
    assert pages[0] == pages[1]


@pytest.mark.parametrize("name", ["blef", "euchre"])
def test_whose_cards_they_are_does_see_them(name: str) -> None:
    """So what is compared above would differ if it were told: both hands show in our own log."""
    one, _, seat = twins(name, 1, 0.5)
    all_hands, own, none = (
        dict(everything_told(match, public=False))
        for match in (one, of_seat(one, seat), of_seat(one, None))
    )
    assert all_hands["steps"] != own["steps"] != none["steps"]


@pytest.mark.parametrize("name", ["deadmansdraw", "blef"])
def test_an_analysis_tells_a_spectator_nothing_hidden(name: str) -> None:
    one, other, _ = twins(name, 3, 0.2)
    pages = [dict(everything_told(match, public=True, judged=True)) for match in (one, other)]
    assert pages[0] == pages[1]
