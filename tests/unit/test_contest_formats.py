"""Every format of a contest for 2 to 64 teams, and how matches decide a pairing."""

import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import chain, combinations, pairwise, product
from random import Random
from statistics import fmean

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from support.case_counts import case_count

from cardsharp.contest.formats.base import Format, RoundByRoundFormat
from cardsharp.contest.formats.bracket import (
    BracketGame,
    BracketSection,
    LoserOf,
    SeedSlot,
    SlotSource,
    WinnerOf,
    build_bracket,
    seed_slots,
)
from cardsharp.contest.formats.double_elimination import DoubleElimination
from cardsharp.contest.formats.ladder import (
    MAX_EXTRA_PAIRINGS,
    LadderFormat,
    next_pairings,
    rate_teams,
)
from cardsharp.contest.formats.pairing import (
    MatchScore,
    Pairing,
    PairingOutcome,
    Pairings,
    SeriesRules,
)
from cardsharp.contest.formats.pods import PodFormat
from cardsharp.contest.formats.round_robin import RoundRobin
from cardsharp.contest.formats.swiss import Swiss
from cardsharp.contest.models import ContestSettings, build_result, outcomes_by_key


def named(number: int) -> list[str]:
    """So many teams, the best seed first."""
    return [f"t{place}" for place in range(number)]


@dataclass(frozen=True)
class Decided:
    """A contest that was held: its pairings, how each ended, and those decided at one time."""

    pairings: Pairings
    decided: dict[str, PairingOutcome]
    waves: list[list[Pairing]]


def decided_by(
    form: Format, teams: Sequence[str], decide: Callable[[Pairing], PairingOutcome]
) -> Decided:
    """A whole contest: all that can be played is decided, then what follows from it."""
    decided: dict[str, PairingOutcome] = {}
    waves: list[list[Pairing]] = []
    pairings: Pairings = ()
    while True:
        decided_pairings = tuple(
            (pairing, decided[pairing.key]) for pairing in pairings
        )  # as a director knows it
        pairings = form.replace_matching_fields(
            drawn_rounds=(decided_pairings,)
        ).determined_pairings(teams, decided)
        assert {*chain(*waves)} <= {*pairings}, "a pairing has changed"
        waiting = [pairing for pairing in pairings if pairing.key not in decided]
        if not waiting:
            return Decided(pairings, decided, waves)
        decided |= {pairing.key: decide(pairing) for pairing in waiting}
        waves.append(waiting)


def by_chance(chance: Random) -> Callable[[Pairing], PairingOutcome]:
    def decide(pairing: Pairing) -> PairingOutcome:
        winner = None if chance.random() < 0.1 else chance.choice(pairing.teams)
        return PairingOutcome(tuple(1 + (team == winner) for team in pairing.teams), winner)

    return decide


def once_a_round(pairings: Sequence[Pairing]) -> bool:
    seats = Counter((pairing.round, team) for pairing in pairings for team in pairing.teams)
    return set(seats.values()) == {1}


def test_round_robin_pairs_every_two_teams_once_without_double_bookings() -> None:
    for number in range(2, 65):
        pairings = RoundRobin().determined_pairings(named(number), {})
        pairs = {frozenset(pairing.teams) for pairing in pairings}
        assert len(pairings) == len(pairs) == number * (number - 1) // 2
        assert len({pairing.key for pairing in pairings}) == len(pairings)
        assert once_a_round(pairings)
        assert max(pairing.round for pairing in pairings) == number - 1 + number % 2


def test_standings_are_by_points_then_matches_and_a_bye_scores_a_point() -> None:
    """But not for a round that was played before its team came."""
    teams = named(4)
    won = {"t0 t1": None, "t0 t2": "t0", "t0 t3": "t0", "t1 t2": "t1", "t1 t3": "t1", "t2 t3": None}
    decided = {}
    for pairing in RoundRobin().determined_pairings(teams, {}):
        winner = won[" ".join(pairing.teams)]
        wins = (3, 3) if winner is None else (5, 0) if pairing.teams == ("t0", "t2") else (3, 2)
        decided[pairing.key] = PairingOutcome(wins, winner)
    assert RoundRobin().scores(teams, decided) == {"t0": 2.5, "t1": 2.5, "t2": 0.5, "t3": 0.5}
    assert RoundRobin().standings(teams, decided) == [["t0"], ["t1"], ["t3"], ["t2"]]
    assert RoundRobin().standings(teams, {}) == [teams]
    teams, form = named(3), Swiss()
    assert form.scores(teams, {}) == {"t0": 0, "t1": 0, "t2": 1}
    late = form.replace_matching_fields(late_joiners=(("t2", 2),))
    assert late.scores(teams, {}) == {"t0": 0, "t1": 0, "t2": 0}


