"""Analysis of stored matches: replay, judged decisions, luck and ratings.

Look first at `ReplayStep`, one step of a stored match of any game, and at `analyse`, which judges
every decision of a match with the game's `Judge`. `ratings_of` rates players by their results.
"""

from typing import TYPE_CHECKING

from cardsharp.core.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from cardsharp.analysis.judge import AnalysisFunctions, Judge, load_analysis_functions
    from cardsharp.analysis.judged_match import JudgedDecision, MatchAnalysis, Severity
    from cardsharp.analysis.match_analysis import analyse
    from cardsharp.analysis.match_listing import is_match_of, newest_matches
    from cardsharp.analysis.ratings import (
        HeadToHeadScore,
        Rating,
        expected_score,
        rating_of,
        ratings_of,
    )
    from cardsharp.analysis.replay import (
        DecisionPoint,
        Header,
        Outcome,
        ReplayStep,
        RestoredState,
        StoredDecision,
        StoredOption,
        header_of,
        outcome_of,
    )

__all__ = (
    "AnalysisFunctions",
    "DecisionPoint",
    "HeadToHeadScore",
    "Header",
    "Judge",
    "JudgedDecision",
    "MatchAnalysis",
    "Outcome",
    "Rating",
    "ReplayStep",
    "RestoredState",
    "Severity",
    "StoredDecision",
    "StoredOption",
    "analyse",
    "expected_score",
    "header_of",
    "is_match_of",
    "load_analysis_functions",
    "newest_matches",
    "outcome_of",
    "rating_of",
    "ratings_of",
)

__getattr__ = lazy_exports(
    __name__,
    {
        "AnalysisFunctions": "judge",
        "DecisionPoint": "replay",
        "Header": "replay",
        "Judge": "judge",
        "JudgedDecision": "judged_match",
        "MatchAnalysis": "judged_match",
        "Outcome": "replay",
        "HeadToHeadScore": "ratings",
        "Rating": "ratings",
        "ReplayStep": "replay",
        "RestoredState": "replay",
        "Severity": "judged_match",
        "StoredDecision": "replay",
        "StoredOption": "replay",
        "analyse": "match_analysis",
        "load_analysis_functions": "judge",
        "expected_score": "ratings",
        "header_of": "replay",
        "is_match_of": "match_listing",
        "newest_matches": "match_listing",
        "outcome_of": "replay",
        "rating_of": "ratings",
        "ratings_of": "ratings",
    },
)
