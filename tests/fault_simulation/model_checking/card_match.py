"""Smallest match in which a repeated or late action does harm, and our bot's ports to it.

A turn consists of one draw and the end of the turn; drawing the last card ends the match.
A player may draw as often as he likes, and may end his turn at any time. The arena
accepts every action of the player to act, and no action says for which move it was meant.
Moves are letters: D and E for ours, d and e for the rival's.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from cardsharp.bot.bot import Bot
from cardsharp.bot.bot_match import MoveFacts, NextRead, Observation
from cardsharp.bot.control.poller_shift import PollerTiming
from cardsharp.bot.match_dispatcher import MISSING_GAME, MatchDispatcher
from cardsharp.errors import NotFound, RequestRejected
from cardsharp.games.deadmansdraw.arena_bot.match_poller import MatchPoller
from cardsharp.games.deadmansdraw.arena_bot.wire_views import CreationParamsView
from cardsharp.play.decision_runner import DecisionResult
from cardsharp.play.strategy import Decision
from cardsharp.store.match_log import Body
from fault_simulation.model_checking.fingerprints import SHORT_TIMING
from fault_simulation.model_checking.process_model import ProcessPorts, Program

MATCH = "match"
WORKER = "me"  # by what name a worker knows itself; no two workers are the same
NO_SUCH_MATCH = "Match does not exist."
POLL_INTERVAL = timedelta(seconds=1)  # between two looks of an onlooker


@dataclass(frozen=True)
class CardMatchRules:
    """Rules of the modelled match; `cards` is the number of cards that it has."""

    cards: int

    def is_over(self, moves: str) -> bool:
        return moves.upper().count("D") >= self.cards

    def is_our_turn(self, moves: str) -> bool:
        return not self.is_over(moves) and (not moves or moves[-1] in "De")

    def is_rival_turn(self, moves: str) -> bool:
        return not self.is_over(moves) and not self.is_our_turn(moves)

    def moves_with_rival_turn(self, moves: str) -> str:
        """Return the moves including the rival's whole turn."""
        next_moves = moves + "d"
        return next_moves if self.is_over(next_moves) else next_moves + "e"


def next_action(moves: str) -> str:
    return "E" if moves.endswith("D") else "D"


def match_history(moves: str) -> dict[int, Body]:
    """Return the history of a match as the log must have it."""
    return {number: {"move": move} for number, move in enumerate(moves)}


@dataclass(frozen=True)
class CardTurnPort:
    """Port of our turn, up to its next action."""

    rules: CardMatchRules
    arena: Any
    moves: str

    def decide(
        self, timeout: timedelta, monotonic: Callable[[], float], rejected_actions: frozenset[str]
    ) -> DecisionResult[Decision[str]]:
        del timeout, monotonic
        action = next_action(self.moves)
        if action in rejected_actions:
            action = "DE"[action == "D"]
        return DecisionResult(Decision(action, ""))

    def intent_body(
        self, decision_result: DecisionResult[Decision[str]], decided_at: datetime, worker_id: str
    ) -> Body:
        del decided_at, worker_id
        return {"action": decision_result.decision.action, "position": self.moves}

    def send(self, action: str) -> "CardTurnPort | NextRead":
        """Send an action and its position, which only the checker reads, not the arena."""
        self.arena.act(action, self.moves)
        moves = self.moves + action
        if self.rules.is_over(moves):
            return NextRead.READ_IMMEDIATELY
        return (
            NextRead.WAIT_FOR_CHANGE
            if action == "E"
            else CardTurnPort(self.rules, self.arena, moves)
        )


@dataclass(frozen=True)
class CardMatchPort:
    """Port of the match, as the bot plays it."""

    rules: CardMatchRules
    arena: Any
    header = None

    def observe(self, facts: MoveFacts) -> Observation[str]:
        return self._observation(self.arena.look(), facts)

    def wait_for_change(self, facts: MoveFacts) -> Observation[str] | None:
        moves = self.arena.wait()
        return None if moves is None else self._observation(moves, facts)

    def outcome_if_missing(self, error: RequestRejected) -> Body | None:
        missing = isinstance(error, NotFound) and error.message == NO_SUCH_MATCH
        return {"result": MISSING_GAME} if missing else None

    def _observation(self, moves: str, logged_facts: MoveFacts) -> Observation[str]:
        return Observation(
            next_sequence=len(moves),
            facts={
                n: fact for n, fact in match_history(moves).items() if logged_facts.get(n) != fact
            },
            outcome={"result": "won"} if self.rules.is_over(moves) else None,
            turn=CardTurnPort(self.rules, self.arena, moves)
            if self.rules.is_our_turn(moves)
            else None,
            header={"game": "cards"},
        )


def worker_program(rules: CardMatchRules, skew: timedelta) -> Program:
    def run_worker(ports: ProcessPorts) -> object:
        @contextmanager
        def open_match(_match_id: str) -> Iterator[CardMatchPort]:
            yield CardMatchPort(rules, ports.arena)

        dispatcher = MatchDispatcher(ports.log, ports.queue, ports.clock.skewed(skew))
        return Bot("cards", open_match, dispatcher, WORKER, SHORT_TIMING).run_session(
            MATCH, lambda: timedelta(hours=1)
        )

    return run_worker


def run_lease_observer(ports: ProcessPorts) -> object:
    """Run the real dispatching of unattended matches, as the loop of each poller does."""
    dispatcher = MatchDispatcher(ports.log, ports.queue, ports.clock)
    return dispatcher.dispatch_until(POLL_INTERVAL, lambda: timedelta(hours=1))


@dataclass(frozen=True)
class AnnouncedMatch:
    """Match in the arena's list of matches that wait for us; its turns have no time limit."""

    id: str
    finished = False
    creation_params = CreationParamsView()


def run_match_poller(ports: ProcessPorts) -> object:
    timing = PollerTiming(
        list_interval=POLL_INTERVAL,
        min_request_interval=POLL_INTERVAL,
        lease_check_interval=POLL_INTERVAL,
        shift_duration=timedelta(0),
    )
    dispatcher = MatchDispatcher(ports.log, ports.queue, ports.clock)
    return MatchPoller(ports.arena, dispatcher, timing=timing).run(lambda: timedelta(hours=1))


def action_error(
    moves: str, action: str, decided_on: str, intents: Mapping[int, Any]
) -> str | None:
    """Return the reason why an action was wrongly accepted after these moves, or None."""
    if decided_on != moves:
        return f"{action} was decided on '{decided_on}' and met '{moves}'"
    stored = intents.get(len(moves))
    if stored is None:
        return f"{action} was played at {len(moves)} and the log has no intent"
    if (stored["action"], stored["position"]) != (action, moves):
        return f"{action} was played after '{moves}', and the log has {stored}"
    if next_action(moves) != action:
        return f"{action} was played after '{moves}' in place of {next_action(moves)}"
    return None
