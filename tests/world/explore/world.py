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
from cardsharp.cloud.offering import MISSING
from world.explore import cards
from world.explore.process import Processes, Question, Stand
from world.explore.stores import Asker, Stores, Told
from world.explore.values import PAST, TIGHT, UNIT, Numbered

TICK = 2  # units by which time passes at a time
IDLE = -1


class Pace(IntEnum):
    """How fast a process is."""

    PROMPT = 0
    SLOW = 1  # its network or store is, for as long as it takes; its lease keeper goes on
    FROZEN = 2  # all of it stands still


class Proc(NamedTuple):
    """A process: where it stands, for how long, and the answer that is on its way to it."""

    stand: int = IDLE
    waited: int = 0  # units since its last answer
    holds: bool = False  # whether the lease that it may have is the last one
    knows: bool = False  # whether the log's beat is still that which it saw
    pace: int = Pace.PROMPT
    answer: int = -1


class State(NamedTuple):
    """Everything at one moment; `flying` are the actions whose sender is not waiting any more.

    Of each: the action, the moves on which it was decided, and in how many units it is too late.
    """

    moves: str
    store: int
    flying: tuple[tuple[str, str, int], ...]
    procs: tuple[Proc, ...]
    messages: int = 0  # on the queue, where they are counted
    alone: int = 0  # for so many units nobody has attended the match, where that is counted


class Step(NamedTuple):
    """What happens, in words, the state after it, and what is wrong with that."""

    words: str
    state: State
    fault: bool = False  # whether something went wrong on the way
    wrong: str | None = None


class Effect(NamedTuple):
    """What comes of a question: the world and its asker after it, and the answer to come."""

    words: str
    state: State
    proc: Proc
    value: Any = None
    fault: bool = False
    wrong: str | None = None


# What an arena answers that says no, and a store that fails.
PAGE = errors.Foreign(403, "a page")
LOST = errors.Foreign(403, "a page", doubtful=True)
DENIED = errors.NotFound(404, cards.NO_SUCH_MATCH)
NEVER = errors.Unreachable("no connection")
OVER, NOT_YOURS = errors.MatchOver(), errors.NotYourTurn(409, "not your turn")
NAMED: list[cards.Named] = [cards.Named(cards.MATCH)]
NONE: list[cards.Named] = []
FAILED = errors.StoreError("The match log did not answer.")


@dataclass(frozen=True)
class Setting:
    """What is explored; `skews` is by how much the clock of each worker is wrong.

    The onlookers offer what nobody attends, as pollers do.
    """

    cards: int = 2
    skews: tuple[timedelta, ...] = (timedelta(0),) * 2
    onlookers: int = 1
    bound: timedelta | None = None
    """For how long nobody may attend a match; None where a message comes to anybody at any time."""


TWO_CARDS = Setting()
ONE_WORKER = Setting(skews=(timedelta(0),))  # one at a time: whoever begins after it is another
WATCHED = Setting(cards=1, bound=timedelta(seconds=5))


