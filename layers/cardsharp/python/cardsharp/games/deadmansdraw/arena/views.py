"""View of a match for a user (`api_types`: MatchJson and MatchHeaderJson).

A player who did not create the match sees neither its seed nor its draw pile, whatever the
request says; the creator and the admin do. docs/spec/arena.md section 6 lists what the original
reveals.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from cardsharp.games.deadmansdraw.arena.access.users import User, UserDirectory
from cardsharp.games.deadmansdraw.arena.dto import (
    Json,
    bank_values_by_suit,
    cards_json,
    effect_json,
)
from cardsharp.games.deadmansdraw.arena.match import ArenaMatch, ArenaMove
from cardsharp.games.deadmansdraw.arena.match_creation import creation_json
from cardsharp.games.deadmansdraw.state import State

BETWEEN_TURNS_MARK = "\u25b7"


@dataclass(frozen=True, slots=True)
class ViewOptions:
    """Options of a match view: the user that it is for, and what the request selects.

    `ends_match` is True for the response to the call that ended the match.
    """

    user: User
    show_debug: bool = False
    show_events: bool = False
    ends_match: bool = False

    def may_see_secrets(self, match: ArenaMatch) -> bool:
        """Return True if the user may see seed and draw pile."""
        return self.user.is_admin or match.pairing.creator == self.user.id

    def may_see_piles(self, match: ArenaMatch) -> bool:
        """Return True if the view includes the piles: requested, and allowed for this user."""
        return self.show_debug and self.may_see_secrets(match)


def iso_milliseconds(moment: datetime) -> str:
    """A UTC moment as JavaScript writes it, to the millisecond."""
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def common_match_json(match: ArenaMatch, options: ViewOptions) -> Json:
    """The match without names and moves: the part that lists and views have in common."""
    state = match.state
    return {
        "playerids": list(match.pairing.players),
        "createdByPlayerId": match.pairing.creator,
        "creationParams": creation_json(
            match.params, hide_secrets=not options.may_see_secrets(match)
        ),
        "_id": match.id,
        "startedAt": iso_milliseconds(match.started_at),
        "lastMoveAt": iso_milliseconds(match.last_move_at),
        "moveCount": match.moves,
        "turnCount": match.turn,
        "moveCountInTurn": match.move_count_in_current_turn,
        "state": _state_json(
            state, piles=options.may_see_piles(match), ends_match=options.ends_match
        ),
        "activePlayerIndex": state.active_player,
        "drawPileSize": len(state.draw_pile),
        "discardPileSize": len(state.discard_pile),
    }


def full_view(
    match: ArenaMatch, options: ViewOptions, history: Sequence[ArenaMove], users: UserDirectory
) -> Json:
    """Return one match with names, and with all its moves if they are requested.

    Otherwise a finished match has only its last move, and a running match none.
    """
    moves = history if options.show_events else history[-1:] if match.is_finished else ()
    return {
        **common_match_json(match, options),
        "playernames": _player_names(match, users),
        "moves": [_move_json(move, match, options) for move in moves],
    }


def list_view(match: ArenaMatch, options: ViewOptions) -> Json:
    """One match in a list: no names, never any moves."""
    return {**common_match_json(match, options), "moves": []}


def condensed_view(match: ArenaMatch, users: UserDirectory) -> Json:
    """Return the condensed view of a match, with its piles as numbers of cards."""
    state = match.state
    in_turn = match.move_count_in_current_turn
    winner = None if state.outcome is None else state.outcome.winner
    return {
        "id": match.id,
        "sequence": f"{match.turn}.{BETWEEN_TURNS_MARK if in_turn is None else in_turn}",
        "lastmoveat": iso_milliseconds(match.last_move_at),
        "finished": match.is_finished,
        "table": {
            **(
                {}
                if state.pending_effect is None
                else {"effect": state.pending_effect.effect_type.value}
            ),
            "playarea": len(state.play_area),
            "drawpile": len(state.draw_pile),
            "discardpile": len(state.discard_pile),
        },
        "playerdata": [
            {
                "active": state.active_player == index,
                "winner": winner == index,
                "banksize": len(bank),
                "bankvalue": bank.score,
            }
            for index, bank in enumerate(state.banks)
        ],
        "startedat": iso_milliseconds(match.started_at),
        **({} if match.params.tags is None else {"tags": list(match.params.tags)}),
        "playernames": _player_names(match, users),
    }


def match_end_events_json(history: Sequence[ArenaMove]) -> Json:
    """Return the events that ended a match, as the response to an action that came too late."""
    ends = ("TurnEnded", "MatchEnded")
    return {
        "events": [event for event in history[-1].response_events() if event["eventType"] in ends]
    }


def _player_names(match: ArenaMatch, book: UserDirectory) -> list[str]:
    return [book.name_of(player) for player in match.pairing.players]


def _state_json(state: State, *, piles: bool, ends_match: bool) -> Json:
    body: Json = {"banks": [bank_values_by_suit(bank) for bank in state.banks]}
    if piles:
        body["drawPile"] = cards_json(state.draw_pile)
        body["discardPile"] = cards_json(state.discard_pile)
    body["playArea"] = cards_json(state.play_area)
    body["currentPlayerIndex"] = None if state.outcome is not None else state.turn_player
    if state.pending_effect is not None:
        body["pendingEffect"] = effect_json(state.pending_effect)
    if state.outcome is not None:
        body["winnerIdx"] = state.outcome.winner
    if state.timeout_count:
        # The original's call that ends a match names the winner after the count, later ones before.
        winner = {"winnerIdx": body.pop("winnerIdx")} if ends_match and "winnerIdx" in body else {}
        body |= {"timeoutCount": state.timeout_count, **winner}
    return body


def _move_json(move: ArenaMove, match: ArenaMatch, options: ViewOptions) -> Json:
    body: Json = {
        "sequenceId": move.sequence,
        "sequenceInTurnId": move.sequence_in_turn,
        "turnId": move.turn,
        "at": iso_milliseconds(move.at),
    }
    if options.may_see_piles(match):
        if move.user_action is not None:
            body["userAction"] = move.user_action
        if move.client_ip is not None:
            body["clientIP"] = move.client_ip
    body["events"] = move.events()
    if not options.may_see_secrets(match):
        for event in body["events"]:
            event.pop("matchStartedSeed", None)
    return body
