"""Contests of any game: formats, director, practice matches, records and pages.

Look first at `ContestRunner`, which does what is due of a contest, and at `ContestRecords`, which
stores it. `ContestSettings` describes a contest, and `MatchHost` is the port to the server that
hosts its matches. `ContestAdmin` carries out the commands of an organiser.
"""

from typing import TYPE_CHECKING

from cardsharp.core.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from cardsharp.contest.admin import ContestAdmin
    from cardsharp.contest.director import ContestDirector, ContestRunner
    from cardsharp.contest.freeze import (
        ScoreboardFreeze,
        active_or_scheduled_freeze,
        spectator_records,
    )
    from cardsharp.contest.match_host import (
        FullMatchReport,
        MatchHost,
        MatchRequest,
        MatchResultFacts,
        MatchSummary,
    )
    from cardsharp.contest.models import (
        ContestSettings,
        ContestStage,
        PairingResult,
        PracticeMatch,
        TeamEntry,
    )
    from cardsharp.contest.practice import PracticeDirector, practice_ladder
    from cardsharp.contest.repository import ContestRepository
    from cardsharp.contest.results import ContestRecords
    from cardsharp.contest.teams import ContestTeamStore

__all__ = (
    "ContestAdmin",
    "ContestDirector",
    "ContestRecords",
    "ContestRepository",
    "ContestRunner",
    "ContestSettings",
    "ContestStage",
    "ContestTeamStore",
    "FullMatchReport",
    "MatchHost",
    "MatchRequest",
    "MatchResultFacts",
    "MatchSummary",
    "PairingResult",
    "PracticeDirector",
    "PracticeMatch",
    "ScoreboardFreeze",
    "TeamEntry",
    "active_or_scheduled_freeze",
    "practice_ladder",
    "spectator_records",
)

__getattr__ = lazy_exports(
    __name__,
    {
        "ContestAdmin": "admin",
        "ContestDirector": "director",
        "ContestRecords": "results",
        "ContestRepository": "repository",
        "ContestRunner": "director",
        "ContestSettings": "models",
        "ContestStage": "models",
        "FullMatchReport": "match_host",
        "MatchResultFacts": "match_host",
        "MatchHost": "match_host",
        "MatchRequest": "match_host",
        "MatchSummary": "match_host",
        "PairingResult": "models",
        "PracticeDirector": "practice",
        "PracticeMatch": "models",
        "ScoreboardFreeze": "freeze",
        "TeamEntry": "models",
        "ContestTeamStore": "teams",
        "active_or_scheduled_freeze": "freeze",
        "practice_ladder": "practice",
        "spectator_records": "freeze",
    },
)
