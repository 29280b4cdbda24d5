"""The director of a contest: looks what was played, and begins what is to be played next.

It remembers nothing that matters. A match carries its pairing and number in its tags, and who
begins one looks first whether it is there: so the director may die at any moment and be started
again, and no match is lost or counted twice.
"""

from collections import defaultdict
from dataclasses import dataclass
from datetime import timedelta
from hashlib import sha256
from typing import Protocol

from cardsharp.deadmansdraw.contest.facts import Facts, facts_of, score_of
from cardsharp.deadmansdraw.contest.pairing import Decision, Pairing, Score
from cardsharp.deadmansdraw.contest.records import Records, Result, Ruling, result_of
from cardsharp.deadmansdraw.wire import MatchCreated, MatchParams, MatchView
from cardsharp.errors import ArenaError


class Arena(Protocol):
    """What the director asks of an arena, as its organiser; `ArenaClient` does it."""

    def matches(self, tags: tuple[str, ...] = ..., ids: tuple[str, ...] = ...) -> list[MatchView]:
        """Matches with any of these tags, or of these ids."""

    def view(self, match_id: str) -> MatchView:
        """The match with all its moves."""

    def create_match(self, params: MatchParams) -> MatchCreated:
        """A new match."""

    def terminate(
        self, match_id: str, winner_id: str | None = None, comment: str | None = None
    ) -> MatchView:
        """The match after it was ended by decision."""


@dataclass(frozen=True, slots=True)
class Played:
    """A match of a pairing; its score is None while it runs."""

    match: str
    score: Score | None


class Director:
    """Brings a contest to its end, step by step."""

    def __init__(self, records: Records, arena: Arena) -> None:
        self._records = records
        self._arena = arena
        self._settings = records.settings
        self._teams = [team.id for team in records.teams()]
        self._views: dict[tuple[str, int], MatchView] = {}
        self._knows_all = False
        self._kept: list[Result] | None = None
        self._facts: dict[str, Facts] = {
            match: facts for result in records.results() for match, facts in result.ended
        }

    def step(self) -> bool:
        """Look, begin what can begin, and keep the results; whether the contest is over.

        Raises:
            ArenaError: the arena failed. Whether a match has begun is looked up in the next step.
        """
        try:
            self._look()
            pairings, decided = self._known()
            waiting = [pairing for pairing in pairings if pairing.key not in decided]
            if waiting and not self._records.paused:
                self._begin(waiting)
        except ArenaError:
            self._knows_all = False
            raise
        self._keep(pairings, decided)
        return not waiting

    # --- what was played -------------------------------------------------------------------

    def _look(self) -> None:
        """Read the matches of the contest: all at first, then those that ran."""
        name = self._settings.name
        if self._knows_all:
            running = tuple(view.id for view in self._views.values() if not view.finished)
            found = self._arena.matches(ids=running) if running else []
        else:
            self._views.clear()
            found = self._arena.matches(tags=(name,))
            self._knows_all = True
        for view in sorted(found, key=lambda view: view.id):
            # Teams may give their own practice matches any tag.
            which = None if view.created_by_player_id else _number_of(name, view)
            if which is not None and self._views.setdefault(which, view).id == view.id:
                self._views[which] = view

    def _known(self) -> tuple[tuple[Pairing, ...], dict[str, Decision]]:
        """All pairings that are known, and how those ended that have."""
        form, rulings = self._settings.form, self._records.rulings()
        decided: dict[str, Decision] = {}
        while True:
            pairings = form.pairings(self._teams, decided)
            news = {
                pairing.key: decision
                for pairing in pairings
                if pairing.key not in decided
                and (decision := self._decision(pairing, rulings.get(pairing.key))) is not None
            }
            if not news:
                return pairings, decided
            decided |= news

    def _decision(self, pairing: Pairing, ruling: Ruling | None) -> Decision | None:
        scores = [one.score for one in self._played(pairing) if one.score is not None]
        decision = self._settings.rules.decision(pairing, scores)
        if ruling is None or ruling.winner not in pairing.teams:
            return decision
        won = [score.winner for score in scores]
        return Decision((won.count(0), won.count(1)), ruling.winner)

    def _played(self, pairing: Pairing) -> list[Played]:
        """The matches of a pairing in their order."""
        found = []
        for number in range(self._settings.most):
            view = self._views.get((pairing.key, number))
            if view is None:
                break
            found.append(Played(view.id, score_of(view, pairing) if view.finished else None))
        return found

    # --- what is to be played --------------------------------------------------------------

    def _begin(self, waiting: list[Pairing]) -> None:
        """Begin the next match of each pairing that has none running; a team sits at one table."""
        busy = {team for pairing in waiting if self._is_running(pairing) for team in pairing.teams}
        for pairing in waiting:
            if busy.isdisjoint(pairing.teams):
                busy.update(pairing.teams)
                self._create(pairing, len(self._played(pairing)))

    def _is_running(self, pairing: Pairing) -> bool:
        return any(one.score is None for one in self._played(pairing))

    def _create(self, pairing: Pairing, number: int) -> None:
        name = self._settings.name
        params = MatchParams(
            player_ids=pairing.seats(number),
            tags=(f"{name}_Round{pairing.round}", name, f"{name}:{pairing.key}:{number}"),
            random_seed=_seed(self._settings.seed, pairing.key, number),
            timeout=timedelta(seconds=self._settings.timeout),
        )
        created = self._arena.create_match(params)
        for view in self._arena.matches(ids=(created.id,)):
            self._views[pairing.key, number] = view

    def _keep(self, pairings: tuple[Pairing, ...], decided: dict[str, Decision]) -> None:
        rulings = self._records.rulings()
        results: list[Result] = []
        for pairing in pairings:
            played = self._played(pairing)
            facts = tuple(self._facts_of(one, pairing) for one in played if one.score is not None)
            ids = tuple(one.match for one in played)
            ruling, decision = rulings.get(pairing.key), decided.get(pairing.key)
            results.append(result_of(pairing, decision, facts, ids, ruling))
            if decision is not None:
                self._end_what_runs(played)
        if results != self._kept:
            self._records.keep(results)
            self._kept = results

    def _facts_of(self, ended: Played, pairing: Pairing) -> Facts:
        """What a match came to; its moves are read once."""
        if ended.match not in self._facts:
            self._facts[ended.match] = facts_of(self._arena.view(ended.match), pairing)
        return self._facts[ended.match]

    def _end_what_runs(self, played: list[Played]) -> None:
        """End the matches of a pairing that an organiser has decided meanwhile."""
        for one in played:
            if one.score is None:
                self._arena.terminate(one.match, comment="The organiser has decided the pairing.")


def _number_of(name: str, view: MatchView) -> tuple[str, int] | None:
    """Which match of which pairing it is, by its tags."""
    tags = defaultdict(str, enumerate(view.creation_params.tags))
    prefix, _, rest = tags[2].partition(":")
    key, _, number = rest.rpartition(":")
    return (key, int(number)) if prefix == name and key and number.isdecimal() else None


def _seed(secret: str, key: str, number: int) -> str:
    """The seed of a match: from the contest's own, which nobody sees."""
    digest = sha256(f"{secret}:{key}:{number}".encode()).digest()
    return str(int.from_bytes(digest[:7]))
