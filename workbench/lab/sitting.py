"""A match on this machine between a person and strategies, by the real rules."""

import time
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta
from random import Random
from typing import Any, Generic, NamedTuple

from cardsharp.deciding import Decided
from cardsharp.simulation import A, P, S, Simulation
from cardsharp.strategy import Decision
from workbench.lab.extras import Taken
from workbench.lab.players import SeatedFile
from workbench.show.person import AtTheTable, Left, Undone
from workbench.show.screen import ScreenMove

PERSON = "you"  # what the person is called, also in the match log
Opening = tuple[list[Taken], Any]  # what was done before a match is gone on with; its state


class SeatedBot(NamedTuple):
    """A strategy at the table, and what it is called in the match log."""

    name: str
    strategy: Any

    @property
    def is_useless(self) -> bool:
        """Whether it is a user's, and has failed at every decision so far."""
        return isinstance(self.strategy, SeatedFile) and self.strategy.is_useless


@dataclass
class Sitting(Generic[S, P, A]):
    """A match that `people` play, by seat, with the `bots` of the other seats.

    With `whys` the bots' reasons are told when a chapter, such as a round, is over. To `teach` is
    to tell the rules at the beginning, and of each thing that they list when it first comes up. One
    with an `opening` goes on from there, which `note` says to the people.
    """

    simulation: Simulation[S, P, A]
    people: Mapping[int, AtTheTable[P, A]]
    bots: Mapping[int, SeatedBot]
    whys: bool = False
    teach: bool = False
    opening: Opening | None = None
    note: str = ""
    taken: list[Taken] = field(default_factory=list, init=False)
    left: bool = field(default=False, init=False)
    undone: list[str] = field(default_factory=list, init=False)
    """What was taken back, and so is not in `taken`."""
    _before: int = field(default=0, init=False)
    _back: list[str] = field(default_factory=list, init=False)
    _reasons: dict[int, list[str]] = field(default_factory=lambda: defaultdict(list), init=False)
    _taught: dict[int, set[str]] = field(default_factory=lambda: defaultdict(set), init=False)

    @property
    def has_begun(self) -> bool:
        """Whether anything was done at this table."""
        return len(self.taken) > self._before

    def play(self, dice: Random) -> S:
        """Play until the match has ended, or nobody of the people is left; where it stands then."""
        before, state = self.opening or ([], self.simulation.deal(dice))
        self.taken, self._before = [*before], len(before)
        self._say(self.note)
        if self.teach:
            for person in self.people.values():
                person.tell(ScreenMove(person.screen.introduction()))
        self._show(state)
        while (seat := self.simulation.to_act(state)) is not None:
            try:
                decided = self._decide(state, seat)
            except Left:
                self.left = True
                return state
            except Undone:
                state = self._undone(state, dice)
                continue
            action = decided.decision.action
            after = self.simulation.act(state, action, dice)
            self.taken.append(Taken(state, action, decided))
            for you, person in self.people.items():
                told = person.screen.told(state, action, after)
                person.tell(self._explained(you, told, seat, decided.decision))
            self._show(after)
            state = after
        return state

    def _undone(self, state: S, dice: Random) -> S:
        """The state before the last real choice of a person, hidden cards dealt anew."""
        for place in range(len(self.taken) - 1, self._before - 1, -1):
            then, action, _ = self.taken[place]
            person = self.people.get(self.simulation.to_act(then) or 0)
            seen = self.simulation.position(then)
            choices = [] if person is None else person.screen.choices(seen)
            if len(choices) > 1:
                name = next((one.name for one in choices if one.action == action), str(action))
                del self.taken[place:]
                state = self.simulation.disguised(then, dice)
                self.undone.append(name)
                self._back.append(name)
                self._say(f"Taken back: {name}. What you did not know then is dealt anew.")
                break
        else:
            self._say("There is nothing to take back.")
        self._show(state)
        return state

    def _say(self, text: str) -> None:
        for person in self.people.values():
            person.tell(ScreenMove([text] if text else []))

    def _decide(self, state: S, seat: int) -> Decided[Decision[A]]:
        position = self.simulation.position(state)
        player = self.people[seat] if seat in self.people else self.bots[seat].strategy
        began = time.perf_counter()
        decision = player.decide(position)
        if self._back and seat in self.people:
            reason = f"{decision.reason} Taken back before: {', '.join(self._back)}."
            decision, self._back = replace(decision, reason=reason), []
        if isinstance(player, SeatedFile) and player.decided is not None:
            return player.decided
        return Decided(decision, timedelta(seconds=time.perf_counter() - began))

    def _explained(
        self, you: int, told: ScreenMove, seat: int, decision: Decision[A]
    ) -> ScreenMove:
        """With the bots' reasons at a chapter's end, and what the rules say of what is new."""
        screen, lines = self.people[you].screen, [*told.lines]
        if self.whys and seat in self.bots:
            self._reasons[you].append(f"   {screen.names[seat]}: {decision.reason}")
        if told.closes:
            lines += self._reasons.pop(you, [])
        if self.teach:
            said, known = " ".join(map(str, lines)).lower(), self._taught[you]
            lessons = screen.lessons()
            fresh = [one for one in lessons if one not in known and one.lower() in said]
            known.update(fresh)
            lines += [f"   {one}: {lessons[one]}." for one in fresh]
        return told._replace(lines=lines)

    def _show(self, state: S) -> None:
        to_act = self.simulation.to_act(state)
        for seat, person in self.people.items():
            person.see(self.simulation.view(state, seat), to_act)
