"""Progress of a running contest: the time since its first match, and the time that is left."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from statistics import fmean

from cardsharp.contest.formats.forecast import estimate_length
from cardsharp.contest.models import ContestSettings, PairingResult

_MIN_TEAMS = 2  # teams of a contest that has pairings


@dataclass(frozen=True, slots=True)
class ContestProgress:
    """Time since the first match began, and the expected time to the end.

    `remaining` is None while no match has ended, and for formats whose length is unknown.
    """

    elapsed: timedelta
    remaining: timedelta | None


def contest_progress(
    settings: ContestSettings,
    team_count: int,
    results: Sequence[PairingResult],
    current_time: datetime,
) -> ContestProgress | None:
    """Return the progress of a contest, None before its first match with a known start has ended.

    The rest takes the share of the estimated length that the undecided pairings have. The length
    is that of `contest plan`, for matches that last as long as those that have ended.
    """
    match_facts = [facts for result in results for facts in result.facts]
    starts = [facts.began for facts in match_facts if facts.began is not None]
    if not starts or team_count < _MIN_TEAMS:
        return None
    elapsed = max(timedelta(), current_time - min(starts))
    length = estimate_length(settings.format, team_count, settings.matches)
    if length is None:
        return ContestProgress(elapsed, None)
    decided_count = sum(result.decided for result in results)
    open_share = max(0.0, 1 - decided_count / length.pairing_count)
    seconds = length.slot_count * fmean(facts.seconds for facts in match_facts) * open_share
    return ContestProgress(elapsed, timedelta(seconds=seconds))
