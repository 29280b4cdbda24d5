"""A seat as a page: the table as that seat sees it, what is asked, what happened, how it ended.

Each seat of a table has a secret address, by which it sees, answers and asks.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from functools import cache
from http import HTTPStatus
from itertools import zip_longest
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import parse_qsl

from jinja2 import FileSystemLoader, Template
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from cardsharp.analysis import side_of
from cardsharp.viewer.assets import HEADERS
from cardsharp.viewer.base import Site, templates
from cardsharp.viewer.board import Board
from cardsharp.viewer.explained import Explained
from cardsharp.viewer.pages import summary_part, thought_part
from workbench.show.screen import ChoiceGroup
from workbench.table.chair import REFUSALS, Chair
from workbench.table.room import EndedMatch, Room, TableStage, result

SITE = Site("Cardsharp")
_ASSETS = {
    "table.css": "text/css; charset=utf-8",
    "table.js": "text/javascript; charset=utf-8",
    "choosing.js": "text/javascript; charset=utf-8",
}
"""What seats load beside what all pages do."""

_FOLDER = Path(__file__).with_name("page")
_FEW = 9  # choices up to which each has a key of its own


def _own_asset(request: Request) -> Response:
    name = request.url.path.rpartition("/")[2]
    text = (_FOLDER / name).read_text(encoding="utf-8")
    return Response(text, media_type=_ASSETS[name], headers=HEADERS)


OWN = [Route(f"{SITE.assets}/{name}", _own_asset) for name in _ASSETS]


class JudgedChapter(NamedTuple):
    """A part of a match that is over: where it is, its analysis, and which side of that is ours."""

    link: str
    analysis: Explained | None
    side: int


def seat_page(room: Room, place: int, links: Sequence[str], notice: str = "") -> str:
    """The whole page of a chair; `links` lead to the chairs, by their place."""
    context, site = _context(room, place, links), SITE._replace(matches=links[place])
    return template("seat.html").render(context, notice=notice, site=site)


def news_document(room: Room, place: int, links: Sequence[str], version: int) -> dict[str, object]:
    """What is new at a chair since a version, as the page's script reads it."""
    chair, context = room.chairs[place], _context(room, place, links)
    parts = ("headline", "ask", "recap", "side")
    return {
        "version": chair.version,
        "title": context["title"],
        "toAct": context["to_act"],
        "frames": [{"parts": one.parts, "said": one.said} for one in chair.news(version)],
        "begun": chair.begun,
        **{name: template(f"{name}.html").render(context) for name in parts},
    }


def said(text: str, status: int) -> Response:
    """A page that says why there is nothing else."""
    page = template("nothing.html").render(message=text, site=SITE)
    return HTMLResponse(page, status, headers=NEW)


def _context(room: Room, place: int, links: Sequence[str]) -> dict[str, object]:
    chair = room.chairs[place]
    seated = chair.here and not chair.gone and chair.stand_in is None
    playing = room.stage is not TableStage.WAITING
    question = chair.question if room.stage is TableStage.PLAYING else None
    over = room.last if room.stage is TableStage.OVER else None
    matches = room.matches or f"{links[place]}/matches"
    names = chair.screen.names if playing else []
    own = [*names[chair.seat :], *names[: chair.seat]]
    turn: str = ""
    to_act: int | str = ""
    if playing and chair.to_act is not None:
        turn, to_act = names[chair.to_act], (chair.to_act - chair.seat) % len(names)
    groups = [] if question is None else chair.screen.groups(question.position)
    title = {TableStage.WAITING: "Waiting", TableStage.OVER: "The end"}.get(room.stage, "")
    title = title or ("The others move" if question is None else "Your move")
    return {
        **choosing(room.board, groups),
        "room": room,
        "game": room.setting.game,
        "chair": chair,
        "place": place,
        "link": links[place],
        "links": links,
        "stage": room.stage.value,
        "seated": seated,
        "names": own,
        "sides": _sides(room, chair) if playing else "",
        "turn": turn,
        "to_act": to_act,
        "hint": thought_part(chair.advice) if question is not None and chair.advice else "",
        "result": "" if over is None else result(over, chair),
        "judged": [] if over is None else _judged(over, chair, matches),
        "summary": summary_part,
        "title": f"{title} · {room.setting.game.title}",
    }


def _sides(room: Room, chair: Chair) -> str:
    """Who plays against whom, partners together, the chair's own side first."""
    names, seats = chair.screen.names, len(chair.screen.names)

    def around(seat: int) -> int:
        return (seat - chair.seat) % seats

    sides = (sorted(side, key=around) for side in room.setting.simulation.sides)
    ordered = sorted(sides, key=lambda side: around(side[0]))
    return " v ".join(" and ".join(map(names.__getitem__, side)) for side in ordered)


