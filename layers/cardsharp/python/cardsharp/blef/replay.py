"""A stored game of Blef move by move; `turn` is the number of the round."""

from collections.abc import Iterator, Mapping, Sequence

from cardsharp.blef.logbook import SPAN, closes_round
from cardsharp.cloud.ports import Body, MatchRecord, MoveRecord
from cardsharp.replay import Step, Thought, header_of, parse

_SEEN = ("hand", "cards", "history")
"""What an intent says of the position that it was decided on."""


def replay(record: MatchRecord, moves: Sequence[MoveRecord]) -> Iterator[Step]:
    """The steps of a game, the hands with the end of each round.

    Raises:
        StoreError: the log holds a decision that cannot be read.
    """
    said: list[list[object]] = []
    seats = seats_of(record, moves)
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
            seat=thought.seat if came and thought is not None else _mover(facts, seats),
            happened=_words(facts),
            state={"round": number, "history": said, "hands": facts.get("hands", {})},
            ours=thought if came else None,
        )


def seats_of(record: MatchRecord, moves: Sequence[MoveRecord]) -> dict[str, int]:
    """Who sits where, by name, as far as it is told.

    The header of a seat that we took has our own name only: then it is told by the bets that we
    have seen, for our intents have their seats.
    """
    names = header_of(record).names
    if len(names) > 1:
        return {name: seat for seat, name in enumerate(names)}
    players = {move.sequence: str(move.facts.get("player")) for move in moves if move.facts}
    found: dict[str, int] = {}
    for move in moves:
        seen = [] if move.intent is None else [*_bets(move.intent), move.intent.get("seat")]
        start = move.sequence - move.sequence % SPAN
        for place, seat in enumerate(seen, start):
            if isinstance(seat, int) and place in players:
                found[players[place]] = seat
    return found


def _bets(intent: Body) -> list[object]:
    """The seats of the bets that had been made in the round of an intent."""
    history = intent.get("history")
    bets = history if isinstance(history, list | tuple) else ()
    return [bet[0] for bet in bets if isinstance(bet, list | tuple) and bet]


def _mover(facts: Body, seats: Mapping[str, int]) -> int | None:
    """Whose bet or check this is, None where that is not known and for the end of a round."""
    return None if closes_round(facts) else seats.get(str(facts.get("player")))


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
