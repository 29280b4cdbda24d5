"""Lab adapter of Dead Man's Draw: random streams, player variants, probes, native engines."""

from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path
from random import Random
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, TypeAdapter

from cardsharp.games.deadmansdraw.actions import EffectType, PendingEffect
from cardsharp.games.deadmansdraw.arena.match import events_json_with_player_index
from cardsharp.games.deadmansdraw.cards import bank_from_cards
from cardsharp.games.deadmansdraw.events import MatchEnded
from cardsharp.games.deadmansdraw.game import GAME
from cardsharp.games.deadmansdraw.history.intent_records import intent_body
from cardsharp.games.deadmansdraw.history.replay import Cards
from cardsharp.games.deadmansdraw.luck import luck_of
from cardsharp.games.deadmansdraw.position import DeadMansDrawPosition
from cardsharp.games.deadmansdraw.simulation import SimulatedDeadMansDrawMatch
from cardsharp.games.deadmansdraw.strategies import CpuTimeAware, Strategy
from cardsharp.games.deadmansdraw.strategies.captain import WEIGHT_FILE, OptionEvaluator
from cardsharp.games.deadmansdraw.strategies.champion import Champion
from cardsharp.games.deadmansdraw.strategies.search.compiled_search import build_turn_search
from cardsharp.games.deadmansdraw.strategies.search.search_budget import lab_limits
from cardsharp.games.deadmansdraw.strategies.search.weights import load_model
from cardsharp.store.match_log import Body, MatchRecord, MatchStatus, MoveRecord
from cardsharp_tools.executors.strategy_reference import BuiltIn, StrategyReference
from cardsharp_tools.lab.game_adapter import (
    LAB_WORKER,
    LabAdapter,
    LabMatch,
    MatchRngs,
    ProbeAnswer,
    SeriesPlayer,
)
from cardsharp_tools.lab.native_engines import find_native_function
from cardsharp_tools.lab.plan import DuelPlan
from cardsharp_tools.lab.rng import STREAM_COUNT, RngPurpose, SplitMix64Random, pair_rng


def _list_arena_moves(lab_match: LabMatch) -> Iterator[Body]:
    """Yield the moves in the arena's format, beginning with the start of the match."""
    match: SimulatedDeadMansDrawMatch = lab_match.final_state
    turn = in_turn = 0
    for move_index, move in enumerate(match.history):
        in_turn = in_turn + 1 if move.turn == turn else 1
        turn = move.turn
        player = match.opening.turn_player if move.player is None else move.player
        yield {
            "sequenceId": move_index,
            "sequenceInTurnId": in_turn,
            "turnId": turn,
            "at": lab_match.started_at.isoformat(),
            "events": events_json_with_player_index(move.events, player),
        }


ENDGAME_CARDS = 10  # cards in the draw pile from which the ending is replayed instead of judged

CHAMPION_VARIANTS = {"champion-2": 2, "champion-4": 4}
"""Variants of the champion, with the number of cards at which each stops.

A model of the champion does not know these variants.
"""


