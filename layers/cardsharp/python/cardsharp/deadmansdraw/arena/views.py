"""What a user sees of a match (openapi.json: MatchDTO and MatchHeaderFullDTO).

A player who did not create the match sees neither its seed nor its draw pile, whatever was asked
for; the creator and the admin do. docs/spec/arena.md section 6 lists what the original gives away.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from cardsharp.deadmansdraw.arena.creation import creation_json
from cardsharp.deadmansdraw.arena.dto import Json, bank_json, cards_json, effect_json
from cardsharp.deadmansdraw.arena.match import Match, Move
from cardsharp.deadmansdraw.arena.players import Book, User
from cardsharp.deadmansdraw.state import State

BETWEEN_TURNS = "\u25b7"


@dataclass(frozen=True, slots=True)
class Look:
    """Who looks, and what they asked to see; `just_ended` is for the call that ended a match."""

    user: User
    debug: bool = False
    events: bool = False
    just_ended: bool = False

    def knows_secrets(self, match: Match) -> bool:
        """Whether seed and draw pile may be shown."""
        return self.user.is_admin or match.pairing.creator == self.user.id

    def sees_debug(self, match: Match) -> bool:
        """Whether the piles are to be shown."""
        return self.debug and self.knows_secrets(match)


def iso(moment: datetime) -> str:
    """A UTC moment as JavaScript writes it, to the millisecond."""
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def match_json(match: Match, look: Look) -> Json:
    """The match without names and moves: the part that lists and views have in common."""
    state = match.state
    return {
        "playerids": list(match.pairing.players),
        "createdByPlayerId": match.pairing.creator,
        "creationParams": creation_json(match.params, hide_secrets=not look.knows_secrets(match)),
        "_id": match.id,
        "startedAt": iso(match.started_at),
        "lastMoveAt": iso(match.last_move_at),
        "moveCount": match.moves,
        "turnCount": match.turn,
        "moveCountInTurn": match.shown_moves_in_turn,
        "state": _state_json(state, piles=look.sees_debug(match), just_ended=look.just_ended),
        "activePlayerIndex": state.active,
        "drawPileSize": len(state.draw_pile),
        "discardPileSize": len(state.discard_pile),
    }


def full_view(match: Match, look: Look, history: Sequence[Move], book: Book) -> Json:
    """One match with names; with all moves if asked for, else the last one of a finished match."""
    moves = history if look.events else history[-1:] if match.finished else ()
    return {
        **match_json(match, look),
        "playernames": _names(match, book),
        "moves": [_move_json(move, match, look) for move in moves],
    }


def list_view(match: Match, look: Look) -> Json:
    """One match in a list: no names, never any moves."""
    return {**match_json(match, look), "moves": []}


def header_view(match: Match, book: Book) -> Json:
    """The condensed view."""
    state = match.state
    in_turn = match.shown_moves_in_turn
    winner = None if state.outcome is None else state.outcome.winner
    return {
        "id": match.id,
        "sequence": f"{match.turn}.{BETWEEN_TURNS if in_turn is None else in_turn}",
        "lastmoveat": iso(match.last_move_at),
        "finished": match.finished,
        "table": {
            **({} if state.pending is None else {"effect": state.pending.effect_type.value}),
            "playarea": len(state.play_area),
            "drawpile": len(state.draw_pile),
            "discardpile": len(state.discard_pile),
        },
        "playerdata": [
            {
                "active": state.active == index,
                "winner": winner == index,
                "banksize": len(bank),
                "bankvalue": bank.score,
            }
            for index, bank in enumerate(state.banks)
        ],
        "startedat": iso(match.started_at),
        **({} if match.params.tags is None else {"tags": list(match.params.tags)}),
        "playernames": _names(match, book),
    }


def closing_json(history: Sequence[Move]) -> Json:
    """How a match ended, as the answer to an action that came after the end."""
    ends = ("TurnEnded", "MatchEnded")
    return {"events": [event for event in history[-1].answer() if event["eventType"] in ends]}


def _names(match: Match, book: Book) -> list[str]:
    return [book.name_of(player) for player in match.pairing.players]


def _state_json(state: State, *, piles: bool, just_ended: bool) -> Json:
    body: Json = {"banks": [bank_json(bank) for bank in state.banks]}
    if piles:
        body["drawPile"] = cards_json(state.draw_pile)
        body["discardPile"] = cards_json(state.discard_pile)
    body["playArea"] = cards_json(state.play_area)
    body["currentPlayerIndex"] = None if state.outcome is not None else state.player
    if state.pending is not None:
        body["pendingEffect"] = effect_json(state.pending)
    if state.outcome is not None:
        body["winnerIdx"] = state.outcome.winner
    if state.timeouts:
        # The original's call that ends a match names the winner after the count, later ones before.
        winner = {"winnerIdx": body.pop("winnerIdx")} if just_ended and "winnerIdx" in body else {}
        body |= {"timeoutCount": state.timeouts, **winner}
    return body


def _move_json(move: Move, match: Match, look: Look) -> Json:
    body: Json = {
        "sequenceId": move.sequence,
        "sequenceInTurnId": move.sequence_in_turn,
        "turnId": move.turn,
        "at": iso(move.at),
    }
    if look.sees_debug(match):
        if move.user_action is not None:
            body["userAction"] = move.user_action
        if move.client_ip is not None:
            body["clientIP"] = move.client_ip
    body["events"] = move.events()
    if not look.knows_secrets(match):
        for event in body["events"]:
            event.pop("matchStartedSeed", None)
    return body
