"""Formats of contests: which teams meet in each round, and the standings.

Look first at `Format`, the interface of a format, and at `register_format`, which gives it its
name. `Swiss` and `RoundRobin` are short examples. `Pairing` and `PairingOutcome` are the data.
"""

from typing import TYPE_CHECKING

from cardsharp.core.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from cardsharp.contest.formats.base import (
        FORMATS_BY_NAME,
        Format,
        RoundByRoundFormat,
        register_format,
    )
    from cardsharp.contest.formats.double_elimination import DoubleElimination
    from cardsharp.contest.formats.ladder import LadderFormat
    from cardsharp.contest.formats.pairing import MatchScore, Pairing, PairingOutcome, SeriesRules
    from cardsharp.contest.formats.pods import MultiTeamMatchFormat
    from cardsharp.contest.formats.round_robin import RoundRobin
    from cardsharp.contest.formats.swiss import Swiss

__all__ = (
    "FORMATS_BY_NAME",
    "DoubleElimination",
    "Format",
    "LadderFormat",
    "MatchScore",
    "MultiTeamMatchFormat",
    "Pairing",
    "PairingOutcome",
    "RoundByRoundFormat",
    "RoundRobin",
    "SeriesRules",
    "Swiss",
    "register_format",
)

__getattr__ = lazy_exports(
    __name__,
    {
        "FORMATS_BY_NAME": "base",
        "DoubleElimination": "double_elimination",
        "Format": "base",
        "LadderFormat": "ladder",
        "MatchScore": "pairing",
        "Pairing": "pairing",
        "PairingOutcome": "pairing",
        "MultiTeamMatchFormat": "pods",
        "RoundByRoundFormat": "base",
        "RoundRobin": "round_robin",
        "SeriesRules": "pairing",
        "Swiss": "swiss",
        "register_format": "base",
    },
)
