"""Where the boxes of a contest's drawing stand: the halves of a bracket, or rounds side by side.

A column is a round, a row a box; the page turns them into lengths.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from cardsharp.contest.bracket import Ends, Game, Loser, Part, Seed, Source, Winner, ended, team_of
from cardsharp.contest.entries import Result
from cardsharp.contest.formats import Format
from cardsharp.contest.pairing import Team
from cardsharp.contest.tables import Numbers

LINE, GAP = 7 / 18, 2 / 9  # rows of a team in its box, and below a box; two teams and a gap are one
BETWEEN = 0.7  # rows between the winners' half and the losers': room for its rounds' names
CROWN = 1.5  # rows from the last box up to its champion


@dataclass(frozen=True, slots=True)
class BoxLine:
    """A line of a box: the team, or None and where it will come from."""

    team: Team | None
    source: str = ""
    tally: float | None = None
    won: bool = False


@dataclass(frozen=True, slots=True)
class Box:
    """A pairing as it is drawn; `state` is open, waiting, running, decided or needless.

    `column` and `row` are where it begins, from 0. `dashed` is one that may never be played.
    """

    key: str
    column: int
    row: float
    sides: tuple[BoxLine, ...]
    state: str
    dashed: bool = False

    @property
    def below(self) -> float:
        """The row of what stands below it."""
        return self.row + LINE * len(self.sides) + GAP


@dataclass(frozen=True, slots=True)
class Connector:
    """From the right of one box to a side of another, 0 or 1."""

    start: Box
    end: Box
    side: int


@dataclass(frozen=True, slots=True)
class Heading:
    """What stands over a column."""

    column: int
    row: float
    text: str


@dataclass(frozen=True, slots=True)
class Drawing:
    """All that is drawn; `last` is the box whose winner is the champion, None without a bracket."""

    boxes: tuple[Box, ...]
    lines: tuple[Connector, ...]
    headings: tuple[Heading, ...]
    last: Box | None = None

    @property
    def crown(self) -> float:
        """The row of the champion."""
        return self.last.row - CROWN if self.last else 0.0

    @property
    def columns(self) -> int:
        """How many columns there are."""
        return 1 + max((box.column for box in self.boxes), default=0)

    @property
    def rows(self) -> float:
        """How many rows there are."""
        return max((box.below for box in self.boxes), default=1)


def rounds(results: Iterable[Result], form: Format) -> Drawing:
    """The pairings of each round below each other."""
    boxes: list[Box] = []
    headings: list[Heading] = []
    for column, (number, found) in enumerate(groupby(results, key=lambda result: result.round)):
        headings.append(Heading(column, 0, f"Round {number}"))
        row = 0.0
        for result in found:
            sides = _sides(result, result.tally(form))
            boxes.append(_box(result.pairing, column, row, sides, result))
            row = boxes[-1].below
    return Drawing(tuple(boxes), (), tuple(headings))


def bracket(games: Sequence[Game], teams: Sequence[Team], results: Sequence[Result]) -> Drawing:
    """The bracket of double elimination: winners above, losers below, the finals at their right."""
    known = {result.pairing: result for result in results}
    places = _places(games)
    boxes: dict[int, Box] = {}
    ends: dict[int, tuple[Team, Team]] = {}
    for game in games:
        result = known.get(str(game.number))
        if result is not None and result.winner is not None:
            ends[game.number] = ended(result.teams, result.winner)
        sides = _known_sides(game, teams, ends, result)
        boxes[game.number] = _box(str(game.number), *places[game.number], sides, result)
    reset = games[-1]
    boxes[reset.number] = _reset(boxes[reset.number], boxes[reset.number - 1])
    lines = [
        Connector(boxes[source.game], boxes[game.number], side)
        for game in games
        for side, source in enumerate(game.sources)
        if isinstance(source, Winner)
    ]
    last = boxes[reset.number - (boxes[reset.number].state == "needless")]
    return Drawing(tuple(boxes.values()), tuple(lines), _headings(games, places), last)


def _places(games: Sequence[Game]) -> dict[int, tuple[int, float]]:
    """Column and row of every game: a game lies between those that its teams have won."""
    halves = {part: [game for game in games if game.part is part] for part in Part}
    found: dict[int, tuple[int, float]] = {}
    top = 0.0
    for part in (Part.WINNERS, Part.LOSERS):
        if halves[part]:
            rows = _rows(halves[part], top)
            if part is Part.WINNERS and (missing := CROWN - rows[halves[part][-1].number]) > 0:
                rows = {game: row + missing for game, row in rows.items()}
            first = min(game.round for game in halves[part])
            found |= {game.number: (game.round - first, rows[game.number]) for game in halves[part]}
            top = max(rows.values()) + 1 + BETWEEN
    column = 1 + max(column for column, _ in found.values())
    _, row = found[halves[Part.WINNERS][-1].number]
    for step, game in enumerate((*halves[Part.FINAL], *halves[Part.RESET])):
        found[game.number] = (column + step, row)
    return found


def _rows(games: Sequence[Game], top: float) -> dict[int, float]:
    """The rows of one half, the first at `top`."""
    of = {game.number: game for game in games}
    found: dict[int, float] = {}
    leaves = 0

    def place(game: Game) -> float:
        nonlocal leaves
        before = [
            place(of[source.game])
            for source in game.sources
            if isinstance(source, Winner) and source.game in of
        ]
        if not before:
            before = [top + leaves]
            leaves += 1
        found[game.number] = sum(before) / len(before)
        return found[game.number]

    place(games[-1])
    return found


def _known_sides(
    game: Game, teams: Sequence[Team], ends: Ends, result: Result | None
) -> tuple[BoxLine, ...]:
    """The sides of a game in the order of its sources, which is how the lines come in."""
    coming = [(team_of(one, teams, ends), one) for one in game.sources]
    if result is None:
        return tuple(BoxLine(team, _words(source, game)) for team, source in coming)
    by_team = {side.team: side for side in _sides(result, result.so_far.wins)}
    return tuple(by_team[team] for team, _ in coming)


def _words(source: Source, game: Game) -> str:
    match source:
        case Winner(number):
            return f"Winner of {number}"
        case Loser(number) if game.part is Part.RESET:
            return f"Loser of {number} if first loss"
        case Loser(number):
            return f"Loser of {number}"
        case Seed():
            return ""


def _sides(result: Result, tally: Numbers) -> tuple[BoxLine, ...]:
    return tuple(
        BoxLine(team, "", own, team == result.winner)
        for team, own in zip(result.teams, tally, strict=True)
    )


def _box(
    key: str, column: int, row: float, sides: tuple[BoxLine, ...], result: Result | None
) -> Box:
    state = "open"
    if result is not None:
        running = len(result.matches) > len(result.facts)
        state = "decided" if result.decided else "running" if running else "waiting"
    return Box(key, column, row, sides, state)


def _reset(box: Box, final: Box) -> Box:
    """The second final as it is drawn: dashed until it is known to be played."""
    if box.state != "open":
        return box
    state = "needless" if final.state == "decided" else "open"
    sides = tuple(replace(side, team=None) for side in box.sides)
    return replace(box, sides=sides, state=state, dashed=True)


def _headings(
    games: Sequence[Game], places: Mapping[int, tuple[int, float]]
) -> tuple[Heading, ...]:
    """What stands over each column of each half."""
    tops: dict[Part, float] = {}
    columns: dict[tuple[Part, int], str] = {}
    for game in games:
        column, row = places[game.number]
        tops[game.part] = min(row, tops.get(game.part, row))
        name = "Second final" if game.part is Part.RESET else game.part.capitalize()
        columns[game.part, column] = f"{name} · round {game.round}"
    return tuple(Heading(column, tops[part], text) for (part, column), text in columns.items())
