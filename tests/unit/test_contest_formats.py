"""Contest formats for 2 to 64 teams, and series outcomes that decide a pairing."""

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
from cardsharp.contest.formats.pods import MultiTeamMatchFormat
from cardsharp.contest.formats.round_robin import RoundRobin
from cardsharp.contest.formats.swiss import Swiss
from cardsharp.contest.models import ContestSettings, build_result, outcomes_by_key


def team_names(team_count: int) -> list[str]:
    """Return names of that many teams, the best seed first."""
    return [f"t{index}" for index in range(team_count)]


@dataclass(frozen=True)
class SimulatedContest:
    """Complete contest: its pairings, their outcomes, and the pairings decided together."""

    pairings: Pairings
    outcomes: dict[str, PairingOutcome]
    waves: list[list[Pairing]]


def simulate_contest(
    form: Format, teams: Sequence[str], decide: Callable[[Pairing], PairingOutcome]
) -> SimulatedContest:
    """Decide all open pairings and the pairings that follow, up to the end of the contest."""
    outcomes: dict[str, PairingOutcome] = {}
    waves: list[list[Pairing]] = []
    pairings: Pairings = ()
    while True:
        decided_pairings = tuple(
            (pairing, outcomes[pairing.key]) for pairing in pairings
        )  # as a director knows it
        pairings = form.replace_matching_fields(
            drawn_rounds=(decided_pairings,)
        ).determined_pairings(teams, outcomes)
        assert {*chain(*waves)} <= {*pairings}, "a pairing has changed"
        open_pairings = [pairing for pairing in pairings if pairing.key not in outcomes]
        if not open_pairings:
            return SimulatedContest(pairings, outcomes, waves)
        outcomes |= {pairing.key: decide(pairing) for pairing in open_pairings}
        waves.append(open_pairings)


def random_decider(rng: Random) -> Callable[[Pairing], PairingOutcome]:
    def decide(pairing: Pairing) -> PairingOutcome:
        winner = None if rng.random() < 0.1 else rng.choice(pairing.teams)
        return PairingOutcome(tuple(1 + (team == winner) for team in pairing.teams), winner)

    return decide


def has_no_double_bookings(pairings: Sequence[Pairing]) -> bool:
    seats = Counter((pairing.round, team) for pairing in pairings for team in pairing.teams)
    return set(seats.values()) == {1}


def test_round_robin_pairs_every_two_teams_once_without_double_bookings() -> None:
    for team_count in range(2, 65):
        pairings = RoundRobin().determined_pairings(team_names(team_count), {})
        pairs = {frozenset(pairing.teams) for pairing in pairings}
        assert len(pairings) == len(pairs) == team_count * (team_count - 1) // 2
        assert len({pairing.key for pairing in pairings}) == len(pairings)
        assert has_no_double_bookings(pairings)
        assert max(pairing.round for pairing in pairings) == team_count - 1 + team_count % 2


def test_standings_are_by_points_then_matches_and_a_bye_scores_a_point() -> None:
    """A tied pairing gives half a point to both; teams that are level share a rank.

    A late team gets no point for a round that was played before it entered.
    """
    teams = team_names(4)
    winner_by_pairing = {
        "t0 t1": None,
        "t0 t2": "t0",
        "t0 t3": "t0",
        "t1 t2": "t1",
        "t1 t3": "t1",
        "t2 t3": None,
    }
    outcomes = {}
    for pairing in RoundRobin().determined_pairings(teams, {}):
        winner = winner_by_pairing[" ".join(pairing.teams)]
        wins = (3, 3) if winner is None else (5, 0) if pairing.teams == ("t0", "t2") else (3, 2)
        outcomes[pairing.key] = PairingOutcome(wins, winner)
    assert RoundRobin().scores(teams, outcomes) == {"t0": 2.5, "t1": 2.5, "t2": 0.5, "t3": 0.5}
    assert RoundRobin().standings(teams, outcomes) == [["t0"], ["t1"], ["t3"], ["t2"]]
    assert RoundRobin().standings(teams, {}) == [teams]
    teams, form = team_names(3), Swiss()
    assert form.scores(teams, {}) == {"t0": 0, "t1": 0, "t2": 1}
    form_with_late_team = form.replace_matching_fields(late_joiners=(("t2", 2),))
    assert form_with_late_team.scores(teams, {}) == {"t0": 0, "t1": 0, "t2": 0}


