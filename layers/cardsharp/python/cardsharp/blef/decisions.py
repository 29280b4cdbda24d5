"""The decisions of a stored game of Blef, as positions that can be decided again.

Our own are as our intents have them. What the others held is told when their round is over: then
their decisions are known too, each with the hand of who made it and no other.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from cardsharp.blef import rules
from cardsharp.blef.actions import BETS, CHECK, LOST, name_of
from cardsharp.blef.cards import DECK, Hand, sort_hand
from cardsharp.blef.logbook import SPAN, closes_round
from cardsharp.blef.position import Position
from cardsharp.blef.replay import replay, seats_of
from cardsharp.blef.state import Move
from cardsharp.cloud.ports import Body, MatchRecord, MoveRecord
from cardsharp.replay import Asked, Step, Stored, Thought, parse

_CARDS = {str(card): card for card in DECK}
_ACTIONS = {name_of(action): action for action in (*range(len(BETS)), CHECK)}


class _Seen(Stored):
    """What an intent says of the position that it was decided on."""

    hand: tuple[str, ...]
    cards: tuple[int, ...]
    history: tuple[tuple[int, str], ...]


class _Closing(Stored):
    """What the last move of a round tells: who lost, and all hands by the players' names."""

    player: str
    hands: Mapping[str, tuple[str, ...]]


class Opened(NamedTuple):
    """A round that is over: who lost it, and what each seat held; nothing for who was out."""

    loser: int
    hands: tuple[Hand, ...]


def decisions(record: MatchRecord, moves: Sequence[MoveRecord]) -> Iterator[Asked]:
    """Our decisions and, of rounds that are over, everybody's, in order.

    Raises:
        StoreError: the log holds what cannot be read.
    """
    seats, rounds = seats_of(record, moves), opened(record, moves)
    said: list[Move] = []
    for step, move in zip(replay(record, moves), moves, strict=True):
        if move.sequence % SPAN == 0:
            said = []
        position = _position(step, said, rounds.get(step.turn))
        if position is not None and step.seat is not None:
            thought = step.ours or Thought(
                seat=step.seat, turn=step.turn, action=str((move.facts or {}).get("action"))
            )
            legal = {one: name_of(one) for one in position.legal_actions()}
            yield Asked(replace(step, ours=thought), position, legal)
        facts = move.facts or {}
        if facts.get("player") in seats and facts.get("actionId") != LOST:
            said = [*said, Move(seats[str(facts["player"])], int(str(facts["actionId"])))]


def opened(record: MatchRecord, moves: Sequence[MoveRecord]) -> dict[int, Opened]:
    """The rounds that are over, by number, where it is known who sits where.

    Raises:
        StoreError: the log holds what cannot be read.
    """
    seats, found = seats_of(record, moves), {}
    for move in moves:
        if not closes_round(move.facts):
            continue
        told = parse(_Closing, move.facts or {})
        if {told.player, *told.hands} <= seats.keys():
            held = {seats[name]: _hand(hand) for name, hand in told.hands.items()}
            hands = tuple(held.get(seat, ()) for seat in range(len(seats)))
            found[move.sequence // SPAN] = Opened(seats[told.player], hands)
    return found


def _hand(cards: Sequence[str]) -> Hand:
    return sort_hand(_CARDS[card] for card in cards)


def _position(step: Step, said: Sequence[Move], over: Opened | None) -> Position | None:
    """What whoever made a step knew, None where that is not told or nothing was decided."""
    thought = step.ours
    if thought is not None and thought.position is not None and thought.seat is not None:
        return _as_seen(thought.position, thought.seat, step.turn)
    if over is None or step.seat is None:
        return None
    hands = over.hands
    return Position(
        me=step.seat,
        number=step.turn,
        max_cards=rules.max_cards(len(hands)),
        n_cards=tuple(map(len, hands)),
        hands=tuple(hand if seat == step.seat else () for seat, hand in enumerate(hands)),
        turn=step.seat,
        history=tuple(said),
    )


def _as_seen(body: Body, me: int, number: int) -> Position:
    """The position that an intent has."""
    seen = parse(_Seen, body)
    return Position(
        me=me,
        number=number,
        max_cards=rules.max_cards(len(seen.cards)),
        n_cards=seen.cards,
        hands=tuple(_hand(seen.hand) if seat == me else () for seat in range(len(seen.cards))),
        turn=me,
        history=tuple(Move(seat, _ACTIONS[said]) for seat, said in seen.history),
    )
