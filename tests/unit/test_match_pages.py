"""Pages of matches and of APIs: rendered on the server, escaped, self-contained, no secrets.

To find a leak, a match is continued from some point twice; the second time all cards that
are hidden from the seat to act are dealt anew. The output up to this point must be equal,
byte for byte.
"""

import json
import re
from base64 import b64encode
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from random import Random
from typing import Any
from xml.etree.ElementTree import fromstring as parse_xml

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel
from starlette.routing import Route
from support.case_counts import case_count
from support.games import (
    SimulationPlayer,
    StoredMatch,
    game_simulation,
    new_match,
    play_to_end,
    stored_match,
)
from support.lambda_events import invocation_context
from support.recordings import RecordedMatches, parametrize_sample_and_all, recorded_views
from support.stored_matches import (
    FAST_STRATEGIES,
    HOSTILE_NAME,
    SingleMatchSource,
    recorded_matches,
    sample_match,
    with_names,
)

from cardsharp.analysis.replay import ReplayStep
from cardsharp.games.euchre.cards import DECK
from cardsharp.games.euchre.public_state import DEALER
from cardsharp.games.euchre.service.deal_store import (
    DiscardEvent,
    decode_event,
    encode_event,
)
from cardsharp.pages.assets import BASE_ASSETS
from cardsharp.pages.highlight_svg import render_highlight_svg
from cardsharp.pages.match_pages import (
    MatchListColumn,
    MatchListRow,
    match_list_page,
    match_page,
    standalone_match_page,
    steps_json,
)
from cardsharp.pages.rendered_match import render_match
from cardsharp.pages.templates import SiteInfo
from cardsharp.play.catalog import get_game
from cardsharp.server.lambda_adapter import lambda_handler_for_asgi
from cardsharp.server.match_site import (
    DEFAULT_SITE,
    MatchSite,
    PagesConfig,
    build_pages_application,
)
from cardsharp.server.openapi_page import document_page
from cardsharp.server.request_parsing import ParameterParser, QueryOrJsonParser
from cardsharp.store.match_log import Body, MatchStatus
from cardsharp_tools.local_cloud.api_gateway_events import HttpRequest, parse_response, to_event


@pytest.mark.parametrize("name", FAST_STRATEGIES)
def test_a_step_is_a_move_and_contains_only_its_changes(name: str) -> None:
    """The changed parts of all steps up to a step add up to its complete table."""
    match = render_match(*sample_match(name))
    assert len(match.steps) == len(match.moves)
    table: dict[str, str] = {}
    for number, frame in enumerate(match.steps):
        assert all(table.get(part) != part_html for part, part_html in frame.changed_parts.items())
        table |= frame.changed_parts
        parts = match.renderer.render_step(match.header, frame.step)
        assert table == match.board_at(number)
        assert all(part is None or table[part_name] == part for part_name, part in parts.items())


@pytest.mark.parametrize("name", FAST_STRATEGIES)
def test_untrusted_text_is_escaped(name: str) -> None:
    record, moves = sample_match(name)
    hostile_facts = json.loads(
        json.dumps([move.facts for move in moves]).replace('"one"', f'"{HOSTILE_NAME}"')
    )
    facts = [replace(move, facts=hostile_facts[index]) for index, move in enumerate(moves)]
    match = render_match(
        *with_names((record, facts), *[HOSTILE_NAME] * len(record.header["names"]))
    )  # type: ignore[arg-type]
    document = json.dumps(steps_json(match)["steps"])
    html_parts = [part for frame in match.steps for part in frame.changed_parts.values()]
    assert not any("<script" in part for part in html_parts)
    for text in (match_page(DEFAULT_SITE, match), standalone_match_page(match)):
        assert HOSTILE_NAME not in text
        assert "&lt;script&gt;alert" in text
    assert "script>alert" in document
    row = MatchListRow("/matches/1", False, HOSTILE_NAME, (HOSTILE_NAME,))  # noqa: FBT003
    assert HOSTILE_NAME not in match_list_page(DEFAULT_SITE, [MatchListColumn("x")], [row])


