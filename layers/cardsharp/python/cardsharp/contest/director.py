"""Director of a contest: reads which matches were played and begins the next ones.

Its memory is only a cache (see `ContestMatches`), so it may be killed and restarted at any
moment, and no match is lost or counted twice. `ContestRunner` runs practice first, then the
contest.
"""

from collections.abc import Iterable
from dataclasses import replace
from datetime import timedelta

from cardsharp.contest.formats.pairing import MatchScore, Pairing, PairingOutcome, TeamId
from cardsharp.contest.freeze import spectator_records
from cardsharp.contest.match_host import (
    ContestMatches,
    FullMatchReport,
    MatchHost,
    MatchResultFacts,
    MatchSummary,
)
from cardsharp.contest.models import (
    ContestStage,
    PairingResult,
    PracticeMatch,
    Ruling,
    build_result,
)
from cardsharp.contest.practice import PracticeDirector
from cardsharp.contest.results import ContestRecords
from cardsharp.contest.team_presence import PresenceMonitor
from cardsharp.core.clock import TimeSource, utc_now
from cardsharp.errors import ArenaError


class ContestDirector:
    """Director of one contest, which runs it to its end step by step."""

    def __init__(
        self, records: ContestRecords, match_host: MatchHost, clock: TimeSource = utc_now
    ) -> None:
        self._records, self._clock = records, clock
        self._match_host = match_host
        self._settings = records.settings
        self._teams: list[TeamId] = []
        self._format = self._settings.format_without_history
        limit = timedelta(seconds=self._settings.timeout)
        self._matches = ContestMatches(match_host, self._settings.name, self._settings.seed, limit)
        self._rulings: dict[str, Ruling] = {}
        self._withdrawn_teams: dict[TeamId, str] = {}
        self._saved_results: tuple[list[PairingResult], list[PairingResult]] | None = None
        self._match_reports = {
            match: FullMatchReport(result.teams, facts, None, is_over=True)
            for result in records.results_with_discarded()
            for match, facts in result.finished_match_ids_and_facts
        }

    def step(self) -> bool:
        """Read matches, begin new ones and save the results; return True if the contest is over.

        Returns False if an organiser has acted since this step began. Raises `ArenaError` if
        the host failed; the next step looks up whether a match has begun.
        """
        if not self._teams:
            self._records.start_contest()
        # A freeze that is due takes its snapshot first. Results of this step come after it.
        spectator_records(self._records, self._clock())
        ruled, teams = self._records.admin_action_count, self._records.teams()
        results = self._saved_results[0] if self._saved_results else self._records.results()
        self._format = self._settings.format_with_history(teams, results, may_draw=True)
        self._teams = [team.id for team in teams]
        self._rulings, withdrawn_teams = (
            self._records.rulings_by_pairing(),
            self._records.withdrawal_reasons_by_team(),
        )
        if self._withdrawn_teams.keys() - withdrawn_teams.keys():
            # The host plays the matches again that were played without these teams.
            self._matches.clear_cache()
        self._withdrawn_teams = withdrawn_teams
        try:
            self._matches.refresh_running()
            pairings, decided = self._resolve_pairings()
            waiting = [pairing for pairing in pairings if pairing.key not in decided]
            if waiting and not self._records.is_paused:
                self._begin_next_matches(waiting)
        except ArenaError:
            # The failed call may have begun a match. So the next step reads everything again
            # instead of relying on the cache, and does not begin the same match twice.
            self._matches.clear_cache()
            raise
        self._save_results(pairings, decided)
        if waiting or self._matches.running_matches():
            return False
        self._records.end_contest_unless_admin_acted(ruled)
        return self._records.stage is ContestStage.OVER

    def _resolve_pairings(self) -> tuple[tuple[Pairing, ...], dict[str, PairingOutcome]]:
        """Return all pairings that are determined so far, and the outcomes of the decided ones."""
        # Each decided pairing may determine further pairings, so this repeats until none is added.
        decided: dict[str, PairingOutcome] = {}
        while True:
            pairings = self._format.determined_pairings(self._teams, decided)
            self._matches.load_rounds({pairing.round for pairing in pairings})
            news = {
                pairing.key: decision
                for pairing in pairings
                if pairing.key not in decided
                and (decision := self._decide_pairing(pairing)) is not None
            }
            if not news:
                self._matches.load_later_rounds(max(pairing.round for pairing in pairings))
                return pairings, decided
            decided |= news

    def _decide_pairing(self, pairing: Pairing) -> PairingOutcome | None:
        ruling, scores = self._find_ruling(pairing), self._match_scores(pairing)
        if ruling is None:
            return self._settings.series_rules.outcome(pairing, scores)
        return PairingOutcome.from_scores(pairing.teams, scores, ruling.winner)

    def _match_scores(self, pairing: Pairing) -> list[MatchScore]:
        return [
            match.score for match in self._matches.matches_of(pairing) if match.score is not None
        ]

    def _find_ruling(self, pairing: Pairing) -> Ruling | None:
        """Return the ruling that decides a pairing: the organiser's, or one after a withdrawal.

        A team that withdraws loses everything that its matches have not decided. If all teams of
        a pairing withdraw, the best seed goes on. While at least two teams of it remain, they
        play on.
        """
        ruled = self._rulings.get(pairing.key)
        if ruled is not None and ruled.winner in pairing.teams:
            return ruled
        remaining_teams = [team for team in pairing.teams if team not in self._withdrawn_teams]
        if len(remaining_teams) > 1 or self._settings.series_rules.outcome(
            pairing, self._match_scores(pairing)
        ):
            return None
        winner = remaining_teams[0] if remaining_teams else pairing.teams[0]
        loser = next(team for team in reversed(pairing.teams) if team != winner)
        return Ruling(pairing.key, winner, f"withdrawn: {self._withdrawn_teams[loser]}")

    def _begin_next_matches(self, waiting: list[Pairing]) -> None:
        """Begin the next match of each pairing whose teams are free.

        A team plays one match at a time. A match goes on after a ruling or a withdrawal has decided
        its pairing, because it counts again if that is undone.
        """
        busy = {team for match in self._matches.running_matches() for team in match.teams}
        for pairing in waiting:
            if busy.isdisjoint(pairing.teams):
                busy.update(pairing.teams)
                self._matches.begin_next_match(pairing)

    def _save_results(
        self, pairings: tuple[Pairing, ...], decided: dict[str, PairingOutcome]
    ) -> None:
        results: list[PairingResult] = []
        for pairing in pairings:
            played = self._matches.matches_of(pairing)
            facts = tuple(
                self._read_match_facts(summary, pairing)
                for summary in played
                if summary.score is not None
            )
            ids = tuple(summary.id for summary in played)
            ruling, decision = self._find_ruling(pairing), decided.get(pairing.key)
            results.append(build_result(pairing, decision, facts, ids, ruling))
        for summary in self._matches.running_matches():
            self._match_reports.pop(summary.id, None)  # the report of a match that is played again
        snapshot = results, self._build_discarded_results(results)
        if snapshot != self._saved_results:
            self._records.save_results(*snapshot)
            self._saved_results = snapshot

    def _build_discarded_results(self, results: list[PairingResult]) -> list[PairingResult]:
        """Return a result for each match that has ended but no longer counts."""
        counted = {match for result in results for match in result.matches}
        discarded = [
            replace(
                build_result(
                    pairing,
                    facts=(self._read_match_facts(summary, pairing),),
                    matches=(summary.id,),
                ),
                counts=False,
            )
            for pairing, summary in self._matches.ended_matches_except(counted)
        ]
        return sorted(discarded, key=lambda result: (result.round, result.pairing, result.matches))

    def _read_match_facts(self, summary: MatchSummary, pairing: Pairing) -> MatchResultFacts:
        """Return a match's facts in the order of the pairing's teams; read its moves only once."""
        if summary.id not in self._match_reports:
            self._match_reports[summary.id] = self._match_host.match_report(summary.id)
        return self._match_reports[summary.id].facts_in_team_order(pairing.teams)


