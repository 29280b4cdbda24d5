"""A match on this machine between people and strategies, by the real rules, and how it is told."""

import time
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from itertools import count
from random import Random
from secrets import token_hex
from typing import Any, Generic

from cardsharp.deciding import Decided, Decider
from cardsharp.errors import ConfigError
from cardsharp.game import Game
from cardsharp.replay import header_of
from cardsharp.simulation import A, P, S, Simulation
from cardsharp.strategy import Decision
from cardsharp.trying import fault_kind
from workbench.lab.extras import LabMatch, Taken, extras_of
from workbench.lab.plan import AnyStrategy
from workbench.lab.players import decided_again
from workbench.show.output import print_error
from workbench.show.person import AtTheTable, Left, Undone
from workbench.show.screen import AnyScreen, ScreenMove
from workbench.table.branch import BranchPoint, Kept

PERSON = "you"  # what the person is called, also in the match log
Opening = tuple[list[Taken], Any]  # what was done before a match is gone on with; its state


@dataclass
class SeatedBot:
    """A strategy at the table, and what it is called in the match log; a user's with a `decider`.

    Such a one's faults are told, each kind once, and a safe action is played.
    """

    name: str
    strategy: AnyStrategy
    decider: Decider[Any, Any, Any] | None = None
    is_useless: bool = False
    """Whether it is a user's, and has failed at every decision so far."""
    faults: int = 0
    """How many decisions of a user's have failed."""
    _told: set[tuple[str, str]] = field(default_factory=set, init=False)
    _is_new: bool = field(default=True, init=False)

    def decide(self, position: Any) -> Decided[Any]:  # noqa: ANN401 - any game's
        """Its decision, or the safe one."""
        if self.decider is None:
            return _timed(self.strategy, position)
        now = decided_again(self.decider, self.strategy, position)
        self.is_useless = now.fault is not None and (self.is_useless or self._is_new)
        self._is_new = False
        if now.fault is None:
            return now
        self.faults += 1
        if (kind := fault_kind(now.fault)) not in self._told:
            self._told.add(kind)
            print_error(f"{self.name}: {now.fault}. A safe action is played.\n{now.trace}".rstrip())
        return now


def _timed(player: AnyStrategy | AtTheTable[Any, Any], position: object) -> Decided[Any]:
    began = time.perf_counter()
    decision = player.decide(position)
    return Decided(decision, timedelta(seconds=time.perf_counter() - began))


def screens_of(game: Game) -> type[AnyScreen]:
    """How people see a game; raises `ConfigError` where they cannot play it."""
    if game.terminal is None:
        raise ConfigError(f"{game.title} cannot be played by people.")
    found: type[AnyScreen] = game.terminal.load()
    return found


