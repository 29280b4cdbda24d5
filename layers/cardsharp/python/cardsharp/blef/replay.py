"""A stored game of Blef: its moves, its decisions, and the states that it went through.

A step's `turn` is the number of the round. Our own decisions are as our intents have them. What the
others held is told when their round is over: then their decisions are known too, each with the hand
of who made it and no other.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from random import Random
from typing import Annotated

from cardsharp.blef import rules
from cardsharp.blef.actions import BETS, CHECK, name_of
from cardsharp.blef.cards import sort_hand
from cardsharp.blef.logbook import SPAN, Dealt, closes_round, named, rounds_of
from cardsharp.blef.position import Position, position_of
from cardsharp.blef.rules import Move, Round
from cardsharp.blef.simulation import Match, dealt_anew
from cardsharp.cloud.ports import Body, MatchRecord, MoveRecord
from cardsharp.replay import Asked, Restored, Step, Stored, Thought, header_of, parse

_SEEN = ("hand", "cards", "history")  # what an intent says of the position that it was decided on


def replay(record: MatchRecord, moves: Sequence[MoveRecord]) -> Iterator[Step]:
    """The steps of a game, the hands with the end of each round; raises `StoreError`."""
    said: list[list[object]] = []
    seats = seats_of(record, moves)
    for move in moves:
        facts, number = move.facts or {}, move.sequence // SPAN
        if move.sequence % SPAN == 0:
            said = []
        if move.facts is not None:
            said = [*said, [facts.get("player"), facts.get("action")]]
        thought, intent = None, move.intent
        if intent is not None:
            seen = {name: intent[name] for name in _SEEN if name in intent}
            thought = parse(Thought, {**intent, "position": seen})
            # What we meant to do need not be what happened.
            if facts and intent.get("actionId") != facts.get("actionId"):
                thought = None
        mover = None if closes_round(facts) else seats.get(str(facts.get("player")))
        yield Step(
            sequence=move.sequence,
            turn=number,
            seat=mover if thought is None else thought.seat,
            happened=_words(facts),
            state={"round": number, "history": said, "hands": facts.get("hands", {})},
            ours=thought,
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


def _words(facts: Body) -> str:
    if not facts:
        return "not told yet"
    if not closes_round(facts):
        return f"{facts.get('player')}: {facts.get('action')}"
    hands = facts.get("hands")
    shown = hands.items() if isinstance(hands, Mapping) else ()
    lists = [(name, cards) for name, cards in shown if isinstance(cards, list | tuple)]
    told = "; ".join(f"{name} {', '.join(map(str, cards))}" for name, cards in lists)
    return f"{facts.get('player')} loses. {told}"


_Said = Annotated[int, named({name_of(action): action for action in (*range(len(BETS)), CHECK)})]
"""An action, by its name in the log."""


class _Seen(Stored):
    """What an intent says of the position that it was decided on."""

    hand: tuple[Dealt, ...]
    cards: tuple[int, ...]
    history: tuple[tuple[int, _Said], ...]


def decisions(record: MatchRecord, moves: Sequence[MoveRecord]) -> Iterator[Asked]:
    """Our decisions and, of rounds that are over, everybody's, in order; raises `StoreError`."""
    rounds = opened(record, moves)
    for step, move in zip(replay(record, moves), moves, strict=True):
        position = _position(step, rounds)
        if position is not None and step.seat is not None:
            thought = step.ours or Thought(
                seat=step.seat, turn=step.turn, action=str((move.facts or {}).get("action"))
            )
            legal = {one: name_of(one) for one in position.legal_actions()}
            yield Asked(replace(step, ours=thought), position, legal)


def opened(record: MatchRecord, moves: Sequence[MoveRecord]) -> dict[int, Round]:
    """The rounds that are over, by number, where seats are known; raises `StoreError`."""
    facts = {move.sequence: move.facts for move in moves if move.facts is not None}
    return rounds_of(facts, seats_of(record, moves))


def _position(step: Step, rounds: Mapping[int, Round]) -> Position | None:
    """What whoever made a step knew, None where that is not told or nothing was decided."""
    thought, over = step.ours, rounds.get(step.turn)
    earlier = tuple(rounds[number] for number in sorted(rounds) if number < step.turn)
    if thought is not None and thought.position is not None and thought.seat is not None:
        seen, me = parse(_Seen, thought.position), thought.seat
        own, players = sort_hand(seen.hand), len(seen.cards)
        hands = tuple(own if seat == me else () for seat in range(players))
        history, most = tuple(Move(*one) for one in seen.history), rules.max_cards(players)
        return Position(me, step.turn, most, seen.cards, hands, me, history, earlier)
    if over is None or step.seat is None:
        return None
    live = replace(over, turn=step.seat, history=over.history[: step.sequence % SPAN])
    return position_of(live, step.seat, earlier)


def restore(record: MatchRecord, moves: Sequence[MoveRecord], dice: Random) -> Iterator[Restored]:
    """The game before each decision, unknown cards dealt; raises `StoreError`."""
    rounds = opened(record, moves)
    for asked in decisions(record, moves):
        position, thought = asked.position, asked.step.ours
        done = next(
            (a for a, name in asked.options.items() if thought and name == thought.action), None
        )
        live, over = position.round(), rounds.get(position.number)
        hidden = over or dealt_anew(live, position.me, dice)
        live = replace(live, hands=hidden.hands)
        yield Restored(asked.step.sequence, Match(live, position.earlier), done)
