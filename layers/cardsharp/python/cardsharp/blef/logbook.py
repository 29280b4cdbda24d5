"""What the match log holds for Blef: intents, facts and outcome as JSON bodies.

The facts of a round are the service's own history, and once the round is over everybody's hand.
A move's sequence is `SPAN` times its round and its place in the round's history, so a worker
that knows one state knows it too.
"""

from collections.abc import Mapping
from datetime import datetime

from cardsharp import logbook
from cardsharp.blef.actions import LOST, name_of
from cardsharp.blef.cards import Card
from cardsharp.blef.position import Position
from cardsharp.blef.wire import StateBody
from cardsharp.cloud.ports import Body
from cardsharp.deciding import Decided
from cardsharp.strategy import Decision

SPAN = 100
"""More than the moves of any round: 88 bets, the check and who lost."""


def sequence_of(state: StateBody) -> int:
    """The sequence of the move that is next in this state."""
    return SPAN * state.round_number + len(state.history)


def intent_body(
    position: Position, decided: Decided[Decision[int]], at: datetime, worker: str, strategy: str
) -> dict[str, object]:
    """What we are about to do and why, with the position that it was decided on."""
    return {
        **logbook.intent_body(decided, at, worker, strategy, name_of),
        "seat": position.me,
        "turn": position.number,
        "actionId": decided.decision.action,
        "hand": [str(card) for card in position.hand],
        "cards": list(position.n_cards),
        "history": [[seat, name_of(action)] for seat, action in position.history],
    }


def facts_of(state: StateBody) -> dict[int, Body]:
    """The moves of the round that a state shows; with the last one come the hands."""
    facts: dict[int, Body] = {}
    for place, move in enumerate(state.history):
        body: dict[str, object] = {
            "round": state.round_number,
            "player": move.player,
            "actionId": move.action_id,
            "action": name_of(move.action_id),
        }
        if move.action_id == LOST:
            body["hands"] = {
                shown.nickname: [str(Card(card.value, card.colour)) for card in shown.hand]
                for shown in state.hands
            }
        facts[SPAN * state.round_number + place] = body
    return facts


def closes_round(facts: Body | None) -> bool:
    """Whether a move is the one that says who lost its round."""
    return facts is not None and facts.get("actionId") == LOST


def outcome_body(state: StateBody, nickname: str) -> dict[str, object]:
    """How a finished game ended for us."""
    winner = next((player.nickname for player in state.players if player.n_cards), None)
    return {
        "result": "won" if winner == nickname else "lost",
        "winner": None,
        "winnerName": winner,
        "turns": state.round_number,
    }


def refused_body(reason: str) -> Mapping[str, object]:
    """The outcome of a seat that there is not, or not any more."""
    return {"result": "unknown", "winner": None, "reason": reason}
