"""Matches under everything that can go wrong at once, and whether a promise was broken.

python -m world.chaos [--matches 200] [--seed 7] [--home SQLite] [--calm] [--replay FILE]

Machines of ours share a match log; they are killed, frozen, and started anew with clocks that are
wrong. The network and the stores cut, delay, lose and forge answers, and the arena counts our
requests. Exits with 1 when an action was missing, doubled, not meant or refused, when a log differs
from the arena's history, when a match stands still, or when a turn was lost to a single fault. The
same seed at the same commit does the same to the last byte: `--replay` writes every step down.
With `--calm` nothing fails, and one machine plays at the arena's limit of requests.
"""

import logging
import os
import sys
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from functools import partial
from itertools import cycle
from pathlib import Path
from secrets import randbelow
from typing import Literal

import cyclopts
from support.arena import ADMIN, ALICE, BOB, PASSWORDS

from cardsharp.access import Credentials
from cardsharp.cloud.messages import MatchMessage
from cardsharp.deadmansdraw.arena.players import User
from cardsharp.deadmansdraw.game import GAME
from world.faults import Trouble
from world.kit import HOMES
from world.machines import Bench, Station
from world.road import Road
from world.stores import Home
from world.world import Outcome, Wish, World, stage

NIGHT = Wish(matches=50, at_once=12, turn=20, opponent=(0.5, 10), machines=3, rate=0.05, every=10)
"""Fifty matches of a machine's ordinary night, if everything fails in it."""

CALM = Wish(matches=50, at_once=6)
"""As many of one machine's as the limit of requests feeds, in which nothing fails."""

STALL = 600  # so many seconds a match may stand still before it is given up as stuck
OUTAGE = 0.3  # so much of a turn an outage may last: from a longer one no turn can be saved
CARDS = 2  # after so many an opponent ends its turn
SKEWS = (0, 0, 0.4, -0.4, 5, -5, 3600, -3600)  # by how much a new machine's clock may be ahead
REPEAT = 5  # seconds from one message that comes again to the next


class Hall(World):
    """Our machines, an opponent in each match, and whoever brings about troubles."""

    def __init__(self, wish: Wish, folder: Path, home: Home, say: Callable[[str], object]) -> None:
        super().__init__(wish, folder, say)
        self.ours, self.stores = {ALICE}, home(folder, self.time)
        player = Credentials(ALICE, PASSWORDS[ALICE])
        self.bench = Bench(self, Road(self), self.stores, player, wish.strategy)
        self.referee = self.arena.arena.referee
        self.stations = [self._station(number) for number in range(wish.machines)]

    def play(self) -> Outcome:
        """Play what was wished for."""
        self.time.spawn(self._watch)
        self.time.spawn(self._organise)
        if self.wish.every is not None:
            self.time.spawn(self._trouble)
            self.time.spawn(self._repeat)
        try:
            self.run()
        finally:
            self.stores.close()
        return self.outcome

    def _station(self, number: int, skew: float = 0) -> Station:
        return Station(f"machine-{number}", self.bench, skew)

    def _watch(self) -> None:
        """End late turns, once a second, as the organisers' watchdog does; start what has died."""
        while not self.done:
            for number, station in enumerate(self.stations):
                if station.dead:
                    self.time.kill(station)
                    self.stations[number] = self._station(number, station.skew)
            self.time.news += bool(self.referee.end_overdue_turns())
            self.sleep(1)

    def _organise(self) -> None:
        """Begin matches and judge those that have ended; who stops is noticed."""
        running: dict[str, tuple[int, float]] = {}
        while len(self.numbers) < self.wish.matches or running:
            while len(self.numbers) < self.wish.matches and len(running) < self.wish.at_once:
                running[self._begin()] = (-1, self.time.monotonic())
            self.sleep(1)
            self.outcome.match_minutes += len(running) / 60
            for match_id, (moves, since) in [*running.items()]:
                match = self.referee.find(match_id)
                if match.finished and self._is_closed(match_id):
                    del running[match_id]
                    suffered = [*self.suffered[""], *self.suffered.pop(match_id, [])]
                    self.judged(match_id, ALICE, self.stores.log, suffered)
                    del self.suffered[""][:-200]  # what befell so long ago is no reason any more
                elif match.moves != moves:
                    running[match_id] = match.moves, self.time.monotonic()
                elif self.time.monotonic() - since > STALL:
                    del running[match_id]
                    self.outcome.stuck.append(self.numbers[match_id])
        self.done = True
        self.time.news += 1

    def _is_closed(self, match_id: str) -> bool:
        record = self.stores.log.match(match_id)
        return record is not None and record.outcome is not None

    def _begin(self) -> str:
        number = len(self.numbers) + 1
        wish = {
            "playerids": [ALICE, BOB] if number % 2 else [BOB, ALICE],
            "timeout": self.wish.turn,
            "randomSeed": f"{self.wish.seed}/{number}",
        }
        match_id = self.referee.create(User(ADMIN, None, ADMIN), wish, None).id
        self.numbers[match_id] = number
        self.time.news += 1
        self.time.spawn(lambda: self._oppose(match_id))
        return match_id

    def _oppose(self, match_id: str) -> None:
        """Play the opponent's side of a match: two cards a turn, effects as the arena likes."""
        bob, lobby = User(BOB, "Bob", "player"), self.arena.arena.lobby

        def is_his() -> bool:
            match = lobby.find(match_id)
            return self.done or match is None or match.active_player in {BOB, None}

        while True:
            self.time.until(is_his)
            if self.done or self.referee.find(match_id).finished:
                return
            self.sleep(self.chance.uniform(*self.wish.opponent))
            match = self.referee.find(match_id)
            if match.active_player == BOB:
                drawn = () if match.state.between_turns else match.state.play_area
                enough = len(drawn) >= CARDS
                wish = {"etype": "EndTurn" if enough else "Draw", "autopick": True}
                self.referee.act(bob, match_id, wish, None)
                self.time.news += 1

    def _trouble(self) -> None:
        """Do one thing after the other, so that any one thing may fail, but never two at once."""
        lock = partial(self._cut, Trouble.LOCKED, "locked_until")
        deeds = (self._kill, self._kill, self._freeze, self._cut, lock)
        while not self.done:
            self.sleep(self.chance.expovariate(1 / self.wish.every))
            self.sleep(self.chance.choice(deeds)())

    def _kill(self) -> float:
        """The first machine lives as long as all."""
        number = self.chance.randrange(1, self.wish.machines)
        skew = self.chance.choice(SKEWS)
        self.befall(Trouble.KILLED)
        if skew:
            self.befall(Trouble.SKEWED)
        self.time.kill(self.stations[number])
        self.stations[number] = self._station(number, skew)
        return 0

    def _freeze(self) -> float:
        self.befall(Trouble.FROZEN)
        return self.freeze(self.chance.choice(self.stations))

    def _cut(self, trouble: Trouble = Trouble.CUT, until: str = "cut_until") -> float:
        self.befall(trouble)
        lasts = self.chance.uniform(0.5, OUTAGE * self.wish.turn)
        setattr(self, until, self.time.monotonic() + lasts)
        return lasts

    def _repeat(self) -> None:
        """Put the message of some running match on the queue again, as a standard queue may."""
        while not self.done:
            self.sleep(REPEAT)
            running = self.stores.log.running()
            if running:
                self.outcome.befell[Trouble.AGAIN] += 1
                match_id = self.chance.choice(running).match_id
                self.stores.queue.send(MatchMessage(match_id=match_id, game=GAME.name).body)


