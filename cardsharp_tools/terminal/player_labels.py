"""Names of the two players of a match for a terminal."""

from collections.abc import Sequence
from dataclasses import dataclass

from cardsharp.analysis.replay import Header


@dataclass(frozen=True, slots=True)
class PlayerLabels:
    """Display names of both players; `player_index` is our seat, None if we play both."""

    names: tuple[str, str]
    player_index: int | None

    @classmethod
    def from_header(cls, header: Header, opponent: str | None = None) -> "PlayerLabels":
        """Return the labels of a match; `opponent` is the name of the other player, if known."""
        seats = header.seats
        us = next(iter(seats)) if len(seats) == 1 else None

        def label(index: int) -> str:
            name = header.strategy_or_player_name(index, opponent)
            return f"{name} (us)" if index == us else name

        names = (label(0), label(1))
        if us is None and names[0] == names[1]:
            names = (f"{names[0]} (first)", f"{names[1]} (second)")
        return cls(names, us)

    @property
    def player_order(self) -> tuple[int, int]:
        """Indexes of the players, ours first."""
        return (1, 0) if self.player_index == 1 else (0, 1)

    def name(self, player: int | None) -> str:
        """Return a player's display name."""
        return "?" if player is None else self.names[player]

    def title(self) -> str:
        """Return the title of the match: the names of its players."""
        first_seat, second_seat = self.player_order
        return f"{self.names[first_seat]} v {self.names[second_seat]}"

    def score_text(self, scores: Sequence[int]) -> str:
        """Return a score as text, ours first."""
        first_seat, second_seat = self.player_order
        return f"{scores[first_seat]} : {scores[second_seat]}"
