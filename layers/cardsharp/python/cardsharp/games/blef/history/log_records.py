"""JSON bodies of Blef in the match log: intents, facts and outcome.

The facts of a round are the service's history and, once the round is over, all hands. A move's
sequence is `SEQUENCES_PER_ROUND` times its round plus its place in the round's history, so a
worker can number the moves from a single state.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from itertools import chain, pairwise
from typing import Annotated

from pydantic import PlainValidator

from cardsharp.analysis.replay import StoredModel, parse_record
from cardsharp.errors import StoreError
from cardsharp.games.blef.actions import LOST_MARKER, action_name
from cardsharp.games.blef.cards import DECK, BlefCard, sort_hand
from cardsharp.games.blef.position import BlefPosition
from cardsharp.games.blef.rules import Round, RoundMove, max_cards
from cardsharp.games.blef.service.wire import StateBody
from cardsharp.play import decision_runner
from cardsharp.play.decision_runner import DecisionResult
from cardsharp.play.strategy import Decision
from cardsharp.store.match_log import Body, MatchRecord, MoveRecord, MoveSummary, Summaries

SEQUENCES_PER_ROUND = 100  # more than any round has moves: 88 bets, the check and the loser


def by_name_validator(names: Mapping[str, object]) -> PlainValidator:
    """Return a validator that maps a logged name to its value and rejects unknown names."""

    def read(name: object) -> object:
        if str(name) not in names:
            raise ValueError(f"there is no '{name}'")
        return names[str(name)]

    return PlainValidator(read)


DealtCard = Annotated[
    BlefCard, by_name_validator({str(card): card for card in DECK})
]  # a card, by its name in the log


class _LoggedMove(StoredModel):
    """Move as in `move_facts_by_sequence`; the last move of a round has the hands by nickname."""

    player: str
    action_id: int
    round: int | None = None
    hands: Mapping[str, tuple[DealtCard, ...]] = {}


def intent_body(
    position: BlefPosition,
    result: DecisionResult[Decision[int]],
    decided_at: datetime,
    worker: str,
    strategy: str,
) -> dict[str, object]:
    """Return the intent: the action, its reason, and the position that it was decided on."""
    return {
        **decision_runner.intent_body(result, decided_at, worker, strategy, action_name),
        "seat": position.seat,
        "turn": position.round_number,
        "actionId": result.decision.action,
        "hand": [str(card) for card in position.hand],
        "cards": list(position.card_counts),
        "history": [[seat, action_name(action)] for seat, action in position.history],
    }


def move_facts_from_state(state: StateBody) -> dict[int, Body]:
    """Return the facts of the moves of a state's round; the last move includes the hands."""
    hands = {
        body.nickname: [str(BlefCard(card.value, card.colour)) for card in body.hand]
        for body in state.hands
    }
    bets = [(move.player, move.action_id) for move in state.history]
    return move_facts_by_sequence(state.round_number, bets, hands)


def move_facts_by_sequence(
    round_number: int, player_actions: Sequence[tuple[str, int]], hands: Mapping[str, Sequence[str]]
) -> dict[int, Body]:
    """Return the facts of the moves of a round by sequence; the last one includes the hands."""
    return {
        SEQUENCES_PER_ROUND * round_number + move_index: {
            "round": round_number,
            "player": player,
            "actionId": action,
            "action": action_name(action),
            **({"hands": hands} if action == LOST_MARKER else {}),
        }
        for move_index, (player, action) in enumerate(player_actions)
    }


def summarize_facts(facts: Mapping[int, Body]) -> Summaries:
    """Return the moves of these facts as people see them in the log."""
    moves = {sequence: parse_record(_LoggedMove, body) for sequence, body in facts.items()}
    return {
        sequence: MoveSummary(move.round, move.player, action_name(move.action_id))
        for sequence, move in moves.items()
    }


def summarize_moves(_record: MatchRecord, moves: Sequence[MoveRecord]) -> Summaries:
    """Return the summaries of a stored match; raise `StoreError` if it cannot be read."""
    return summarize_facts({m.sequence: m.facts for m in moves if m.facts is not None})


def closed_rounds_by_number(
    facts: Mapping[int, Body], seats: Mapping[str, int]
) -> dict[int, Round]:
    """Return the completely logged rounds that are over, by number; raise `StoreError`."""
    rounds = {}
    for end in sorted(sequence for sequence, body in facts.items() if marks_round_loser(body)):
        sequences = range(end - end % SEQUENCES_PER_ROUND, end + 1)
        moves = [
            parse_record(_LoggedMove, facts[sequence])
            for sequence in sequences
            if sequence in facts
        ]
        _check_round(moves)
        names = {*(fact.player for fact in moves), *moves[-1].hands}
        if len(moves) == len(sequences) and names <= seats.keys():
            rounds[end // SEQUENCES_PER_ROUND] = _build_round(
                end // SEQUENCES_PER_ROUND, moves, seats
            )
    return rounds


def _check_round(moves: Sequence[_LoggedMove]) -> None:
    """Raise `StoreError` for an impossible round: a bet too low, or a card dealt twice."""
    dealt_cards = [*chain.from_iterable(moves[-1].hands.values())]
    raised = all(
        previous_move.action_id < next_move.action_id
        for previous_move, next_move in pairwise(moves)
    )
    if len({*dealt_cards}) < len(dealt_cards) or not raised or moves[0].action_id < 0:
        raise StoreError("The log has a round of Blef that cannot have been played.")


def _build_round(
    round_number: int, moves: Sequence[_LoggedMove], seats: Mapping[str, int]
) -> Round:
    hands_by_seat = {seats[name]: sort_hand(cards) for name, cards in moves[-1].hands.items()}
    players = max(seats.values()) + 1
    hands = tuple(hands_by_seat.get(seat, ()) for seat in range(players))
    history = tuple(RoundMove(seats[fact.player], fact.action_id) for fact in moves)
    return Round(round_number, max_cards(players), tuple(map(len, hands)), hands, None, history)


def marks_round_loser(facts: Body | None) -> bool:
    """Return True if a move marks the loser of its round."""
    return facts is not None and facts.get("actionId") == LOST_MARKER


def outcome_body(state: StateBody, nickname: str) -> dict[str, object]:
    """Return the outcome of a finished game for us."""
    winner = next((player.nickname for player in state.players if player.n_cards), None)
    return {
        "result": "won" if winner == nickname else "lost",
        "winner": None,
        "winnerName": winner,
        "turns": state.round_number,
        "names": [player.nickname for player in state.players],
    }
