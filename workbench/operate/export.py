"""A stack's finished matches as a match log on this machine, before its table drops them."""

from pathlib import Path

from cardsharp.cloud.ports import MatchReader, Status
from cardsharp.errors import StoreError
from workbench.show.lookup import keep_match, open_log

_ALL = 1_000_000


def export(source: MatchReader, path: Path) -> int:
    """Copy the finished matches that a file has not got yet, in the order of play; how many.

    Each keeps its moments, intents and facts; notes are left out, as they expire anyway. Raises
    `StoreError` if one of the logs failed, or, when all others are copied, if a match cannot be
    read whole.
    """
    faults: list[str] = []
    with open_log(f"sqlite:{path}") as target:
        finished = source.matches(status=Status.FINISHED, limit=_ALL)
        missing = [one for one in finished if target.match(one.match_id) is None]
        for match in reversed(missing):
            moves = source.moves(match.match_id)
            fault = "; ".join(filter(None, (match.fault, *(one.fault for one in moves))))
            if fault or match.finished is None:
                faults.append(f"Match {match.match_id} cannot be read whole: {fault}.")
            elif not keep_match(match, moves, target):
                faults.append(f"Match {match.match_id} is being copied by somebody else.")
    copied = len(missing) - len(faults)
    if faults:
        raise StoreError("\n".join([*faults, f"All others were copied: {copied}."]))
    return copied
