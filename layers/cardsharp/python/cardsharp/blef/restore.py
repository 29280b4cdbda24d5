"""A stored game of Blef as the states that it went through, for branches of it."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from random import Random

from cardsharp.blef.cards import DECK, Hand, sort_hand
from cardsharp.blef.decisions import decisions, opened
from cardsharp.blef.position import Position
from cardsharp.blef.simulation import Match
from cardsharp.blef.state import Round
from cardsharp.cloud.ports import MatchRecord, MoveRecord
from cardsharp.replay import Restored


def restore(record: MatchRecord, moves: Sequence[MoveRecord], dice: Random) -> Iterator[Restored]:
    """The game before each decision that is told; in a live round the others' cards are dealt.

    Raises:
        StoreError: the log holds what cannot be read.
    """
    rounds = opened(record, moves)
    for asked in decisions(record, moves):
        position, thought = asked.position, asked.step.ours
        done = next(
            (a for a, name in asked.options.items() if thought and name == thought.action), None
        )
        live = replace(position.round(), hands=_hands(position, rounds.get(position.number), dice))
        yield Restored(asked.step.sequence, Match(live, position.earlier), done)


def _hands(position: Position, over: Round | None, dice: Random) -> tuple[Hand, ...]:
    """Everybody's cards as they were or, where that is not told, as the dice have it."""
    if over is not None:
        return over.hands
    unseen = [card for card in DECK if card not in position.hand]
    others = iter(dice.sample(unseen, len(unseen)))
    return tuple(
        hand or sort_hand([next(others) for _ in range(number)])
        for hand, number in zip(position.hands, position.n_cards, strict=True)
    )
