"""`cardsharp try`: a strategy on the positions of stored matches, beside what was done there."""

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from math import fsum
from typing import Annotated

from cyclopts import Parameter, validators
from rich.console import Console
from rich.table import Table
from rich.text import Text

from cardsharp.cloud.ports import MatchRecord, MoveRecord
from cardsharp.errors import ConfigError, StrategyFault
from cardsharp.game import Game
from cardsharp.games import game as game_named
from cardsharp.replay import Asked, header_of
from cardsharp.trying import LATE
from workbench.cli.games import AnyGame
from workbench.lab.again import TrialPlayer, TriedAgain
from workbench.show.drawing import amount, drawing_of, print_title, signed_amount, worth
from workbench.show.exits import exit_after
from workbench.show.lookup import LAST, game_of, readable
from workbench.show.options import CommandOptions, Json, Store
from workbench.show.output import plain_table, print_command, print_json, results
from workbench.show.progress import Bar
from workbench.strategy_file import called
from workbench.watch.sources import opened, source_of

MOST_LATE = 3  # so many late decisions stop the trial: the next ones may be late, too

Player = Annotated[str, Parameter(help="FILE.py, FILE.json, a strategy or a 'command'.")]


@dataclass(frozen=True, kw_only=True)
class WantedMatches(CommandOptions):
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
    tried, late = list[MatchTried](), 0
    with Bar(sum(len(asked) for _, _, asked in found), "deciding") as bar:
        for record, trial, asked in found:
            tried.append(MatchTried(record, trial.game, player, []))
            for one in trial.again(asked):
                tried[-1].decisions.append(one)
                bar.advance()
                late += (one.decided.fault or "").startswith(LATE)
                if late == MOST_LATE:
                    fault = f"{late} decisions were late: {one.decided.fault}."
                    raise StrategyFault(f"{player}: {fault}")
    if options.as_json:
        print_json([document(one, whole=turn is not None) for one in tried])
    elif turn is not None:
        print_turn(results(), tried[0])
    else:
        print_all(results(), tried)
    faults = [one.decided.fault for match in tried for one in match.decisions]
    return exit_after(len(faults), sum(fault is not None for fault in faults))


def _in_turn(asked: list[Asked], turn: int) -> list[Asked]:
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


@dataclass(frozen=True, slots=True)
class MatchTried:
    """A match of which a player decided something again."""

    record: MatchRecord
    game: Game
    player: str
    decisions: list[TriedAgain]

    @property
    def name(self) -> str:
        """What the player is called: a file without its folders."""
        return called(self.player)

    @property
    def players(self) -> str:
        """Who played it."""
        header = header_of(self.record)
        return " v ".join(map(header.called, range(max(len(header.names), len(header.players)))))

    def doer(self, tried: TriedAgain) -> str:
        """Who decided then: the strategy, or the player where that is not known."""
        return tried.then.strategy or header_of(self.record).called(tried.asked.step.seat)


def print_all(console: Console, matches: Sequence[MatchTried]) -> None:
    """Where the player decides otherwise or fails, match by match, and what it comes to."""
    for match in matches:
        shown = [one for one in match.decisions if one.differs or one.decided.fault]
        if shown:
            console.print(f"match {match.record.match_id}: {match.players}", style="bold")
            console.print(_differences(match, shown))
            console.print()
    tried = [one for match in matches for one in match.decisions]
    if not tried:
        console.print("There is nothing to decide again: the log tells no position of ours.")
        return
    for game in dict.fromkeys(match.game for match in matches):  # each has a judge of its own
        _print_sum(console, [match for match in matches if match.game == game])


def _print_sum(console: Console, matches: Sequence[MatchTried]) -> None:
    """What the differences in matches of one game come to, and how to open the largest."""
    tried = [one for match in matches for one in match.decisions]
    differing = [(match, one) for match in matches for one in match.decisions if one.differs]
    among = f"in {len(matches)} matches" if len(matches) > 1 else "in this match"
    number = f"{len(differing)} of {len(tried)} decisions"
    console.print(f"{matches[0].name} decides otherwise in {number} {among}", style="bold")
    for line in _judged([one for _, one in differing]):
        console.print(line, soft_wrap=True)
    failed = sum(one.decided.fault is not None for one in tried)
    if failed:
        console.print(f"It failed in {failed}, where a safe action took its place.", style="red")
    if not differing:
        return
    match, largest = max(differing, key=lambda found: abs(found[1].gain or 0.0))
    turn, match_id = largest.asked.step.turn, match.record.match_id
    console.print()
    by = "" if largest.gain is None else f", {_gain(largest)}"
    console.print(
        f"The largest difference is in turn {turn} of match {match_id}{by}. All that was weighed "
        "there:",
        soft_wrap=True,
    )
    print_command(f"try {shlex.quote(match.player)} --match {match_id} --turn {turn}")


def _gain(tried: TriedAgain) -> str:
    """By how much the new choice is better, with its sign; empty where nobody knows."""
    judge, gain = tried.judge, tried.gain
    return "" if judge is None or gain is None else signed_amount(judge.form, gain)


def _differences(match: MatchTried, shown: Sequence[TriedAgain]) -> Table:
    table = plain_table("turn", "then", "by", f"now, {match.name}", "gain", right=("turn", "gain"))
    table.columns[2].style, table.columns[4].no_wrap = "dim", True
    for one in shown:
        fault = one.decided.fault
        now = Text(one.answer) if fault is None else Text(f"fault: {fault}", style="red")
        table.add_row(str(one.asked.step.turn), one.then.action, match.doer(one), now, _gain(one))
    return table


