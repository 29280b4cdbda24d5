"""What the match log holds for Blef: intents, facts and outcome as JSON bodies.

The facts of a round are the service's own history, and once the round is over everybody's hand.
A move's sequence is `SPAN` times its round and its place in the round's history, so a worker
that knows one state knows it too.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from itertools import chain, pairwise
from typing import Annotated

from pydantic import PlainValidator

from cardsharp import deciding
from cardsharp.blef.actions import LOST, name_of
from cardsharp.blef.cards import DECK, Card, sort_hand
from cardsharp.blef.position import Position
from cardsharp.blef.rules import Move, Round, max_cards
from cardsharp.blef.wire import StateBody
from cardsharp.cloud.ports import Body
from cardsharp.deciding import Decided
from cardsharp.errors import StoreError
from cardsharp.replay import Stored, parse
from cardsharp.strategy import Decision

SPAN = 100  # more than the moves of any round: 88 bets, the check and who lost


def named(names: Mapping[str, object]) -> PlainValidator:
    """What the log has by its name; another name cannot be read."""

    def read(name: object) -> object:
        if str(name) not in names:
            raise ValueError(f"there is no '{name}'")
        return names[str(name)]

    return PlainValidator(read)


Dealt = Annotated[Card, named({str(card): card for card in DECK})]  # a card, by its name in the log


class _Fact(Stored):
    """A move as `facts_of` has it; with the last one of a round the hands by the players' names."""

    player: str
    action_id: int
    hands: Mapping[str, tuple[Dealt, ...]] = {}


def intent_body(
    position: Position, decided: Decided[Decision[int]], at: datetime, worker: str, strategy: str
) -> dict[str, object]:
    """What we are about to do and why, with the position that it was decided on."""
    return {
        **deciding.intent_body(decided, at, worker, strategy, name_of),
        "seat": position.me,
        "turn": position.number,
        "actionId": decided.decision.action,
        "hand": [str(card) for card in position.hand],
        "cards": list(position.n_cards),
        "history": [[seat, name_of(action)] for seat, action in position.history],
    }


def facts_of(state: StateBody) -> dict[int, Body]:
    """The moves of the round that a state shows; with the last one come the hands."""
    hands = {
        shown.nickname: [str(Card(card.value, card.colour)) for card in shown.hand]
        for shown in state.hands
    }
    said = [(move.player, move.action_id) for move in state.history]
    return said_in(state.round_number, said, hands)


def said_in(
    number: int, said: Sequence[tuple[str, int]], hands: Mapping[str, Sequence[str]]
) -> dict[int, Body]:
    """What was said in a round, by whom; with the last move come the hands, by name."""
    return {
        SPAN * number + place: {
            "round": number,
            "player": player,
            "actionId": action,
            "action": name_of(action),
            **({"hands": hands} if action == LOST else {}),
        }
        for place, (player, action) in enumerate(said)
    }


def rounds_of(facts: Mapping[int, Body], seats: Mapping[str, int]) -> dict[int, Round]:
    """The rounds that are over, by number, where all is told; raises `StoreError`."""
    rounds = {}
    for end in sorted(place for place, body in facts.items() if closes_round(body)):
        places = range(end - end % SPAN, end + 1)
        told = [parse(_Fact, facts[place]) for place in places if place in facts]
        _check(told)
        names = {*(fact.player for fact in told), *told[-1].hands}
        if len(told) == len(places) and names <= seats.keys():
            rounds[end // SPAN] = _round(end // SPAN, told, seats)
    return rounds


def _check(told: Sequence[_Fact]) -> None:
    """Refuse a round that cannot have been: each action is above the one before, no card twice."""
    dealt = [*chain.from_iterable(told[-1].hands.values())]
    raised = all(one.action_id < other.action_id for one, other in pairwise(told))
    if len({*dealt}) < len(dealt) or not raised or told[0].action_id < 0:
        raise StoreError("The log has a round of Blef that cannot have been played.")


def _round(number: int, told: Sequence[_Fact], seats: Mapping[str, int]) -> Round:
    held = {seats[name]: sort_hand(cards) for name, cards in told[-1].hands.items()}
    players = max(seats.values()) + 1
    hands = tuple(held.get(seat, ()) for seat in range(players))
    history = tuple(Move(seats[fact.player], fact.action_id) for fact in told)
    return Round(number, max_cards(players), tuple(map(len, hands)), hands, None, history)


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
        "names": [player.nickname for player in state.players],
    }
