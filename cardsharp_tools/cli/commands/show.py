"""`cardsharp show`, `why` and `analyse`: a match turn by turn, our decisions, what they cost."""

from collections.abc import Sequence
from typing import Annotated

from cyclopts import Parameter

from cardsharp.analysis.action_labels import action_labels, label_analysis
from cardsharp.analysis.judge import load_analysis_functions
from cardsharp.analysis.match_analysis import analyse as analysis_of
from cardsharp.analysis.replay import header_of, outcome_of
from cardsharp.core.sentences import YOU
from cardsharp.pages.rendered_match import side_names
from cardsharp.store.match_log import MatchRecord, MoveRecord
from cardsharp_tools.cli.console import message_console, print_json, result_console
from cardsharp_tools.cli.game_commands import OptionalGame
from cardsharp_tools.cli.options import Json, MatchRef, Store
from cardsharp_tools.game_rooms.local_match import screen_class
from cardsharp_tools.game_rooms.match_branch import branches_in_log
from cardsharp_tools.match_sources.match_logs import LAST_MATCH, game_of_match
from cardsharp_tools.match_sources.sources import load_match_with_moves
from cardsharp_tools.terminal.analysis_report import AnalysisReport, print_analysis, print_review
from cardsharp_tools.terminal.match_printer import match_document, print_title, printer_for
from cardsharp_tools.terminal.progress import track

TurnNumber = Annotated[int | None, Parameter(help="Show only this turn. Turns count from 1.")]
RequiredTurnNumber = Annotated[int, Parameter(help="The number of the turn. Turns count from 1.")]


FullReport = Annotated[
    bool,
    Parameter(
        help="Of a match that you played: print every marked decision and the curve, too.",
        negative="",
    ),
]


def show(
    match: MatchRef = LAST_MATCH,
    /,
    *,
    turn: TurnNumber = None,
    store: Store = None,
    as_json: Json = False,
    game: OptionalGame = None,
) -> None:
    """Print a match turn by turn: the moves, our reasons, and the score."""
    record, moves, withdrawn = load_match_with_moves(match, store, game)
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
                f"{' v '.join(side_names(header))}"
            )
            result_console().print(f"{line}{outcome_text}", soft_wrap=True)
    if withdrawn:
        withdrawn_text = ", ".join(map(str, withdrawn))
        message_console().print(
            f"The arena went back to an earlier state. The moves {withdrawn_text} were "
            "lost and played "
            "again."
        )


def why(
    match: MatchRef,
    turn: RequiredTurnNumber,
    /,
    *,
    store: Store = None,
    as_json: Json = False,
    game: OptionalGame = None,
) -> None:
    """Print for each decision of a turn what we saw, considered and chose."""
    record, moves, _ = load_match_with_moves(match, store, game)
    printer_for(game_of_match(record)).explain_turn(record, moves, turn, as_json=as_json)


_SWING = ("sequence", "turn", "seat", "happened", "change", "luck")
_SWING_FIELDS = {"change": "value_change"}


def analyse(
    match: MatchRef = LAST_MATCH,
    /,
    *,
    store: Store = None,
    as_json: Json = False,
    full: FullReport = False,
    game: OptionalGame = None,
) -> None:
    """Print how well each side decided, how much was luck, and the worst decisions."""
    record, moves, _ = load_match_with_moves(match, store, game)
    match_analysis = analysis_of(game_of_match(record), record, moves, track)
    labelled = label_analysis(match_analysis, action_labels(game_of_match(record)))
    report = AnalysisReport.from_header(labelled, header_of(record))
    if as_json:  # worth is the first seat's side's, `players` are in that order
        swings = [
            {name: getattr(swing, _SWING_FIELDS.get(name, name)) for name in _SWING}
            for swing in match_analysis.largest_swings()
        ]
        analysis = match_analysis.model_dump(mode="json", by_alias=True)
        document = {"names": report.names, "analysis": analysis, "swings": swings}
        print_json({**match_document(record), **document})
        return
    console = result_console()
    print_title(console, record, f"{report.first_side_name} v {report.names[report.side_order[1]]}")
    is_own = YOU in header_of(record).seats.values()
    if is_own:
        chapter = screen_class(game_of_match(record)).chapter
        print_review(console, report, record.match_id, _number_steps(record, moves), chapter)
    if full or not is_own:
        print_analysis(console, report)


def _number_steps(record: MatchRecord, moves: Sequence[MoveRecord]) -> dict[int, int]:
    """Return the number of each step, as `watch` counts them from 1, by its sequence."""
    replay = load_analysis_functions(game_of_match(record)).replay
    return {step.sequence: number for number, step in enumerate(replay(record, moves), 1)}