@pytest.mark.parametrize(
    "form", [RoundRobin(), Swiss(), MultiTeamMatchFormat()], ids=["all", "swiss", "pods"]
)
def test_a_level_pairing_is_half_a_point_for_both_teams(form: Format) -> None:
    teams = team_names(2)
    (pairing,) = form.determined_pairings(teams, {})
    for winner, scores, places in (
        (None, [0.5, 0.5], [["t0", "t1"]]),
        ("t1", [0, 1], [["t1"], ["t0"]]),
    ):
        decided = {pairing.key: PairingOutcome((1, 1), winner, (3, 3))}
        assert form.scores(teams, decided) == dict(zip(teams, scores, strict=True))
        assert form.standings(teams, decided) == places


def test_a_bye_between_pairs_at_tables_is_as_much_as_a_level_match() -> None:
    assert MultiTeamMatchFormat(2).scores(team_names(3), {}) == {"t0": 0, "t1": 0, "t2": 0.5}


def test_two_level_pairings_are_as_much_as_a_victory_and_a_defeat() -> None:
    """Who is level in all, `t0` and `t3`, shares a place."""
    teams, winners = team_names(4), {("t0", "t1"): "t0", ("t0", "t2"): "t2"}
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
    """Pairings are read from the records, however a later version would pair the teams."""
    contest_settings, teams = ContestSettings("cup", name), team_names(6)
    contest = simulate_contest(
        contest_settings.format_without_history, teams, random_decider(Random(1))
    )
    results = [
        build_result(pairing, contest.outcomes[pairing.key], (), (), None)
        for pairing in contest.pairings
    ]
    results = [replace(result, decided=result.round < 3) for result in results if result.round <= 3]
    monkeypatch.setitem(sys.modules, "networkx", None)
    for form in (
        contest_settings.format_with_history((), results),
        contest_settings.format_with_history((), results, may_draw=True),
    ):
        assert form.determined_pairings(teams, outcomes_by_key(results)) == tuple(
            result.as_pairing for result in results
        )
    overruled_outcomes = outcomes_by_key(
        [replace(results[0], winner=None, wins=(0, 0)), *results[1:]]
    )
    assert {
        pairing.round
        for pairing in contest_settings.format_with_history((), results).determined_pairings(
            teams, overruled_outcomes
        )
    } == {1}


@pytest.mark.parametrize("form", [Swiss(), LadderFormat()], ids=["swiss", "ladder"])
@settings(max_examples=12, deadline=None)
@given(team_count=st.integers(2, case_count(12, full=64)), seed=st.integers(0, 2**32))
def test_paired_rounds_give_all_teams_equally_many_matches(
    form: RoundByRoundFormat, team_count: int, seed: int
) -> None:
    teams = team_names(team_count)
    contest = simulate_contest(form, teams, random_decider(Random(seed)))
    assert len(contest.waves) == contest.pairings[-1].round == form.round_count(team_count)
    assert has_no_double_bookings(contest.pairings)
    match_counts = Counter(team for pairing in contest.pairings for team in pairing.teams)
    assert max(match_counts.values()) - min(match_counts[team] for team in teams) <= team_count % 2
    pairs = {frozenset(pairing.teams) for pairing in contest.pairings}
    assert len(pairs) == len(contest.pairings) or not isinstance(form, Swiss)
    standings = form.standings(teams, contest.outcomes)
    assert sorted(team for rank_group in standings for team in rank_group) == sorted(teams)