class DeadMansDrawLabAdapter(LabAdapter):
    """Lab adapter of Dead Man's Draw: random streams of the compiled engine, and probes."""

    default_opponent = "champion"

    def rngs_of_pair(self, seed: int, pair_number: int) -> MatchRngs:
        """Return four streams; those of the deal and of chance equal the native engine's."""
        deal, chance_rng, first_rng, second_rng = (
            pair_rng(seed, pair_number, purpose) for purpose in RngPurpose
        )
        return MatchRngs(deal, chance_rng, first_rng, second_rng)

    def find_lab_strategy(self, name: str, *, pure_python: bool) -> Strategy | None:
        """Return a variant of the champion by its name, or None."""
        del pure_python
        return (
            Champion(SplitMix64Random(0), stop_at_cards=CHAMPION_VARIANTS[name])
            if name in CHAMPION_VARIANTS
            else None
        )

    def with_match_time(self, strategy: Strategy) -> Strategy:
        """Return a strategy that may search as far as in a match of the arena."""
        return strategy.with_cpu_seconds(None) if isinstance(strategy, CpuTimeAware) else strategy

    def find_compiled_series_player(self, plan: DuelPlan) -> SeriesPlayer | None:
        """Return the compiled player of series, or None unless it has both strategies."""
        twins = find_native_function("series_player")
        return None if twins is None else twins(plan.first, plan.second)

    def decision_kind(self, position: DeadMansDrawPosition) -> str:
        """Return the effect to answer, or "draw or stop"."""
        pending = position.pending
        return "draw or stop" if pending is None else pending.effect_type.value

    def count_evaluated_leaves(
        self, player: StrategyReference, position: DeadMansDrawPosition
    ) -> int | None:
        """Return how many turn ends captain evaluates here; None for other strategies."""
        if player != BuiltIn(WEIGHT_FILE):
            return None
        search = build_turn_search(load_model(WEIGHT_FILE), lab_limits())
        weighing = OptionEvaluator(position, search)
        weighing.evaluate_options()
        return weighing.evaluated_turn_end_count

    def is_endgame(self, state: SimulatedDeadMansDrawMatch) -> bool:
        """Return True if at most `ENDGAME_CARDS` cards are left to draw."""
        return len(state.state.draw_pile) <= ENDGAME_CARDS

    def luck(
        self, previous_state: SimulatedDeadMansDrawMatch, next_state: SimulatedDeadMansDrawMatch
    ) -> tuple[float, float]:
        """Return the luck of the cards by captain's evaluation; 0 if it has none."""
        luck = luck_of(previous_state.current_position, next_state.history[-1].events) or 0.0
        return (luck, -luck) if previous_state.current_position.seat == 0 else (-luck, luck)

    def endgame_rngs(self, seed: int, pair_number: int, repetition: int) -> tuple[Random, Random]:
        """Return the random generators of a replayed ending: hidden cards, and later chance.

        They give the same numbers as the compiled engine. `repetition` counts the replays.
        """
        first_stream = STREAM_COUNT + 2 * repetition
        return pair_rng(seed, pair_number, first_stream), pair_rng(
            seed, pair_number, first_stream + 1
        )

    def match_records(self, record: LabMatch) -> Iterator[tuple[MatchRecord, list[MoveRecord]]]:
        """Yield the match as an arena would have sent it, with both players' reasons."""
        match: SimulatedDeadMansDrawMatch = record.final_state
        # If a player resigned, the end of the match is a move that no player made.
        intents: list[Body | None] = [None]
        for played in record.actions:
            position, decided = played.state.current_position, played.decision
            player_name = record.names[position.seat]
            intents.append(
                decided
                and intent_body(position, decided, record.started_at, LAB_WORKER, player_name)
            )
        moves = [
            MoveRecord(move_index, intent, facts)
            for move_index, (intent, facts) in enumerate(
                zip_longest(intents, _list_arena_moves(record))
            )
        ]
        at = record.started_at.isoformat()
        header = {**record.header(GAME.name), "startedAt": at, "timeoutSeconds": None}
        end_event = next(
            event for event in match.history[-1].events if isinstance(event, MatchEnded)
        )
        won = "won" if end_event.winner == record.seats[0] else "lost"
        outcome = {
            "scores": list(end_event.scores),
            "winner": end_event.winner,
            "result": "tied" if end_event.winner is None else won,
            "terminated": end_event.was_terminated,
            "turns": match.history[-1].turn,
            "moves": len(match.history),
            "timeouts": 0,
            "endedAt": at,
        }
        yield (
            MatchRecord(
                record.match_id, MatchStatus.FINISHED, record.started_at, header, outcome=outcome
            ),
            moves,
        )

    def probe_answers(self, strategy: Strategy) -> Iterator[ProbeAnswer]:
        """Yield a strategy's answers to positions with a single correct answer."""
        for probe in load_probe_positions():
            decision = strategy.decide(probe.position())
            yield ProbeAnswer(probe.name, str(decision.action), probe.right, decision.reason)


POSITIONS = Path(__file__).with_name("probe_positions.json")


class ProbePosition(BaseModel, frozen=True, extra="forbid"):
    """Hand-made position with its correct actions; cards are written as `Key5 Map3`."""

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
        tuple[str, ...],
        BeforeValidator(lambda value: (value,) if isinstance(value, str) else value),
    ]

    def position(self) -> DeadMansDrawPosition:
        """Return the position as player 0 sees it, with the Oracle's card as the next one."""
        pending = None if self.pending is None else PendingEffect(self.pending, self.offered)
        oracle = self.pending is EffectType.ORACLE
        return DeadMansDrawPosition(
            seat=0,
            banks=(bank_from_cards(self.own), bank_from_cards(self.other)),
            play_area=self.area,
            pending=pending,
            discard_pile=self.discard,
            unseen=self.unseen,
            known_top=next(iter(self.offered if oracle else self.known), None),
        )


def load_probe_positions() -> tuple[ProbePosition, ...]:
    """Return the hand-made positions."""
    return TypeAdapter(tuple[ProbePosition, ...]).validate_json(POSITIONS.read_text("utf-8"))