def played(wish: Wish, home: str, replay: Path | None = None) -> Outcome:
    with stage(replay) as (folder, say), HOMES[home]() as stores:
        return Hall(wish, folder, stores, say).play()


def told(outcomes: list[Outcome]) -> str:
    verdicts = [verdict for one in outcomes for verdict in one.verdicts]
    lost = [turn for verdict in verdicts for turn in verdict.lost]
    befell: Counter[str] = sum((one.befell for one in outcomes), Counter())
    hours = sum(one.match_minutes for one in outcomes) / 60
    pace = hours / max(sum(one.seconds for one in outcomes), 1) * 3600
    longest = max((t.took.total_seconds() for v in verdicts for t in v.turns), default=0)
    wrong = sum(bool(v.wrong) for v in verdicts)
    alone = sum(not turn.excused for turn in lost)
    held = sum(one.slowed.total() for one in outcomes)
    most = max(one.longest for one in outcomes)
    asked: Counter[str] = sum((one.asked for one in outcomes), Counter())
    a_match = {kind: number / max(len(verdicts), 1) for kind, number in asked.most_common()}
    return f"""\
{len(verdicts)} matches, {sum(v.actions for v in verdicts)} actions of ours
{hours:.1f} match-hours, {pace:.0f} for an hour of a processor
what happened: {", ".join(f"{n} {name}" for name, n in sorted(befell.items()))}
matches with actions missing, doubled or not meant, or another log than history: {wrong}
actions refused: {sum(len(v.refused) for v in verdicts)}
matches that stood still: {sum(len(one.stuck) for one in outcomes)}
turns lost: {len(lost)} of {sum(len(v.turns) for v in verdicts)}, {alone} to fewer than two faults
longest turn of ours: {longest:.1f} s
requests a match: {", ".join(f"{number:.1f} {kind}" for kind, number in a_match.items())}
requests held back by the arena: {held}, by {most:.1f} s at most"""


def main(  # noqa: PLR0913 - the options of a command
    *,
    matches: int = 200,
    seed: int | None = None,
    home: Literal["SQLite", "DynamoDB and SQS"] | None = None,
    calm: bool = False,
    strategy: str = CALM.strategy,
    at_once: int | None = None,
    turn: float | None = None,
    replay: Path | None = None,
) -> int:
    """Play what the command line says: a `turn` in seconds; by default a `seed` that is printed.

    Without a `home` of the match log one night of ten is played in the cloud; with `replay` the
    seed's first night alone, told there.
    """
    logging.disable()
    night, seed = CALM if calm else NIGHT, randbelow(10**6) if seed is None else seed
    limit, (least, most) = turn or night.turn, night.opponent
    night = replace(night, turn=limit, opponent=(least, most * limit / night.turn))
    night = replace(night, at_once=at_once or night.at_once, strategy=strategy)
    wishes = [  # each night has its own seed
        replace(night, matches=min(night.matches, matches - begun), seed=seed + number)
        for number, begun in enumerate(range(0, matches, night.matches))
    ]
    at_home, in_the_cloud = HOMES
    homes = [home] if home else [*[at_home] * 9, in_the_cloud]
    outcomes = list[Outcome]()
    with ProcessPoolExecutor(os.cpu_count(), initializer=logging.disable) as pool:
        if replay:
            runs = iter([played(wishes[0], homes[0], replay)])
        else:
            runs = pool.map(played, wishes, cycle(homes))
        for wish, outcome in zip(wishes, runs, strict=False):
            outcomes.append(outcome)
            say = partial(print, flush=True)
            say(f"seed {wish.seed}: {outcome.ended} matches, replay {outcome.replay[:16]}")
            for fault in outcome.faults:
                say(f"  {fault[:300]}")
    print(told(outcomes))  # noqa: T201 - a command
    return 1 if any(one.faults for one in outcomes) else 0


if __name__ == "__main__":
    sys.exit(cyclopts.run(main, result_action="return_value"))
