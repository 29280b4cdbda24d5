"""What is said where a request is refused, and the exception where its match is over."""

from cardsharp.deadmansdraw.arena.match import Match
from cardsharp.errors import CardsharpError

NOT_VISIBLE = "Match is visible only to participating players."
NOT_YOUR_TURN = "Authenticated user is not the current player."
NO_SUCH_MATCH = "Match does not exist."


class Over(CardsharpError):
    """A request that needs a running match: a 410 that shows how it ended."""

    def __init__(self, match: Match) -> None:
        super().__init__("No action possible on finished matches.")
        self.match = match
