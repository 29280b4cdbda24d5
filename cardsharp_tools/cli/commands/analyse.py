"""`cardsharp analyse`: how well each side decided in a match, and how much was luck."""

from collections.abc import Sequence
from typing import Annotated

from cyclopts import Parameter

from cardsharp.analysis.action_labels import action_labels, label_analysis
from cardsharp.analysis.judge import load_analysis_functions
from cardsharp.analysis.replay import header_of
from cardsharp.core.sentences import YOU
from cardsharp.store.match_log import MatchRecord, MoveRecord
from cardsharp_tools.cli.console import print_json, result_console
from cardsharp_tools.cli.game_commands import OptionalGame
from cardsharp_tools.cli.options import Json, MatchRef, Store
from cardsharp_tools.match_sources.analysis_cache import analyse_with_cache
from cardsharp_tools.match_sources.match_logs import game_of_match
from cardsharp_tools.match_sources.match_names import LAST_MATCH
from cardsharp_tools.match_sources.sources import load_match_with_moves
from cardsharp_tools.terminal.analysis_report import AnalysisReport, print_analysis, print_review
from cardsharp_tools.terminal.match_printer import match_document, print_title
from cardsharp_tools.terminal.progress import track

FullReport = Annotated[
    bool,
    Parameter(
        help="Of a match that you played: print every marked decision and the curve, too.",
        negative="",
    ),
]

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
    match_analysis = analyse_with_cache(game_of_match(record), record, moves, track)
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
        # A table with its players is slow to import, and other matches need none.
        from cardsharp_tools.game_rooms.local_match import screen_class  # noqa: PLC0415

        chapter = screen_class(game_of_match(record)).chapter
        match_ref = None  # `versus` plays on from a match of the default log only
        if store is None:
            match_ref = record.match_id if match == LAST_MATCH else match
        print_review(console, report, match_ref, _number_steps(record, moves), chapter)
    if full or not is_own:
        print_analysis(console, report)


def _number_steps(record: MatchRecord, moves: Sequence[MoveRecord]) -> dict[int, int]:
    """Return the number of each step, as `watch` counts them from 1, by its sequence."""
    replay = load_analysis_functions(game_of_match(record)).replay
    return {step.sequence: number for number, step in enumerate(replay(record, moves), 1)}
