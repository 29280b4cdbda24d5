"""Page of a seat: the board as that seat sees it, the question, the history and the result.

Each seat of a game room has a secret address, by which its person sees and plays the match.
"""

import re
from collections.abc import Sequence
from functools import cache
from itertools import zip_longest
from pathlib import Path
from typing import Any, NamedTuple, TypedDict

from jinja2 import FileSystemLoader, Template
from markupsafe import Markup

from cardsharp.analysis.judged_match import side_of
from cardsharp.pages.analysis_view import AnalysisView
from cardsharp.pages.assets import AssetFolder, AssetSet
from cardsharp.pages.board_renderer import EMPTY_MARKUP, BoardRenderer
from cardsharp.pages.match_pages import options_fragment, summary_fragment
from cardsharp.pages.match_review import (
    MatchReview,
    ReviewedPart,
    build_match_review,
    turn_word_of,
)
from cardsharp.pages.table_parts import ActionButton, TableActions
from cardsharp.pages.templates import SiteInfo, template_environment
from cardsharp_tools.game_rooms.browser_seat import BrowserSeat
from cardsharp_tools.game_rooms.game_room import (
    FinishedRoomMatch,
    GameRoom,
    RoomState,
    seat_result_text,
)
from cardsharp_tools.terminal.screen import ChoiceGroup

SITE = SiteInfo("Cardsharp")
_ASSET_NAMES = ("table.css", "table.js", "choosing.js", "settings.js", "sound.js")
ASSETS = AssetSet(AssetFolder("cardsharp_tools.game_rooms", "templates", _ASSET_NAMES))
"""Assets of the seats' pages and of all pages."""

_TEMPLATES_FOLDER = Path(__file__).with_name("templates")
_MAX_KEYED_CHOICES = 9  # up to this number of choices each one has a key of its own


class AnalysedMatchPart(NamedTuple):
    """A part of a finished match: its link, its analysis, and the index of our side in it."""

    link: str
    analysis: AnalysisView | None
    side: int


def seat_page(room: GameRoom, seat_index: int, seat_links: Sequence[str], notice: str = "") -> str:
    """Return the whole page of a seat; `seat_links` are the links of all seats, by index."""
    context, site = (
        _build_page_context(room, seat_index, seat_links),
        SITE._replace(matches_path=seat_links[seat_index]),
    )
    return load_template("seat.html").render(context, notice=notice, site=site)


def updates_document(
    room: GameRoom, seat_index: int, seat_links: Sequence[str], version: int
) -> dict[str, object]:
    """Return the updates of a seat since a version, as the page's script reads them."""
    browser_seat, context = (
        room.chairs[seat_index],
        _build_page_context(room, seat_index, seat_links),
    )
    template_names = ("headline", "ask", "recap", "side")
    return {
        "version": browser_seat.version,
        "title": context["title"],
        "toAct": context["to_act"],
        "frames": [
            {"parts": update.parts, "said": update.messages, "ends": update.ends_chapter}
            for update in browser_seat.updates_since(version)
        ],
        "parts": context["parts"],
        "begun": browser_seat.message_batch,
        "hint": load_template("hint_panel.html").render(context),
        **{name: load_template(f"{name}.html").render(context) for name in template_names},
    }


def _build_page_context(room: GameRoom, seat_index: int, links: Sequence[str]) -> dict[str, object]:
    browser_seat = room.chairs[seat_index]
    seated = (
        browser_seat.is_present
        and not browser_seat.has_left
        and browser_seat.replacement_bot is None
    )
    playing = room.state is not RoomState.WAITING
    question = browser_seat.question if room.state is RoomState.PLAYING else None
    over = room.last if room.state is RoomState.OVER else None
    matches = room.match_pages_url or f"{links[seat_index]}/matches"
    player_names = browser_seat.screen.names if playing else []
    rotated_names = [*player_names[browser_seat.seat :], *player_names[: browser_seat.seat]]
    turn: str = ""
    to_act: int | str = ""
    if playing and browser_seat.to_act is not None:
        turn, to_act = (
            player_names[browser_seat.to_act],
            (browser_seat.to_act - browser_seat.seat) % len(player_names),
        )
    judged = [] if over is None else _build_analysis_chapters(over, browser_seat, matches)
    groups = [] if question is None else browser_seat.screen.choice_groups(question.position)
    title = {RoomState.WAITING: "Waiting", RoomState.OVER: "The end"}.get(room.state, "")
    title = title or ("The others move" if question is None else "Your move")
    choices = choice_context(room.board, groups)
    return {
        **choices,
        "parts": browser_seat.render_table(choices["actions"]) if playing else {},
        "room": room,
        "game": room.config.game,
        "chair": browser_seat,
        "place": seat_index,
        "link": links[seat_index],
        "links": links,
        "stage": room.state.value,
        "seated": seated,
        "names": rotated_names,
        "sides": _format_sides(room, browser_seat) if playing else "",
        "turn": turn,
        "to_act": to_act,
        "hint": _render_hint(browser_seat) if question is not None else "",
        "result": "" if over is None else seat_result_text(over, browser_seat),
        "judged": judged,
        "review": _build_review(over, judged, browser_seat.screen.chapter) if over else None,
        "summary": summary_fragment,
        "title": f"{title} · {room.config.game.title}",
    }


