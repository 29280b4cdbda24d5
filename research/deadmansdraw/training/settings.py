"""What decides the outcome of a training: equal settings give equal weights."""

from dataclasses import asdict, dataclass
from typing import Annotated

from cyclopts import Parameter


@dataclass(frozen=True, slots=True)
class Settings:
    """A training.

    `rate_first` to `rate_last` is the step size, falling geometrically. `trust` is how much of a
    target comes from what happened later in the match, `exploration` how often a turn goes on
    though stopping looks better. The weights are the average over the last part of the course,
    from `average_from` on. With an `opponent` its turns are played by its own rule and `replies`
    of them are tried for one target.
    """

    matches: Annotated[int, Parameter(help="Matches against itself, whole batches.")] = 60_000
    seed: Annotated[int, Parameter(help="The same seed learns the same numbers.")] = 7
    batch: Annotated[int, Parameter(help="Matches between two changes of the numbers.")] = 100
    rate_first: Annotated[float, Parameter(help="Step size at the beginning.")] = 0.03
    rate_last: Annotated[float, Parameter(help="Step size at the end.")] = 0.002
    trust: Annotated[float, Parameter(help="How much later turns count in a target.")] = 0.25
    exploration: Annotated[float, Parameter(help="How often a turn goes on regardless.")] = 0.03
    average_from: Annotated[float, Parameter(help="From where on numbers are averaged.")] = 0.6
    opponent: Annotated[
        str | None, Parameter(help="Learn to beat this player; else captain plays itself.")
    ] = None
    replies: Annotated[int, Parameter(help="Turns of OPPONENT that are tried for a target.")] = 4

    def __post_init__(self) -> None:
        if self.matches < 1 or self.matches % self.batch:
            raise ValueError(f"The matches must be a multiple of the batch, {self.batch}.")

    @property
    def batches(self) -> int:
        """Number of batches."""
        return self.matches // self.batch

    def rate(self, batch: int) -> float:
        """The step size of a batch."""
        progress = batch / self.batches
        return self.rate_first * float((self.rate_last / self.rate_first) ** progress)

    def averages(self, batch: int) -> bool:
        """Whether the weights after this batch count for the average."""
        return batch >= int(self.average_from * self.batches)

    def plain(self) -> dict[str, object]:
        """The settings as JSON takes them."""
        return asdict(self)
