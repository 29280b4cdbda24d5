"""A match of the lab as the match log holds matches: an arena's moves with reasons beside them."""

from collections.abc import Iterator
from itertools import zip_longest

from cardsharp.cloud.ports import Body, MatchRecord, MoveRecord, Status
from cardsharp.deadmansdraw.arena.dto import event_json
from cardsharp.deadmansdraw.events import MatchEnded
from cardsharp.deadmansdraw.game import GAME
from cardsharp.deadmansdraw.logbook import intent_body
from cardsharp.deadmansdraw.simulation import Match
from workbench.lab.extras import LabMatch, Taken


def kept_match(told: LabMatch) -> tuple[MatchRecord, list[MoveRecord]]:
    """The match for the log."""
    match: Match = told.end
    # The end of a match that was given up is a move that nobody took.
    intents = (None, *(_intent(told, taken) for taken in told.taken))
    moves = [
        MoveRecord(number, intent, facts)
        for number, (intent, facts) in enumerate(zip_longest(intents, _facts(told)))
    ]
    at = told.at.isoformat()
    header = {**told.header(GAME.name), "startedAt": at, "timeoutSeconds": None}
    outcome = {**_outcome(match, told.seats[0]), "endedAt": at}
    return MatchRecord(told.match_id, Status.FINISHED, told.at, header, outcome=outcome), moves


def _intent(told: LabMatch, taken: Taken) -> Body | None:
    if taken.decided is None:
        return None
    position = taken.state.position
    return intent_body(position, taken.decided, told.at, "lab", told.names[position.me])


def _facts(told: LabMatch) -> Iterator[Body]:
    """The moves as the arena tells them; the first begins the match."""
    match: Match = told.end
    turn = in_turn = 0
    for number, move in enumerate(match.history):
        in_turn = in_turn + 1 if move.turn == turn else 1
        turn = move.turn
        player = match.opening.player if move.player is None else move.player
        yield {
            "sequenceId": number,
            "sequenceInTurnId": in_turn,
            "turnId": turn,
            "at": told.at.isoformat(),
            "events": [
                {
                    **event_json(event),
                    **({} if isinstance(event, MatchEnded) else {"playerIndex": player}),
                }
                for event in move.events
            ],
        }


def _outcome(match: Match, us: int) -> dict[str, object]:
    ended = next(event for event in match.history[-1].events if isinstance(event, MatchEnded))
    result = "tied" if ended.winner is None else "won" if ended.winner == us else "lost"
    return {
        "scores": list(ended.scores),
        "winner": ended.winner,
        "result": result,
        "terminated": ended.terminated,
        "turns": match.history[-1].turn,
        "moves": len(match.history),
        "timeouts": 0,
    }
