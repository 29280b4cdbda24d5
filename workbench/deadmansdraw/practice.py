"""`cardsharp practice`: matches against ourselves or the dummy player, at any arena."""

import tempfile
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter, validators

from cardsharp.cloud.clock import SystemClock
from cardsharp.cloud.ports import Body
from cardsharp.deadmansdraw.arena.dto import cards_json
from cardsharp.deadmansdraw.assembly import Assembly
from cardsharp.deadmansdraw.cards import SUIT_ORDER, Card
from cardsharp.deadmansdraw.client import ArenaClient
from cardsharp.deadmansdraw.practice import MOST
from cardsharp.deadmansdraw.replay import card_of
from cardsharp.errors import ConfigError
from practice.app import handler as create_matches
from workbench.cloud.events import Function
from workbench.cloud.home import HomeOptions
from workbench.deadmansdraw.connection import ArenaOptions, client_for, variables_for
from workbench.deadmansdraw.like import table_like
from workbench.deadmansdraw.report import MatchReport, played_of, print_faults, stop_at_fault
from workbench.deadmansdraw.show import let_go_on, watched
from workbench.show.exits import Exit, exit_after
from workbench.show.lookup import copy_match, data_folder, open_log
from workbench.show.options import CommandOptions, Json
from workbench.show.output import messages, print_error, print_json, results, tell
from workbench.stage.side import Follower, assembled, attending, embedded_in
from workbench.stage.surroundings import telemetry_in
from workbench.strategy_file import strategy_named

STALL = timedelta(minutes=2)  # how long no move may be made before we give up

CREATION_TIME = timedelta(minutes=5)

_PILES = ("draw_pile", "discard_pile", "play_area")


@dataclass(frozen=True, kw_only=True)
class StartOptions(CommandOptions):
    """A table to begin with; what is not given is the arena's own."""

    like: str | None = None
    """As a stored match stood: MATCH@STEP, or its start; whoever decided there is we."""
    draw_pile: str | None = None
    """Cards of the draw pile, the next first: Key3,Map5,..."""
    discard_pile: str | None = None
    """Cards of the discard pile."""
    play_area: str | None = None
    """Cards in the play area."""
    banks: str | None = None
    """The banks: our cards, a slash, their cards."""

    def piles(self) -> dict[str, object]:
        """The piles of a practice order; raises `ConfigError` for what is no card."""
        piles: dict[str, object] = {}
        if self.like is not None:
            table = table_like(self.like)
            piles = {name: cards_json(getattr(table, name)) for name in _PILES}
            piles |= {"banks": [*map(cards_json, table.banks or ())], "seed": table.random_seed}
        given = {name: getattr(self, name) for name in _PILES}
        piles |= {name: _pile(text) for name, text in given.items() if text is not None}
        if self.banks is not None:
            first, _, second = self.banks.partition("/")
            piles["banks"] = [_pile(first), _pile(second)]
        return piles


def _pile(text: str) -> Sequence[Body]:
    """The cards of a comma list such as Key3,Map5, in its order; an empty text is no card."""
    return cards_json([_card(part.strip()) for part in text.split(",") if part.strip()])


def _card(text: str) -> Card:
    found = card_of(text.capitalize())
    if found.suit not in SUIT_ORDER or not found.value:
        suits = ", ".join(SUIT_ORDER)
        raise ConfigError(f"'{text}' is no card; write e.g. Key3, with one of {suits}.")
    return found


@dataclass(frozen=True, kw_only=True)
class PracticeOptions(CommandOptions):
    """Which matches to create, and who plays them."""

    arena: ArenaOptions = field(default_factory=ArenaOptions)
    matches: Annotated[int, Parameter(alias="-n", validator=validators.Number(gte=1, lte=MOST))] = 1
    """How many."""
    opponent: Literal["self", "dummy"] = "self"
    """Ourselves, or the dummy, whom we play as well."""
    strategy: str | None = None
    """A strategy, a file or a 'command'; else CARDSHARP_STRATEGY."""
    against: str = "champion"
    """Who plays the dummy's seat: a strategy, FILE.py, FILE.json or 'command'."""
    tag: tuple[str, ...] = ()
    """Tags of the matches; else one of their own."""
    seed: str | None = None
    """The matches' random seed."""
    timeout: Annotated[int | None, Parameter(validator=validators.Number(gte=1))] = None
    """Seconds that a turn's move may take."""
    table: StartOptions = field(default_factory=StartOptions)
    at_once: Annotated[int, Parameter(validator=validators.Number(gte=1, lte=50))] = 4
    """Matches played in parallel."""
    create_only: bool = False
    """Only create the matches; another bot plays them."""
    strict: bool = False
    """Stop with exit code 1 at our strategy's first fault."""
    as_json: Json = False


