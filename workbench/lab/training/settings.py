"""What decides the outcome of a training: equal settings give equal weights."""

from dataclasses import asdict, dataclass


@dataclass(frozen=True, slots=True)
class Settings:
    """A training.

    `rate_first` to `rate_last` is the step size, falling geometrically. `trust` is how much of a
    target comes from what happened later in the match, `exploration` how often a turn goes on
    though stopping looks better. The weights are the average over the last part of the course,
    from `average_from` on. With an `opponent` its turns are played by its own rule and `replies`
    of them are tried for one target.
    """

    matches: int = 60_000
    seed: int = 7
    batch: int = 100
    rate_first: float = 0.03
    rate_last: float = 0.002
    trust: float = 0.25
    exploration: float = 0.03
    average_from: float = 0.6
    opponent: str | None = None
    replies: int = 4

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