@pytest.mark.parametrize("name", FAST_STRATEGIES)
def test_a_file_and_a_picture_need_no_network_and_are_small(name: str) -> None:
    """Style and script are inline and allowed by their hashes; the steps are data.

    The picture has no script, no address, and no markup from a player's name.
    """
    text = standalone_match_page(render_match(*sample_match(name)))
    assert len(text.encode()) < 300_000
    policy = re.search(r'Policy" content="([^"]*)"', text)
    assert policy[1].startswith("default-src &#39;none&#39;; style-src &#39;sha256-")
    assert not re.search(r'(?:src|href)="(?!#)', text)
    assert "http" not in text.replace("http-equiv", "")
    record, moves = sample_match(name)
    match = render_match(*with_names((record, moves), *[HOSTILE_NAME] * 4))
    svg_text = render_highlight_svg(match, None)
    root = parse_xml(svg_text)  # noqa: S314 - our own text
    frames = root.findall("{http://www.w3.org/2000/svg}foreignObject")
    turns = [frame.step.turn for frame in match.steps]
    assert len(frames) == max(map(turns.count, turns))
    assert "<script" not in svg_text
    assert set(re.findall(r"https?://[^\"]*", svg_text)) == {
        "http://www.w3.org/2000/svg",
        "http://www.w3.org/1999/xhtml",
    }
    assert len(svg_text.encode()) < 100_000


def steps_of(match: StoredMatch) -> list[ReplayStep]:
    """Return the steps of a match without rendering them."""
    rendered = render_match(*match)
    return list(rendered.game.replay.load()(rendered.record, rendered.moves))


@parametrize_sample_and_all(pytest.mark.slow)
def test_discard_and_draw_piles_match_the_arena(matches: RecordedMatches) -> None:
    """The piles are equal to the recorded ones in every recorded view."""
    compared_count = 0
    for trace, match in zip(matches.created_matches(), recorded_matches(matches), strict=True):
        states = {step.sequence: step.public_state for step in steps_of(match)}
        for view in recorded_views(trace):
            if "discardPile" not in view.record or not view.view.moves:
                continue
            state = states[view.view.moves[-1].sequence_id]
            assert sorted(state["discardPile"]) == sorted(view.record["discardPile"]), trace["name"]  # type: ignore[call-overload]
            if state["unseen"] is not None:
                assert len(state["unseen"]) == view.record["drawPileLeft"], trace["name"]  # type: ignore[arg-type]
            compared_count += 1
    assert compared_count >= matches.min_step_count


class NullableQuery(BaseModel):
    """Query with a field that may be null, which has no single type."""

    name: str | None = None
    tags: tuple[str, ...] = ()


@pytest.mark.parametrize("parser", [QueryOrJsonParser(), ParameterParser()])
def test_a_parameter_that_may_be_null_is_described(
    parser: QueryOrJsonParser | ParameterParser,
) -> None:
    """A parameter with several types has made the API's document fail."""
    name, tags = parser.describe(NullableQuery, "GET", ())["parameters"]  # type: ignore[misc]
    assert name["schema"]["anyOf"] == [{"type": "string"}, {"type": "null"}]
    assert tags.get("explode", isinstance(parser, ParameterParser))


SCRIPT_TEXT = "<script>alert('\"&')</script>"


def document_with_text(text: str) -> dict[str, Any]:
    """Return an API document that has the text wherever a game may put a text."""
    schema = {"type": text, "description": text, "pattern": text, "default": text}
    fields = {"properties": {text: schema, "e": {"enum": [text]}, "c": {"const": text}}}
    reference = {"$ref": f"#/components/schemas/{text}"}
    content = {text: {"schema": {"items": {"anyOf": [reference, schema]}, "type": "array"}}}
    response = {"description": text, "headers": {text: {"description": text}}, "content": content}
    operation = {
        "operationId": text, "summary": text, "description": text,
        "parameters": [{"name": text, "in": text, "description": text, "schema": schema}],
        "requestBody": {"content": content}, "responses": {text: response},
    }  # fmt: skip
    return {
        "info": {"title": text, "version": text, "description": text},
        "paths": {text: {text: operation}},
        "components": {"schemas": {text: {"description": text, **fields}}},
    }


