"""Display of what `cardsharp backtest` found: differences, tables of options, JSON documents."""

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from math import fsum

from rich.console import Console
from rich.table import Table
from rich.text import Text

from cardsharp.analysis.action_labels import LabelAction, action_labels
from cardsharp.analysis.replay import header_of
from cardsharp.play.game import Game
from cardsharp.store.match_log import MatchRecord
from cardsharp_tools.cli.console import borderless_table, print_command
from cardsharp_tools.executors.strategy_reference import StrategyReference
from cardsharp_tools.lab.backtest import BacktestedDecision
from cardsharp_tools.terminal.match_printer import (
    judge_value_text,
    option_value_text,
    print_title,
    printer_for,
    signed_value_text,
)


@dataclass(frozen=True, slots=True)
class BacktestedMatch:
    """Match in which a player repeated some decisions; `options` select it in a command."""

    record: MatchRecord
    options: str
    game: Game
    player: StrategyReference
    decisions: list[BacktestedDecision]

    @property
    def backtest_player_name(self) -> str:
        """Display name of the player: a strategy file without its folders."""
        return self.player.display_name

    @property
    def matchup_text(self) -> str:
        """Names of the match's players by seat, joined by " v "."""
        header = header_of(self.record)
        return " v ".join(
            map(header.strategy_or_player_name, range(max(len(header.names), len(header.players))))
        )

    @property
    def action_label(self) -> LabelAction:
        """Function that returns the name of an action at the table from its name in the log."""
        return action_labels(self.game)

    def original_decider(self, decision: BacktestedDecision) -> str:
        """Return the strategy that made the original decision, or the player if unknown."""
        return decision.original_decision.strategy or header_of(
            self.record
        ).strategy_or_player_name(decision.decision_point.step.seat)


def print_differences(console: Console, matches: Sequence[BacktestedMatch]) -> None:
    """Print where the player decides otherwise or fails, match by match, and the total effect."""
    for match in matches:
        notable = [
            decision
            for decision in match.decisions
            if decision.is_different or decision.new_decision.error
        ]
        if notable:
            console.print(f"match {match.record.match_id}: {match.matchup_text}", style="bold")
            console.print(_build_differences_table(match, notable))
            console.print()
    tried = [decision for match in matches for decision in match.decisions]
    if not tried:
        console.print("The log has no decision to repeat, because it stores no position of ours.")
        return
    for game in dict.fromkeys(match.game for match in matches):  # each has a judge of its own
        _print_summary(console, [match for match in matches if match.game == game])


def _print_summary(console: Console, matches: Sequence[BacktestedMatch]) -> None:
    """Print the effect of all differences in one game, and how to open the largest one."""
    tried = [decision for match in matches for decision in match.decisions]
    differing = [
        (match, decision)
        for match in matches
        for decision in match.decisions
        if decision.is_different
    ]
    among = f"in {len(matches)} matches" if len(matches) > 1 else "in this match"
    count_text = f"{len(differing)} of {len(tried)} decisions"
    console.print(
        f"{matches[0].backtest_player_name} decides differently in {count_text} {among}",
        style="bold",
    )
    for line in _summarize_gains([decision for _, decision in differing]):
        console.print(line, soft_wrap=True)
    failed = sum(decision.new_decision.error is not None for decision in tried)
    if failed:
        console.print(
            f"It failed in {failed}. A safe action replaced each of these decisions.", style="red"
        )
    if not differing:
        return
    match, largest = max(differing, key=lambda item: abs(item[1].gain or 0.0))
    turn, match_id = largest.decision_point.step.turn, match.record.match_id
    console.print()
    by = "" if largest.gain is None else f", {_format_gain(largest)}"
    console.print(
        f"The largest difference is in turn {turn} of match {match_id}{by}. To see every option:",
        soft_wrap=True,
    )
    print_command(f"backtest {shlex.quote(str(match.player))} {match.options} --turn {turn}")