def _judged(differ: Sequence[TriedAgain]) -> Iterator[str]:
    if not differ:
        return
    judge, gains = differ[0].judge, [one.gain for one in differ if one.gain is not None]
    if judge is None or not gains:
        who = "nobody" if judge is None else judge.name
        yield f"Whether that is better is not known: {who} values none of these choices."
        return
    total = fsum(gains)
    form = judge.form.removeprefix("+")
    whole, each = (amount(form, abs(one)) for one in (total, total / len(gains)))
    if judge.total:  # chances add up to wins, and not to more than 100 per cent of one
        whole = f"{abs(total):.2f} wins"
    valued = "" if len(gains) == len(differ) else f"{len(gains)} of "
    yield (
        f"{judge.name} judges {valued}these choices to be {'better' if total >= 0 else 'worse'} "
        f"than what was done: by {whole} together, {each} each ({judge.unit})."
    )
    yield "A gain above 0 is a better choice, below 0 a worse one, in the position as it was."


def print_turn(console: Console, match: MatchTried) -> None:
    """Each decision of a turn: the table, all options, both choices with their reasons."""
    print_title(console, match.record, match.players)
    count = len(match.decisions)
    for number, one in enumerate(match.decisions, 1):
        console.print()
        title = f"turn {one.asked.step.turn}, decision {number} of {count}"
        console.rule(title, align="left", style="dim")
        seen = drawing_of(match.game).seen(one.asked.step)
        if seen is not None:
            console.print(seen)
            console.print()
        console.print(_options(match, one))
        console.print()
        for name, text in _rows(match, one):
            console.print(Text.assemble((f"{name:<8}", "dim"), text))


def _options(match: MatchTried, tried: TriedAgain) -> Table:
    doer, judge = match.doer(tried), tried.judge
    if judge is not None and judge.name == doer:
        judge = None  # what it thinks of them stands there already
    mine = {tried.named(option.action): option for option in tried.decided.decision.options}
    then = {option.action: option for option in tried.then.options}
    weighed = {*mine, *then, *tried.worth, tried.answer, tried.then.action}
    who = [match.name, f"then {doer}", *([] if judge is None else [f"by {judge.name}"])]
    table = plain_table("option", "chosen", *who, "note", right=who)
    legal = list(tried.asked.options.values())
    for name in (one for one in legal if one in weighed):
        option = mine.get(name)
        found = tried.worth.get(name)
        judged = [] if judge is None else ["" if found is None else amount(judge.form, found)]
        choices = {"now": tried.answer, "then": tried.then.action}
        chosen = " ".join(when for when, action in choices.items() if action == name)
        values = (worth(one.value, one.unit) if one else "" for one in (option, then.get(name)))
        note = option.note if option else ""
        table.add_row(name, chosen, *values, *judged, note, style="bold" if chosen else "")
    rest = [one for one in legal if one not in weighed]
    if rest:
        table.add_row(f"and {len(rest)} more", style="dim")
    return table


def _rows(match: MatchTried, tried: TriedAgain) -> Iterator[tuple[str, Text]]:
    decided, then = tried.decided, tried.then
    took = f"{decided.took / timedelta(milliseconds=1):.1f} ms"
    yield "now", Text.assemble((tried.answer, "bold"), "  ", decided.decision.reason)
    for name, lines, style in (
        ("fault", decided.fault or "", "red"),
        ("at", decided.trace, ""),
        ("printed", decided.printed, ""),
    ):
        for place, line in enumerate(lines.rstrip().splitlines()):
            yield "" if place else name, Text(line, style=style)
    yield "by", Text(f"{match.name}, {took}", style="dim")
    yield "then", Text.assemble((then.action, "bold"), "  ", then.because)
    by = match.doer(tried) + ("" if then.decision_ms is None else f", {then.decision_ms:.1f} ms")
    yield "by", Text(by, style="dim")
    if tried.differs and tried.judge is not None:
        gain = _gain(tried) or "not valued"
        yield "gain", Text(f"{gain}, by {tried.judge.name} ({tried.judge.unit})")


def document(match: MatchTried, *, whole: bool) -> dict[str, object]:
    """What was tried in a match; on the `whole` with what the judge thinks of every option."""
    judge = match.decisions[0].judge if match.decisions else None
    return {
        "match": match.record.match_id,
        "game": match.game.name,
        "player": match.player,
        "judge": None if judge is None else {"name": judge.name, "unit": judge.unit},
        "decisions": [
            {**_decision(match, one), **({"worth": one.worth} if whole else {})}
            for one in match.decisions
        ],
    }


def _decision(match: MatchTried, tried: TriedAgain) -> dict[str, object]:
    decided, then = tried.decided, tried.then
    return {
        "turn": tried.asked.step.turn,
        "move": tried.asked.step.sequence,
        "seat": tried.asked.step.seat,
        "options": list(tried.asked.options.values()),
        "then": {
            "by": match.doer(tried),
            **then.model_dump(mode="json", by_alias=True, include={"action", "reason", "options"}),
        },
        "now": {
            "by": match.player,
            "action": tried.answer,
            "reason": decided.decision.reason,
            "options": [
                {"action": tried.named(one.action), "value": one.value, "note": one.note}
                for one in decided.decision.options
            ],
            "fault": decided.fault,
            "trace": decided.trace,
            "printed": decided.printed,
            "decisionMs": round(decided.took / timedelta(milliseconds=1), 3),
        },
        "differs": tried.differs,
        "cost": tried.cost,
    }