@settings(max_examples=15, deadline=None)
@given(team_count=st.integers(2, 20), seats=st.integers(2, 8), seed=st.integers(0, 2**32))
@example(team_count=7, seats=2, seed=1)  # one of the pairs is missing each round
def test_pods_are_full_and_the_strongest_team_ends_first(
    team_count: int, seats: int, seed: int
) -> None:
    """Each team plays in a single pod a round, apart from the bye of an odd team."""
    teams, form, rng = team_names(team_count), MultiTeamMatchFormat(seats), Random(seed)
    strength = {team: rng.random() for team in teams}

    def decide(pod: Pairing) -> PairingOutcome:
        score = MatchScore(tuple(strength[team] for team in pod.teams), None)
        winner = max(pod.teams, key=strength.__getitem__)
        return PairingOutcome.from_scores(pod.teams, [score], winner)

    contest = simulate_contest(form, teams, decide)
    assert has_no_double_bookings(contest.pairings)
    assert len(contest.waves) == -(-(team_count - 1) // (seats - 1))
    has_bye = seats == 2 and team_count % 2
    for wave in contest.waves:
        sizes = {len(pod.teams) for pod in wave}
        assert 2 <= min(sizes) <= max(sizes) <= min(seats, min(sizes) + 1)
        assert sum(len(pod.teams) for pod in wave) == team_count - has_bye
    idle_counts = Counter({team: len(contest.waves) for team in teams})
    idle_counts.subtract(team for pod in contest.pairings for team in pod.teams)
    assert max(idle_counts.values()) - min(idle_counts.values()) <= 1
    first_rank, *_, last_rank = form.standings(teams, contest.outcomes)
    weakest, *_, strongest = sorted(teams, key=strength.__getitem__)
    assert has_bye or (first_rank, last_rank) == ([strongest], [weakest])


def test_pod_winner_ranks_first_and_points_rank_the_remaining_teams() -> None:
    teams, form = team_names(4), MultiTeamMatchFormat()
    (pod,) = form.determined_pairings(teams, {})
    scores = [MatchScore((5, 0, -1.5, 2), 0), MatchScore((0, 9, -1.5, 3), 1)]
    decision = SeriesRules(2, by_points=True).outcome(pod, scores)
    assert decision == PairingOutcome((1, 1, 0, 0), "t1", (5, 9, -3, 5))
    assert form.standings(teams, {pod.key: decision}) == [["t1"], ["t0", "t3"], ["t2"]]
    overruled_outcome = PairingOutcome.from_scores(pod.teams, scores, "t2")
    assert form.standings(teams, {pod.key: overruled_outcome}) == [["t2"], ["t1"], ["t0", "t3"]]
    assert [pod.seating_of_match(n)[0] for n in range(5)] == ["t0", "t1", "t2", "t3", "t0"]
    assert [PAIRING.seating_of_match(n)[0] for n in range(4)] == [
        "better",
        "other",
        "better",
        "other",
    ]


PAIRING = Pairing("1", 1, "winners", ("better", "other"))
FIRST, SECOND, DRAW = MatchScore((9, 4), 0), MatchScore((3, 8), 1), MatchScore((7, 7), None)
LEVEL_SCORES, ABSENT_SCORES = [FIRST, SECOND, FIRST, SECOND, DRAW], [MatchScore((0, 0), None)] * 4


@pytest.mark.parametrize(
    ("rules", "scores", "decision"),
    [
        (SeriesRules(7), [FIRST] * 6, None),
        (SeriesRules(7), [FIRST] * 4 + [SECOND] * 3, ((4, 3), "better")),
        (SeriesRules(7), [FIRST] * 4 + [SECOND] * 2 + [DRAW], ((4, 2), "better")),
        (SeriesRules(5), LEVEL_SCORES, None),
        (SeriesRules(5), [*LEVEL_SCORES, DRAW], None),
        (SeriesRules(5), [*LEVEL_SCORES, DRAW, SECOND], ((2, 3), "other")),
        (SeriesRules(3, 5), ABSENT_SCORES, None),
        (SeriesRules(3, 5), [*ABSENT_SCORES, MatchScore((0, 0), None)], ((0, 0), "better")),
        (SeriesRules(3, 5), [*ABSENT_SCORES, MatchScore((3, 5), None)], ((0, 0), "other")),
        (SeriesRules(3, allows_ties=True), [FIRST, SECOND, DRAW], ((1, 1), None)),
    ],
)
def test_series_outcome_follows_wins_then_points_then_seed(
    rules: SeriesRules, scores: list[MatchScore], decision: object
) -> None:
    """All matches are played, as on the last day of 2023, where four of seven would decide.

    A tie counts for neither team, and further matches are played one at a time while they
    matter: 4:2 with a tie is clear, 2:2 is not. Then points decide, then the seed, because
    two absent teams would tie for ever. Where half points are awarded the pairing stays
    level.
    """
    outcome = rules.outcome(PAIRING, scores)
    assert (outcome and (outcome.wins, outcome.winner)) == decision


class PracticeDay:
    def __init__(self, teams: Sequence[str], strength: dict[str, float], rng: Random) -> None:
        self.present_teams = list(teams)
        self.pairings: list[Pairing] = []
        self.running_pairings: list[Pairing] = []
        self._strength, self._rng = strength, rng

    def step(self) -> None:
        busy_teams = {team for pairing in self.running_pairings for team in pairing.teams}
        new_pairings = next_pairings(self.present_teams, self.pairings, busy_teams, self._strength)
        begun_teams = [team for pairing in new_pairings for team in pairing.teams]
        assert len(set(begun_teams)) == len(begun_teams)
        assert busy_teams.isdisjoint(begun_teams)
        assert set(begun_teams) <= set(self.present_teams)
        self.pairings += new_pairings
        self.running_pairings += new_pairings
        assert self.running_pairings or len(self.present_teams) < 2, "nobody plays"
        if self.running_pairings:
            self.running_pairings.remove(self._rng.choice(self.running_pairings))

    @property
    def pairing_counts(self) -> Counter[str]:
        return Counter(team for pairing in self.pairings for team in pairing.teams)


@settings(max_examples=20, deadline=None)
@given(
    team_count=st.integers(2, 20),
    steps=st.integers(1, 80),
    attendance=st.sampled_from([1.0, 0.5]),
    seed=st.integers(0, 2**32),
)
def test_practice_is_balanced_and_not_delayed_by_changing_attendance(
    team_count: int, steps: int, attendance: float, seed: int
) -> None:
    """No team gets further ahead than allowed, and seats alternate.

    A team that is absent now and then has nothing to make up for.
    """
    teams, rng = team_names(team_count), Random(seed)
    practice_day = PracticeDay(teams, {team: rng.gauss(1000, 200) for team in teams}, rng)
    permanent_teams = teams if attendance == 1 else teams[: (team_count + 1) // 2]
    for _ in range(steps):
        practice_day.present_teams = [
            team for team in teams if team in permanent_teams or rng.random() < attendance
        ]
        previous_counts = practice_day.pairing_counts
        practice_day.step()
        counts = [practice_day.pairing_counts[team] for team in permanent_teams]
        assert max(counts) - min(counts) <= MAX_EXTRA_PAIRINGS + (attendance < 1)
        assert all(practice_day.pairing_counts[team] - previous_counts[team] <= 1 for team in teams)
    assert [pairing.key for pairing in practice_day.pairings] == [
        str(n + 1) for n in range(len(practice_day.pairings))
    ]
    meetings = defaultdict(list)
    for pairing in practice_day.pairings:
        meetings[frozenset(pairing.teams)].append(pairing.teams)
    for order in meetings.values():
        assert all(
            first_seating == next_seating[::-1] for first_seating, next_seating in pairwise(order)
        )


def test_teams_of_similar_strength_meet_more_often_and_all_teams_meet() -> None:
    """Ten teams, 100 Elo points apart, play 45 matches each."""
    teams = team_names(10)
    strength = {team: 1000.0 + 100 * rank for rank, team in enumerate(teams)}
    practice_day = PracticeDay(teams, strength, Random(1))
    while len(practice_day.pairings) < 225:
        practice_day.step()
    meeting_counts = Counter(frozenset(pairing.teams) for pairing in practice_day.pairings)
    counts_by_rank_distance = defaultdict(list)
    for first, second in combinations(range(10), 2):
        counts_by_rank_distance[second - first].append(
            meeting_counts[frozenset((teams[first], teams[second]))]
        )
    assert min(meeting_counts[frozenset(pair)] for pair in combinations(teams, 2)) >= 1
    assert fmean(counts_by_rank_distance[1]) > 1.5 * fmean(
        counts_by_rank_distance[7] + counts_by_rank_distance[8] + counts_by_rank_distance[9]
    )


def test_an_undefeated_team_has_a_finite_rating() -> None:
    team_ratings = rate_teams(["a", "b", "c"], [(("a", "b"), 1.0), (("b", "a"), 0.0)] * 3)
    assert 1000 < team_ratings["a"].value < 1700
    assert team_ratings["c"].value == pytest.approx(1000, abs=60)


@settings(max_examples=15, deadline=None)
@given(team_count=st.integers(2, 64), rng=st.randoms(use_true_random=False))
def test_each_team_is_out_with_its_second_loss(team_count: int, rng: Random) -> None:
    teams = team_names(team_count)
    contest = simulate_contest(
        DoubleElimination(),
        teams,
        lambda pairing: PairingOutcome((0, 1), rng.choice(pairing.teams)),
    )
    for wave in contest.waves:
        match_counts = Counter(team for pairing in wave for team in pairing.teams)
        assert max(match_counts.values()) == 1, "a team is to be at two tables"
    loss_rounds: dict[str, list[int]] = {team: [] for team in teams}
    for pairing in contest.pairings:
        (loser,) = {*pairing.teams} - {contest.outcomes[pairing.key].winner}
        loss_rounds[loser].append(pairing.round)
    (champion,), *rank_groups = DoubleElimination().standings(teams, contest.outcomes)
    assert len(contest.pairings) == 2 * team_count - 2 + len(loss_rounds[champion])
    assert len(loss_rounds.pop(champion)) <= 1
    assert {len(rounds) for rounds in loss_rounds.values()} == {2}
    assert sorted(chain(*rank_groups)) == sorted(loss_rounds)
    elimination_rounds = sorted(
        {last_round for _, last_round in loss_rounds.values()}, reverse=True
    )
    assert [{loss_rounds[team][1] for team in rank_group} for rank_group in rank_groups] == [
        {last_round} for last_round in elimination_rounds
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


def rematch_rounds(games: tuple[BracketGame, ...]) -> list[bool]:
    """Return for each losers' round whether two teams can meet in it for a second time.

    A team that lost a game may have beaten a team that lost earlier on the path to that game;
    in the losers' bracket itself no two teams meet twice.
    """
    games_by_number = {game.number: game for game in games}

    def earlier_games(game_number: int) -> set[int]:
        source_games = [
            source.game
            for source in games_by_number[game_number].sources
            if not isinstance(source, SeedSlot)
        ]
        return {game_number}.union(*(earlier_games(game) for game in source_games))

    def lost_games(source: SlotSource) -> set[int]:
        match source:
            case LoserOf(game):
                return {game}
            case WinnerOf(game) if games_by_number[game].section is BracketSection.LOSERS:
                return lost_games(games_by_number[game].sources[0]) | lost_games(
                    games_by_number[game].sources[1]
                )
            case _:
                return set()

    def can_be_rematch(first_game: int, second_game: int) -> bool:
        return first_game != second_game and (
            first_game in earlier_games(second_game) or second_game in earlier_games(first_game)
        )

    rounds: dict[int, bool] = {}
    for game in games:
        if game.section is BracketSection.LOSERS:
            first_losses, second_losses = map(lost_games, game.sources)
            is_rematch = any(
                can_be_rematch(first_game, second_game)
                for first_game, second_game in product(first_losses, second_losses)
            )
            rounds[game.round] = rounds.get(game.round, False) or is_rematch
    return [rounds[round_number] for round_number in sorted(rounds)]


@pytest.mark.parametrize(("team_count", "round_count"), [(4, 1), (8, 2), (16, 3), (32, 4), (64, 6)])
def test_rematches_occur_as_late_as_possible(team_count: int, round_count: int) -> None:
    """No order of the losers has more rounds without a possible rematch."""
    rematches = rematch_rounds(build_bracket(seed_slots(team_count)))
    assert rematches == [False] * round_count + [True] * (len(rematches) - round_count)
