"""A stack's finished matches as a match log on this machine, before its table drops them."""

from pathlib import Path

from cardsharp.cloud.ports import MatchReader, Status
from cardsharp.errors import StoreError
from workbench.show.lookup import keep_match, open_log

_ALL = 1_000_000


def export(source: MatchReader, path: Path) -> int:
    """Copy the finished matches that a file has not got yet; how many.

    Each keeps its moments, intents and facts; notes are left out, as they expire anyway. Raises
    `StoreError` if one of the logs failed, or a match has moves that cannot be read.
    """
    with open_log(f"sqlite:{path}") as target:
        finished = source.matches(status=Status.FINISHED, limit=_ALL)
        missing = [one for one in finished if target.match(one.match_id) is None]
        for match in missing:
            moves = source.moves(match.match_id)
            faults = [*filter(None, (match.fault, *(one.fault for one in moves)))]
            if faults or match.finished is None:
                why = "; ".join(faults)
                raise StoreError(f"Match {match.match_id} cannot be read whole: {why}.")
            if not keep_match(match, moves, target):
                raise StoreError(f"Match {match.match_id} is being copied by somebody else.")
    return len(missing)