@pytest.mark.parametrize("form", [RoundRobin(), Swiss(), PodFormat()], ids=["all", "swiss", "pods"])
def test_a_level_pairing_is_half_a_point_for_both_teams(form: Format) -> None:
    teams = named(2)
    (pairing,) = form.determined_pairings(teams, {})
    for winner, scores, places in (
        (None, [0.5, 0.5], [["t0", "t1"]]),
        ("t1", [0, 1], [["t1"], ["t0"]]),
    ):
        decided = {pairing.key: PairingOutcome((1, 1), winner, (3, 3))}
        assert form.scores(teams, decided) == dict(zip(teams, scores, strict=True))
        assert form.standings(teams, decided) == places


def test_a_bye_between_pairs_at_tables_is_as_much_as_a_level_match() -> None:
    assert PodFormat(2).scores(named(3), {}) == {"t0": 0, "t1": 0, "t2": 0.5}


def test_two_level_pairings_are_as_much_as_a_victory_and_a_defeat() -> None:
    """Who is level in all, `t0` and `t3`, shares a place."""
    teams, winners = named(4), {("t0", "t1"): "t0", ("t0", "t2"): "t2"}
    decided = {
        pairing.key: PairingOutcome((1, 1), winners.get(pairing.teams))
        for pairing in RoundRobin().determined_pairings(teams, {})
    }
    assert RoundRobin().scores(teams, decided) == {"t0": 1.5, "t1": 1, "t2": 2, "t3": 1.5}
    assert RoundRobin().standings(teams, decided) == [["t2"], ["t0", "t3"], ["t1"]]


