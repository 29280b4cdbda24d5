"""What a strategy decided again, beside what was done: for people and for programs."""

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta

from rich.console import Console
from rich.table import Table
from rich.text import Text

from cardsharp.cloud.ports import MatchRecord
from cardsharp.game import Game
from cardsharp.replay import header_of
from workbench.lab.again import TriedAgain
from workbench.show.decisions import amount, worth
from workbench.show.drawing import drawing_of, print_title
from workbench.show.output import plain_table, program
from workbench.strategy_file import called


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


# --- many decisions --------------------------------------------------------------------------


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
    differ = [one for one in tried if one.differs]
    among = f"in {len(matches)} matches" if len(matches) > 1 else "in this match"
    console.print(
        f"{matches[0].name} decides otherwise in {len(differ)} of {len(tried)} decisions {among}",
        style="bold",
    )
    for line in (*_judged(differ), *_faults(tried)):
        console.print(line)
    worst = max(
        (
            (one.cost or 0.0, number, one)
            for number, match in enumerate(matches)
            for one in match.decisions
            if one.differs
        ),
        key=lambda found: found[0],
        default=None,
    )
    if worst is not None:
        _print_next(console, matches[worst[1]], worst[2])


def _differences(match: MatchTried, shown: Sequence[TriedAgain]) -> Table:
    table = plain_table("turn", "then", "by", f"now, {match.name}", "cost", right=("turn", "cost"))
    table.columns[2].style, table.columns[4].no_wrap = "dim", True
    for one in shown:
        fault = one.decided.fault
        now = Text(one.answer) if fault is None else Text(f"fault: {fault}", style="red")
        cost = "" if one.cost is None or one.judge is None else amount(one.judge.form, one.cost)
        table.add_row(str(one.asked.step.turn), one.then.action, match.doer(one), now, cost)
    return table


def _judged(differ: Sequence[TriedAgain]) -> Iterator[str]:
    """What the judge says of all differences together."""
    if not differ:
        return
    judge, costs = differ[0].judge, [one.cost for one in differ if one.cost is not None]
    if judge is None or not costs:
        who = "nobody" if judge is None else judge.name
        yield f"What that costs is not known: {who} values none of it."
        return
    total = sum(costs)
    valued = "" if len(costs) == len(differ) else f"; {len(costs)} of them can be valued"
    whole, each = (amount(judge.form, abs(one)) for one in (total, total / len(costs)))
    if judge.total:  # chances add up to wins, and not to more than 100 per cent of one
        whole = f"{abs(total):.2f} wins"
    yield (
        f"In {judge.name}'s judgement these choices {'cost' if total >= 0 else 'gain'} {whole}, "
        f"{each} each ({judge.unit}){valued}."
    )
    yield "Each is judged on the position as it was."


def _faults(tried: Sequence[TriedAgain]) -> Iterator[Text]:
    number = sum(one.decided.fault is not None for one in tried)
    if number:
        yield Text(f"It failed in {number}, where a safe action took its place.", style="red")


def _print_next(console: Console, match: MatchTried, tried: TriedAgain) -> None:
    words = f"try {shlex.quote(match.player)} --match {match.record.match_id}"
    line = f"  {program()} {words} --turn {tried.asked.step.turn}"
    console.print()
    console.print("All that was weighed in the turn that cost most:")
    console.print(line, style="dim", no_wrap=True, overflow="ignore", crop=False)


# --- one turn --------------------------------------------------------------------------------


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
    """The legal actions, what each of the two thought of them, and what the judge does."""
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
    """The answer with its output and time, what was done then, and the difference."""
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
        known = tried.cost is not None
        cost = amount(tried.judge.form, tried.cost or 0.0) if known else "not valued"
        yield "cost", Text(f"{cost}, by {tried.judge.name} ({tried.judge.unit})")


# --- for programs ----------------------------------------------------------------------------


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
