"""Whether the match log tells a match as the arena does."""

from collections.abc import Sequence
from dataclasses import dataclass

from cardsharp.cloud.ports import MoveRecord
from cardsharp.deadmansdraw.logbook import facts_body
from cardsharp.deadmansdraw.wire_views import MatchView


@dataclass(frozen=True, slots=True)
class Verdict:
    """How many moves the arena knows, and the sequences of those that our log tells otherwise."""

    moves: int
    missing: tuple[int, ...]
    different: tuple[int, ...]

    @property
    def complete(self) -> bool:
        """Whether the log has every move, equal to the arena's, and no other."""
        return not self.missing and not self.different

    def __str__(self) -> str:
        if self.complete:
            return f"log complete: {self.moves} moves, equal to the arena's"
        faults = []
        if self.missing:
            faults.append(f"without moves {_listed(self.missing)}")
        if self.different:
            faults.append(f"other in moves {_listed(self.different)}")
        return f"log of {self.moves} moves is {' and '.join(faults)}"


def compare(view: MatchView, moves: Sequence[MoveRecord]) -> Verdict:
    """The verdict on a log's moves, by a view with all of the match's moves."""
    told = {move.sequence_id: facts_body(move) for move in view.moves}
    logged = {move.sequence: move.facts for move in moves if move.facts is not None}
    return Verdict(
        moves=len(told),
        missing=tuple(sorted(told.keys() - logged.keys())),
        different=tuple(s for s in sorted(logged) if logged[s] != told.get(s)),
    )


def _listed(sequences: Sequence[int]) -> str:
    return ", ".join(map(str, sequences))