@dataclass
class Sitting(Generic[S, P, A]):
    """A match of people, named by seat in the order in which they came, and of bots elsewhere.

    One with an `opening` goes on from there: from the `point` of another match.
    """

    game: Game
    simulation: Simulation[S, P, A]
    people: Mapping[int, str]
    bots: Mapping[int, SeatedBot]
    dice: Random
    point: BranchPoint | None = None
    opening: Opening | None = None
    taken: list[Taken] = field(default_factory=list, init=False)
    state: S = field(init=False)
    left: bool = field(default=False, init=False)
    _undone: bool = field(default=False, init=False)
    _before: int = field(default=0, init=False)
    _back: list[str] = field(default_factory=list, init=False)
    _reasons: dict[int, list[str]] = field(default_factory=lambda: defaultdict(list), init=False)
    _taught: dict[int, set[str]] = field(default_factory=lambda: defaultdict(set), init=False)

    @property
    def host(self) -> int:
        """The seat of whoever came first."""
        return next(iter(self.people))

    @property
    def ours(self) -> tuple[int, ...]:
        """The seats of the host's side."""
        return next(side for side in self.simulation.sides if self.host in side)

    def names(self, viewer: int) -> list[str]:
        """What the players are called for whoever sits at `viewer`, by seat, each otherwise."""
        numbers = count(1)
        names: list[str] = []
        for seat in range(self.simulation.seats):
            if seat == viewer:
                name = PERSON
            elif seat in self.people:
                name = self.people[seat]
            else:
                name = self.bots[seat].name if len(self.bots) == 1 else f"bot {next(numbers)}"
            known = [*names, *([] if seat == viewer else [PERSON])]
            names.append(name if name not in known else f"{name} ({seat + 1})")
        return names

    def screen(self, viewer: int) -> AnyScreen:
        """What a person at that seat sees."""
        screen = screens_of(self.game)(self.names(viewer), viewer)
        if self.point is not None:
            screen.resume(self.point.record.header)
        return screen

    # --- how it is played ----------------------------------------------------------------------

    def play(
        self, seated: Mapping[int, AtTheTable[P, A]], *, whys: bool = False, teach: bool = False
    ) -> S:
        """Play until the match has ended, or nobody of the people is left; where it stands then.

        With `whys` the bots' reasons are told when a chapter, such as a round, is over. To `teach`
        is to tell the rules at the beginning, and of each thing that they list when it first comes
        up.
        """
        self._seated, self._whys, self._teach = seated, whys, teach
        self._began = datetime.now(UTC)
        before, self.state = self.opening or ([], self.simulation.deal(self.dice))
        self.taken, self._before = [*before], len(before)
        self._say("" if self.point is None else self.point.told)
        if teach:
            for person in seated.values():
                person.tell(ScreenMove(person.screen.introduction()))
        self._show()
        while (seat := self.simulation.to_act(self.state)) is not None:
            try:
                decided = self._decide(seat)
            except Left:
                self.left = True
                break
            except Undone:
                self._undo()
            else:
                self._act(seat, decided)
            self._show()
        return self.state

    def _act(self, seat: int, decided: Decided[Decision[A]]) -> None:
        state, action = self.state, decided.decision.action
        self.state = self.simulation.act(state, action, self.dice)
        self.taken.append(Taken(state, action, decided))
        for you, person in self._seated.items():
            told = person.screen.told(state, action, self.state)
            person.tell(self._explained(you, told, seat, decided.decision))

    def _undo(self) -> None:
        """Go back to the last real choice of a person, hidden cards dealt anew."""
        for place in range(len(self.taken) - 1, self._before - 1, -1):
            then, action, _ = self.taken[place]
            person = self._seated.get(self.simulation.to_act(then) or 0)
            seen = self.simulation.position(then)
            choices = [] if person is None else person.screen.choices(seen)
            if len(choices) > 1:
                name = next((one.name for one in choices if one.action == action), str(action))
                del self.taken[place:]
                self.state = self.simulation.disguised(then, self.dice)
                self._undone = True
                self._back.append(name)
                self._say(f"Taken back: {name}. What you did not know then is dealt anew.")
                return
        self._say("There is nothing to take back.")

    def _say(self, text: str) -> None:
        for person in self._seated.values():
            person.tell(ScreenMove([text] if text else []))

    def _decide(self, seat: int) -> Decided[Decision[A]]:
        position = self.simulation.position(self.state)
        if seat not in self._seated:
            return self.bots[seat].decide(position)
        decided = _timed(self._seated[seat], position)
        if not self._back:
            return decided
        reason = f"{decided.decision.reason} Taken back before: {', '.join(self._back)}."
        self._back = []
        return decided._replace(decision=replace(decided.decision, reason=reason))

    def _explained(
        self, you: int, told: ScreenMove, seat: int, decision: Decision[A]
    ) -> ScreenMove:
        """With the bots' reasons at a chapter's end, and what the rules say of what is new."""
        screen, lines = self._seated[you].screen, [*told.lines]
        if self._whys and seat in self.bots:
            self._reasons[you].append(f"   {screen.names[seat]}: {decision.reason}")
        if told.closes:
            lines += self._reasons.pop(you, [])
        if self._teach:
            said, known = " ".join(map(str, lines)).lower(), self._taught[you]
            lessons = screen.lessons()
            fresh = [one for one in lessons if one not in known and one.lower() in said]
            known.update(fresh)
            lines += [f"   {one}: {lessons[one]}." for one in fresh]
        return told._replace(lines=lines)

    def _show(self) -> None:
        to_act = self.simulation.to_act(self.state)
        for seat, person in self._seated.items():
            person.see(self.simulation.view(self.state, seat), to_act)

    # --- how it ended --------------------------------------------------------------------------

    @property
    def winners(self) -> list[int]:
        """The seats of those who have won; nobody where it is a tie, or was left."""
        if self.left:
            return []
        points = self.simulation.points(self.state)
        best = [seat for seat, made in enumerate(points) if made == max(points)]
        return best if len(best) < self.simulation.seats else []

    @property
    def useless(self) -> set[str]:
        """The users' bots of which every decision has failed."""
        return {bot.name for bot in self.bots.values() if bot.is_useless}

    @property
    def faults(self) -> dict[str, int]:
        """How many decisions of each user's bot have failed, for those that have."""
        return {bot.name: bot.faults for bot in self.bots.values() if bot.faults}

    def told(self) -> list[Kept]:
        """The match as the log holds it, in parts, if it does; the host is the person there."""
        extras, seated = extras_of(self.game.name), self._seated
        end = seated[self.host].screen.given_up(self.state) if self.left else self.state
        if end is None or len(self.taken) == self._before or not extras.keeps:
            return []
        others = {seat: bot.name for seat, bot in self.bots.items()}
        called = {**others, **self.people, self.host: PERSON}
        names = tuple(called[seat] for seat in range(self.simulation.seats))
        name = f"{'branch' if self.point else 'versus'}-{token_hex(4)}"
        match = LabMatch(name, self._began, self.ours, names, self.taken, end, tag="versus")
        parts = list(extras.kept(match))
        if self.point is not None:
            parts = self.point.kept(parts)
        if not self._undone:
            return parts
        tags = [[*header_of(record).tags, "undo"] for record, _ in parts]
        return [
            (replace(record, header={**record.header, "tags": more}), moves)
            for (record, moves), more in zip(parts, tags, strict=True)
        ]
