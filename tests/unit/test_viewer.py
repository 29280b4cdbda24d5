"""The pages of matches and of APIs: drawn on the server, all escaped, nothing loaded or run."""

import json
import re
from base64 import b64encode
from dataclasses import replace
from hashlib import sha256
from typing import Any
from xml.etree.ElementTree import fromstring as parse_xml

import pytest
from pydantic import BaseModel
from support.recorded import Matches, looks, sample_and_whole
from support.stored import HOSTILE, PLAYERS, any_match, named, recorded_matches

from cardsharp.viewer.base import Site
from cardsharp.viewer.moment import moment
from cardsharp.viewer.pages import Column, Row, list_page, match_file, match_page, steps_document
from cardsharp.viewer.shown import shown
from cardsharp.web.page import HEADERS, page
from cardsharp.web.reading import Messages, Parameters

SITE = Site("Test")


@pytest.mark.parametrize("name", PLAYERS)
def test_a_step_is_a_move_and_says_only_what_it_changed(name: str) -> None:
    """The parts of all steps up to one, the later over the earlier, are the whole table."""
    match = shown(*any_match(name))
    assert len(match.frames) == len(match.moves)
    table: dict[str, str] = {}
    for number, frame in enumerate(match.frames):
        assert all(table.get(part) != drawn for part, drawn in frame.parts.items())
        table |= frame.parts
        drawn = match.board.parts(match.header, frame.step)
        assert table == match.table(number)
        assert all(part is None or table[one] == part for one, part in drawn.items())


@pytest.mark.parametrize("name", PLAYERS)
def test_what_a_stranger_wrote_is_text(name: str) -> None:
    record, moves = any_match(name)
    told = json.loads(json.dumps([move.facts for move in moves]).replace('"one"', f'"{HOSTILE}"'))
    facts = [replace(move, facts=told[place]) for place, move in enumerate(moves)]
    match = shown(*named((record, facts), *[HOSTILE] * len(record.header["names"])))  # type: ignore[arg-type]
    document = json.dumps(steps_document(match)["steps"])
    drawn = [part for frame in match.frames for part in frame.parts.values()]
    assert not any("<script" in part for part in drawn)
    for text in (match_page(SITE, match), match_file(match)):
        assert HOSTILE not in text
        assert "&lt;script&gt;alert" in text
    assert "script>alert" in document
    row = Row("/matches/1", False, HOSTILE, (HOSTILE,))  # noqa: FBT003
    assert HOSTILE not in list_page(SITE, [Column("x")], [row])


@pytest.mark.parametrize("name", PLAYERS)
def test_a_file_and_a_picture_need_no_network_and_are_small(name: str) -> None:
    """Style and script are inside, allowed by their hashes alone; the steps are data.

    The picture is without script, address or anything of who wrote a name.
    """
    text = match_file(shown(*any_match(name)))
    assert len(text.encode()) < 300_000
    policy = re.search(r'Policy" content="([^"]*)"', text)
    assert policy is not None
    assert policy[1].startswith("default-src &#39;none&#39;; style-src &#39;sha256-")
    assert not re.search(r'(?:src|href)="(?!#)', text)
    assert "http" not in text.replace("http-equiv", "")
    record, moves = any_match(name)
    match = shown(*named((record, moves), *[HOSTILE] * 4))
    picture = moment(match, None)
    root = parse_xml(picture)  # noqa: S314 - our own text
    frames = root.findall("{http://www.w3.org/2000/svg}foreignObject")
    turns = [frame.step.turn for frame in match.frames]
    assert len(frames) == max(map(turns.count, turns))
    assert "<script" not in picture
    assert set(re.findall(r"https?://[^\"]*", picture)) == {
        "http://www.w3.org/2000/svg",
        "http://www.w3.org/1999/xhtml",
    }
    assert len(picture.encode()) < 100_000


@sample_and_whole(pytest.mark.slow)
def test_piles_are_where_the_arena_had_them(matches: Matches) -> None:
    """The discard pile, and how many cards are left to draw, at every recorded look."""
    looked = 0
    for trace, match in zip(matches.started(), recorded_matches(matches), strict=True):
        states = {frame.step.sequence: frame.step.state for frame in shown(*match).frames}
        for look in looks(trace):
            if "discardPile" not in look.record or not look.view.moves:
                continue
            state = states[look.view.moves[-1].sequence_id]
            assert sorted(state["discardPile"]) == sorted(look.record["discardPile"]), trace["name"]  # type: ignore[call-overload]
            if state["unseen"] is not None:
                assert len(state["unseen"]) == look.record["drawPileLeft"], trace["name"]  # type: ignore[arg-type]
            looked += 1
    assert looked >= matches.least


class Asked(BaseModel):
    """A question with a field that may be null, which has no single type."""

    name: str | None = None
    tags: tuple[str, ...] = ()


@pytest.mark.parametrize("reading", [Messages(), Parameters()])
def test_a_parameter_that_may_be_null_is_described(reading: Messages | Parameters) -> None:
    """It made the document of an API a failure of the server."""
    name, tags = reading.describe(Asked, "GET", ())["parameters"]  # type: ignore[misc]
    assert name["schema"]["anyOf"] == [{"type": "string"}, {"type": "null"}]
    assert tags.get("explode", isinstance(reading, Parameters))


EVIL = "<script>alert('\"&')</script>"


def document(text: str) -> dict[str, Any]:
    """A document that has the text wherever a game may put one."""
    schema = {"type": text, "description": text, "pattern": text, "default": text}
    fields = {"properties": {text: schema, "e": {"enum": [text]}, "c": {"const": text}}}
    reference = {"$ref": f"#/components/schemas/{text}"}
    content = {text: {"schema": {"items": {"anyOf": [reference, schema]}, "type": "array"}}}
    said = {"description": text, "headers": {text: {"description": text}}, "content": content}
    operation = {
        "operationId": text, "summary": text, "description": text,
        "parameters": [{"name": text, "in": text, "description": text, "schema": schema}],
        "requestBody": {"content": content}, "responses": {text: said},
    }  # fmt: skip
    return {
        "info": {"title": text, "version": text, "description": text},
        "paths": {text: {text: operation}},
        "components": {"schemas": {text: {"description": text, **fields}}},
    }


def test_no_text_of_a_document_is_html_and_only_its_own_styles_are_allowed() -> None:
    told = page(document(EVIL), {EVIL: EVIL})
    plain = page(document("plain"), {"plain": "plain"})
    assert "&lt;script&gt;" in told
    tags = r"<(/?\w+)"
    assert re.findall(tags, told) == re.findall(tags, plain)
    told = page(document("plain"), {})
    [style] = re.findall(r"<style>(.*?)</style>", told, re.DOTALL)
    allowed = b64encode(sha256(style.encode()).digest()).decode()
    policy = HEADERS["Content-Security-Policy"]
    assert policy.startswith(f"default-src 'none'; style-src 'sha256-{allowed}'; ")
    assert "style=" not in told
    assert not re.search(r"<(script|link|img|iframe|form)|src=|url\(|@import|https?:", told)
