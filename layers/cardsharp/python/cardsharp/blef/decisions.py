"""The decisions of a stored game of Blef, as positions that can be decided again.

Only our own: what the others held is told when their round is over, and their bets not why.
"""

from collections.abc import Iterator, Sequence

from cardsharp.blef import rules
from cardsharp.blef.actions import BETS, CHECK, name_of
from cardsharp.blef.cards import DECK, sort_hand
from cardsharp.blef.position import Position
from cardsharp.blef.replay import replay
from cardsharp.blef.state import Move
from cardsharp.cloud.ports import MatchRecord, MoveRecord
from cardsharp.replay import Asked, Stored, Thought, parse

_CARDS = {str(card): card for card in DECK}
_ACTIONS = {name_of(action): action for action in (*range(len(BETS)), CHECK)}


class _Seen(Stored):
    """What an intent says of the position that it was decided on."""

    hand: tuple[str, ...]
    cards: tuple[int, ...]
    history: tuple[tuple[int, str], ...]


def decisions(record: MatchRecord, moves: Sequence[MoveRecord]) -> Iterator[Asked]:
    """Our decisions, in order.

    Raises:
        StoreError: the log holds a decision that cannot be read.
    """
    for step in replay(record, moves):
        if step.ours is None or step.ours.position is None or step.ours.seat is None:
            continue
        position = _position(step.ours, step.ours.seat, step.turn)
        yield Asked(step, position, {one: name_of(one) for one in position.legal_actions()})


def _position(thought: Thought, me: int, number: int) -> Position:
    seen = parse(_Seen, thought.position or {})
    hand = sort_hand(_CARDS[card] for card in seen.hand)
    return Position(
        me=me,
        number=number,
        max_cards=rules.max_cards(len(seen.cards)),
        n_cards=seen.cards,
        hands=tuple(hand if seat == me else () for seat in range(len(seen.cards))),
        turn=me,
        history=tuple(Move(seat, _ACTIONS[said]) for seat, said in seen.history),
    )
