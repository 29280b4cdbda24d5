"""Layout of a contest's drawing: the halves of a bracket, or rounds side by side.

A column is a round, a row a box; the page converts them to lengths.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from cardsharp.contest.formats.base import Format
from cardsharp.contest.formats.bracket import (
    BracketGame,
    BracketSection,
    GameResults,
    LoserOf,
    SeedSlot,
    SlotSource,
    WinnerOf,
    resolve_slot,
    winner_and_loser,
)
from cardsharp.contest.formats.pairing import TeamId
from cardsharp.contest.match_host import Points
from cardsharp.contest.models import PairingResult

LINE, GAP = 7 / 18, 2 / 9  # rows of a team in its box, and below a box; two teams and a gap are one
BOX_GAP = 0.7  # rows between the winners' half and the losers': room for its rounds' names
CHAMPION_OFFSET = 1.5  # rows from the last box up to its champion


@dataclass(frozen=True, slots=True)
class BoxTeamLine:
    """Line of a box for one team, or for the label of its source while the team is unknown."""

    team: TeamId | None
    source_label: str = ""
    tally: float | None = None
    is_winner: bool = False


@dataclass(frozen=True, slots=True)
class PairingBox:
    """A pairing in the drawing; `state` is open, waiting, running, decided or needless.

    `column` and `row` are its top left corner, from 0. `is_dashed` marks a game that may not be
    needed.
    """

    key: str
    column: int
    row: float
    sides: tuple[BoxTeamLine, ...]
    state: str
    is_dashed: bool = False

    @property
    def row_below(self) -> float:
        """The row below the box."""
        return self.row + LINE * len(self.sides) + GAP


@dataclass(frozen=True, slots=True)
class BoxConnector:
    """Line from the right of one box to a side of another, 0 or 1."""

    start: PairingBox
    end: PairingBox
    side: int


@dataclass(frozen=True, slots=True)
class ColumnHeading:
    """Heading over a column."""

    column: int
    row: float
    text: str


@dataclass(frozen=True, slots=True)
class BracketLayout:
    """The whole drawing; the winner of `final_box` is the champion, None without a bracket."""

    boxes: tuple[PairingBox, ...]
    connectors: tuple[BoxConnector, ...]
    headings: tuple[ColumnHeading, ...]
    final_box: PairingBox | None = None

    @property
    def champion_row(self) -> float:
        """The row of the champion."""
        return self.final_box.row - CHAMPION_OFFSET if self.final_box else 0.0

    @property
    def column_count(self) -> int:
        """Number of columns."""
        return 1 + max((box.column for box in self.boxes), default=0)

    @property
    def row_count(self) -> float:
        """Number of rows."""
        return max((box.row_below for box in self.boxes), default=1)


def layout_rounds(results: Iterable[PairingResult], contest_format: Format) -> BracketLayout:
    """Lay out the pairings of each round below each other."""
    boxes: list[PairingBox] = []
    headings: list[ColumnHeading] = []
    for column, (round_number, round_results) in enumerate(
        groupby(results, key=lambda result: result.round)
    ):
        headings.append(ColumnHeading(column, 0, f"Round {round_number}"))
        row = 0.0
        for result in round_results:
            sides = _build_sides(result, result.deciding_totals(contest_format))
            boxes.append(_build_box(result.pairing, column, row, sides, result))
            row = boxes[-1].row_below
    return BracketLayout(tuple(boxes), (), tuple(headings))


def layout_bracket(
    games: Sequence[BracketGame], teams: Sequence[TeamId], results: Sequence[PairingResult]
) -> BracketLayout:
    """Lay out double elimination: winners above, losers below, finals at the right."""
    results_by_game = {result.pairing: result for result in results}
    positions = _compute_positions(games)
    boxes: dict[int, PairingBox] = {}
    ends: dict[int, tuple[TeamId, TeamId]] = {}
    for game in games:
        result = results_by_game.get(str(game.number))
        if result is not None and result.winner is not None:
            ends[game.number] = winner_and_loser(result.teams, result.winner)
        sides = _build_game_sides(game, teams, ends, result)
        boxes[game.number] = _build_box(str(game.number), *positions[game.number], sides, result)
    reset = games[-1]
    boxes[reset.number] = _build_second_final_box(boxes[reset.number], boxes[reset.number - 1])
    lines = [
        BoxConnector(boxes[source.game], boxes[game.number], side)
        for game in games
        for side, source in enumerate(game.sources)
        if isinstance(source, WinnerOf)
    ]
    last_box = boxes[reset.number - (boxes[reset.number].state == "needless")]
    return BracketLayout(
        tuple(boxes.values()), tuple(lines), _build_headings(games, positions), last_box
    )


def _compute_positions(games: Sequence[BracketGame]) -> dict[int, tuple[int, float]]:
    """Return column and row of every game.

    A game lies halfway between the games that its two teams won.
    """
    halves = {
        section: [game for game in games if game.section is section] for section in BracketSection
    }
    positions: dict[int, tuple[int, float]] = {}
    top = 0.0
    for section in (BracketSection.WINNERS, BracketSection.LOSERS):
        if halves[section]:
            rows = _compute_rows(halves[section], top)
            if (
                section is BracketSection.WINNERS
                and (missing := CHAMPION_OFFSET - rows[halves[section][-1].number]) > 0
            ):
                rows = {game: row + missing for game, row in rows.items()}
            first_round = min(game.round for game in halves[section])
            positions |= {
                game.number: (game.round - first_round, rows[game.number])
                for game in halves[section]
            }
            top = max(rows.values()) + 1 + BOX_GAP
    column = 1 + max(column for column, _ in positions.values())
    _, row = positions[halves[BracketSection.WINNERS][-1].number]
    for column_offset, game in enumerate(
        (*halves[BracketSection.FINAL], *halves[BracketSection.RESET])
    ):
        positions[game.number] = (column + column_offset, row)
    return positions


def _compute_rows(games: Sequence[BracketGame], top: float) -> dict[int, float]:
    """Return the row of each game in one half of the bracket, the first at `top`."""
    of = {game.number: game for game in games}
    rows: dict[int, float] = {}
    leaves = 0

    def place(game: BracketGame) -> float:
        """Place a game in the middle of those that lead to it, and return its row."""
        nonlocal leaves
        source_rows = [
            place(of[source.game])
            for source in game.sources
            if isinstance(source, WinnerOf) and source.game in of
        ]
        if not source_rows:
            source_rows = [top + leaves]
            leaves += 1
        rows[game.number] = sum(source_rows) / len(source_rows)
        return rows[game.number]

    place(games[-1])
    return rows


def _build_game_sides(
    game: BracketGame, teams: Sequence[TeamId], ends: GameResults, result: PairingResult | None
) -> tuple[BoxTeamLine, ...]:
    """Return the sides of a game in the order of its sources, in which its lines arrive."""
    coming = [(resolve_slot(source, teams, ends), source) for source in game.sources]
    if result is None:
        return tuple(BoxTeamLine(team, _describe_source(source, game)) for team, source in coming)
    by_team = {side.team: side for side in _build_sides(result, result.current_outcome.wins)}
    return tuple(by_team[team] for team, _ in coming)


def _describe_source(source: SlotSource, game: BracketGame) -> str:
    match source:
        case WinnerOf(game_number):
            return f"Winner of {game_number}"
        case LoserOf(game_number) if game.section is BracketSection.RESET:
            return f"Loser of {game_number} if first loss"
        case LoserOf(game_number):
            return f"Loser of {game_number}"
        case SeedSlot():
            return ""


def _build_sides(result: PairingResult, tally: Points) -> tuple[BoxTeamLine, ...]:
    return tuple(
        BoxTeamLine(team, "", score, team == result.winner)
        for team, score in zip(result.teams, tally, strict=True)
    )


def _build_box(
    key: str, column: int, row: float, sides: tuple[BoxTeamLine, ...], result: PairingResult | None
) -> PairingBox:
    state = "open"
    if result is not None:
        running = len(result.matches) > len(result.facts)
        state = "decided" if result.decided else "running" if running else "waiting"
    return PairingBox(key, column, row, sides, state)


def _build_second_final_box(box: PairingBox, final: PairingBox) -> PairingBox:
    """Return the second final's box, dashed until it is certain to be played."""
    if box.state != "open":
        return box
    state = "needless" if final.state == "decided" else "open"
    sides = tuple(replace(side, team=None) for side in box.sides)
    return replace(box, sides=sides, state=state, is_dashed=True)


def _build_headings(
    games: Sequence[BracketGame], positions: Mapping[int, tuple[int, float]]
) -> tuple[ColumnHeading, ...]:
    """Return the heading of each column of each half."""
    tops: dict[BracketSection, float] = {}
    columns: dict[tuple[BracketSection, int], str] = {}
    for game in games:
        column, row = positions[game.number]
        tops[game.section] = min(row, tops.get(game.section, row))
        name = "Second final" if game.section is BracketSection.RESET else game.section.capitalize()
        columns[game.section, column] = f"{name} · round {game.round}"
    return tuple(
        ColumnHeading(column, tops[section], title) for (section, column), title in columns.items()
    )