class World:
    """The transitions of a setting."""

    def __init__(self, setting: Setting, *, merge: bool = True) -> None:
        self.setting = setting
        self.rules = cards.Rules(setting.cards)
        self.processes = Processes(merge=merge)
        self.values = self.processes.values
        self.stores = Stores()
        self._workers, self._counts = len(setting.skews), setting.bound is not None
        self.longest = 0  # for so many units at most nobody attended the match
        self._words: dict[int, str] = {}
        self._parts = Numbered[Any]()
        self.act = TIGHT.act // UNIT
        begin = self.processes.start
        clocks = {skew: begin(cards.worker(self.rules, skew)) for skew in setting.skews}
        self.starts = [clocks[skew] for skew in setting.skews]
        looks = cards.onlooker if setting.bound is None else cards.scout
        self.starts += [begin(looks)] * setting.onlookers
        self.symmetric = len(setting.skews) == 2 and len(clocks) == 1

    def start(self) -> State:
        return State("", 0, (), (Proc(),) * len(self.starts))

    def steps(self, state: State) -> Iterator[Step]:
        if self.rules.rivals(state.moves):
            yield Step("the rival plays", state._replace(moves=self.rules.rival_plays(state.moves)))
        yield from self._arrivals(state)
        for place, proc in enumerate(state.procs):
            if proc.stand != IDLE:
                yield from self._of(state, place, proc)
            elif self._may_begin(state, place):
                begun = _with(state, place, Proc(self.starts[place]))
                if self._counts and place < self._workers:
                    begun = begun._replace(messages=state.messages - 1)
                yield Step(f"{self._who(place)} begins", begun)
        if all(self._may_wait(state, place) for place in range(len(state.procs))):
            yield self._later(state)

    def pack(self, state: State) -> bytes:
        """A state in few bytes: millions are kept."""
        numbers = map(self._parts.number, (state.moves, state.flying, *state.procs))
        return array("I", [state.store, state.messages, state.alone, *numbers]).tobytes()

    def unpack(self, packed: bytes) -> State:
        """The state that was packed so."""
        numbers = array("I")
        numbers.frombytes(packed)
        store, messages, alone, moves, flying, *procs = numbers
        parts = self._parts.all
        whose = tuple(parts[number] for number in procs)
        return State(parts[moves], store, parts[flying], whose, messages, alone)

    def canonical(self, state: State) -> State:
        """The same state as all others that differ from it in names only."""
        flying = tuple(sorted(set(state.flying)))
        if flying != state.flying:
            state = state._replace(flying=flying)
        workers, onlookers = state.procs[: self._workers], state.procs[self._workers :]
        if len(onlookers) > 1:
            state = state._replace(procs=(*workers, *sorted(onlookers)))
        if not self.symmetric:
            return state
        one, other, *rest = state.procs
        if one < other:
            return state
        swapped = self.stores.swapped(state.store)
        if one == other and state.store <= swapped:
            return state
        return state._replace(store=swapped, procs=(other, one, *rest))

    def _arrivals(self, state: State) -> Iterator[Step]:
        for one in state.flying:
            action, meant, _ = one
            moves, _, wrong = self._acted(state, action, meant)
            rest = tuple(other for other in state.flying if other != one)
            words = f"the late {action} arrives"
            yield Step(words, state._replace(moves=moves, flying=rest), wrong=wrong)

    def _acted(self, state: State, action: str, meant: str) -> tuple[str, Any, str | None]:
        """The moves after an action of ours arrived, its answer, and what is wrong with that."""
        if self.rules.over(state.moves):
            return state.moves, OVER, None
        if not self.rules.ours(state.moves):
            return state.moves, NOT_YOURS, None
        intents = self.stores.record(state.store).intents
        return state.moves + action, None, cards.mistakes(state.moves, action, meant, intents)

    def _of(self, state: State, place: int, proc: Proc) -> Iterator[Step]:
        stand, who = self.processes.stands[proc.stand], self._who(place)
        yield Step(f"{who} dies", self._gone(state, place, proc, stand), fault=True)
        if proc.pace and proc.waited == 0:
            return
        if proc.answer >= 0:
            yield self._on(state, place, proc, proc.answer, f"{who} goes on")
            return
        fades = () if proc.pace or stand.asks.port == "clock" else (Pace.SLOW, Pace.FROZEN)
        for pace in fades:
            stays, said = _with(state, place, proc._replace(pace=pace)), pace.name.lower()
            yield Step(f"{who} is {said} before {stand.asks.name}", stays, fault=True)
        for effect in self._effects(state, place, proc, stand):
            value = self.values.number(effect.value)
            words = f"{who}: {effect.words}"
            step = self._on(effect.state, place, effect.proc, value, words)
            yield step._replace(fault=effect.fault, wrong=effect.wrong or step.wrong)
            for pace in () if effect.fault else fades:
                held = effect.proc._replace(pace=pace, answer=value)
                stays = _with(effect.state, place, held)
                said = f"{words}, and is {pace.name.lower()}"
                yield Step(said, stays, fault=True, wrong=effect.wrong)

    def _may_begin(self, state: State, place: int) -> bool:
        """Whether an idle process can begin: an onlooker always, a worker by a message."""
        if self._finished(state):
            return False
        return not self._counts or place >= self._workers or state.messages > 0

    def _may_wait(self, state: State, place: int) -> bool:
        """Whether time can pass without an answer to this process: it is not prompt, or waits."""
        proc = state.procs[place]
        if proc.stand == IDLE:
            return not self._counts or not self._may_begin(state, place)
        if proc.pace:
            return True
        stand = self.processes.stands[proc.stand]
        if stand.asks.name == "sleep":
            return stand.asked + proc.waited < stand.asks.args[0] // UNIT
        return stand.asks.name == "wait" and self.rules.rivals(state.moves)

    def _kept(self, state: State, place: int) -> State:
        """The state when the lease keeper in the background has renewed."""
        proc = state.procs[place]
        question = None if proc.stand == IDLE else self.processes.stands[proc.stand].keeper
        if question is None or proc.pace == Pace.FROZEN:
            return state
        after, proc, told = self._at_log(state, place, proc, question)
        number = self.values.number(told.value)
        stand = self.processes.on(proc.stand, proc.waited, number, keeper=True)
        return _with(after, place, proc._replace(stand=stand, waited=0))

    def _on(self, state: State, place: int, proc: Proc, value: int, words: str) -> Step:
        """The process goes on with an answer, up to its next question or its end."""
        number = self.processes.on(proc.stand, proc.waited, value)
        stand = self.processes.stands[number]
        if stand.asks is None:
            gone = self._gone(state, place, Proc(number), stand)
            return Step(f"{words}; it ends, {stand.end[1]}", gone, wrong=_odd_end(stand.end))
        return Step(words, _with(state, place, Proc(number, 0, proc.holds, proc.knows)))

    def _gone(self, state: State, place: int, proc: Proc, stand: Stand) -> State:
        """The process is no more; what it sent may still arrive."""
        if proc.answer < 0 and stand.asks is not None and stand.asks.name == "act":
            state = _sent(state, stand.asks, self.act - stand.asked - proc.waited)
        store = self.stores.without(state.store, place)
        return _with(state._replace(store=store), place, Proc())

    def _effects(self, state: State, place: int, proc: Proc, stand: Stand) -> Iterator[Effect]:
        question = stand.asks
        age = min(stand.asked + proc.waited, PAST)
        if question.port == "log":
            yield from self._logged(state, place, proc, question)
        elif question.port == "clock":
            if age >= question.args[0] // UNIT:
                yield Effect("wakes up", state, proc)
        elif question.port == "queue":
            messages = min(state.messages + self._counts, 2)
            yield Effect("sends a message", state._replace(messages=messages), proc)
            yield Effect("sends a message in vain", state, proc, fault=True)
        elif question.name == "act":
            yield from self._acting(state, proc, question, self.act - age)
        else:
            yield from self._looking(state, proc, question)

    def _at_log(
        self, state: State, place: int, proc: Proc, question: Question
    ) -> tuple[State, Proc, Told]:
        """The world and the asker after a question at the log, and what that told."""
        told = self.stores.ask(state.store, question, Asker(place, proc.holds, proc.knows))
        state = state._replace(store=told.store)
        if question.name == "take" and told.value is not None:
            state, proc = _all(state, holds=False), proc._replace(holds=True)
        if told.beats:
            state, proc = _all(state, knows=False), proc._replace(knows=False)
        if question.name in {"match", "running"} and told.value:
            proc = proc._replace(knows=True)
        return state, proc, told

    def _logged(self, state: State, place: int, proc: Proc, question: Question) -> Iterator[Effect]:
        name, (after, here, told) = question.name, self._at_log(state, place, proc, question)
        changes = told.store != state.store
        wrong = self._log_faults(state.moves, told.store) if changes else None
        if name == "finish" and question.args[1]["result"] == MISSING:
            wrong = wrong or _hasty(self.processes.stands[proc.stand])
        words = f"{name} at the log"
        said = f"{words} -> {self._short(told.value)}"
        yield Effect(said, after, here, told.value, wrong=wrong)
        yield Effect(f"{words} fails", state, proc, FAILED, fault=True)
        if changes or told.beats:
            lost = f"{words}, the answer is lost"
            yield Effect(lost, after, here, FAILED, fault=True, wrong=wrong)

    def _log_faults(self, moves: str, store: int) -> str | None:
        """What is wrong with the log, None for nothing."""
        record, history = self.stores.record(store), cards.facts(moves)
        for number, fact in record.facts.items():
            if history.get(number) != fact:
                return f"the log has {fact} as move {number} of '{moves}'"
        ended = record.outcome is not None and record.outcome["result"] != MISSING
        if ended and (record.facts != history or not self.rules.over(moves)):
            return f"the log is closed with {len(record.facts)} moves of '{moves}'"
        return None

    def _acting(self, state: State, proc: Proc, question: Question, left: int) -> Iterator[Effect]:
        action, meant = question.args
        if left > 0:
            moves, answer, wrong = self._acted(state, action, meant)
            words, after = f"{action} meets '{state.moves}'", state._replace(moves=moves)
            yield Effect(f"{words} -> {self._short(answer)}", after, proc, answer, wrong=wrong)
            page = f"{words}, answered with a page"
            yield Effect(page, after, proc, LOST, fault=True, wrong=wrong)
        words = f"{action} is answered with a page, and may arrive"
        yield Effect(words, _sent(state, question, left), proc, LOST, fault=True)
        yield Effect(f"{action} is falsely denied", state, proc, DENIED, fault=True)
        if left == self.act:
            yield Effect(f"{action} finds no connection", state, proc, NEVER, fault=True)

    def _looking(self, state: State, proc: Proc, question: Question) -> Iterator[Effect]:
        moves, name = state.moves, question.name
        if name == "matches":
            named = NAMED if self.rules.ours(moves) else NONE
            yield Effect("asks for matches", state, proc, named)
        elif name == "wait" and self.rules.rivals(moves):
            yield Effect("waits in vain", state, proc)
        else:
            yield Effect(f"{name} shows '{moves}'", state, proc, moves)
        yield Effect(f"{name} is answered with a page", state, proc, PAGE, fault=True)
        yield Effect(f"{name} is falsely denied", state, proc, DENIED, fault=True)

    def _later(self, state: State) -> Step:
        """A second passes, and the lease keepers of those that are not frozen have renewed."""
        procs = tuple(self._aged(proc) for proc in state.procs)
        flying = tuple((a, m, left - TICK) for a, m, left in state.flying if left > TICK)
        store = self.stores.later(state.store, TICK)
        later = state._replace(store=store, flying=flying, procs=procs)
        for place in range(len(procs)):
            later = self._kept(later, place)
        bound = self.setting.bound
        if bound is None:
            return Step("a second passes", later)
        alone = later.alone + TICK if self._is_alone(later) else 0
        self.longest = max(self.longest, alone)
        wrong = (
            f"nobody has attended the match for {alone * UNIT}" if alone * UNIT > bound else None
        )
        return Step("a second passes", later._replace(alone=alone), wrong=wrong)

    def _is_alone(self, state: State) -> bool:
        """Whether nobody holds a match that goes on, but who is frozen, and a poller listens."""
        held = any(p.holds and p.pace < Pace.FROZEN for p in state.procs)
        listens = any(p.stand != IDLE and not p.pace for p in state.procs[self._workers :])
        return listens and not held and not self._finished(state)

    def _aged(self, proc: Proc) -> Proc:
        if proc.stand == IDLE:
            return proc
        answer = self.values.older(proc.answer, TICK) if proc.answer >= 0 else proc.answer
        waited = min(proc.waited + TICK, PAST)
        return proc._replace(waited=waited, answer=answer)

    def _short(self, value: Any) -> str:  # noqa: ANN401
        number = self.values.number(value)
        if number not in self._words:
            said = type(value).__name__ if isinstance(value, Exception) else repr(value)
            self._words[number] = said[:160]
        return self._words[number]

    def _finished(self, state: State) -> bool:
        return self.stores.record(state.store).status == "finished"

    def _who(self, place: int) -> str:
        workers = self._workers
        return f"worker {place + 1}" if place < workers else f"onlooker {place - workers + 1}"


def _all(state: State, **now: bool) -> State:
    """The state in which that is so of every process."""
    return state._replace(procs=tuple(proc._replace(**now) for proc in state.procs))


def _sent(state: State, question: Question, left: int) -> State:
    """The state in which an action may still arrive for so many units."""
    late = ((*question.args, left),) if left > 0 else ()
    return state._replace(flying=(*state.flying, *late))


def _with(state: State, place: int, proc: Proc) -> State:
    procs = list(state.procs)
    procs[place] = proc
    return state._replace(procs=tuple(procs))


def _hasty(stand: Stand) -> str | None:
    denials = sum(isinstance(answer.value, errors.NotFound) for answer in stand.answers)
    return "a match was closed for one denial" if denials < 2 else None


def _odd_end(end: Any) -> str | None:  # noqa: ANN401
    if end[0] == "raised" and not issubclass(end[1], errors.ArenaError | errors.StoreError):
        return f"a process ended by {end[1].__name__}: {end[2]}"
    return None