class ContestRunner:
    """Runs a contest: practice while it is open, then its remaining matches, then the contest.

    It keeps no state that matters. Its steps are taken by a command on a local machine, or by
    the scheduled director function in the cloud.
    """

    def __init__(self, records: ContestRecords, match_host: MatchHost, clock: TimeSource) -> None:
        self._records, self._match_host, self._clock = records, match_host, clock
        self._practice_director: PracticeDirector | None = None
        self._director = ContestDirector(records, match_host, clock)
        self._presence_monitor = PresenceMonitor(records, match_host, clock)

    @property
    def ended_practice_matches(self) -> Iterable[PracticeMatch]:
        """The ended practice matches, in the order in which their end was noticed."""
        return (
            self._practice_director.ended_practice_matches
            if self._practice_director
            else self._records.practice_matches()
        )

    def step(self) -> bool:
        """Take a step; return False if nothing is left to do until an organiser acts.

        Raises `ArenaError` if the host failed; the step may or may not have had its effect.
        """
        self._presence_monitor.check()
        until = self._records.practice_until
        if until is None:
            return self._records.stage is not ContestStage.OPEN and not self._director.step()
        if self._practice_director is None:
            self._practice_director = PracticeDirector(self._records, self._match_host, self._clock)
        goes_on = self._clock() < until
        if self._practice_director.step(may_begin=goes_on) and not goes_on:
            self._records.set_practice_until(None)
        return True
