"""All that can happen next: workers and pollers at their questions, the arena, and the time.

A state is what the arena has, what the match log holds, which actions are still on their way, and
where each process is. Any process may be slow, or gone, at any of its questions; any question may
fail; a message may come to any worker that is free, at any time and as often as it likes.
"""

from array import array
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from enum import IntEnum
from typing import Any, NamedTuple

from cardsharp import errors
from cardsharp.bot.match_dispatcher import MISSING_GAME
from fault_simulation.model_checking import card_match
from fault_simulation.model_checking.fingerprints import EXPIRY_UNITS, SHORT_TIMING, UNIT, Interner
from fault_simulation.model_checking.process_model import PortCall, ProcessGraph, ProcessState
from fault_simulation.model_checking.store_model import StoreCaller, StoreGraph, StoreReply

TICK = 2  # units by which time passes at a time
IDLE = -1


class Speed(IntEnum):
    """Speed of a process."""

    PROMPT = 0
    SLOW = 1  # its network or store is, for as long as it takes; its lease keeper goes on
    FROZEN = 2  # all of it stands still


class ProcessSlot(NamedTuple):
    """A process: where it stands, for how long, and the answer that is on its way to it."""

    state_index: int = IDLE
    units_waited: int = 0  # units since its last answer
    owns_lease: bool = False  # whether the lease that it may have is the last one
    version_is_current: bool = False  # whether the log's beat is still that which it saw
    speed: int = Speed.PROMPT
    answer: int = -1


class State(NamedTuple):
    """State of everything at one moment.

    `in_flight_actions` are those whose sender no longer waits. Each has the action, the moves
    on which it was decided, and the units until it is too late.
    """

    moves: str
    store: int
    in_flight_actions: tuple[tuple[str, str, int], ...]
    processes: tuple[ProcessSlot, ...]
    messages: int = 0  # on the queue, where they are counted
    units_unattended: int = (
        0  # for so many units nobody has attended the match, where that is counted
    )


class Step(NamedTuple):
    """Event: its description, the next state, and the violation in it, if any."""

    description: str
    state: State
    is_fault: bool = False  # whether something went wrong on the way
    violation: str | None = None


class Effect(NamedTuple):
    """Effect of a call: the next state, the next slot of the caller, and the answer to come."""

    description: str
    state: State
    process: ProcessSlot
    value: Any = None
    is_fault: bool = False
    violation: str | None = None


# What an arena answers that says no, and a store that fails.
PROXY_PAGE_ERROR = errors.GatewayRejection(403, "a page")
UNKNOWN_OUTCOME_ERROR = errors.GatewayRejection(403, "a page", outcome_unknown=True)
NOT_FOUND_ERROR = errors.NotFound(404, card_match.NO_SUCH_MATCH)
CONNECTION_ERROR = errors.Unreachable("no connection")
MATCH_OVER_ERROR, NOT_YOUR_TURN_ERROR = errors.MatchOver(), errors.NotYourTurn(409, "not your turn")
SINGLE_ANNOUNCEMENT: list[card_match.AnnouncedMatch] = [card_match.AnnouncedMatch(card_match.MATCH)]
NO_MATCHES: list[card_match.AnnouncedMatch] = []
STORE_ERROR = errors.StoreError("The match log did not answer.")


@dataclass(frozen=True)
class ModelConfig:
    """Configuration of a search; `clock_skews` has the clock error of each worker.

    The observers offer matches that no worker attends, as pollers do.
    """

    card_count: int = 2
    clock_skews: tuple[timedelta, ...] = (timedelta(0),) * 2
    observer_count: int = 1
    max_unattended: timedelta | None = None
    """For how long nobody may attend a match; None where a message comes to anybody at any time."""


TWO_CARDS = ModelConfig()
SINGLE_WORKER_CONFIG = ModelConfig(
    clock_skews=(timedelta(0),)
)  # one at a time: whoever begins after it is another
WITH_OBSERVER = ModelConfig(card_count=1, max_unattended=timedelta(seconds=5))


