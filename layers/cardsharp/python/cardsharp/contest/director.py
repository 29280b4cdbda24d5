"""The director of a contest: looks what was played, and begins what is to be played next.

It remembers nothing that matters (see `Matches`), so it may die at any moment and be started
again, and no match is lost or counted twice. On a contest's `Course` practice comes before it.
"""

from collections.abc import Iterable
from dataclasses import replace
from datetime import timedelta

from cardsharp.cloud.clock import Now, utc_now
from cardsharp.contest.entries import Meeting, Result, Ruling, Stage, result_of
from cardsharp.contest.freeze import board
from cardsharp.contest.pairing import Decision, Pairing, Score, Team
from cardsharp.contest.practice import Practice
from cardsharp.contest.records import Records
from cardsharp.contest.tables import Account, Facts, Matches, Tabled, TableHost
from cardsharp.errors import ArenaError


class Director:
    """Brings a contest to its end, step by step."""

    def __init__(self, records: Records, tables: TableHost, clock: Now = utc_now) -> None:
        self._records, self._clock = records, clock
        self._tables = tables
        self._settings = records.settings
        self._teams: list[Team] = []
        self._form = self._settings.form
        limit = timedelta(seconds=self._settings.timeout)
        self._matches = Matches(tables, self._settings.name, self._settings.seed, limit)
        self._rulings: dict[str, Ruling] = {}
        self._withdrawn: dict[Team, str] = {}
        self._kept: tuple[list[Result], list[Result]] | None = None
        self._accounts = {
            match: Account(result.teams, facts, None, over=True)
            for result in records.listed()
            for match, facts in result.ended
        }

    def step(self) -> bool:
        """Look, begin what can begin, and keep the results; whether the contest is over.

        It is not where an organiser has acted since this step began to look. Raises `ArenaError` if
        the host failed. Whether a match has begun is looked up in the next step.
        """
        if not self._teams:
            self._records.begin()
        board(self._records, self._clock())
        ruled, teams = self._records.ruled, self._records.teams()
        results = self._kept[0] if self._kept else self._records.results()
        self._form = self._settings.form_of(teams, results, draws=True)
        self._teams = [team.id for team in teams]
        self._rulings, self._withdrawn = self._records.rulings(), self._records.withdrawn()
        try:
            self._matches.follow()
            pairings, decided = self._known()
            waiting = [pairing for pairing in pairings if pairing.key not in decided]
            if waiting and not self._records.paused:
                self._begin(waiting)
        except ArenaError:
            self._matches.forget()
            raise
        self._keep(pairings, decided)
        if waiting:
            return False
        self._records.end(ruled)
        return self._records.stage is Stage.OVER

    def _known(self) -> tuple[tuple[Pairing, ...], dict[str, Decision]]:
        """All pairings that are known, and how those ended that have."""
        decided: dict[str, Decision] = {}
        while True:
            pairings = self._form.pairings(self._teams, decided)
            self._matches.read({pairing.round for pairing in pairings})
            news = {
                pairing.key: decision
                for pairing in pairings
                if pairing.key not in decided and (decision := self._decision(pairing)) is not None
            }
            if not news:
                self._matches.read_on(max(pairing.round for pairing in pairings))
                return pairings, decided
            decided |= news

    def _decision(self, pairing: Pairing) -> Decision | None:
        ruling, scores = self._ruling(pairing), self._scores(pairing)
        if ruling is None:
            return self._settings.rules.decision(pairing, scores)
        return Decision.of(pairing.teams, scores, ruling.winner)

    def _scores(self, pairing: Pairing) -> list[Score]:
        return [one.score for one in self._matches.of(pairing) if one.score is not None]

    def _ruling(self, pairing: Pairing) -> Ruling | None:
        """What decides a pairing beside its matches: an organiser, or that a team has withdrawn.

        Who withdraws loses what its matches have not decided; if all do, the best seed goes on.
        While there are two at the table, they play on.
        """
        ruled = self._rulings.get(pairing.key)
        if ruled is not None and ruled.winner in pairing.teams:
            return ruled
        there = [team for team in pairing.teams if team not in self._withdrawn]
        if len(there) > 1 or self._settings.rules.decision(pairing, self._scores(pairing)):
            return None
        winner = there[0] if there else pairing.teams[0]
        last = next(team for team in reversed(pairing.teams) if team != winner)
        return Ruling(pairing.key, winner, f"withdrawn: {self._withdrawn[last]}")

    def _begin(self, waiting: list[Pairing]) -> None:
        """Begin the next match of each pairing that has none running; a team sits at one table."""
        busy = {
            team
            for pairing in waiting
            if any(one.score is None for one in self._matches.of(pairing))
            for team in pairing.teams
        }
        for pairing in waiting:
            if busy.isdisjoint(pairing.teams):
                busy.update(pairing.teams)
                self._matches.begin(pairing)

    def _keep(self, pairings: tuple[Pairing, ...], decided: dict[str, Decision]) -> None:
        results: list[Result] = []
        for pairing in pairings:
            played = self._matches.of(pairing)
            facts = tuple(self._facts_of(one, pairing) for one in played if one.score is not None)
            ids = tuple(one.id for one in played)
            ruling, decision = self._ruling(pairing), decided.get(pairing.key)
            results.append(result_of(pairing, decision, facts, ids, ruling))
            for one in played:
                if decision is not None and one.score is None:
                    self._tables.end(one.id, None, "The organiser has decided the pairing.")
        for match in list(self._matches.idle(pairings)):
            self._tables.end(match, None, "A ruling has brought other teams here.")
        kept = results, self._aside(results)
        if kept != self._kept:
            self._records.keep(*kept)
            self._kept = kept

    def _aside(self, results: list[Result]) -> list[Result]:
        """The ended matches that count no more."""
        counted = {match for one in results for match in one.matches}
        found = [
            replace(
                result_of(pairing, facts=(self._facts_of(one, pairing),), matches=(one.id,)),
                counts=False,
            )
            for pairing, one in self._matches.uncounted(counted)
        ]
        return sorted(found, key=lambda one: (one.round, one.pairing, one.matches))

    def _facts_of(self, ended: Tabled, pairing: Pairing) -> Facts:
        """What a match came to, in the order of the pairing's teams; its moves are read once."""
        if ended.id not in self._accounts:
            self._accounts[ended.id] = self._tables.account(ended.id)
        return self._accounts[ended.id].facts_of(pairing.teams)


class Course:
    """A contest's course: practice while it is open, what is left of it, and the contest itself.

    It remembers nothing that matters, like those who take its steps: at home a command, in the
    cloud the ticks of a director.
    """

    def __init__(self, records: Records, tables: TableHost, clock: Now) -> None:
        self._records, self._tables, self._clock = records, tables, clock
        self._practice: Practice | None = None
        self._director = Director(records, tables, clock)

    @property
    def meetings(self) -> Iterable[Meeting]:
        """The matches of practice that have ended, in the order in which that was seen."""
        return self._practice.meetings if self._practice else self._records.meetings()

    def step(self) -> bool:
        """Take a step; whether more is to come before an organiser acts.

        Raises `ArenaError` if the host failed, and the step may have had its effect or not.
        """
        until = self._records.practises_until
        if until is None:
            return self._records.stage is not Stage.OPEN and not self._director.step()
        if self._practice is None:
            self._practice = Practice(self._records, self._tables, self._clock)
        goes_on = self._clock() < until
        if self._practice.step(begin=goes_on) and not goes_on:
            self._records.practise(None)
        return True
