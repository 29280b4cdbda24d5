"""Game room: its seats with people and bots, and one match after the other with its analysis."""

import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from enum import StrEnum
from threading import Condition, Event

from cardsharp.analysis.replay import DecisionPoint
from cardsharp.errors import CardsharpError, ConfigError
from cardsharp.pages.analysis_view import AnalysisView, build_analysis_view
from cardsharp.pages.board_renderer import BoardRenderer
from cardsharp.pages.rendered_match import RenderedMatch, render_match
from cardsharp_tools.executors.strategy_reference import BuiltIn
from cardsharp_tools.game_rooms.browser_seat import BrowserSeat
from cardsharp_tools.game_rooms.match_config import (
    AnySitting,
    MatchConfig,
    result_text,
    store_match_parts,
)
from cardsharp_tools.terminal.display import DisplayErrorGuard

_MAX_NAME_LENGTH = 24  # characters of a name


class RoomState(StrEnum):
    """State of a game room."""

    WAITING = "waiting"
    PLAYING = "playing"
    OVER = "over"


class _AnalysisInterrupted(Exception):
    """Interruption of an analysis, because a new match was requested."""


@dataclass(eq=False)
class FinishedRoomMatch:
    """A finished match: its id in our log, and its parts; their `analyses` follow one by one."""

    number: int
    match: AnySitting
    stored_id: str | None
    parts: list[RenderedMatch]
    analyses: list[AnalysisView | None] = field(default_factory=list)

    @property
    def is_analysed(self) -> bool:
        """True if all analyses of the match are complete."""
        return len(self.analyses) == len(self.parts)


