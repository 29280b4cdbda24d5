"""`cardsharp blef`: serve games of Blef, play one, and let strategies duel."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from random import Random, SystemRandom
from typing import Annotated

import cyclopts
from cyclopts import Parameter, validators

from cardsharp.blef.cards import DECK
from cardsharp.blef.seat import GAME, parse_order
from cardsharp.blef.strategies import build, names
from cardsharp.cloud.redaction import redact
from cardsharp.errors import ConfigError
from workbench.blef import home
from workbench.blef.bot import GLANCE, News, attending, in_words
from workbench.blef.duel import Pairing
from workbench.blef.duel import duel as run_duel
from workbench.blef.play import Left, Table
from workbench.cli.exits import Exit
from workbench.cli.lookup import LAST, data_folder, find_match, open_to_read
from workbench.cli.options import Json, Match, Store
from workbench.cli.output import messages, print_json, results
from workbench.cloud.http_front import HOST
from workbench.stage.surroundings import telemetry_in

EMULATOR = "emulator"
_EXAMPLES = """\
Examples:
  cardsharp blef play --bots 3                  you against three bots
  cardsharp blef serve                          the API, on port 8000
  cardsharp blef bot --url URL --game UUID      our bot joins and plays
  cardsharp blef show last                      what our bot did there, and why
  cardsharp blef duel bayes greedy --games 200  who is stronger
All take --json."""

blef = cyclopts.App(name="blef", help_format="plaintext", help_epilogue=_EXAMPLES)


@blef.command
def serve(
    *,
    port: Annotated[
        int,
        Parameter(
            validator=validators.Number(gte=0, lte=65535), help="The port; 0 for a free one."
        ),
    ] = 8000,
    host: Annotated[str, Parameter(help="The address to listen on; 0.0.0.0 for all.")] = HOST,
    store: Annotated[
        str, Parameter(help="sqlite:FILE keeps the games; emulator: DynamoDB of an AWS emulator.")
    ] = home.IN_MEMORY,
    as_json: Json = False,
) -> None:
    """Serve games through the handler that the cloud runs, until Ctrl-C."""

    def announce(url: str) -> None:
        if as_json:
            print_json({"url": f"{url}/v2", "openapi": f"{url}/v2/openapi.json"})
        else:
            results().print(f"Blef at {url}/v2, its document at {url}/v2/openapi.json")
            results().print("Ctrl-C stops it.", style="dim")

    if store == EMULATOR:
        with home.emulated_store() as games:
            home.serve(games, announce, port, host)
    else:
        home.serve(home.embedded_store(store), announce, port, host)
    if not as_json:
        results().print("Blef is closed")


@blef.command
def play(
    *,
    bots: Annotated[
        int, Parameter(validator=validators.Number(gte=1, lte=7), help="How many bots.")
    ] = 1,
    strategy: Annotated[str, Parameter(help="Who the bots are: a strategy's name.")] = "bayes",
    seed: Annotated[
        str | None, Parameter(help="The same seed deals the same cards; without it, chance.")
    ] = None,
    why: Annotated[
        bool, Parameter(negative=(), help="Tell the bots' reasons after each round.")
    ] = False,
    as_json: Annotated[
        bool,
        Parameter(name="--json", negative=(), help="Talk on stderr; the result as JSON at last."),
    ] = False,
) -> None:
    """Play against bots in the terminal, until somebody wins or you leave."""
    dice = SystemRandom() if seed is None else Random(seed)
    console = messages() if as_json else results()

    def tell(line: str) -> None:
        console.print(line, soft_wrap=True)

    def ask(prompt: str) -> str:
        if not as_json:
            return input(prompt)
        console.print(prompt, end="", soft_wrap=True)
        return input("")

    # Dice of their own, so that whatever is said does not change what is dealt.
    own = [SystemRandom() if seed is None else Random(f"{seed}/{bot}") for bot in range(bots)]
    players = [build(strategy, one) for one in own]
    table = Table(players, dice.randrange(bots + 1), ask, tell, why, console.width)
    winner: int | None = None
    try:
        winner = table.play(lambda cards: tuple(dice.sample(DECK, cards)))
    except Left:
        tell("\nYou have left the table.")
    else:
        tell("You have won!" if winner == table.you else f"{table.name(winner)} has won.")
    if as_json:
        name = None if winner is None else table.name(winner)
        print_json({"winner": name, "won": winner == table.you, "left": winner is None})


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class DuelOptions:
    """How a duel is fought."""

    games: Annotated[
        int, Parameter(alias="-n", validator=validators.Number(gte=1), help="How many games.")
    ] = 100
    copies: Annotated[
        int, Parameter(validator=validators.Number(gte=1, lte=7), help="How many play as SECOND.")
    ] = 1
    seed: Annotated[int, Parameter(help="The same seed deals the same cards.")] = 1
    as_json: Json = False


@blef.command
def duel(
    first: Annotated[str, Parameter(help="A strategy, e.g. bayes.")],
    second: Annotated[str, Parameter(help="Another, e.g. 'threshold(0.2,0.5)'.")],
    *,
    options: DuelOptions = DuelOptions(),
) -> None:
    """Let FIRST play against one or more SECOND, seats rotating; prints FIRST's share won."""
    report = run_duel(Pairing(first, second, options.games, options.seed, options.copies))
    if options.as_json:
        print_json(report.as_json())
    else:
        results().print(str(report), soft_wrap=True)


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class SeatOptions:
    """Which game to join, and how to play it."""

    url: Annotated[str, Parameter(help="The service's address, e.g. http://127.0.0.1:8000.")]
    game: Annotated[str, Parameter(help="The game's uuid; it must not have started.")]
    nickname: Annotated[str, Parameter(help="What the bot is called there.")] = "Cardsharp"
    strategy: Annotated[str, Parameter(help="A strategy's name.")] = "bayes"
    data: Annotated[
        Path | None, Parameter(help="SQLite file of the match log; else our own for Blef.")
    ] = None
    as_json: Annotated[
        bool, Parameter(name="--json", negative=(), help="Print one JSON document a line.")
    ] = False