class StateSpace:
    """The transitions of a setting."""

    def __init__(self, setting: ModelConfig, *, merge: bool = True) -> None:
        self.config = setting
        self.rules = card_match.CardMatchRules(setting.card_count)
        self.processes = ProcessGraph(merge_equal_states=merge)
        self.values = self.processes.values
        self.stores = StoreGraph()
        self._workers, self._counts = len(setting.clock_skews), setting.max_unattended is not None
        self.max_unattended = 0  # for so many units at most nobody attended the match
        self._words: dict[int, str] = {}
        self._parts = Interner[Any]()
        self.act = SHORT_TIMING.action_timeout // UNIT
        begin = self.processes.start
        clocks = {skew: begin(card_match.worker(self.rules, skew)) for skew in setting.clock_skews}
        self.initial_processes = [clocks[skew] for skew in setting.clock_skews]
        looks = (
            card_match.lease_observer if setting.max_unattended is None else card_match.match_poller
        )
        self.initial_processes += [begin(looks)] * setting.observer_count
        self.symmetric = len(setting.clock_skews) == 2 and len(clocks) == 1

    def initial_state(self) -> State:
        return State("", 0, (), (ProcessSlot(),) * len(self.initial_processes))

    def successors(self, state: State) -> Iterator[Step]:
        if self.rules.is_rival_turn(state.moves):
            yield Step("the rival plays", state._replace(moves=self.rules.rival_plays(state.moves)))
        yield from self._arrivals(state)
        for place, proc in enumerate(state.processes):
            if proc.state_index != IDLE:
                yield from self._of(state, place, proc)
            elif self._may_begin(state, place):
                begun = _with(state, place, ProcessSlot(self.initial_processes[place]))
                if self._counts and place < self._workers:
                    begun = begun._replace(messages=state.messages - 1)
                yield Step(f"{self._process_name(place)} begins", begun)
        if all(self._may_wait(state, place) for place in range(len(state.processes))):
            yield self._later(state)

    def pack(self, state: State) -> bytes:
        """A state in few bytes: millions are kept."""
        numbers = map(self._parts.number, (state.moves, state.in_flight_actions, *state.processes))
        return array("I", [state.store, state.messages, state.units_unattended, *numbers]).tobytes()

    def unpack(self, packed: bytes) -> State:
        """The state that was packed so."""
        numbers = array("I")
        numbers.frombytes(packed)
        store, messages, alone, moves, flying, *procs = numbers
        parts = self._parts.all
        processes = tuple(parts[number] for number in procs)
        return State(parts[moves], store, parts[flying], processes, messages, alone)

    def canonical(self, state: State) -> State:
        """The same state as all others that differ from it in names only."""
        flying = tuple(sorted(set(state.in_flight_actions)))
        if flying != state.in_flight_actions:
            state = state._replace(in_flight_actions=flying)
        workers, onlookers = state.processes[: self._workers], state.processes[self._workers :]
        if len(onlookers) > 1:
            state = state._replace(processes=(*workers, *sorted(onlookers)))
        if not self.symmetric:
            return state
        first, second, *rest = state.processes
        if first < second:
            return state
        swapped = self.stores.with_workers_swapped(state.store)
        if first == second and state.store <= swapped:
            return state
        return state._replace(store=swapped, processes=(second, first, *rest))

    def _arrivals(self, state: State) -> Iterator[Step]:
        for in_flight_action in state.in_flight_actions:
            action, meant, _ = in_flight_action
            moves, _, wrong = self._acted(state, action, meant)
            rest = tuple(other for other in state.in_flight_actions if other != in_flight_action)
            words = f"the late {action} arrives"
            yield Step(words, state._replace(moves=moves, in_flight_actions=rest), violation=wrong)

    def _acted(self, state: State, action: str, meant: str) -> tuple[str, Any, str | None]:
        """The moves after an action of ours arrived, its answer, and what is wrong with that."""
        if self.rules.is_over(state.moves):
            return state.moves, MATCH_OVER_ERROR, None
        if not self.rules.is_our_turn(state.moves):
            return state.moves, NOT_YOUR_TURN_ERROR, None
        intents = self.stores.record(state.store).intents
        return (
            state.moves + action,
            None,
            card_match.action_error(state.moves, action, meant, intents),
        )

    def _of(self, state: State, place: int, proc: ProcessSlot) -> Iterator[Step]:
        stand, process_name = self.processes.states[proc.state_index], self._process_name(place)
        yield Step(f"{process_name} dies", self._gone(state, place, proc, stand), is_fault=True)
        if proc.speed and proc.units_waited == 0:
            return
        if proc.answer >= 0:
            yield self._on(state, place, proc, proc.answer, f"{process_name} goes on")
            return
        fades = (
            () if proc.speed or stand.pending_call.port == "clock" else (Speed.SLOW, Speed.FROZEN)
        )
        for pace in fades:
            stays, description = _with(state, place, proc._replace(speed=pace)), pace.name.lower()
            yield Step(
                f"{process_name} is {description} before {stand.pending_call.name}",
                stays,
                is_fault=True,
            )
        for effect in self._effects(state, place, proc, stand):
            value = self.values.number(effect.value)
            words = f"{process_name}: {effect.description}"
            step = self._on(effect.state, place, effect.process, value, words)
            yield step._replace(
                is_fault=effect.is_fault, violation=effect.violation or step.violation
            )
            for pace in () if effect.is_fault else fades:
                slot = effect.process._replace(speed=pace, answer=value)
                stays = _with(effect.state, place, slot)
                description = f"{words}, and is {pace.name.lower()}"
                yield Step(description, stays, is_fault=True, violation=effect.violation)

    def _may_begin(self, state: State, place: int) -> bool:
        """Return True if an idle process can begin.

        Until the match is finished, an observer can always begin; a worker needs a message
        where messages are counted.
        """
        if self._finished(state):
            return False
        return not self._counts or place >= self._workers or state.messages > 0

    def _may_wait(self, state: State, place: int) -> bool:
        """Return True if time can pass while this process gets no answer.

        That is so if the process is idle with nothing to begin, slow, frozen, asleep, or
        waiting for the rival.
        """
        proc = state.processes[place]
        if proc.state_index == IDLE:
            return not self._counts or not self._may_begin(state, place)
        if proc.speed:
            return True
        stand = self.processes.states[proc.state_index]
        if stand.pending_call.name == "sleep":
            return stand.units_waiting + proc.units_waited < stand.pending_call.args[0] // UNIT
        return stand.pending_call.name == "wait" and self.rules.is_rival_turn(state.moves)

    def _with_renewed_lease(self, state: State, place: int) -> State:
        """The state when the lease keeper in the background has renewed."""
        proc = state.processes[place]
        question = (
            None
            if proc.state_index == IDLE
            else self.processes.states[proc.state_index].lease_keeper_call
        )
        if question is None or proc.speed == Speed.FROZEN:
            return state
        next_state, proc, reply = self._at_log(state, place, proc, question)
        number = self.values.number(reply.value)
        stand = self.processes.advance(proc.state_index, proc.units_waited, number, keeper=True)
        return _with(next_state, place, proc._replace(state_index=stand, units_waited=0))

    def _on(self, state: State, place: int, proc: ProcessSlot, value: int, words: str) -> Step:
        """The process goes on with an answer, up to its next question or its end."""
        number = self.processes.advance(proc.state_index, proc.units_waited, value)
        stand = self.processes.states[number]
        if stand.pending_call is None:
            gone = self._gone(state, place, ProcessSlot(number), stand)
            return Step(
                f"{words}; it ends, {stand.result[1]}", gone, violation=_odd_end(stand.result)
            )
        return Step(
            words,
            _with(state, place, ProcessSlot(number, 0, proc.owns_lease, proc.version_is_current)),
        )

    def _gone(self, state: State, place: int, proc: ProcessSlot, stand: ProcessState) -> State:
        """The process is no more; what it sent may still arrive."""
        if proc.answer < 0 and stand.pending_call is not None and stand.pending_call.name == "act":
            state = _sent(
                state, stand.pending_call, self.act - stand.units_waiting - proc.units_waited
            )
        store = self.stores.without_worker(state.store, place)
        return _with(state._replace(store=store), place, ProcessSlot())

    def _effects(
        self, state: State, place: int, proc: ProcessSlot, stand: ProcessState
    ) -> Iterator[Effect]:
        question = stand.pending_call
        age = min(stand.units_waiting + proc.units_waited, EXPIRY_UNITS)
        if question.port == "log":
            yield from self._logged(state, place, proc, question)
        elif question.port == "clock":
            if age >= question.args[0] // UNIT:
                yield Effect("wakes up", state, proc)
        elif question.port == "queue":
            messages = min(state.messages + self._counts, 2)
            yield Effect("sends a message", state._replace(messages=messages), proc)
            yield Effect("sends a message in vain", state, proc, is_fault=True)
        elif question.name == "act":
            yield from self._acting(state, proc, question, self.act - age)
        else:
            yield from self._looking(state, proc, question)

    def _at_log(
        self, state: State, place: int, proc: ProcessSlot, question: PortCall
    ) -> tuple[State, ProcessSlot, StoreReply]:
        """The world and the asker after a question at the log, and what that told."""
        reply = self.stores.call(
            state.store, question, StoreCaller(place, proc.owns_lease, proc.version_is_current)
        )
        state = state._replace(store=reply.store)
        if question.name == "acquire_lease" and reply.value is not None:
            state, proc = _all(state, owns_lease=False), proc._replace(owns_lease=True)
        if reply.version_changed:
            state, proc = (
                _all(state, version_is_current=False),
                proc._replace(version_is_current=False),
            )
        if question.name in {"match", "running_matches"} and reply.value:
            proc = proc._replace(version_is_current=True)
        return state, proc, reply

    def _logged(
        self, state: State, place: int, proc: ProcessSlot, question: PortCall
    ) -> Iterator[Effect]:
        name, (next_state, next_slot, reply) = (
            question.name,
            self._at_log(state, place, proc, question),
        )
        changes = reply.store != state.store
        wrong = self._log_faults(state.moves, reply.store) if changes else None
        if name == "finish" and question.args[1]["result"] == MISSING_GAME:
            wrong = wrong or _hasty(self.processes.states[proc.state_index])
        words = f"{name} at the log"
        description = f"{words} -> {self._short(reply.value)}"
        yield Effect(description, next_state, next_slot, reply.value, violation=wrong)
        yield Effect(f"{words} fails", state, proc, STORE_ERROR, is_fault=True)
        if changes or reply.version_changed:
            lost = f"{words}, the answer is lost"
            yield Effect(lost, next_state, next_slot, STORE_ERROR, is_fault=True, violation=wrong)

    def _log_faults(self, moves: str, store: int) -> str | None:
        """Return what is wrong with the log, or None."""
        record, history = self.stores.record(store), card_match.facts(moves)
        for number, fact in record.facts.items():
            if history.get(number) != fact:
                return f"the log has {fact} as move {number} of '{moves}'"
        is_closed = record.outcome is not None and record.outcome["result"] != MISSING_GAME
        if is_closed and (record.facts != history or not self.rules.is_over(moves)):
            return f"the log is closed with {len(record.facts)} moves of '{moves}'"
        return None

    def _acting(
        self, state: State, proc: ProcessSlot, question: PortCall, remaining_units: int
    ) -> Iterator[Effect]:
        action, meant = question.args
        if remaining_units > 0:
            moves, answer, wrong = self._acted(state, action, meant)
            words, next_state = f"{action} meets '{state.moves}'", state._replace(moves=moves)
            yield Effect(
                f"{words} -> {self._short(answer)}", next_state, proc, answer, violation=wrong
            )
            page = f"{words}, answered with a page"
            yield Effect(
                page, next_state, proc, UNKNOWN_OUTCOME_ERROR, is_fault=True, violation=wrong
            )
        words = f"{action} is answered with a page, and may arrive"
        yield Effect(
            words,
            _sent(state, question, remaining_units),
            proc,
            UNKNOWN_OUTCOME_ERROR,
            is_fault=True,
        )
        yield Effect(f"{action} is falsely denied", state, proc, NOT_FOUND_ERROR, is_fault=True)
        if remaining_units == self.act:
            yield Effect(
                f"{action} finds no connection", state, proc, CONNECTION_ERROR, is_fault=True
            )

    def _looking(self, state: State, proc: ProcessSlot, question: PortCall) -> Iterator[Effect]:
        moves, name = state.moves, question.name
        if name == "matches":
            named = SINGLE_ANNOUNCEMENT if self.rules.is_our_turn(moves) else NO_MATCHES
            yield Effect("asks for matches", state, proc, named)
        elif name == "wait" and self.rules.is_rival_turn(moves):
            yield Effect("waits in vain", state, proc)
        else:
            yield Effect(f"{name} shows '{moves}'", state, proc, moves)
        yield Effect(
            f"{name} is answered with a page", state, proc, PROXY_PAGE_ERROR, is_fault=True
        )
        yield Effect(f"{name} is falsely denied", state, proc, NOT_FOUND_ERROR, is_fault=True)

    def _later(self, state: State) -> Step:
        """A second passes, and the lease keepers of those that are not frozen have renewed."""
        procs = tuple(self._aged(proc) for proc in state.processes)
        flying = tuple(
            (a, m, remaining_units - TICK)
            for a, m, remaining_units in state.in_flight_actions
            if remaining_units > TICK
        )
        store = self.stores.advance_time(state.store, TICK)
        later = state._replace(store=store, in_flight_actions=flying, processes=procs)
        for place in range(len(procs)):
            later = self._with_renewed_lease(later, place)
        bound = self.config.max_unattended
        if bound is None:
            return Step("a second passes", later)
        alone = later.units_unattended + TICK if self._is_alone(later) else 0
        self.max_unattended = max(self.max_unattended, alone)
        wrong = (
            f"nobody has attended the match for {alone * UNIT}" if alone * UNIT > bound else None
        )
        return Step("a second passes", later._replace(units_unattended=alone), violation=wrong)

    def _is_alone(self, state: State) -> bool:
        """Return True if a poller listens and no running process holds the match.

        The match must be unfinished. A frozen process does not count as a holder.
        """
        has_live_holder = any(p.owns_lease and p.speed < Speed.FROZEN for p in state.processes)
        listens = any(
            p.state_index != IDLE and not p.speed for p in state.processes[self._workers :]
        )
        return listens and not has_live_holder and not self._finished(state)

    def _aged(self, proc: ProcessSlot) -> ProcessSlot:
        if proc.state_index == IDLE:
            return proc
        answer = self.values.older(proc.answer, TICK) if proc.answer >= 0 else proc.answer
        waited = min(proc.units_waited + TICK, EXPIRY_UNITS)
        return proc._replace(units_waited=waited, answer=answer)

    def _short(self, value: Any) -> str:  # noqa: ANN401
        number = self.values.number(value)
        if number not in self._words:
            text = type(value).__name__ if isinstance(value, Exception) else repr(value)
            self._words[number] = text[:160]
        return self._words[number]

    def _finished(self, state: State) -> bool:
        return self.stores.record(state.store).status == "finished"

    def _process_name(self, place: int) -> str:
        workers = self._workers
        return f"worker {place + 1}" if place < workers else f"onlooker {place - workers + 1}"


def _all(state: State, **changes: bool) -> State:
    """The state in which that is so of every process."""
    return state._replace(processes=tuple(proc._replace(**changes) for proc in state.processes))


def _sent(state: State, question: PortCall, remaining_units: int) -> State:
    """The state in which an action may still arrive for so many units."""
    late = ((*question.args, remaining_units),) if remaining_units > 0 else ()
    return state._replace(in_flight_actions=(*state.in_flight_actions, *late))


def _with(state: State, place: int, proc: ProcessSlot) -> State:
    procs = list(state.processes)
    procs[place] = proc
    return state._replace(processes=tuple(procs))


def _hasty(stand: ProcessState) -> str | None:
    denials = sum(isinstance(answer.value, errors.NotFound) for answer in stand.replies)
    return "a match was closed for one denial" if denials < 2 else None


def _odd_end(end: Any) -> str | None:  # noqa: ANN401
    if end[0] == "raised" and not issubclass(end[1], errors.ArenaError | errors.StoreError):
        return f"a process ended by {end[1].__name__}: {end[2]}"
    return None
