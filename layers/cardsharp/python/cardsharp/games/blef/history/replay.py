"""Replay of a stored game of Blef: its moves, its decisions and its states.

A step's `turn` is the number of the round. Our decisions come from our intents. The hands of
other players are recorded when their round is over. From then on their decisions are included
too, each with the hand of the player who made it and no other.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from random import Random
from typing import Annotated

from cardsharp.analysis.replay import (
    DecisionPoint,
    ReplayStep,
    RestoredState,
    StoredDecision,
    StoredModel,
    header_of,
    parse_record,
)
from cardsharp.games.blef import rules
from cardsharp.games.blef.actions import BETS, CHECK, action_name
from cardsharp.games.blef.cards import sort_hand
from cardsharp.games.blef.history.log_records import (
    SEQUENCES_PER_ROUND,
    DealtCard,
    by_name_validator,
    closed_rounds_by_number,
    marks_round_loser,
)
from cardsharp.games.blef.position import BlefPosition, position_of
from cardsharp.games.blef.rules import Round, RoundMove
from cardsharp.games.blef.sentences import action_predicate
from cardsharp.games.blef.simulation import SimulatedBlefMatch, resample_hidden_hands
from cardsharp.store.match_log import Body, MatchRecord, MoveRecord

_POSITION_FIELDS = ("hand", "cards", "history")  # the parts of an intent that are its position


def replay(record: MatchRecord, moves: Sequence[MoveRecord]) -> Iterator[ReplayStep]:
    """Yield the steps of a game, with all hands at the end of each round; raise `StoreError`."""
    bets: list[list[object]] = []
    seats = seats_by_nickname(record, moves)
    for move in moves:
        facts, round_number = move.facts or {}, move.sequence // SEQUENCES_PER_ROUND
        if move.sequence % SEQUENCES_PER_ROUND == 0:
            bets = []
        if move.facts is not None:
            bets = [*bets, [facts.get("player"), facts.get("action")]]
        thought, intent = None, move.intent
        if intent is not None:
            position_body = {name: intent[name] for name in _POSITION_FIELDS if name in intent}
            thought = parse_record(StoredDecision, {**intent, "position": position_body})
            # The intended action need not be the one that was played, such as after a lost
            # connection.
            if facts and intent.get("actionId") != facts.get("actionId"):
                thought = None
        mover = None if marks_round_loser(facts) else seats.get(str(facts.get("player")))
        yield ReplayStep(
            sequence=move.sequence,
            turn=round_number,
            seat=mover if thought is None else thought.seat,
            description=_describe_facts(facts, bets[:-1]),
            public_state={"round": round_number, "history": bets, "hands": facts.get("hands", {})},
            decision=thought,
        )


def seats_by_nickname(record: MatchRecord, moves: Sequence[MoveRecord]) -> dict[str, int]:
    """Return the seat of each nickname, as far as the seats are recorded.

    The header of a seat that we took has only our name. Then the seats follow from the bets
    that our intents recorded.
    """
    names = header_of(record).names
    if len(names) > 1:
        return {name: seat for seat, name in enumerate(names)}
    players = {move.sequence: str(move.facts.get("player")) for move in moves if move.facts}
    seats: dict[str, int] = {}
    for move in moves:
        intent_seats = (
            []
            if move.intent is None
            else [*_read_bettor_seats(move.intent), move.intent.get("seat")]
        )
        start = move.sequence - move.sequence % SEQUENCES_PER_ROUND
        for sequence, seat in enumerate(intent_seats, start):
            if isinstance(seat, int) and sequence in players:
                seats[players[sequence]] = seat
    return seats


def _read_bettor_seats(intent: Body) -> list[object]:
    """Return the seats of the bets made so far in the round, as an intent lists them."""
    history = intent.get("history")
    bets = history if isinstance(history, list | tuple) else ()
    return [bet[0] for bet in bets if isinstance(bet, list | tuple) and bet]


def _describe_facts(facts: Body, earlier_bets: Sequence[Sequence[object]]) -> str:
    if not facts:
        return "not recorded yet"
    player, action = facts.get("player"), _ACTION_BY_NAME.get(str(facts.get("action")))
    if not marks_round_loser(facts):
        last_bet = _ACTION_BY_NAME.get(str(earlier_bets[-1][1])) if earlier_bets else None
        if action is None:
            return f"{player}: {facts.get('action')}"
        return f"{player} {action_predicate(action, last_bet)}"
    hands = facts.get("hands")
    items = hands.items() if isinstance(hands, Mapping) else ()
    lists = [(name, cards) for name, cards in items if isinstance(cards, list | tuple)]
    hands_text = "; ".join(f"{name} {', '.join(map(str, cards))}" for name, cards in lists)
    return f"{player} lost the round. The hands were: {hands_text}"


_ACTION_BY_NAME = {action_name(action): action for action in (*range(len(BETS)), CHECK)}
_LoggedAction = Annotated[int, by_name_validator(_ACTION_BY_NAME)]
"""Logged action, by its name in the log."""


class _IntentPosition(StoredModel):
    """Position of an intent, on which the decision was made."""

    hand: tuple[DealtCard, ...]
    cards: tuple[int, ...]
    history: tuple[tuple[int, _LoggedAction], ...]


def decision_points(record: MatchRecord, moves: Sequence[MoveRecord]) -> Iterator[DecisionPoint]:
    """Yield our decisions and, for closed rounds, all decisions in order; raise `StoreError`."""
    rounds = closed_rounds_of_match(record, moves)
    for step, move in zip(replay(record, moves), moves, strict=True):
        position = _restore_position(step, rounds)
        if position is not None and step.seat is not None:
            thought = step.decision or StoredDecision(
                seat=step.seat, turn=step.turn, action=str((move.facts or {}).get("action"))
            )
            legal = {action: action_name(action) for action in position.legal_actions()}
            yield DecisionPoint(replace(step, decision=thought), position, legal)


def closed_rounds_of_match(record: MatchRecord, moves: Sequence[MoveRecord]) -> dict[int, Round]:
    """Return the closed rounds of a match by number, if the seats are recorded."""
    facts = {move.sequence: move.facts for move in moves if move.facts is not None}
    return closed_rounds_by_number(facts, seats_by_nickname(record, moves))


def _restore_position(step: ReplayStep, rounds: Mapping[int, Round]) -> BlefPosition | None:
    """Return the position of the player who made a step; None if unrecorded or not a decision."""
    thought, over = step.decision, rounds.get(step.turn)
    earlier = tuple(
        rounds[round_number] for round_number in sorted(rounds) if round_number < step.turn
    )
    if thought is not None and thought.position is not None and thought.seat is not None:
        intent_position, me = parse_record(_IntentPosition, thought.position), thought.seat
        player_hand, players = sort_hand(intent_position.hand), len(intent_position.cards)
        hands = tuple(player_hand if seat == me else () for seat in range(players))
        history, card_limit = (
            tuple(RoundMove(*bet) for bet in intent_position.history),
            rules.max_cards(players),
        )
        return BlefPosition(
            me, step.turn, card_limit, intent_position.cards, hands, me, history, earlier
        )
    if over is None or step.seat is None:
        return None
    live = replace(
        over, turn=step.seat, history=over.history[: step.sequence % SEQUENCES_PER_ROUND]
    )
    return position_of(live, step.seat, earlier)


def restore_states(
    record: MatchRecord, moves: Sequence[MoveRecord], rng: Random
) -> Iterator[RestoredState]:
    """Yield the state of each decision, with unknown cards dealt at random; raise `StoreError`."""
    rounds = closed_rounds_of_match(record, moves)
    for point in decision_points(record, moves):
        position, thought = point.position, point.step.decision
        done = next(
            (a for a, name in point.option_names.items() if thought and name == thought.action),
            None,
        )
        live, over = position.to_round(), rounds.get(position.round_number)
        hidden = over or resample_hidden_hands(live, position.seat, rng)
        live = replace(live, hands=hidden.hands)
        yield RestoredState(
            point.step.sequence, SimulatedBlefMatch(live, position.earlier_rounds), done
        )