def test_api_page_escapes_document_text_and_allows_only_its_styles() -> None:
    site = SiteInfo("Service", matches_path=".", links=(("API", "docs"),))
    html = document_page(document_with_text(SCRIPT_TEXT), {SCRIPT_TEXT: SCRIPT_TEXT}, site).body
    plain_html = document_page(document_with_text("plain"), {"plain": "plain"}, site).body
    assert "&lt;script&gt;" in str(html)
    tags = r"<(/?\w+)"
    assert re.findall(tags, str(html)) == re.findall(tags, str(plain_html))
    response = document_page(document_with_text("plain"), {}, site)
    html = str(response.body)
    [style] = re.findall(r"<style>(.*?)</style>", html, re.DOTALL)
    style_hash = b64encode(sha256(style.encode()).digest()).decode()
    policy = response.headers["Content-Security-Policy"]
    assert policy.startswith(f"default-src 'none'; style-src 'sha256-{style_hash}'; ")
    assert "style=" not in html
    assert not re.search(r"<(script|link|img|iframe|form)|src=|url\(|@import|https?:", html)


ROUTE_QUERIES: Mapping[str, tuple[str, ...]] = {
    "/": ("",),
    "/matches": ("", "?limit=1", "?status=running"),
    "/matches/{id}": ("", "?step=1", "?step=3", "?analysis=yes"),
    "/matches/{id}/steps": ("", "?from=2", "?wait=1&from=9999"),
    "/matches/{id}/analysis": ("",),
    "/page/{name}": ("",),
}
"""What is asked of each route; one that is not here fails the test."""


def matches_with_equal_view(
    name: str, seed: int, share: float
) -> tuple[StoredMatch, StoredMatch, int | None]:
    """Return two running matches that look the same to the seat to act, and that seat."""
    game = get_game(name)
    players = [SimulationPlayer(game, FAST_STRATEGIES[name], seed + seat) for seat in (0, 1)]
    played_actions = play_to_end(new_match(game, seed), players, Random(seed))
    decision_moves = [
        move for move in stored_match(game, played_actions)[0][1] if move.intent is not None
    ]
    decision_index = int(share * len(decision_moves))
    state = played_actions[decision_index].state
    futures = (state, game_simulation(game).resample_hidden(state, Random(seed)))
    first_match, second_match = (
        stored_match(
            game,
            [*played_actions[:decision_index], *play_to_end(future_state, players, Random(number))],
        )[0]
        for number, future_state in enumerate(futures)
    )
    steps = [step for step in steps_of(first_match) if step.decision is not None]
    return (
        running_part(first_match, decision_index),
        running_part(second_match, decision_index),
        steps[decision_index].seat,
    )


def running_part(match: StoredMatch, decision_index: int) -> StoredMatch:
    record, moves = match
    decisions = [move.sequence for move in moves if move.intent is not None]
    record = replace(record, status=MatchStatus.RUNNING, outcome=None)
    return record, [move for move in moves if move.sequence < decisions[decision_index]]


def with_reasons_of_seat(match: StoredMatch, seat: int | None) -> StoredMatch:
    """Return the match with the reasons of a single seat, as the log of its player has it."""
    seat_sequences = {step.sequence for step in steps_of(match) if step.seat == seat}
    record, moves = match
    seat_moves = [
        move if move.sequence in seat_sequences else replace(move, intent=None) for move in moves
    ]
    return record, seat_moves


def with_secrets(match: StoredMatch, seat: int | None, number: int) -> StoredMatch:
    """Return the match with facts that only the seat may know; None stands for no seat.

    The facts are the seed of an arena's match and the discard of a Euchre dealer; `number`
    varies them.
    """
    record, moves = match
    facts = [_secret(move.facts or {}, seat, number) for move in moves]
    return record, [
        replace(move, facts=move_facts) for move, move_facts in zip(moves, facts, strict=True)
    ]


