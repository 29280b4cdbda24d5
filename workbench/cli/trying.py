"""`cardsharp try`: a strategy on the positions of stored matches, beside what was done there."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated

from cyclopts import Parameter, validators

from cardsharp.cloud.ports import MatchRecord, MoveRecord
from cardsharp.errors import ConfigError, StrategyFault
from cardsharp.game import Game
from cardsharp.games import game as game_named
from cardsharp.replay import Asked
from cardsharp.trying import LATE
from workbench.cli.each import AnyGame
from workbench.cli.tried import MatchTried, document, print_all, print_turn
from workbench.lab.again import TrialPlayer
from workbench.show.exits import Exit
from workbench.show.lookup import LAST, game_of, readable
from workbench.show.options import Json, Store
from workbench.show.output import print_json, results
from workbench.show.progress import Bar
from workbench.watch.sources import opened, source_of

MOST_LATE = 3
"""So many late decisions stop the trial: the next ones may be late, too."""

Player = Annotated[str, Parameter(help="FILE.py, FILE.json, a strategy or a 'command'.")]


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class WantedMatches:
    """Which stored matches are meant, and of which log."""

    match: Annotated[
        tuple[str, ...],
        Parameter(
            help="An id, a unique beginning or end of one, the word last, a FILE of recorded "
            "matches, or another source; repeat it for more. Else last."
        ),
    ] = ()
    all: bool = False
    """All matches of the log, where --match names none."""
    limit: Annotated[int, Parameter(validator=validators.Number(gte=1))] = 100
    """With --all: the newest so many."""
    store: Store = None
    as_json: Json = False


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class TryOptions(WantedMatches):
    """Which decisions are made again."""

    turn: int | None = None
    """Only this turn, with all that was weighed; counted from 1."""


def again(player: Player, /, *, options: TryOptions = TryOptions(), game: AnyGame = None) -> int:
    """Print where it decides otherwise than was done; with --turn, all that it weighs there."""
    turn = options.turn
    if turn is not None and (options.all or len(options.match) > 1):
        raise ConfigError("--turn is of one match; leave out --all, and name one --match at most.")
    trials: dict[str, TrialPlayer] = {}
    found = []
    for record, moves in matches_of(options, game):
        of = game_of(record)
        trial = trials.setdefault(of.name, TrialPlayer(of, player))
        asked = trial.asked(record, moves)
        found.append((record, trial, asked if turn is None else _in_turn(asked, turn)))
    tried: list[MatchTried] = []
    late = 0
    with Bar(sum(len(asked) for _, _, asked in found), "deciding") as bar:
        for record, trial, asked in found:
            tried.append(MatchTried(record, trial.game, player, []))
            for one in trial.again(asked):
                tried[-1].decisions.append(one)
                bar.advance()
                late += (one.decided.fault or "").startswith(LATE)
                if late == MOST_LATE:
                    raise StrategyFault(
                        f"{player}: {late} decisions were late: {one.decided.fault}."
                    )
    if options.as_json:
        print_json([document(one, whole=turn is not None) for one in tried])
    elif turn is not None:
        print_turn(results(), tried[0])
    else:
        print_all(results(), tried)
    faults = [one.decided.fault for match in tried for one in match.decisions]
    return Exit.FAILED if any(faults) else Exit.OK


def _in_turn(asked: list[Asked], turn: int) -> list[Asked]:
    """Those of a turn; raises `ConfigError` where there are none."""
    found = [one for one in asked if one.step.turn == turn]
    if not found:
        turns = ", ".join(map(str, dict.fromkeys(one.step.turn for one in asked))) or "no turn"
        raise ConfigError(f"Nothing that can be tried was decided in turn {turn}, but in: {turns}.")
    return found


def matches_of(
    wanted: WantedMatches, game: Game | None
) -> Iterator[tuple[MatchRecord, list[MoveRecord]]]:
    """The matches that are meant, with their moves."""
    first = game or game_named(None)
    words = wanted.match or (LAST,)
    if wanted.all and not wanted.match:
        with source_of(wanted.store, first).reading() as log:
            words = tuple(one.match_id for one in readable(log, first)[: wanted.limit])
    for word in words:
        found = opened(word, wanted.store, first if word == LAST else game)
        yield found.record, found.moves