def practice(*, options: PracticeOptions = PracticeOptions()) -> int:
    """Create the matches through the practice function; play them unless told otherwise."""
    tags = options.tag or (f"practice-{uuid.uuid4().hex[:8]}",)
    variables = variables_for(
        options.arena,
        options.strategy,
        dummy_strategy=strategy_named(options.against) if options.opponent == "dummy" else None,
        tags=",".join(tags),
    )
    with tempfile.TemporaryDirectory(prefix="cardsharp-") as folder:
        kept = variables["CARDSHARP_STORE"]
        # Matches that others play must not look as if we had left them in our own log.
        variables |= embedded_in(Path(folder, "stage.db"))
        with telemetry_in(data_folder() / "practice.log"), assembled(variables) as assembly:
            with client_for(assembly.settings) as client:
                client.whoami()  # so that a wrong address or password is known as such
                at_once = _fed(client, options)
            if options.create_only:
                ids = _create(options, tags, options.matches)
                if (fed := len(ids)) < options.matches:
                    messages().print(
                        f"The arena's limit of requests feeds these {fed}, no more at once."
                    )
                lines = (f"created match {match_id}" for match_id in ids)
                tell({"match_ids": ids}, *lines, as_json=options.as_json)
                return Exit.OK
            ids = _play(assembly, options, tags, at_once)
            with open_log(kept) as log:
                for match_id in ids:
                    copy_match(match_id, assembly.log, log, {})
            # Only now: whatever cannot be told of a match, it is kept.
            with client_for(assembly.settings) as client:
                played = [played_of(assembly.log, client.view(match_id)) for match_id in ids]
    if options.as_json:
        print_json([match.document() for match in played])
    else:
        _print_played(played)
    if not all(match.verdict.complete for match in played):
        return Exit.FAILED
    if any(match.forced for match in played):
        return Exit.LATE
    return exit_after(
        sum(match.decisions for match in played), sum(len(match.faults) for match in played)
    )


def _fed(client: ArenaClient, options: PracticeOptions) -> int:
    """How many matches are played at once: fewer than wanted where the arena's limit is low."""
    wanted = min(options.at_once, options.matches)
    turn = None if options.timeout is None else timedelta(seconds=options.timeout)
    fed = client.contact.budget.feeds(turn)
    if fed is None or fed >= wanted:
        return wanted
    messages().print(f"The arena's limit of requests feeds {fed} matches at once, not {wanted}.")
    return fed


def _create(options: PracticeOptions, tags: Sequence[str], number: int) -> list[str]:
    """The ids of so many new matches, which the practice function has put on the queue."""
    order: dict[str, object] = {
        "matches": number,
        "opponent": options.opponent,
        "tags": list(tags),
        "timeout_seconds": options.timeout,
        **options.table.piles(),
        **({} if options.seed is None else {"seed": options.seed}),
    }
    context = Function("practice", create_matches, CREATION_TIME).context(SystemClock())
    return create_matches(order, context)["match_ids"]


def _play(
    assembly: Assembly, options: PracticeOptions, tags: Sequence[str], at_once: int
) -> list[str]:
    """The ids of the matches, each created when it can be played, which have ended."""
    log, number = assembly.log, options.matches
    matches = (match_id for _ in range(number) for match_id in _create(options, tags, 1))
    follower = Follower(log, assembly.clock, STALL)
    with attending(assembly.offering, HomeOptions(concurrency=at_once)):
        return watched(
            log,
            lambda glance: follower.as_they_end(matches, at_once, glance),
            stop_at_fault if options.strict else let_go_on,
            total=number,
            as_json=options.as_json,
        )


def _print_played(played: Sequence[MatchReport]) -> None:
    """A line a match; a match against ourselves has no winner that would mean anything."""
    console = results()
    console.print()
    for match in played:
        result = "{}, {} : {}".format(match.outcome.result, *match.scores)
        console.print(f"{match.match_id}  {result}; {match.verdict}")
    print_faults(played, "")
    forced = sum(match.forced for match in played)
    if forced:
        turns = "A turn of ours was" if forced == 1 else f"{forced} turns of ours were"
        print_error(f"{turns} ended by force: nothing was played in time.")