def _format_gain(decision: BacktestedDecision) -> str:
    """Return the gain of the new choice with its sign, empty if it is unknown."""
    judge, gain = decision.judge, decision.gain
    return "" if judge is None or gain is None else signed_value_text(judge.value_format, gain)


def _build_differences_table(
    match: BacktestedMatch, decisions: Sequence[BacktestedDecision]
) -> Table:
    table = borderless_table(
        "turn",
        "then",
        "by",
        f"now, {match.backtest_player_name}",
        "gain",
        right_aligned=("turn", "gain"),
    )
    table.columns[2].style, table.columns[4].no_wrap = "dim", True
    label = match.action_label
    for decision in decisions:
        fault = decision.new_decision.error
        new_action = (
            Text(label(decision.new_action_name))
            if fault is None
            else Text(f"fault: {fault}", style="red")
        )
        table.add_row(
            str(decision.decision_point.step.turn),
            label(decision.original_decision.action),
            match.original_decider(decision),
            new_action,
            _format_gain(decision),
        )
    return table


def _summarize_gains(differing_decisions: Sequence[BacktestedDecision]) -> Iterator[str]:
    if not differing_decisions:
        return
    judge, gains = (
        differing_decisions[0].judge,
        [decision.gain for decision in differing_decisions if decision.gain is not None],
    )
    if judge is None or not gains:
        judge_name = (
            "the game has no judge" if judge is None else f"{judge.name} values none of them"
        )
        yield f"It is not known whether these choices are better, because {judge_name}."
        return
    total_gain = fsum(gains)
    value_format = judge.value_format.removeprefix("+")
    total_text, each = (
        judge_value_text(value_format, abs(value))
        for value in (total_gain, total_gain / len(gains))
    )
    if judge.value_sum:  # chances add up to wins, and not to more than 100 per cent of one
        total_text = f"{abs(total_gain):.2f} wins"
    valued = "" if len(gains) == len(differing_decisions) else f"{len(gains)} of "
    yield (
        f"{judge.name} judges {valued}these choices "
        f"{'better' if total_gain >= 0 else 'worse'} than the "
        f"original ones: by {total_text} in total, {each} each ({judge.unit})."
    )
    yield "A gain above 0 means a better choice, a gain below 0 a worse one."


def print_turn(console: Console, match: BacktestedMatch) -> None:
    """Print each decision of a turn: position, options, and both choices with their reasons."""
    print_title(console, match.record, match.matchup_text)
    count = len(match.decisions)
    for decision_number, decision in enumerate(match.decisions, 1):
        console.print()
        title = f"turn {decision.decision_point.step.turn}, decision {decision_number} of {count}"
        console.rule(title, align="left", style="dim")
        position_text = printer_for(match.game).position_text(
            decision.decision_point.step, header_of(match.record)
        )
        if position_text is not None:
            console.print(position_text)
            console.print()
        console.print(_build_options_table(match, decision))
        console.print()
        for name, text in _iter_detail_rows(match, decision):
            console.print(Text.assemble((f"{name:<8}", "dim"), text))


