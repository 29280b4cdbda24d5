"""What the service refuses, so that each generation of the API can put it in its own words."""

from http import HTTPStatus

from cardsharp.web.refusals import Refused

NO_GAME = "Game does not exist"
NO_PLAYER = "The UUID does not match any active player"
"""The original's own words (docs/spec/blef.md section 5)."""


class Denied(Refused):
    """A refusal in the words of version 2.3, which `newer` has in those of today's generation.

    `parameter` is the one that is to blame, if one is, and `value` what was sent as it, None for
    nothing. `today` is the text of today's generation where that is another.
    """

    def __init__(
        self,
        text: str,
        parameter: str | None = None,
        value: str | None = None,
        status: int = HTTPStatus.BAD_REQUEST,
        today: str | None = None,
    ) -> None:
        super().__init__(status, text)
        self.args = (text, parameter, value, status, today)
        self.parameter = parameter
        self.value = value
        self.today = text if today is None else today

    @property
    def newer(self) -> Refused:
        """The same in today's words: with the parameter, and what was sent as it, always 400."""
        if self.parameter is None:
            return Refused(self.status, self.today)
        told = f"\n{self.today}" if self.today else ""
        text = f"Bad input value in '{self.parameter}': {self.value}{told}"
        return Refused(HTTPStatus.BAD_REQUEST, text)
