"""`cardsharp versus`: you at the table, in the terminal or a browser, against any player."""

from dataclasses import dataclass, field
from typing import Annotated

from cyclopts import Parameter, validators

from cardsharp_tools.cli.game_commands import FIRST_GAME, RequiredGame
from cardsharp_tools.cli.options import CommandOptions, OpenBrowser, ProxyAddress
from cardsharp_tools.cli.strategy_option import OptionalStrategy, UserCodeOptions


@dataclass(frozen=True, kw_only=True)
class BrowserOptions(CommandOptions):
    """Options of a match in a browser: invited people, address and port of the page."""

    browser: bool = False
    """Play in a browser instead of this terminal."""
    invite: Annotated[int, Parameter(validator=validators.Number(gte=0, lte=7))] = 0
    """In a browser: number of people to invite. Each of them gets a link to a seat."""
    host: Annotated[
        str | None,
        Parameter(
            help="In a browser: the address to listen on; 0.0.0.0 lets your network reach the "
            "page. "
            "Default: only this machine."
        ),
    ] = None
    port: Annotated[int | None, Parameter(validator=validators.Number(gte=0, lte=65535))] = None
    """In a browser: the port of the page."""
    open: OpenBrowser = None


@dataclass(frozen=True, kw_only=True)
class PlayVersusOptions(CommandOptions):
    """Options of a match: the other players, the hints and explanations, and the deal."""

    bots: Annotated[int | None, Parameter(validator=validators.Number(gte=1, lte=7))] = None
    """Number of bots that play against you, in games that allow several."""
    partner: OptionalStrategy = None
    """The strategy of your partner, in games with partners. Default: that of the opponents."""
    hints: bool = False
    """Show at each turn what our best player would do."""
    explain: bool = False
    """Show the bots' reasons at the end of each round."""
    teach: bool = False
    """Explain the rules, and each card or bet when it first comes up."""
    seed: str | None = None
    """Random seed: the same seed deals the same cards. Default: a random deal."""
    from_position: Annotated[
        str | None,
        Parameter(
            help="Continue a stored match from MATCH@STEP, where `watch` shows the number of the "
            "step. "
            "Cards that you did not know at that step are dealt again.",
        ),
    ] = None
    same_cards: bool = False
    """With --from-position of a finished match: deal the cards as they came in it."""
    url: str | None = None
    """Address of a service. With --game join that game; without it, list the public games."""
    game: str | None = None
    """The uuid of the game to join. It must not have started."""
    proxy: ProxyAddress = None
    nickname: str = "Guest"
    """Your name at the service."""
    user_code: UserCodeOptions = field(default_factory=UserCodeOptions)
    as_json: Annotated[bool, Parameter(name="--json")] = False
    """Print the result as JSON at the end. The dialogue goes to stderr."""

    @property
    def has_local_only_options(self) -> bool:
        """True if an option is set that needs a match on this machine, not at a service."""
        values = (self.bots, self.partner, self.explain, self.teach, self.seed, self.from_position)
        return any(values) or self.same_cards


Opponent = Annotated[
    OptionalStrategy,
    Parameter(
        name=("--opponent", "--opponents", "--strategy"),
        help="Your opponent: a strategy, FILE.py, or a 'command'. Default: our best strategy.",
    ),
]


def versus(
    opponent: Opponent = None,
    *,
    options: PlayVersusOptions = PlayVersusOptions(),
    browser: BrowserOptions = BrowserOptions(),
    game: RequiredGame = FIRST_GAME,
) -> int:
    """Play against any strategy, in this terminal or in a browser."""
    from cardsharp_tools.cli.versus_runner import run_versus  # noqa: PLC0415 - slow to import

    return run_versus(game, opponent, options, browser)
