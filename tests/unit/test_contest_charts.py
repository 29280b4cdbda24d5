"""Charts of many matches: what is counted, and what is left out where it is not known."""

from datetime import UTC, datetime, timedelta

from cardsharp.contest.charts import Columns, Played, Ranking, Squares, charts
from cardsharp.contest.facts import Facts

NOON = datetime(2023, 2, 3, 12, tzinfo=UTC)


def played(number: int, first: str, second: str, points: tuple[int, int]) -> Played:
    """A match of that number, ten minutes after the one before."""
    return Played(
        (first, second),
        Facts(
            points,
            int(points[1] > points[0]),
            60.0,
            10,
            busts=(1, 4),
            late=(0, 1),
            banked=(3, 0),
            moves=(20, 15 + number),
            autopicks=(2, 0),
            began=NOON + timedelta(minutes=10 * number),
        ),
    )


def test_matches_are_drawn_by_time_length_score_and_player() -> None:
    found = charts([played(n, "Ann", "Bob", (50 - n, 21)) for n in range(13)])
    times, moves, scores, rated, ends, *figures = found
    assert isinstance(times, Columns)
    assert times.title == "Matches in ten minutes (UTC)"
    assert times.bars[0] == ("12:00", 1)
    assert [count for _, count in times.bars] == [1] * 13
    days = [played(144 * n, "Ann", "Bob", (3, 2)) for n in range(5)]
    assert charts(days)[0].title == "Matches a day (UTC)"
    assert isinstance(moves, Columns)
    assert moves.bars == tuple((str(35 + n), 1) for n in range(13))
    assert isinstance(scores, Squares)
    assert (scores.step, sum(map(sum, scores.counts)), scores.counts[4][9]) == (5, 13, 5)
    assert isinstance(rated, Ranking)
    assert [line.name for line in rated.lines] == ["Ann", "Bob"]
    assert isinstance(ends, Ranking)
    assert [(line.name, line.said) for line in ends.lines] == [("Ann", "25 %"), ("Bob", "80 %")]
    assert ends.lines[1].spans == ((0.0, 0.0, 1), (0.0, 0.8, 2), (0.8, 1.0, 3))
    assert [(one.title, *(line.said for line in one.lines)) for one in figures] == [
        ("Points a match", "44", "21"),
        ("Moves a match", "21", "20"),
        ("Time-outs", "13", "0"),
        ("Autopicks", "26", "0"),
    ]


def test_what_matches_of_older_versions_do_not_tell_is_not_drawn() -> None:
    """They know points, winner and late turns; of negative points no map is drawn."""
    old = [Played(("Ann", "Bob"), Facts((40, 30), 0, 60.0, 20, (1, 2), (0, 0)))]
    assert [one.title.split(":")[0] for one in charts(old)] == [
        "Scores", "Ratings in Elo points, with 95 % intervals", "Points a match",
    ]  # fmt: skip
    assert charts([]) == []
    poker = [Played(("Ann", "Bob"), Facts((-1, 1), 1, 1.0, 2))]
    assert [one.title for one in charts(poker)] == [
        "Ratings in Elo points, with 95 % intervals", "Points a match",
    ]  # fmt: skip
    alone = [Played(("Ann", "Ann"), Facts((4, 2), 0, 1.0, 2))]
    assert [one.title for one in charts(alone)][1:] == ["Points a match"]