def _build_options_table(match: BacktestedMatch, decision: BacktestedDecision) -> Table:
    doer, judge = match.original_decider(decision), decision.judge
    if judge is not None and judge.name == doer:
        judge = None  # what it thinks of them stands there already
    new_options = {
        decision.action_name(option.action): option
        for option in decision.new_decision.decision.options
    }
    then = {option.action: option for option in decision.original_decision.options}
    weighed = {
        *new_options,
        *then,
        *decision.judge_values,
        decision.new_action_name,
        decision.original_decision.action,
    }
    deciders = [
        match.backtest_player_name,
        f"then {doer}",
        *([] if judge is None else [f"by {judge.name}"]),
    ]
    table = borderless_table("option", "chosen", *deciders, "note", right_aligned=deciders)
    legal = list(decision.decision_point.option_names.values())
    for name in (option_name for option_name in legal if option_name in weighed):
        option = new_options.get(name)
        judge_value = decision.judge_values.get(name)
        judged = (
            []
            if judge is None
            else ["" if judge_value is None else judge_value_text(judge.value_format, judge_value)]
        )
        actions_by_time = {
            "now": decision.new_action_name,
            "then": decision.original_decision.action,
        }
        chosen = " ".join(when for when, action in actions_by_time.items() if action == name)
        values = (
            option_value_text(candidate.value, candidate.unit) if candidate else ""
            for candidate in (option, then.get(name))
        )
        note = option.note if option else ""
        table.add_row(
            match.action_label(name), chosen, *values, *judged, note, style="bold" if chosen else ""
        )
    rest = [option_name for option_name in legal if option_name not in weighed]
    if rest:
        table.add_row(f"and {len(rest)} more", style="dim")
    return table


def _iter_detail_rows(
    match: BacktestedMatch, decision: BacktestedDecision
) -> Iterator[tuple[str, Text]]:
    decided, then = decision.new_decision, decision.original_decision
    label = match.action_label
    took = f"{decided.duration / timedelta(milliseconds=1):.1f} ms"
    yield (
        "now",
        Text.assemble((label(decision.new_action_name), "bold"), "  ", decided.decision.reason),
    )
    for name, lines, style in (
        ("fault", decided.error or "", "red"),
        ("at", decided.traceback, ""),
        ("printed", decided.stdout, ""),
    ):
        for line_index, line in enumerate(lines.rstrip().splitlines()):
            yield "" if line_index else name, Text(line, style=style)
    yield "by", Text(f"{match.backtest_player_name}, {took}", style="dim")
    yield "then", Text.assemble((label(then.action), "bold"), "  ", then.reason_without_action)
    by = match.original_decider(decision) + (
        "" if then.decision_ms is None else f", {then.decision_ms:.1f} ms"
    )
    yield "by", Text(by, style="dim")
    if decision.is_different and decision.judge is not None:
        gain = _format_gain(decision) or "not valued"
        yield "gain", Text(f"{gain}, by {decision.judge.name} ({decision.judge.unit})")


def backtest_document(match: BacktestedMatch, *, include_options: bool) -> dict[str, object]:
    """Return the decisions tried in a match as a JSON object.

    With `include_options`, each decision also has the judge's value of every option.
    """
    judge = match.decisions[0].judge if match.decisions else None
    return {
        "match": match.record.match_id,
        "game": match.game.name,
        "player": str(match.player),
        "judge": None if judge is None else {"name": judge.name, "unit": judge.unit},
        "decisions": [
            {
                **_decision_document(match, decision),
                **({"worth": decision.judge_values} if include_options else {}),
            }
            for decision in match.decisions
        ],
    }


def _decision_document(match: BacktestedMatch, decision: BacktestedDecision) -> dict[str, object]:
    decided, then = decision.new_decision, decision.original_decision
    return {
        "turn": decision.decision_point.step.turn,
        "move": decision.decision_point.step.sequence,
        "seat": decision.decision_point.step.seat,
        "options": list(decision.decision_point.option_names.values()),
        "then": {
            "by": match.original_decider(decision),
            **then.model_dump(mode="json", by_alias=True, include={"action", "reason", "options"}),
        },
        "now": {
            "by": str(match.player),
            "action": decision.new_action_name,
            "reason": decided.decision.reason,
            "options": [
                {
                    "action": decision.action_name(option.action),
                    "value": option.value,
                    "note": option.note,
                }
                for option in decided.decision.options
            ],
            "fault": decided.error,
            "trace": decided.traceback,
            "printed": decided.stdout,
            "decisionMs": round(decided.duration / timedelta(milliseconds=1), 3),
        },
        "differs": decision.is_different,
        "cost": decision.cost_of_change,
    }