def choosing(board: Board, groups: Sequence[ChoiceGroup[Any]]) -> dict[str, object]:
    """What a template needs that draws choices: what stands alone first, and keys of few."""
    there = [one for one in groups if len(one.choices) > 1 or not one.barred]
    there.sort(key=lambda one: len(one.choices) > 1)
    keys = [one.key for group in there for one in group.choices if one.key not in group.barred]
    digits = {key: number for number, key in enumerate(keys, 1)}
    return {"board": board, "groups": there, "few": len(keys) <= _FEW, "digits": digits}


def _judged(ended: EndedMatch, chair: Chair, matches: str) -> list[JudgedChapter]:
    parts = []
    for part, analysis in zip_longest(ended.parts, ended.analyses):
        host = side_of(min(part.header.seats, default=0))  # the log has the host's seats
        side = host if chair.seat in ended.sitting.ours else 1 - host
        parts.append(JudgedChapter(f"{matches}/{part.record.match_id}", analysis, side))
    return parts


@cache
def template(name: str) -> Template:
    """The template of that name, of seats or of all pages."""
    return templates(FileSystemLoader(_FOLDER)).get_template(name)


HOLD = timedelta(seconds=15)  # how long a question for something new is held
_LARGEST = 2000  # bytes of a form
NEW = {**HEADERS, "Cache-Control": "no-store"}  # what stands at a seat is never shown from a cache

Form = Mapping[str, str]


class TableSeats:
    """What is asked at the seats of a table."""

    def __init__(self, room: Room, hold: timedelta = HOLD) -> None:
        self._room, self._hold = room, hold
        self.links = [f"/seat/{chair.secret}" for chair in room.chairs]
        self._places = {chair.secret: place for place, chair in enumerate(room.chairs)}

    def page(self, request: Request) -> Response:
        """GET /seat/{secret}."""
        place = self._place(request)
        notice = REFUSALS.get(request.query_params.get("notice", ""), "")
        with self._room.changed:
            page = seat_page(self._room, place, self._told(request), notice)
        return HTMLResponse(page, headers=NEW)

    def news(self, request: Request) -> Response:
        """GET /seat/{secret}/news: what came after a version, once there is something."""
        place, asked = self._place(request), request.query_params.get("since", "")
        since, chair = int(asked) if asked.isdecimal() else 0, self._room.chairs[place]
        if not self._room.stopped.is_set():
            chair.wait(since, self._hold)
        chair.look()
        with self._room.changed:
            told = news_document(self._room, place, self._told(request), since)
        return JSONResponse(told, headers=NEW)

    async def act(self, request: Request) -> Response:
        """POST /seat/{secret}/{deed}: do it; then the page, or its script is told a refusal."""
        place, deed = self._place(request), _DEEDS.get(request.path_params["deed"])
        if deed is None:
            raise HTTPException(HTTPStatus.NOT_FOUND)
        refused = await run_in_threadpool(deed, self._room, place, await form_of(request)) or ""
        if request.headers.get("accept") == "application/json":
            return JSONResponse({"notice": REFUSALS.get(refused, "")}, headers=NEW)
        if not refused and request.path_params["deed"] in {"move", "undo"}:
            await run_in_threadpool(self._room.chairs[place].settle)
        link = self.links[place] + (f"?notice={refused}" if refused else "")
        return RedirectResponse(link, HTTPStatus.SEE_OTHER, headers=NEW)

    def _place(self, request: Request) -> int:
        place = self._places.get(request.path_params["secret"])
        if place is None:
            raise HTTPException(HTTPStatus.NOT_FOUND, "There is no such seat; ask for a new link.")
        self._room.chairs[place].look()
        return place

    def _told(self, request: Request) -> list[str]:
        """The links as they are sent to others: with the address by which the page was asked."""
        base = str(request.base_url).rstrip("/")
        own = request.path_params["secret"]
        return [link if link.endswith(own) else f"{base}{link}" for link in self.links]


async def form_of(request: Request, largest: int = _LARGEST, fields: int = 8) -> Form:
    """A form's fields; raises `HTTPException` where it is too large."""
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > largest:
            raise HTTPException(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "That is no form of ours.")
    return dict(parse_qsl(body.decode("utf-8", "replace"), max_num_fields=fields))


def number_in(form: Form, name: str) -> int:
    """A number that a form has, -1 for what is none."""
    found = form.get(name, "")
    return int(found) if found.isascii() and found.isdecimal() and len(found) < 9 else -1  # noqa: PLR2004


_DEEDS: Mapping[str, Callable[[Room, int, Form], str | None]] = {
    "move": lambda room, at, form: room.chairs[at].answer(
        number_in(form, "number"), form.get("key", "")
    ),
    "hint": lambda room, at, form: room.chairs[at].advise(number_in(form, "number")),
    "undo": lambda room, at, form: room.chairs[at].undo(number_in(form, "number")),
    "join": lambda room, at, form: room.join(room.chairs[at], form.get("name", "")),
    "leave": lambda room, at, _form: room.leave(room.chairs[at]),
    "bot": lambda room, at, form: room.replace(number_in(form, "place"), at),
    "again": lambda room, at, form: room.again(room.chairs[at], number_in(form, "number")),
}
"""What is done at a seat, by the name in its address; what is refused, by a word for it."""
