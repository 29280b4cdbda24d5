"""A seat as a page: the table as that seat sees it, what is asked, what happened, how it ended."""

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from jinja2 import FileSystemLoader, Template

from cardsharp.analysis import side_of
from cardsharp.viewer.base import Site, templates
from cardsharp.viewer.board import Board
from cardsharp.viewer.explained import Explained
from cardsharp.viewer.pages import summary_part, thought_part
from workbench.show.screen import ChoiceGroup
from workbench.table.chair import Chair
from workbench.table.room import Room, TableStage, result

SITE = Site("Cardsharp")
ASSETS = {
    "table.css": "text/css; charset=utf-8",
    "table.js": "text/javascript; charset=utf-8",
    "choosing.js": "text/javascript; charset=utf-8",
}
"""What seats load beside what all pages do."""

_FOLDER = Path(__file__).with_name("page")
_FEW = 9  # choices up to which each has a key of its own


class JudgedChapter(NamedTuple):
    """A part of a match that is over: where it is, its analysis, and which side of that is ours."""

    link: str
    analysis: Explained | None
    side: int


def own_asset(name: str) -> str:
    """The text of a file that seats load."""
    return (_FOLDER / name).read_text(encoding="utf-8")


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


def message(text: str) -> str:
    """A page that says why there is nothing else."""
    return template("nothing.html").render(message=text, site=SITE)


def _context(room: Room, place: int, links: Sequence[str]) -> dict[str, object]:
    chair = room.chairs[place]
    seated = chair.here and not chair.gone and chair.stand_in is None
    playing = room.stage is not TableStage.WAITING
    question = chair.question if room.stage is TableStage.PLAYING else None
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
        "result": result(room, chair) if room.stage is TableStage.OVER else "",
        "judged": _judged(room, chair, links[place]) if room.stage is TableStage.OVER else [],
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


def _judged(room: Room, chair: Chair, link: str) -> list[JudgedChapter]:
    ended = room.last
    if ended is None:
        return []
    matches, parts = room.matches or f"{link}/matches", []
    for part in ended.parts:
        host = side_of(min(part.match.header.seats, default=0))  # the log has the host's seats
        side = host if chair.seat in ended.ours else 1 - host
        parts.append(JudgedChapter(f"{matches}/{part.match.record.match_id}", part.analysis, side))
    return parts


@cache
def template(name: str) -> Template:
    """The template of that name, of seats or of all pages."""
    return templates(FileSystemLoader(_FOLDER)).get_template(name)
