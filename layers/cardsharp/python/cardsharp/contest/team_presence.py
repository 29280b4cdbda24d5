"""Presence of teams: who is connected, and who waits for tags that no match has.

Nothing fails when a client asks an arena for matches with a tag that no match has: it waits for
ever. So practice counts as present only teams that would find its matches, and the others are
reported to themselves and to the organiser.
"""

from collections.abc import Collection, Mapping
from datetime import datetime, timedelta
from urllib.parse import quote

from cardsharp.contest.formats.pairing import TeamId
from cardsharp.contest.match_host import MatchHost, TeamPresence
from cardsharp.contest.models import ContestSettings, ContestStage, TeamConnection
from cardsharp.contest.results import ContestRecords
from cardsharp.core.clock import TimeSource

PRESENCE_SECONDS = 40.0  # seconds since its last request in which a team is present; a poll is 30 s
_MAX_LISTED_TAGS = 3
CHECK_INTERVAL = timedelta(seconds=10)  # each check reads all players


def is_present(presence: TeamPresence) -> bool:
    """Return True if the arena has heard of the team a short while ago."""
    return presence.idle_seconds is not None and presence.idle_seconds <= PRESENCE_SECONDS


def finds_matches(
    settings: ContestSettings, tags: Collection[str] | None, *, is_practice: bool
) -> bool:
    """Return True if a client that waits for these tags finds the matches of the contest.

    With `is_practice` these are the matches of practice. None is any tag.
    """
    if tags is None or settings.name in tags:
        return True
    if is_practice:
        return settings.practice_tag in tags
    # A client may wait for one round or pairing after the other.
    return any(tag.startswith((f"{settings.name}_Round", f"{settings.name}:")) for tag in tags)


def is_practising(records: ContestRecords) -> bool:
    """Return True if the next matches of the contest are those of practice."""
    return records.stage is ContestStage.OPEN or records.practice_until is not None


def tag_notice(settings: ContestSettings) -> str:
    """Return what a team is told that waits for the wrong tags."""
    return (
        f"You wait for tags that no match of the contest {settings.name} has. Wait for the tag "
        f"{settings.name}: tags={quote(settings.name)}."
    )


def wrong_tags_line(settings: ContestSettings, team_name: str, tags: Collection[str]) -> str:
    """Return what the organiser is told of a team that waits for the wrong tags."""
    # A team may send anything as a tag, also what would change a terminal.
    listed = "".join(
        letter if letter.isprintable() else "?"
        for letter in ", ".join(list(tags)[:_MAX_LISTED_TAGS])
    )
    return (
        f"{team_name} waits for the tag {listed or '(empty)'}, which no match has, so it gets no "
        f"match. It must wait for the tag {settings.name}."
    )


class PresenceMonitor:
    """Monitor that records which teams are connected, and which wait for tags that no match has.

    It writes only what has changed.
    """

    def __init__(self, records: ContestRecords, match_host: MatchHost, clock: TimeSource) -> None:
        self._records, self._match_host, self._clock = records, match_host, clock
        self._next_check: datetime | None = None
        self._recorded_tags: dict[TeamId, tuple[str, ...]] | None = None
        self._recorded_connections: dict[TeamId, TeamConnection] = {}

    def check(self) -> None:
        """Record the present teams, if the last check is `CHECK_INTERVAL` ago."""
        current_time = self._clock()
        if self._next_check is not None and current_time < self._next_check:
            return
        self._next_check = current_time + CHECK_INTERVAL
        if self._recorded_tags is None:
            self._recorded_tags = self._records.wrong_tags_by_team()
            self._recorded_connections = self._records.connections_by_team()
        present = self._find_present_teams()
        wrong_tags = self._find_wrong_tags(present)
        if wrong_tags != self._recorded_tags:
            self._records.save_wrong_tags(wrong_tags)
            self._recorded_tags = wrong_tags
        # A team that the host plays has no program that could be lost.
        hosted = {team.id for team in self._records.teams() if team.strategy is not None}
        connections = {
            team: self._connection(team, presence, current_time)
            for team, presence in present.items()
            if team not in hosted
        }
        if connections != self._recorded_connections:
            self._records.save_connections(connections)
            self._recorded_connections = connections

    def _find_present_teams(self) -> dict[TeamId, TeamPresence]:
        """Return the present teams; none once the contest is over."""
        if self._records.stage is ContestStage.OVER:
            return {}
        presence_by_player = self._match_host.presence_by_player()
        return {
            team.id: presence
            for team in self._records.teams()
            if (presence := presence_by_player.get(team.id)) is not None and is_present(presence)
        }

    def _find_wrong_tags(
        self, present: Mapping[TeamId, TeamPresence]
    ) -> dict[TeamId, tuple[str, ...]]:
        settings, is_practice = self._records.settings, is_practising(self._records)
        return {
            team: presence.awaited_tags
            for team, presence in present.items()
            if presence.awaited_tags is not None
            and not finds_matches(settings, presence.awaited_tags, is_practice=is_practice)
        }

    def _connection(
        self, team: TeamId, presence: TeamPresence, current_time: datetime
    ) -> TeamConnection:
        """Return the connection of a present team; it began when the team was first seen."""
        recorded = self._recorded_connections.get(team)
        since = current_time if recorded is None else recorded.since
        # A move does not name the program, so the name of the last poll stays.
        client = presence.client or (recorded.client if recorded else "")
        return TeamConnection(since, client, presence.last_move_at)
