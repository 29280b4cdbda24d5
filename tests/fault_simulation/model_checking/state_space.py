"""State space of the model check: workers and pollers at their calls, the arena, and time.

A state is what the arena has, what the match log has, which actions are still on their
way, and the state of each process. Any process may be slow, or die, at any call, and any
call may fail. A message may reach any idle worker, at any time and any number of times.
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
    """Process in a state: its own state, its waiting time, and the reply on its way to it."""

    state_index: int = IDLE
    units_waited: int = 0  # units since its last answer
    owns_lease: bool = False  # whether the lease that it may have is the last one
    version_is_current: bool = False  # whether the log's beat is still that which it saw
    speed: int = Speed.PROMPT
    reply: int = -1


class ModelState(NamedTuple):
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
    """Transition: its description, the next state, and its violation, if any."""

    description: str
    state: ModelState
    is_fault: bool = False  # whether something went wrong on the way
    violation: str | None = None


class Effect(NamedTuple):
    """Effect of a call: the next state, the caller's next slot, and the reply on its way."""

    description: str
    state: ModelState
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
    """State space of a model configuration: its initial state and its transitions."""

    def __init__(self, config: ModelConfig, *, merge: bool = True) -> None:
        self.config = config
        self.rules = card_match.CardMatchRules(config.card_count)
        self.processes = ProcessGraph(merge_equal_states=merge)
        self.values = self.processes.values
        self.stores = StoreGraph()
        self._worker_count, self._counts_messages = (
            len(config.clock_skews),
            config.max_unattended is not None,
        )
        self.max_unattended = 0  # for so many units at most nobody attended the match
        self._short_texts: dict[int, str] = {}
        self._parts = Interner[Any]()
        self.action_timeout_units = SHORT_TIMING.action_timeout // UNIT
        start = self.processes.start
        clocks = {
            skew: start(card_match.worker_program(self.rules, skew)) for skew in config.clock_skews
        }
        self.initial_processes = [clocks[skew] for skew in config.clock_skews]
        observer_program = (
            card_match.run_lease_observer
            if config.max_unattended is None
            else card_match.run_match_poller
        )
        self.initial_processes += [start(observer_program)] * config.observer_count
        self.symmetric = len(config.clock_skews) == 2 and len(clocks) == 1

    def initial_state(self) -> ModelState:
        return ModelState("", 0, (), (ProcessSlot(),) * len(self.initial_processes))

    def successors(self, state: ModelState) -> Iterator[Step]:
        if self.rules.is_rival_turn(state.moves):
            yield Step(
                "the rival plays",
                state._replace(moves=self.rules.moves_with_rival_turn(state.moves)),
            )
        yield from self._arrivals(state)
        for index, slot in enumerate(state.processes):
            if slot.state_index != IDLE:
                yield from self._process_steps(state, index, slot)
            elif self._may_begin(state, index):
                next_state = _with_slot(state, index, ProcessSlot(self.initial_processes[index]))
                if self._counts_messages and index < self._worker_count:
                    next_state = next_state._replace(messages=state.messages - 1)
                yield Step(f"{self._process_name(index)} begins", next_state)
        if all(self._may_wait(state, index) for index in range(len(state.processes))):
            yield self._tick(state)

    def pack(self, state: ModelState) -> bytes:
        """Return a state as few bytes, because millions are stored."""
        numbers = map(self._parts.number, (state.moves, state.in_flight_actions, *state.processes))
        return array("I", [state.store, state.messages, state.units_unattended, *numbers]).tobytes()

    def unpack(self, packed: bytes) -> ModelState:
        """Return the state that these bytes represent."""
        numbers = array("I")
        numbers.frombytes(packed)
        store, messages, units_unattended, moves, action_index, *slot_indexes = numbers
        parts = self._parts.all
        processes = tuple(parts[number] for number in slot_indexes)
        return ModelState(
            parts[moves], store, parts[action_index], processes, messages, units_unattended
        )

    def canonical(self, state: ModelState) -> ModelState:
        """Return the representative of all states that differ only in names."""
        in_flight_actions = tuple(sorted(set(state.in_flight_actions)))
        if in_flight_actions != state.in_flight_actions:
            state = state._replace(in_flight_actions=in_flight_actions)
        workers, observers = (
            state.processes[: self._worker_count],
            state.processes[self._worker_count :],
        )
        if len(observers) > 1:
            state = state._replace(processes=(*workers, *sorted(observers)))
        if not self.symmetric:
            return state
        first, second, *rest = state.processes
        if first < second:
            return state
        swapped = self.stores.with_workers_swapped(state.store)
        if first == second and state.store <= swapped:
            return state
        return state._replace(store=swapped, processes=(second, first, *rest))

    def _arrivals(self, state: ModelState) -> Iterator[Step]:
        for in_flight_action in state.in_flight_actions:
            action, decided_on, _ = in_flight_action
            moves, _, violation = self._apply_action(state, action, decided_on)
            remaining_actions = tuple(
                other for other in state.in_flight_actions if other != in_flight_action
            )
            description = f"the late {action} arrives"
            yield Step(
                description,
                state._replace(moves=moves, in_flight_actions=remaining_actions),
                violation=violation,
            )

    def _apply_action(
        self, state: ModelState, action: str, decided_on: str
    ) -> tuple[str, Any, str | None]:
        """Return the moves including our action, the reply to it, and its violation."""
        if self.rules.is_over(state.moves):
            return state.moves, MATCH_OVER_ERROR, None
        if not self.rules.is_our_turn(state.moves):
            return state.moves, NOT_YOUR_TURN_ERROR, None
        intents = self.stores.record(state.store).intents
        return (
            state.moves + action,
            None,
            card_match.action_error(state.moves, action, decided_on, intents),
        )

    def _process_steps(self, state: ModelState, index: int, slot: ProcessSlot) -> Iterator[Step]:
        process_state, process_name = (
            self.processes.states[slot.state_index],
            self._process_name(index),
        )
        yield Step(
            f"{process_name} dies",
            self._state_without_process(state, index, slot, process_state),
            is_fault=True,
        )
        if slot.speed and slot.units_waited == 0:
            return
        if slot.reply >= 0:
            yield self._resume(state, index, slot, slot.reply, f"{process_name} goes on")
            return
        slow_speeds = (
            ()
            if slot.speed or process_state.pending_call.port == "clock"
            else (Speed.SLOW, Speed.FROZEN)
        )
        for speed in slow_speeds:
            next_state, description = (
                _with_slot(state, index, slot._replace(speed=speed)),
                speed.name.lower(),
            )
            yield Step(
                f"{process_name} is {description} before {process_state.pending_call.name}",
                next_state,
                is_fault=True,
            )
        for effect in self._effects(state, index, slot, process_state):
            value = self.values.number(effect.value)
            step_text = f"{process_name}: {effect.description}"
            step = self._resume(effect.state, index, effect.process, value, step_text)
            yield step._replace(
                is_fault=effect.is_fault, violation=effect.violation or step.violation
            )
            for speed in () if effect.is_fault else slow_speeds:
                next_slot = effect.process._replace(speed=speed, reply=value)
                next_state = _with_slot(effect.state, index, next_slot)
                description = f"{step_text}, and is {speed.name.lower()}"
                yield Step(description, next_state, is_fault=True, violation=effect.violation)

    def _may_begin(self, state: ModelState, index: int) -> bool:
        """Return True if an idle process can begin.

        Until the match is finished, an observer can always begin; a worker needs a message
        where messages are counted.
        """
        if self._is_finished(state):
            return False
        return not self._counts_messages or index >= self._worker_count or state.messages > 0

    def _may_wait(self, state: ModelState, index: int) -> bool:
        """Return True if time can pass while this process gets no answer.

        That is so if the process is idle with nothing to begin, slow, frozen, asleep, or
        waiting for the rival.
        """
        slot = state.processes[index]
        if slot.state_index == IDLE:
            return not self._counts_messages or not self._may_begin(state, index)
        if slot.speed:
            return True
        process_state = self.processes.states[slot.state_index]
        if process_state.pending_call.name == "sleep":
            return (
                process_state.units_waiting + slot.units_waited
                < process_state.pending_call.args[0] // UNIT
            )
        return process_state.pending_call.name == "wait" and self.rules.is_rival_turn(state.moves)

    def _with_renewed_lease(self, state: ModelState, index: int) -> ModelState:
        """Return the state in which the process's lease keeper has renewed its lease."""
        slot = state.processes[index]
        call = (
            None
            if slot.state_index == IDLE
            else self.processes.states[slot.state_index].lease_keeper_call
        )
        if call is None or slot.speed == Speed.FROZEN:
            return state
        next_state, slot, reply = self._call_log(state, index, slot, call)
        number = self.values.number(reply.value)
        state_index = self.processes.advance(
            slot.state_index, slot.units_waited, number, keeper=True
        )
        return _with_slot(next_state, index, slot._replace(state_index=state_index, units_waited=0))

    def _resume(
        self, state: ModelState, index: int, slot: ProcessSlot, value: int, description: str
    ) -> Step:
        """Resume a process with a reply, up to its next call or its end."""
        state_index = self.processes.advance(slot.state_index, slot.units_waited, value)
        process_state = self.processes.states[state_index]
        if process_state.pending_call is None:
            next_state = self._state_without_process(
                state, index, ProcessSlot(state_index), process_state
            )
            return Step(
                f"{description}; it ends, {process_state.result[1]}",
                next_state,
                violation=_unexpected_result(process_state.result),
            )
        return Step(
            description,
            _with_slot(
                state, index, ProcessSlot(state_index, 0, slot.owns_lease, slot.version_is_current)
            ),
        )

    def _state_without_process(
        self, state: ModelState, index: int, slot: ProcessSlot, process_state: ProcessState
    ) -> ModelState:
        """Return the state without this process; its action may still arrive."""
        if (
            slot.reply < 0
            and process_state.pending_call is not None
            and process_state.pending_call.name == "act"
        ):
            state = _with_late_action(
                state,
                process_state.pending_call,
                self.action_timeout_units - process_state.units_waiting - slot.units_waited,
            )
        store = self.stores.without_worker(state.store, index)
        return _with_slot(state._replace(store=store), index, ProcessSlot())

    def _effects(
        self, state: ModelState, index: int, slot: ProcessSlot, process_state: ProcessState
    ) -> Iterator[Effect]:
        call = process_state.pending_call
        age = min(process_state.units_waiting + slot.units_waited, EXPIRY_UNITS)
        if call.port == "log":
            yield from self._log_effects(state, index, slot, call)
        elif call.port == "clock":
            if age >= call.args[0] // UNIT:
                yield Effect("wakes up", state, slot)
        elif call.port == "queue":
            messages = min(state.messages + self._counts_messages, 2)
            yield Effect("sends a message", state._replace(messages=messages), slot)
            yield Effect("sends a message in vain", state, slot, is_fault=True)
        elif call.name == "act":
            yield from self._action_effects(state, slot, call, self.action_timeout_units - age)
        else:
            yield from self._read_effects(state, slot, call)

    def _call_log(
        self, state: ModelState, index: int, slot: ProcessSlot, call: PortCall
    ) -> tuple[ModelState, ProcessSlot, StoreReply]:
        """Call the log; return the next state, the caller's next slot, and the reply."""
        reply = self.stores.call(
            state.store, call, StoreCaller(index, slot.owns_lease, slot.version_is_current)
        )
        state = state._replace(store=reply.store)
        if call.name == "acquire_lease" and reply.value is not None:
            state, slot = _with_all_slots(state, owns_lease=False), slot._replace(owns_lease=True)
        if reply.version_changed:
            state, slot = (
                _with_all_slots(state, version_is_current=False),
                slot._replace(version_is_current=False),
            )
        if call.name in {"match", "running_matches"} and reply.value:
            slot = slot._replace(version_is_current=True)
        return state, slot, reply

    def _log_effects(
        self, state: ModelState, index: int, slot: ProcessSlot, call: PortCall
    ) -> Iterator[Effect]:
        name, (next_state, next_slot, reply) = (
            call.name,
            self._call_log(state, index, slot, call),
        )
        changes = reply.store != state.store
        violation = self._log_violation(state.moves, reply.store) if changes else None
        if name == "finish" and call.args[1]["result"] == MISSING_GAME:
            violation = violation or _premature_closing(self.processes.states[slot.state_index])
        call_text = f"{name} at the log"
        description = f"{call_text} -> {self._short_text(reply.value)}"
        yield Effect(description, next_state, next_slot, reply.value, violation=violation)
        yield Effect(f"{call_text} fails", state, slot, STORE_ERROR, is_fault=True)
        if changes or reply.version_changed:
            lost_reply_text = f"{call_text}, the answer is lost"
            yield Effect(
                lost_reply_text,
                next_state,
                next_slot,
                STORE_ERROR,
                is_fault=True,
                violation=violation,
            )

    def _log_violation(self, moves: str, store: int) -> str | None:
        """Return what is wrong with the log, or None."""
        record, history = self.stores.record(store), card_match.match_history(moves)
        for number, fact in record.facts.items():
            if history.get(number) != fact:
                return f"the log has {fact} as move {number} of '{moves}'"
        is_closed = record.outcome is not None and record.outcome["result"] != MISSING_GAME
        if is_closed and (record.facts != history or not self.rules.is_over(moves)):
            return f"the log is closed with {len(record.facts)} moves of '{moves}'"
        return None

    def _action_effects(
        self, state: ModelState, slot: ProcessSlot, call: PortCall, remaining_units: int
    ) -> Iterator[Effect]:
        action, decided_on = call.args
        if remaining_units > 0:
            moves, reply, violation = self._apply_action(state, action, decided_on)
            description, next_state = f"{action} meets '{state.moves}'", state._replace(moves=moves)
            yield Effect(
                f"{description} -> {self._short_text(reply)}",
                next_state,
                slot,
                reply,
                violation=violation,
            )
            page_text = f"{description}, answered with a page"
            yield Effect(
                page_text,
                next_state,
                slot,
                UNKNOWN_OUTCOME_ERROR,
                is_fault=True,
                violation=violation,
            )
        description = f"{action} is answered with a page, and may arrive"
        yield Effect(
            description,
            _with_late_action(state, call, remaining_units),
            slot,
            UNKNOWN_OUTCOME_ERROR,
            is_fault=True,
        )
        yield Effect(f"{action} is falsely denied", state, slot, NOT_FOUND_ERROR, is_fault=True)
        if remaining_units == self.action_timeout_units:
            yield Effect(
                f"{action} finds no connection", state, slot, CONNECTION_ERROR, is_fault=True
            )

    def _read_effects(
        self, state: ModelState, slot: ProcessSlot, call: PortCall
    ) -> Iterator[Effect]:
        moves, name = state.moves, call.name
        if name == "matches":
            announced = SINGLE_ANNOUNCEMENT if self.rules.is_our_turn(moves) else NO_MATCHES
            yield Effect("asks for matches", state, slot, announced)
        elif name == "wait" and self.rules.is_rival_turn(moves):
            yield Effect("waits in vain", state, slot)
        else:
            yield Effect(f"{name} shows '{moves}'", state, slot, moves)
        yield Effect(
            f"{name} is answered with a page", state, slot, PROXY_PAGE_ERROR, is_fault=True
        )
        yield Effect(f"{name} is falsely denied", state, slot, NOT_FOUND_ERROR, is_fault=True)

    def _tick(self, state: ModelState) -> Step:
        """Let a second pass, in which lease keepers that are not frozen renew their leases."""
        slots = tuple(self._waited_slot(slot) for slot in state.processes)
        in_flight_actions = tuple(
            (a, m, remaining_units - TICK)
            for a, m, remaining_units in state.in_flight_actions
            if remaining_units > TICK
        )
        store = self.stores.advance_time(state.store, TICK)
        next_state = state._replace(
            store=store, in_flight_actions=in_flight_actions, processes=slots
        )
        for index in range(len(slots)):
            next_state = self._with_renewed_lease(next_state, index)
        max_unattended = self.config.max_unattended
        if max_unattended is None:
            return Step("a second passes", next_state)
        units_unattended = (
            next_state.units_unattended + TICK if self._is_unattended(next_state) else 0
        )
        self.max_unattended = max(self.max_unattended, units_unattended)
        violation = (
            f"nobody has attended the match for {units_unattended * UNIT}"
            if units_unattended * UNIT > max_unattended
            else None
        )
        return Step(
            "a second passes",
            next_state._replace(units_unattended=units_unattended),
            violation=violation,
        )

    def _is_unattended(self, state: ModelState) -> bool:
        """Return True if a poller listens and no running process holds the match.

        The match must be unfinished. A frozen process does not count as a holder.
        """
        has_live_holder = any(p.owns_lease and p.speed < Speed.FROZEN for p in state.processes)
        has_live_observer = any(
            p.state_index != IDLE and not p.speed for p in state.processes[self._worker_count :]
        )
        return has_live_observer and not has_live_holder and not self._is_finished(state)

    def _waited_slot(self, slot: ProcessSlot) -> ProcessSlot:
        if slot.state_index == IDLE:
            return slot
        reply = self.values.older(slot.reply, TICK) if slot.reply >= 0 else slot.reply
        units_waited = min(slot.units_waited + TICK, EXPIRY_UNITS)
        return slot._replace(units_waited=units_waited, reply=reply)

    def _short_text(self, value: Any) -> str:  # noqa: ANN401
        number = self.values.number(value)
        if number not in self._short_texts:
            text = type(value).__name__ if isinstance(value, Exception) else repr(value)
            self._short_texts[number] = text[:160]
        return self._short_texts[number]

    def _is_finished(self, state: ModelState) -> bool:
        return self.stores.record(state.store).status == "finished"

    def _process_name(self, index: int) -> str:
        worker_count = self._worker_count
        return (
            f"worker {index + 1}"
            if index < worker_count
            else f"onlooker {index - worker_count + 1}"
        )


def _with_all_slots(state: ModelState, **changes: bool) -> ModelState:
    """Return the state with these changes to the slots of all processes."""
    return state._replace(processes=tuple(slot._replace(**changes) for slot in state.processes))


def _with_late_action(state: ModelState, call: PortCall, remaining_units: int) -> ModelState:
    """Return the state in which an action may still arrive, for that many units."""
    late_actions = ((*call.args, remaining_units),) if remaining_units > 0 else ()
    return state._replace(in_flight_actions=(*state.in_flight_actions, *late_actions))


def _with_slot(state: ModelState, index: int, slot: ProcessSlot) -> ModelState:
    slots = list(state.processes)
    slots[index] = slot
    return state._replace(processes=tuple(slots))


def _premature_closing(process_state: ProcessState) -> str | None:
    denial_count = sum(isinstance(reply.value, errors.NotFound) for reply in process_state.replies)
    return "a match was closed for one denial" if denial_count < 2 else None


def _unexpected_result(result: Any) -> str | None:  # noqa: ANN401
    if result[0] == "raised" and not issubclass(result[1], errors.ArenaError | errors.StoreError):
        return f"a process ended by {result[1].__name__}: {result[2]}"
    return None