@pytest.mark.parametrize("name", ["swiss", "ladder"])
def test_viewing_a_contest_needs_no_pairing_library(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And what was drawn stays while all before it does, however a later version would draw."""
    cup, teams = ContestSettings("cup", name), named(6)
    contest = decided_by(cup.format_without_history, teams, by_chance(Random(1)))
    results = [
        build_result(pairing, contest.decided[pairing.key], (), (), None)
        for pairing in contest.pairings
    ]
    results = [replace(result, decided=result.round < 3) for result in results if result.round <= 3]
    monkeypatch.setitem(sys.modules, "networkx", None)
    for form in (
        cup.format_with_history((), results),
        cup.format_with_history((), results, may_draw=True),
    ):
        assert form.determined_pairings(teams, outcomes_by_key(results)) == tuple(
            result.as_pairing for result in results
        )
    ruled = outcomes_by_key([replace(results[0], winner=None, wins=(0, 0)), *results[1:]])
    assert {
        pairing.round
        for pairing in cup.format_with_history((), results).determined_pairings(teams, ruled)
    } == {1}


@pytest.mark.parametrize("form", [Swiss(), LadderFormat()], ids=["swiss", "ladder"])
@settings(max_examples=12, deadline=None)
@given(number=st.integers(2, case_count(12, full=64)), seed=st.integers(0, 2**32))
def test_paired_rounds_give_all_teams_equally_many_matches(
    form: RoundByRoundFormat, number: int, seed: int
) -> None:
    teams = named(number)
    contest = decided_by(form, teams, by_chance(Random(seed)))
    assert len(contest.waves) == contest.pairings[-1].round == form.round_count(number)
    assert once_a_round(contest.pairings)
    games = Counter(team for pairing in contest.pairings for team in pairing.teams)
    assert max(games.values()) - min(games[team] for team in teams) <= number % 2
    pairs = {frozenset(pairing.teams) for pairing in contest.pairings}
    assert len(pairs) == len(contest.pairings) or not isinstance(form, Swiss)
    table = form.standings(teams, contest.decided)
    assert sorted(team for place in table for team in place) == sorted(teams)


@settings(max_examples=15, deadline=None)
@given(number=st.integers(2, 20), seats=st.integers(2, 8), seed=st.integers(0, 2**32))
@example(number=7, seats=2, seed=1)  # one of the pairs is missing each round
def test_tables_are_full_and_the_best_ends_first(number: int, seats: int, seed: int) -> None:
    """Everybody sits at one table a round, but for one where the last of the pairs is missing."""
    teams, form, chance = named(number), PodFormat(seats), Random(seed)
    strength = {team: chance.random() for team in teams}

    def decide(table: Pairing) -> PairingOutcome:
        score = MatchScore(tuple(strength[team] for team in table.teams), None)
        winner = max(table.teams, key=strength.__getitem__)
        return PairingOutcome.from_scores(table.teams, [score], winner)

    contest = decided_by(form, teams, decide)
    assert once_a_round(contest.pairings)
    assert len(contest.waves) == -(-(number - 1) // (seats - 1))
    alone = seats == 2 and number % 2
    for wave in contest.waves:
        sizes = {len(table.teams) for table in wave}
        assert 2 <= min(sizes) <= max(sizes) <= min(seats, min(sizes) + 1)
        assert sum(len(table.teams) for table in wave) == number - alone
    idle = Counter({team: len(contest.waves) for team in teams})
    idle.subtract(team for table in contest.pairings for team in table.teams)
    assert max(idle.values()) - min(idle.values()) <= 1
    best, *_, last = form.standings(teams, contest.decided)
    weakest, *_, strongest = sorted(teams, key=strength.__getitem__)
    assert alone or (best, last) == ([strongest], [weakest])


def test_table_winner_ranks_first_and_points_rank_the_remaining_players() -> None:
    teams, form = named(4), PodFormat()
    (table,) = form.determined_pairings(teams, {})
    scores = [MatchScore((5, 0, -1.5, 2), 0), MatchScore((0, 9, -1.5, 3), 1)]
    decision = SeriesRules(2, by_points=True).outcome(table, scores)
    assert decision == PairingOutcome((1, 1, 0, 0), "t1", (5, 9, -3, 5))
    assert form.standings(teams, {table.key: decision}) == [["t1"], ["t0", "t3"], ["t2"]]
    ruled = PairingOutcome.from_scores(table.teams, scores, "t2")
    assert form.standings(teams, {table.key: ruled}) == [["t2"], ["t1"], ["t0", "t3"]]
    assert [table.seating_of_match(n)[0] for n in range(5)] == ["t0", "t1", "t2", "t3", "t0"]
    assert [PAIRING.seating_of_match(n)[0] for n in range(4)] == [
        "better",
        "other",
        "better",
        "other",
    ]


PAIRING = Pairing("1", 1, "winners", ("better", "other"))
FIRST, SECOND, DRAW = MatchScore((9, 4), 0), MatchScore((3, 8), 1), MatchScore((7, 7), None)
LEVEL, ABSENT = [FIRST, SECOND, FIRST, SECOND, DRAW], [MatchScore((0, 0), None)] * 4


@pytest.mark.parametrize(
    ("rules", "scores", "decision"),
    [
        (SeriesRules(7), [FIRST] * 6, None),
        (SeriesRules(7), [FIRST] * 4 + [SECOND] * 3, ((4, 3), "better")),
        (SeriesRules(7), [FIRST] * 4 + [SECOND] * 2 + [DRAW], ((4, 2), "better")),
        (SeriesRules(5), LEVEL, None),
        (SeriesRules(5), [*LEVEL, DRAW], None),
        (SeriesRules(5), [*LEVEL, DRAW, SECOND], ((2, 3), "other")),
        (SeriesRules(3, 5), ABSENT, None),
        (SeriesRules(3, 5), [*ABSENT, MatchScore((0, 0), None)], ((0, 0), "better")),
        (SeriesRules(3, 5), [*ABSENT, MatchScore((3, 5), None)], ((0, 0), "other")),
        (SeriesRules(3, allows_ties=True), [FIRST, SECOND, DRAW], ((1, 1), None)),
    ],
)
def test_series_outcome_follows_wins_then_points_then_seed(
    rules: SeriesRules, scores: list[MatchScore], decision: object
) -> None:
    """All are played, as on the last day of 2023, where four of seven would have done.

    A drawn one counts for nobody, and one more is played at a time while that matters: 4:2 with a
    draw is clear, 2:2 is not. At last points decide, then the seed, as two that are both absent
    would draw for ever; but where half points are awarded it stays level.
    """
    outcome = rules.outcome(PAIRING, scores)
    assert (outcome and (outcome.wins, outcome.winner)) == decision


class Day:
    def __init__(self, teams: Sequence[str], strength: dict[str, float], chance: Random) -> None:
        self.present = list(teams)
        self.pairings: list[Pairing] = []
        self.running: list[Pairing] = []
        self._strength, self._chance = strength, chance

    def step(self) -> None:
        busy = {team for pairing in self.running for team in pairing.teams}
        new = next_pairings(self.present, self.pairings, busy, self._strength)
        begun = [team for pairing in new for team in pairing.teams]
        assert len(set(begun)) == len(begun)
        assert busy.isdisjoint(begun)
        assert set(begun) <= set(self.present)
        self.pairings += new
        self.running += new
        assert self.running or len(self.present) < 2, "nobody plays"
        if self.running:
            self.running.remove(self._chance.choice(self.running))

    @property
    def counts(self) -> Counter[str]:
        return Counter(team for pairing in self.pairings for team in pairing.teams)


@settings(max_examples=20, deadline=None)
@given(
    number=st.integers(2, 20),
    steps=st.integers(1, 80),
    attendance=st.sampled_from([1.0, 0.5]),
    seed=st.integers(0, 2**32),
)
def test_practice_is_balanced_and_not_delayed_by_changing_attendance(
    number: int, steps: int, attendance: float, seed: int
) -> None:
    """However long single pairings take, nobody is further ahead than allowed; seats change.

    Some are there only now and then: who comes late has nothing to make up for.
    """
    teams, chance = named(number), Random(seed)
    day = Day(teams, {team: chance.gauss(1000, 200) for team in teams}, chance)
    stays = teams if attendance == 1 else teams[: (number + 1) // 2]
    for _ in range(steps):
        day.present = [team for team in teams if team in stays or chance.random() < attendance]
        previous_counts = day.counts
        day.step()
        counts = [day.counts[team] for team in stays]
        assert max(counts) - min(counts) <= MAX_EXTRA_PAIRINGS + (attendance < 1)
        assert all(day.counts[team] - previous_counts[team] <= 1 for team in teams)
    assert [pairing.key for pairing in day.pairings] == [
        str(n + 1) for n in range(len(day.pairings))
    ]
    meetings = defaultdict(list)
    for pairing in day.pairings:
        meetings[frozenset(pairing.teams)].append(pairing.teams)
    for order in meetings.values():
        assert all(
            first_seating == next_seating[::-1] for first_seating, next_seating in pairwise(order)
        )


def test_teams_of_similar_strength_meet_more_often_and_all_teams_meet() -> None:
    """Ten teams, 100 Elo points from one to the next, 45 matches each."""
    teams = named(10)
    strength = {team: 1000.0 + 100 * place for place, team in enumerate(teams)}
    day = Day(teams, strength, Random(1))
    while len(day.pairings) < 225:
        day.step()
    met = Counter(frozenset(pairing.teams) for pairing in day.pairings)
    apart = defaultdict(list)
    for first, second in combinations(range(10), 2):
        apart[second - first].append(met[frozenset((teams[first], teams[second]))])
    assert min(met[frozenset(pair)] for pair in combinations(teams, 2)) >= 1
    assert fmean(apart[1]) > 1.5 * fmean(apart[7] + apart[8] + apart[9])


def test_an_undefeated_team_has_a_finite_rating() -> None:
    team_ratings = rate_teams(["a", "b", "c"], [(("a", "b"), 1.0), (("b", "a"), 0.0)] * 3)
    assert 1000 < team_ratings["a"].value < 1700
    assert team_ratings["c"].value == pytest.approx(1000, abs=60)


@settings(max_examples=15, deadline=None)
@given(number=st.integers(2, 64), chance=st.randoms(use_true_random=False))
def test_everyone_has_exactly_two_lives(number: int, chance: Random) -> None:
    teams = named(number)
    cup = decided_by(
        DoubleElimination(),
        teams,
        lambda pairing: PairingOutcome((0, 1), chance.choice(pairing.teams)),
    )
    for wave in cup.waves:
        busy = Counter(team for pairing in wave for team in pairing.teams)
        assert max(busy.values()) == 1, "a team is to be at two tables"
    lost: dict[str, list[int]] = {team: [] for team in teams}
    for pairing in cup.pairings:
        (loser,) = {*pairing.teams} - {cup.decided[pairing.key].winner}
        lost[loser].append(pairing.round)
    (champion,), *places = DoubleElimination().standings(teams, cup.decided)
    assert len(cup.pairings) == 2 * number - 2 + len(lost[champion])
    assert len(lost.pop(champion)) <= 1
    assert {len(rounds) for rounds in lost.values()} == {2}
    assert sorted(chain(*places)) == sorted(lost)
    later_is_better = sorted({out for _, out in lost.values()}, reverse=True)
    assert [{lost[team][1] for team in place} for place in places] == [
        {out} for out in later_is_better
    ]


def test_byes_go_to_the_top_seeds_and_no_team_has_two_in_a_part_of_the_bracket() -> None:
    """In the winners' bracket the first of the seeds have one; of the losers anybody may."""
    for number in range(2, 65):
        games = DoubleElimination().bracket_games(number)
        seeds = [
            (game.round, s.seed_index)
            for game in games
            for s in game.sources
            if isinstance(s, SeedSlot)
        ]
        first_round = {place for round_, place in seeds if round_ == 1}
        assert first_round == set(range(len(seed_slots(number)) - number, number))
        assert max(round_ for round_, _ in seeds) <= 2
        assert {losers_byes(games, game) for game in games} <= {0, 1}


def losers_byes(games: tuple[BracketGame, ...], lost: BracketGame) -> int:
    """How many byes the loser of a game of the winners has if it wins every game of the losers.

    For each later round of the winners there are two of the losers: in one they meet those who
    have just fallen, in the other each other. Whoever fell in the first round begins with the
    latter.
    """
    if lost.section is not BracketSection.WINNERS:
        return 0
    last = max(game.round for game in games if game.section is BracketSection.WINNERS)
    rounds = 2 * (last - lost.round) + (lost.round > 1)
    played, source = 0, LoserOf(lost.number)
    while lower := [
        game for game in games if game.section is BracketSection.LOSERS and source in game.sources
    ]:
        played, source = played + 1, WinnerOf(lower[0].number)
    return rounds - played


def early_meetings(games: tuple[BracketGame, ...]) -> list[bool]:
    """For each round of the losers, whether two can meet in it who have met before.

    Somebody who fell in a game may have beaten whoever fell earlier in the part of the winners'
    bracket that leads to that game; in the losers' bracket nobody is met twice.
    """
    of = {game.number: game for game in games}

    def above(number: int) -> set[int]:
        below = [s.game for s in of[number].sources if not isinstance(s, SeedSlot)]
        return {number}.union(*(above(game) for game in below))

    def fell(source: SlotSource) -> set[int]:
        match source:
            case LoserOf(game):
                return {game}
            case WinnerOf(game) if of[game].section is BracketSection.LOSERS:
                return fell(of[game].sources[0]) | fell(of[game].sources[1])
            case _:
                return set()

    def met(first_game: int, second_game: int) -> bool:
        return first_game != second_game and (
            first_game in above(second_game) or second_game in above(first_game)
        )

    rounds: dict[int, bool] = {}
    for game in games:
        if game.section is BracketSection.LOSERS:
            first, second = map(fell, game.sources)
            is_rematch = any(
                met(first_game, second_game) for first_game, second_game in product(first, second)
            )
            rounds[game.round] = rounds.get(game.round, False) or is_rematch
    return [rounds[number] for number in sorted(rounds)]


@pytest.mark.parametrize(("number", "free"), [(4, 1), (8, 2), (16, 3), (32, 4), (64, 6)])
def test_rematches_occur_as_late_as_possible(number: int, free: int) -> None:
    """For so many rounds of the losers nobody can: no order in which losers come there has more."""
    rematches = early_meetings(build_bracket(seed_slots(number)))
    assert rematches == [False] * free + [True] * (len(rematches) - free)
