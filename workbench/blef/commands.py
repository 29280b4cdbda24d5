"""`cardsharp blef`: serve games of Blef, play one, and let strategies duel."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil
from typing import Annotated

import cyclopts
from cyclopts import Parameter, validators

from cardsharp.blef.game import GAME
from cardsharp.blef.seats import SeatOrder
from cardsharp.cloud.redaction import redact
from workbench.blef.bot import News, check_there, in_words, told_of
from workbench.lab.duel import Duel
from workbench.lab.following import followed
from workbench.lab.plan import Plan
from workbench.show.exits import Exit
from workbench.show.lookup import LAST, data_folder, read_match
from workbench.show.options import Json, Match, Store, StoreFile
from workbench.show.output import messages, print_json, print_lines, results
from workbench.stage.ordered import GLANCE, attending
from workbench.stage.surroundings import telemetry_in
from workbench.strategy_file import strategy_named

_EXAMPLES = """\
Examples:
  cardsharp blef versus --bots 3                you against three bots
  cardsharp blef serve                          the API, on port 8000
  cardsharp blef bot --url URL --game UUID      our bot joins and plays
  cardsharp blef show last                      what our bot did there, and why
  cardsharp blef duel bayes greedy --games 200  who is stronger
All take --json."""

app = cyclopts.App(name="blef", help_format="plaintext", help_epilogue=_EXAMPLES)


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


@app.command
def duel(
    first: Annotated[str, Parameter(help="A strategy, e.g. bayes.")],
    second: Annotated[str, Parameter(help="Another, e.g. 'threshold(0.2,0.5)'.")],
    *,
    options: DuelOptions = DuelOptions(),
) -> None:
    """Let FIRST play against one or more SECOND; prints FIRST's share won.

    Every deal is played from each seat, so the number of games is rounded up to full rounds.
    """
    plan = Plan(
        game="blef",
        first=first,
        second=second,
        pairs=ceil(options.games / (1 + options.copies)),
        seed=options.seed,
        copies=options.copies,
    )
    played = followed(plan, processes=1)
    if options.as_json:
        print_json(_figures(played))
    else:
        print_lines(str(played))
        results().print(f"  {first}: {played.slowest:.1f} ms a decision (95th percentile)")


def _figures(played: Duel) -> dict[str, object]:
    """The figures of a duel of Blef, shares as such."""
    bounds = played.interval.scaled(0.01)
    return {
        "players": [played.plan.first, played.plan.second],
        "copies": played.plan.copies,
        "games": len(played.matches),
        "seed": played.plan.seed,
        "won": played.points / 100,
        "interval": list(bounds),
        "fair": played.plan.fair,
        "rounds": played.total("rounds", 0),
        "moves": played.total("moves", 0),
        "decision_p95_ms": played.slowest,
    }


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class SeatOptions:
    """Which game to join, and how to play it."""

    url: Annotated[str, Parameter(help="The service's address, e.g. http://127.0.0.1:8000.")]
    game: Annotated[str, Parameter(help="The game's uuid; it must not have started.")]
    nickname: Annotated[str, Parameter(help="What the bot is called there.")] = "Cardsharp"
    strategy: Annotated[str, Parameter(help="A strategy, FILE.py, or 'command'.")] = (
        GAME.default_strategy
    )
    store: StoreFile = None
    as_json: Annotated[
        bool, Parameter(name="--json", negative=(), help="Print one JSON document a line.")
    ] = False


@app.command
def bot(*, options: SeatOptions) -> int:
    """Join a game and play it to its end, each choice explained; the same again takes it up."""
    wanted = {"url": options.url, "game": options.game, "nickname": options.nickname}
    order = SeatOrder.parse({**wanted, "strategy": strategy_named(options.strategy, GAME)})
    store = options.store or data_folder() / "blef.db"

    check_there(order.url, order.game)

    def say(sentence: str) -> None:
        messages().print(redact(sentence), style="dim", soft_wrap=True)

    def tell(news: Mapping[str, object]) -> None:
        if options.as_json:
            print_json(news)
        else:
            results().print(in_words(news), soft_wrap=True)

    seated = attending(GAME, order.model_dump(), store, say)
    with telemetry_in(data_folder() / "bot.log"), seated as seat:
        say(f"{order.nickname} plays in game {order.game} at {order.url}; Ctrl-C stops it.")
        news = News(seat.places.offering.log, seat.match_id, tell)
        while not news.glance():
            seat.places.offering.clock.sleep(GLANCE)
        return Exit.OK if seat.is_played else Exit.FAILED


@app.command
def show(match: Match = LAST, *, store: Store = None, as_json: Json = False) -> None:
    """Show what our bot did in a game and why, round by round."""
    record, moves, _ = read_match(match, store, GAME)
    told: list[Mapping[str, object]] = [
        told_of(move.facts, move.intent) for move in moves if move.facts is not None
    ]
    if record.outcome is not None:
        told.append(record.outcome)
    if as_json:
        print_json(told)
        return
    for news in told:
        results().print(in_words(news), soft_wrap=True)
