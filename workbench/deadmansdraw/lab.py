"""What Dead Man's Draw brings to the lab: its dice, variants of players, positions, twins."""

from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path
from random import Random
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, TypeAdapter

from cardsharp.cloud.ports import Body, MatchRecord, MoveRecord, Status
from cardsharp.deadmansdraw.actions import Effect, EffectType
from cardsharp.deadmansdraw.arena.match import attributed
from cardsharp.deadmansdraw.cards import bank_of
from cardsharp.deadmansdraw.events import MatchEnded
from cardsharp.deadmansdraw.game import GAME
from cardsharp.deadmansdraw.logbook import intent_body
from cardsharp.deadmansdraw.luck import luck_of
from cardsharp.deadmansdraw.position import Position
from cardsharp.deadmansdraw.replay import Cards
from cardsharp.deadmansdraw.simulation import Match
from cardsharp.deadmansdraw.strategies import Strategy
from cardsharp.deadmansdraw.strategies.captain import WEIGHTS, Weighing
from cardsharp.deadmansdraw.strategies.champion import Champion
from cardsharp.deadmansdraw.strategies.search.tree import Search
from cardsharp.deadmansdraw.strategies.search.weights import model
from workbench.lab.dice import AGAIN, DicePurpose, PairDice, dice
from workbench.lab.extras import Extras, LabMatch, MatchDice, PlaySeries, ProbeAnswer
from workbench.lab.plan import Plan
from workbench.twins import twin_function


def _facts(told: LabMatch) -> Iterator[Body]:
    """The moves as the arena tells them; the first begins the match."""
    match: Match = told.end
    turn = in_turn = 0
    for number, move in enumerate(match.history):
        in_turn = in_turn + 1 if move.turn == turn else 1
        turn = move.turn
        player = match.opening.player if move.player is None else move.player
        yield {
            "sequenceId": number,
            "sequenceInTurnId": in_turn,
            "turnId": turn,
            "at": told.at.isoformat(),
            "events": attributed(move.events, player),
        }


LAST = 10  # so many cards left are the last ones: their play is repeated, not judged

ENOUGH = {"champion-2": 2, "champion-4": 4}
"""How many cards are enough for champions that are strangers to those who know the champion."""


class DeadMansDrawExtras(Extras):
    """Streams of dice that compiled code shares, and what is known of right answers."""

    opponent = "champion"

    def dice(self, seed: int, number: int) -> MatchDice:
        """Four streams, of which the deal's and the chance's are the compiled engine's too."""
        deal, chance, first, second = (dice(seed, number, purpose) for purpose in DicePurpose)
        return MatchDice(deal, chance, first, second)

    def strategy(self, name: str, *, plain: bool) -> Strategy | None:
        """A variant of the champion."""
        del plain
        return Champion(PairDice(0), enough=ENOUGH[name]) if name in ENOUGH else None

    def series(self, plan: Plan) -> PlaySeries | None:
        """The compiled engine, where both players have a twin."""
        twins = twin_function("series")
        return None if twins is None else twins(plan.first, plan.second)

    def kind(self, position: Position) -> str:
        """The effect to answer, or whether to draw or to stop."""
        pending = position.pending
        return "draw or stop" if pending is None else pending.effect_type.value

    def nodes(self, name: str, position: Position) -> int | None:
        """The ends of turns that the captain values there; None for anybody else."""
        if name != WEIGHTS:
            return None
        weighing = Weighing(position, Search(model(WEIGHTS)))
        weighing.options()
        return weighing.nodes

    def is_late(self, state: Match) -> bool:
        """Whether `LAST` cards are left, or fewer."""
        return len(state.state.draw_pile) <= LAST

    def luck(self, before: Match, after: Match) -> tuple[float, float]:
        """What the cards brought, as the captain has it; 0 where he has no opinion."""
        luck = luck_of(before.position, after.history[-1].events) or 0.0
        return (luck, -luck) if before.position.me == 0 else (-luck, luck)

    def dice_again(self, seed: int, number: int, time: int) -> tuple[Random, Random]:
        """Two streams each, which are the compiled engine's too."""
        first = AGAIN + 2 * time
        return dice(seed, number, first), dice(seed, number, first + 1)

    def kept(self, told: LabMatch) -> Iterator[tuple[MatchRecord, list[MoveRecord]]]:
        """The match as an arena would have told it, with the reasons of both players."""
        match: Match = told.end
        # The end of a match that was given up is a move that nobody took.
        intents: list[Body | None] = [None]
        for one in told.taken:
            position, decided = one.state.position, one.decided
            who = told.names[position.me]
            intents.append(decided and intent_body(position, decided, told.at, "lab", who))
        moves = [
            MoveRecord(number, intent, facts)
            for number, (intent, facts) in enumerate(zip_longest(intents, _facts(told)))
        ]
        at = told.at.isoformat()
        header = {**told.header(GAME.name), "startedAt": at, "timeoutSeconds": None}
        ended = next(event for event in match.history[-1].events if isinstance(event, MatchEnded))
        won = "won" if ended.winner == told.seats[0] else "lost"
        outcome = {
            "scores": list(ended.scores),
            "winner": ended.winner,
            "result": "tied" if ended.winner is None else won,
            "terminated": ended.terminated,
            "turns": match.history[-1].turn,
            "moves": len(match.history),
            "timeouts": 0,
            "endedAt": at,
        }
        yield MatchRecord(told.match_id, Status.FINISHED, told.at, header, outcome=outcome), moves

    def answers(self, strategy: Strategy) -> Iterator[ProbeAnswer]:
        """What a strategy answers where one answer is right."""
        for probe in probes():
            decision = strategy.decide(probe.position())
            yield ProbeAnswer(probe.name, str(decision.action), probe.right, decision.reason)


POSITIONS = Path(__file__).with_name("probe_positions.json")


class Probe(BaseModel, frozen=True, extra="forbid"):
    """A position, and the actions that are right there; cards as `Key5 Map3`."""

    name: str
    own: Cards
    other: Cards
    area: Cards
    unseen: Cards
    discard: Cards = ()
    known: Cards = ()
    pending: EffectType | None = None
    offered: Cards = ()
    right: Annotated[
        tuple[str, ...], BeforeValidator(lambda one: (one,) if isinstance(one, str) else one)
    ]

    def position(self) -> Position:
        """The position as player 0 finds it; an Oracle's card is the next one."""
        pending = None if self.pending is None else Effect(self.pending, self.offered)
        oracle = self.pending is EffectType.ORACLE
        return Position(
            me=0,
            banks=(bank_of(self.own), bank_of(self.other)),
            play_area=self.area,
            pending=pending,
            discard_pile=self.discard,
            unseen=self.unseen,
            known_top=next(iter(self.offered if oracle else self.known), None),
        )


def probes() -> tuple[Probe, ...]:
    """The hand-made positions."""
    return TypeAdapter(tuple[Probe, ...]).validate_json(POSITIONS.read_text("utf-8"))