@dataclass(eq=False)
class GameRoom:
    """Room of `config` with its seats; `on_match_end` is called after matches."""

    config: MatchConfig
    host: str
    show_hints: bool = False
    show_reasons: bool = False
    on_match_end: Callable[[FinishedRoomMatch, list[str]], None] = lambda *_: None
    match_pages_url: str = ""  # path of the matches' pages; "" for pages below each seat
    clock: Callable[[], float] = time.monotonic
    condition: Condition = field(default_factory=Condition)
    state: RoomState = RoomState.WAITING
    last: FinishedRoomMatch | None = None
    finished_parts: dict[str, RenderedMatch] = field(default_factory=dict)
    """The parts of all finished matches, by their ids."""
    fault: CardsharpError | None = None
    stopped: Event = field(default_factory=Event)
    teach: bool = False
    failing_bots: set[str] = field(default_factory=set)
    """Bots that failed at every decision of a match."""
    faults: Counter[str] = field(default_factory=Counter)
    """Number of failed decisions by user's bot."""
    match_number: int = 0  # number of the current or last match
    _requested_match_number: int = 1
    _guard: DisplayErrorGuard = field(default_factory=DisplayErrorGuard)

    def __post_init__(self) -> None:
        self.board = load_board_renderer(self.config)
        self.config.make_match()  # raises `ConfigError` early if the match cannot be played
        make = self.config.decision_class
        self.chairs = [
            BrowserSeat(
                self.condition,
                self.config.build_advisor(),
                make,
                self.clock,
                show_hints=self.show_hints,
            )
            for _ in range(self.config.human_count)
        ]
        for browser_seat in self.chairs:
            browser_seat.is_room_empty, browser_seat.can_undo = (
                self.is_empty,
                self.config.human_count == 1,
            )
        self.chairs[0].name, self.chairs[0].is_present = self.host, True

    def run(self) -> None:
        """Play matches until stopped; a strategy's failure is shown and raised."""
        try:
            while True:
                with self.condition:
                    self.condition.wait_for(lambda: self.stopped.is_set() or self._is_ready())
                if self.stopped.is_set():
                    return
                self._play_match(self.match_number + 1)
        except CardsharpError as error:
            self.fault = error
            self.stop()
            raise

    def stop(self) -> None:
        """Answer all waiting requests and play no more matches."""
        self.stopped.set()
        self._notify_seats()

    def is_empty(self) -> bool:
        """True if no person remains in the room."""
        people = [
            browser_seat for browser_seat in self.chairs if browser_seat.replacement_bot is None
        ]
        return self.stopped.is_set() or all(browser_seat.has_left for browser_seat in people)

    # --- what people do ------------------------------------------------------------------------

    def join(self, seat: BrowserSeat, name: str) -> None:
        """Take a seat, or take it again."""
        with self.condition:
            seat.name = seat.name if seat.is_present else self._clean_name(name)
            seat.is_present, seat.has_left, seat.replacement_bot = True, False, None
        self._notify_seats()

    def leave(self, seat: BrowserSeat) -> None:
        """Leave the seat; the match ends when all people have left."""
        with self.condition:
            seat.has_left = True
        self._notify_seats()

    def replace_absent_player(self, seat_index: int, by_seat_index: int) -> None:
        """Replace an absent person by a bot, or, if the host asks, one who has not come."""
        with self.condition:
            is_other_seat = seat_index != by_seat_index and 0 <= seat_index < len(self.chairs)
            browser_seat = self.chairs[seat_index if is_other_seat else by_seat_index]
            may = browser_seat.is_away if browser_seat.is_present else by_seat_index == 0
            if not is_other_seat or browser_seat.replacement_bot is not None or not may:
                return
            opponent = self.config.opponent or BuiltIn(self.config.game.default_strategy)
            browser_seat.replacement_bot = self.config.make_bot(
                opponent, self._requested_match_number, f"stand-in {seat_index}"
            )
            if not browser_seat.is_present:
                browser_seat.name = browser_seat.replacement_bot.name
        self._notify_seats()

    def request_rematch(self, seat: BrowserSeat, match_number: int) -> None:
        """Start another match after a given one, once for all requests."""
        with self.condition:
            seat.has_left = False
            if self.state is RoomState.OVER and match_number == self.match_number:
                self._requested_match_number += 1
        self._notify_seats()

    # --- the match's thread --------------------------------------------------------------------

    def _is_ready(self) -> bool:
        is_full = all(
            browser_seat.is_present or browser_seat.replacement_bot is not None
            for browser_seat in self.chairs
        )
        return is_full and self._requested_match_number > self.match_number

    def _play_match(self, match_number: int) -> None:
        sitting = self.config.make_match(
            match_number, [browser_seat.name for browser_seat in self.chairs]
        )
        seated = dict(zip(sitting.human_names, self.chairs, strict=True))
        with self.condition:
            self.match_number, self.state = match_number, RoomState.PLAYING
            for seat, browser_seat in seated.items():
                browser_seat.start_match(sitting.screen(seat), self.board)
        sitting.play(seated, show_reasons=self.show_reasons, explain_rules=self.teach)
        self.failing_bots |= sitting.always_failing_bots
        self.faults.update(sitting.fault_counts_by_bot)
        if self.stopped.is_set():
            return
        stored_matches = sitting.match_log_records()
        stored_id = store_match_parts(stored_matches)
        rendered: list[RenderedMatch] = []
        self._guard.run(
            lambda: rendered.extend(render_match(*stored_match) for stored_match in stored_matches),
            f"Match {match_number}",
        )
        self.finished_parts |= {part.record.match_id: part for part in rendered}
        self.last = finished_match = FinishedRoomMatch(match_number, sitting, stored_id, rendered)
        self.state = RoomState.OVER
        self._notify_seats()
        winner_names = [self.chairs[0].screen.names[seat] for seat in sitting.winning_seats]
        self._guard.run(
            lambda: self.on_match_end(finished_match, winner_names),
            f"The end of match {match_number}",
        )
        self._analyse_match(finished_match)

    def _analyse_match(self, finished_match: FinishedRoomMatch) -> None:
        """Analyse the parts until a new match is requested."""

        def until_next_match(decisions: list[DecisionPoint]) -> Iterator[DecisionPoint]:
            for decision in decisions:
                if self.stopped.is_set() or self._requested_match_number > finished_match.number:
                    raise _AnalysisInterrupted
                yield decision

        with suppress(_AnalysisInterrupted):
            for part in finished_match.parts:
                analysis = None
                try:
                    analysis = build_analysis_view(part, until_next_match)
                except CardsharpError as error:  # the next match can be played without it
                    name = part.record.match_id
                    self._guard.report_once(f"Match {name} cannot be analysed: {error}")
                finished_match.analyses.append(analysis)
                self._notify_seats()

    def _notify_seats(self) -> None:
        with self.condition:
            for browser_seat in self.chairs:
                browser_seat.notify_change()

    def _clean_name(self, requested_name: str) -> str:
        cleaned = " ".join("".join(filter(str.isprintable, requested_name)).split())
        return cleaned[:_MAX_NAME_LENGTH].strip() or "Guest"


def load_board_renderer(match_config: MatchConfig) -> BoardRenderer:
    """Return the game's board renderer for a seat; raise `ConfigError` if it has none."""
    lazy_import = match_config.game.board_renderer
    board = None if lazy_import is None else lazy_import.load()
    if board is None or board.render_position is None:
        title = match_config.game.title
        raise ConfigError(f"{title} cannot be drawn in a browser. Remove --browser.")
    return board


def seat_result_text(finished_match: FinishedRoomMatch, browser_seat: BrowserSeat) -> str:
    """Return the result of a match in words for the person at a seat."""
    sitting = finished_match.match
    if sitting.player_quit and not browser_seat.has_left:
        return "The other players have left the match."
    winner_names = [browser_seat.screen.names[seat] for seat in sitting.winning_seats]
    return result_text(winner_names, player_quit=sitting.player_quit)
