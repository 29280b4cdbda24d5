"""What a match of a contest came to: what its results and statistics are made of."""

from dataclasses import dataclass

from cardsharp.deadmansdraw.contest.pairing import Pairing, Score
from cardsharp.deadmansdraw.wire import EventType, EventView, MatchView, instant

_LATE = "Forceful turn ending due to player "
"""How the arena's comment on a turn that ran out of time begins; the player's id follows."""


@dataclass(frozen=True, slots=True)
class Facts:
    """A match that has ended; pairs are in the order of its pairing's teams.

    `winner` is 0 or 1, None for a draw. `busts` are turns that lost their cards, `late` those that
    the arena ended for running out of time.
    """

    points: tuple[int, int]
    winner: int | None
    seconds: float
    turns: int
    busts: tuple[int, int]
    late: tuple[int, int]


def score_of(view: MatchView, pairing: Pairing) -> Score:
    """How a match ended, in the order of the pairing's teams."""
    points = {
        player: sum(max(values) for values in bank.values())
        for player, bank in zip(view.player_ids, view.state.banks, strict=True)
    }
    index = view.state.winner_idx
    winner = None if index is None else pairing.teams.index(view.player_ids[index])
    return Score((points[pairing.teams[0]], points[pairing.teams[1]]), winner)


def facts_of(view: MatchView, pairing: Pairing) -> Facts:
    """What a match came to that has ended; `view` has all its moves."""
    score = score_of(view, pairing)
    events = [event for move in view.moves for event in move.events]
    busts = [
        view.player_ids[event.player_index]
        for event in events
        if event.turn_ended_is_successful is False and event.player_index is not None
    ]
    late = [player for player in map(late_player, events) if player is not None]
    first, second = pairing.teams
    return Facts(
        points=score.points,
        winner=score.winner,
        seconds=_seconds(view),
        turns=view.turn_count,
        busts=(busts.count(first), busts.count(second)),
        late=(late.count(first), late.count(second)),
    )


def _seconds(view: MatchView) -> float:
    """From the match's start to its last move; 0 where the arena's times cannot be read."""
    start, end = instant(view.started_at), instant(view.last_move_at)
    return 0.0 if start is None or end is None else (end - start).total_seconds()


def late_player(event: EventView) -> str | None:
    """The player whose turn the event says to have been ended, None where it says no such thing."""
    if event.event_type != EventType.COMMENT or not (event.comment or "").startswith(_LATE):
        return None
    return (event.comment or "").removeprefix(_LATE).partition(" ")[0]