def _render_hint(browser_seat: BrowserSeat) -> Markup:
    """Render the advice at a seat: one sentence, and the numbers on demand; "" without advice."""
    advice = browser_seat.advice
    if advice is None:
        return Markup("")
    numbers = options_fragment(advice.decision)
    context = {"advice": advice, "numbers": numbers, "meaning": browser_seat.screen.value_meaning}
    return Markup(load_template("hint.html").render(context))  # noqa: S704 - it escapes its values


def _format_sides(room: GameRoom, browser_seat: BrowserSeat) -> str:
    """Return the names of the opposing sides, the seat's own side first.

    Partners stand together.
    """
    player_names, seats = browser_seat.screen.names, len(browser_seat.screen.names)

    def around(seat: int) -> int:
        return (seat - browser_seat.seat) % seats

    sides = (sorted(side, key=around) for side in room.config.simulation.sides)
    ordered = sorted(sides, key=lambda side: around(side[0]))
    return " v ".join(" and ".join(map(player_names.__getitem__, side)) for side in ordered)


class ChoiceContext(TypedDict):
    """Template context of a list of choices.

    Choices have number keys if there are `few` of them. The `actions` are those that the table may
    put on its cards and piles; the page offers the others below it.
    """

    board: BoardRenderer
    groups: Sequence[ChoiceGroup[Any]]
    few: bool
    actions: TableActions


def choice_context(board: BoardRenderer, groups: Sequence[ChoiceGroup[Any]]) -> ChoiceContext:
    """Return the template context of a list of choices; groups of a single choice come first."""
    visible_groups = [group for group in groups if len(group.choices) > 1 or not group.disabled]
    visible_groups.sort(key=lambda group: len(group.choices) > 1)
    choices = [
        choice
        for group in visible_groups
        for choice in group.choices
        if choice.key not in group.disabled
    ]
    few = len(choices) <= _MAX_KEYED_CHOICES
    buttons = {
        choice.action: ActionButton(choice.key, choice.name, choice.side_note) for choice in choices
    }
    return {
        "board": board,
        "groups": visible_groups,
        "few": few,
        "actions": TableActions(buttons, has_digits=few),
    }


def _build_analysis_chapters(
    finished_match: FinishedRoomMatch, browser_seat: BrowserSeat, matches_path: str
) -> list[AnalysedMatchPart]:
    chapters = []
    for part, analysis in zip_longest(finished_match.parts, finished_match.analyses):
        host = side_of(min(part.header.seats, default=0))  # the log has the host's seats
        side = host if browser_seat.seat in finished_match.match.host_side_seats else 1 - host
        chapters.append(AnalysedMatchPart(f"{matches_path}/{part.record.match_id}", analysis, side))
    return chapters


def _build_review(
    finished_match: FinishedRoomMatch, parts: Sequence[AnalysedMatchPart], chapter: str
) -> MatchReview | None:
    """Return the review of a match once it is analysed; None without an analysis."""
    if not finished_match.is_analysed:
        return None
    return build_match_review(
        [
            ReviewedPart(
                part.analysis,
                part.link,
                part.side,
                f"{chapter} {number}" if parts[1:] else "",
                turn_word_of(chapter),
            )
            for number, part in enumerate(parts, 1)
            if part.analysis is not None
        ]
    )


@cache
def load_template(name: str) -> Template:
    """Return the template of that name, of seats or of all pages."""
    environment = template_environment(FileSystemLoader(_TEMPLATES_FOLDER))
    environment.filters["suited"] = colour_suits
    return environment.get_template(name)


def colour_suits(text: str) -> Markup:
    """Return a text whose symbols of suits have the colours of their suits.

    >>> print(colour_suits("led A♥"))
    led A<span class="suit hearts">♥</span>
    """
    symbol = Markup('<span class="suit {}">{}</span>')
    pieces = (
        symbol.format(_SUIT_NAMES[piece], piece) if piece in _SUIT_NAMES else piece
        for piece in re.split("([♣♦♥♠])", text)
    )
    return EMPTY_MARKUP.join(pieces)


_SUIT_NAMES = {"♣": "clubs", "♦": "diamonds", "♥": "hearts", "♠": "spades"}
