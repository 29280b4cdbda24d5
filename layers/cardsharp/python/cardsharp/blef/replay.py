"""A stored game of Blef move by move; `turn` is the number of the round."""

from collections.abc import Iterator, Mapping, Sequence

from cardsharp.blef.logbook import SPAN, closes_round
from cardsharp.cloud.ports import Body, MatchRecord, MoveRecord
from cardsharp.replay import Step, Thought, parse

_SEEN = ("hand", "cards", "history")
"""What an intent says of the position that it was decided on."""


def replay(_record: MatchRecord, moves: Sequence[MoveRecord]) -> Iterator[Step]:
    """The steps of a game, the hands with the end of each round.

    Raises:
        StoreError: the log holds a decision that cannot be read.
    """
    said: list[list[object]] = []
    for move in moves:
        facts, number = move.facts or {}, move.sequence // SPAN
        if move.sequence % SPAN == 0:
            said = []
        if move.facts is not None:
            said = [*said, [facts.get("player"), facts.get("action")]]
        thought = None if move.intent is None else _thought(move.intent)
        came = thought is not None and (not facts or _same(move.intent, facts))
        yield Step(
            sequence=move.sequence,
            turn=number,
            seat=thought.seat if came and thought is not None else None,
            happened=_words(facts),
            state={"round": number, "history": said, "hands": facts.get("hands", {})},
            ours=thought if came else None,
        )


def _thought(intent: Body) -> Thought:
    seen = {name: intent[name] for name in _SEEN if name in intent}
    return parse(Thought, {**intent, "position": seen})


def _same(intent: Body | None, facts: Body) -> bool:
    """Whether what we meant to do is what happened."""
    return intent is not None and intent.get("actionId") == facts.get("actionId")


def _words(facts: Body) -> str:
    if not facts:
        return "not told yet"
    if not closes_round(facts):
        return f"{facts.get('player')}: {facts.get('action')}"
    hands = facts.get("hands")
    shown = hands.items() if isinstance(hands, Mapping) else ()
    told = "; ".join(f"{name} {', '.join(cards)}" for name, cards in shown)
    return f"{facts.get('player')} loses. {told}"