@blef.command
def bot(*, options: SeatOptions) -> int:
    """Join a game and play it to its end, each choice explained; the same again takes it up."""
    wanted = {"url": options.url, "game": options.game, "nickname": options.nickname}
    order = parse_order({**wanted, "strategy": options.strategy})
    build(options.strategy, Random())
    store = options.data or data_folder() / "blef.db"

    def say(sentence: str) -> None:
        messages().print(redact(sentence), style="dim", soft_wrap=True)

    def tell(news: Mapping[str, object]) -> None:
        if options.as_json:
            print_json(news)
        else:
            results().print(in_words(news), soft_wrap=True)

    with telemetry_in(data_folder() / "bot.log"), attending(order, store, say) as seat:
        say(f"{order.nickname} plays in game {order.game} at {order.url}; Ctrl-C stops it.")
        news = News(seat.assembly.log, seat.match_id, tell)
        while not news.glance():
            seat.assembly.clock.sleep(GLANCE)
        return Exit.OK if seat.is_played else Exit.FAILED


@blef.command
def show(match: Match = LAST, *, store: Store = None, as_json: Json = False) -> None:
    """Show what our bot did in a game and why, round by round."""
    told: list[Mapping[str, object]] = []
    with open_to_read(store or f"sqlite:{data_folder() / 'blef.db'}") as log:
        record = find_match(log, match)
        if record.header.get("game") != GAME:
            raise ConfigError(f"{record.match_id} is no game of Blef; see `cardsharp show`.")
        News(log, record.match_id, told.append).glance()
    if as_json:
        print_json(told)
        return
    for news in told:
        results().print(in_words(news), soft_wrap=True)


@blef.command
def strategies(*, as_json: Json = False) -> None:
    """List the strategies that can play."""
    if as_json:
        print_json(list(names()))
        return
    for name in names():
        results().print(name)