def _secret(facts: Body, seat: int | None, number: int) -> Body:
    if facts.get("sequenceId") == 0:
        start_event = {"eventType": "MatchStarted", "matchStartedSeed": f"canary-{number}"}
        return {**facts, "events": [start_event, *facts["events"]], "clientIP": f"10.0.0.{number}"}
    if "event" not in facts or seat == DEALER:
        return facts
    event = decode_event(str(facts["event"]))
    if isinstance(event, DiscardEvent):
        event = event._replace(card=(event.card + number) % len(DECK))
    return {**facts, "event": encode_event(event)}


def all_output(
    match: StoredMatch, *, public: bool, has_analysis: bool = False
) -> Iterator[tuple[str, bytes]]:
    """Yield each request and its output from the site and the exports of a match."""
    record, moves = match
    config = PagesConfig(
        site=DEFAULT_SITE._replace(has_analysis=has_analysis),
        hide_private=public,
        long_poll_timeout=timedelta(),
    )
    app = build_pages_application(MatchSite(SingleMatchSource(record, moves), config))
    paths = [route.path for route in app.routes if isinstance(route, Route)]
    assert set(paths) == set(ROUTE_QUERIES)
    for path in paths:
        for name in BASE_ASSETS.names if "{name}" in path else ("",):
            for query in ROUTE_QUERIES[path]:
                target = path.format(id=record.match_id, name=name) + query
                event = to_event(HttpRequest("GET", target), datetime.now(UTC))
                response = parse_response(lambda_handler_for_asgi(app)(event, invocation_context()))
                assert response.status in {200, 307, 404}
                yield target, repr(response.headers).encode() + response.body
    rendered = render_match(record, moves, hide_private=public)
    yield "file", standalone_match_page(rendered).encode()
    yield "steps", json.dumps(steps_json(rendered)).encode()
    if rendered.steps:
        yield "picture", render_highlight_svg(rendered, None).encode()


@pytest.mark.parametrize("name", FAST_STRATEGIES)
@settings(max_examples=case_count(2, full=100), deadline=None)
@given(seed=st.integers(0, 10**6), share=st.floats(0, 0.999))
def test_hidden_information_reaches_no_unauthorised_reader(
    name: str, seed: int, share: float
) -> None:
    """Spectators see neither our reasons nor the names of our strategies.

    A player sees its own reasons and cards on the pages of its own log.
    """
    first_match, second_match, seat = matches_with_equal_view(name, seed, share)
    first_public, (record, moves) = (
        with_secrets(first_match, None, 0),
        with_secrets(second_match, None, 1),
    )
    header = {**record.header, "seats": {"0": "canary"}, "opponent": "canary"}
    moves_without_intents = [replace(move, intent=None) for move in moves]
    second_public = replace(record, header=header), moves_without_intents
    assert dict(all_output(first_public, public=True)) == dict(
        all_output(second_public, public=True)
    )
    matches = [
        with_secrets(with_reasons_of_seat(match, seat), seat, secret_number)
        for secret_number, match in enumerate((first_match, second_match))
    ]
    pages = [dict(all_output(match, public=False)) for match in matches]
    assert pages[0] == pages[1]


@pytest.mark.parametrize("name", ["blef", "euchre"])
def test_a_player_sees_the_cards_of_the_seat(name: str) -> None:
    """The comparison of the other test would fail if a hand were visible."""
    running_match, _, seat = matches_with_equal_view(name, 1, 0.5)
    all_hands, seat_output, no_reasons_output = (
        dict(all_output(match, public=False))
        for match in (
            running_match,
            with_reasons_of_seat(running_match, seat),
            with_reasons_of_seat(running_match, None),
        )
    )
    assert all_hands["steps"] != seat_output["steps"] != no_reasons_output["steps"]


@pytest.mark.parametrize("name", ["deadmansdraw", "blef"])
def test_an_analysis_reveals_no_hidden_card_to_a_spectator(name: str) -> None:
    first_match, second_match, _ = matches_with_equal_view(name, 3, 0.2)
    pages = [
        dict(all_output(match, public=True, has_analysis=True))
        for match in (first_match, second_match)
    ]
    assert pages[0] == pages[1]
