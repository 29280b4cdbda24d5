"""Display of a stored match by `cardsharp show` and `why`."""

from cardsharp.analysis.replay import header_of, outcome_of
from cardsharp.play.game import Game
from cardsharp_tools.cli.console import message_console, print_json, result_console
from cardsharp_tools.match_sources.branches import branches_in_log
from cardsharp_tools.match_sources.match_logs import game_of_match
from cardsharp_tools.match_sources.sources import load_match_with_moves
from cardsharp_tools.terminal.match_printer import match_document, printer_for

MatchLocation = tuple[str, str | None, Game | None]
"""A match as a user names it, its store or None, and its game or None for any game."""


def show_match(location: MatchLocation, turn: int | None, *, as_json: bool) -> None:
    """Print a match turn by turn, or one turn of it: the moves, our reasons, and the score."""
    record, moves, withdrawn = load_match_with_moves(*location)
    drawing, branches = printer_for(game_of_match(record)), branches_in_log(record.match_id)
    if as_json:
        document = {
            "branches": [*map(match_document, branches)],
            **drawing.turn_documents(record, moves, turn),
        }
        print_json({**match_document(record), **document})
    else:
        drawing.show(record, moves, turn)
        for branch in branches:
            header, outcome = header_of(branch), outcome_of(branch)
            branch_step = 0 if header.branch is None else header.branch.step
            scores = " : ".join(map(str, (outcome and outcome.scores) or ()))
            outcome_text = "" if outcome is None else f", {outcome.result} {scores}".rstrip()
            line = (
                f"another course from step {branch_step} on: {branch.match_id}, "
                f"{' v '.join(header.side_names)}"
            )
            result_console().print(f"{line}{outcome_text}", soft_wrap=True)
    if withdrawn:
        withdrawn_text = ", ".join(map(str, withdrawn))
        message_console().print(
            f"The arena went back to an earlier state. The moves {withdrawn_text} were "
            "lost and played "
            "again."
        )


def explain_turn(location: MatchLocation, turn: int, *, as_json: bool) -> None:
    """Print for each decision of a turn what we saw, considered and chose."""
    record, moves, _ = load_match_with_moves(*location)
    printer_for(game_of_match(record)).explain_turn(record, moves, turn, as_json=as_json)
