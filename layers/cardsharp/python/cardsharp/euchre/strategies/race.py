"""A race between choices: worlds are spent on those that may still be the best."""

from collections.abc import Sequence

SURE = 3
"""Standard errors that a choice must lie behind the leader to be given up."""


class Race:
    """Choices by number, and what each was worth in every world in which it was tried.

    The first of equal choices leads.
    """

    def __init__(self, choices: int) -> None:
        self.running = list(range(choices))
        self.worlds = 0
        self.totals = [0] * choices
        self.tried = [0] * choices
        self._worths: list[list[int]] = [[] for _ in range(choices)]

    def add(self, worths: Sequence[int], times: int) -> None:
        """Count a world that was drawn so many times; a worth for each choice in the race."""
        self.worlds += times
        for choice, worth in zip(self.running, worths, strict=True):
            self.totals[choice] += times * worth
            self.tried[choice] += times
            self._worths[choice] += [worth] * times

    @property
    def leader(self) -> int:
        """The best of those in the race so far."""
        return max(self.running, key=lambda choice: (self.totals[choice], -choice))

    def mean(self, choice: int) -> float:
        """What a choice was worth on average, in the worlds in which it was tried."""
        return self.totals[choice] / max(1, self.tried[choice])

    def thin_out(self) -> bool:
        """Give up the choices that are surely worse; whether any is left that may be better.

        One that was worth the same as the leader in every world is no better.
        """
        leader, open_still = self.leader, False
        for choice in [one for one in self.running if one != leader]:
            pairs = zip(self._worths[leader], self._worths[choice], strict=True)
            gaps = [best - other for best, other in pairs]
            lead, squares = sum(gaps), sum(gap * gap for gap in gaps)
            # lead / n > SURE * sqrt((squares / n - (lead / n) ** 2) / n), in whole numbers
            if lead and self.worlds * lead**2 > SURE**2 * (self.worlds * squares - lead**2):
                self.running.remove(choice)
            elif squares:
                open_still = True
        return open_still
