"""Many matches of our machines, each against an opponent, under troubles or none."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

from support.arena import ADMIN, ALICE, BOB, PASSWORDS

from cardsharp.access import Credentials
from cardsharp.cloud.messages import MatchMessage
from cardsharp.deadmansdraw.arena.players import User
from cardsharp.deadmansdraw.game import GAME
from world.arena import BenchArena
from world.faults import Trouble
from world.machines import Bench, Station
from world.road import Road
from world.stores import Home
from world.world import Outcome, Wish, World

STALL = 600  # so many seconds a match may stand still before it is given up as stuck
OUTAGE = 0.3  # so much of a turn an outage may last: from a longer one no turn can be saved
CARDS = 2  # after so many an opponent ends its turn
SKEWS = (0, 0, 0.4, -0.4, 5, -5, 3600, -3600)  # by how much a new machine's clock may be ahead
REPEAT = 5  # seconds from one message that comes again to the next

ADMINISTRATOR = User(ADMIN, None, ADMIN)


class Hall(World):
    """Our machines, an opponent in each match, and whoever brings about troubles."""

    def __init__(self, wish: Wish, folder: Path, home: Home, say: Callable[[str], object]) -> None:
        super().__init__(wish, partial(BenchArena, folder, table=None), say)
        self.ours, self.stores = {ALICE}, home(folder, self.time)
        player = Credentials(ALICE, PASSWORDS[ALICE])
        self.bench = Bench(self, Road(self), self.stores, player, wish.strategy)
        self.referee = self.arena.arena.referee
        self.stations: list[Station] = []

    def play(self) -> Outcome:
        """Play what was wished for."""
        self.stations = [self._station(number) for number in range(self.wish.machines)]
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
        match_id = self.referee.create(ADMINISTRATOR, wish, None).id
        self.numbers[match_id] = number
        self.time.news += 1
        self.time.spawn(lambda: self._oppose(match_id))
        return match_id

    def _oppose(self, match_id: str) -> None:
        """Play the opponent's side of a match: two cards a turn, effects as the arena likes."""
        bob = User(BOB, "Bob", "player")

        lobby = self.arena.arena.lobby

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
