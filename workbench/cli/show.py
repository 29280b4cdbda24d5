"""`cardsharp show`, `why` and `analyse`: a match turn by turn, our decisions, what they cost."""

from typing import Annotated

from cyclopts import Parameter

from cardsharp.analysis import analyse as analysis_of
from cardsharp.replay import header_of, outcome_of
from cardsharp.viewer.shown import sides
from workbench.cli.games import AnyGame
from workbench.show.analysis import Analysed, print_analysis
from workbench.show.drawing import drawing_of, match_document, print_title
from workbench.show.lookup import LAST, game_of
from workbench.show.options import Json, Match, Store
from workbench.show.output import messages, print_json, results
from workbench.show.progress import each
from workbench.table.branch import branches_in_log
from workbench.watch.sources import opened

TurnNumber = Annotated[int | None, Parameter(help="Only this turn, counted from 1.")]
OneTurn = Annotated[int, Parameter(help="The turn's number, counted from 1.")]


def show(
    match: Match = LAST,
    /,
    *,
    turn: TurnNumber = None,
    store: Store = None,
    as_json: Json = False,
    game: AnyGame = None,
) -> None:
    """Print a match from its log: who did what, why, and the score after each turn."""
    record, moves, withdrawn = opened(match, store, game)
    drawing, branches = drawing_of(game_of(record)), branches_in_log(record.match_id)
    if as_json:
        told = {"branches": [*map(match_document, branches)], **drawing.told(record, moves, turn)}
        print_json({**match_document(record), **told})
    else:
        drawing.show(record, moves, turn)
        for one in branches:
            header, outcome = header_of(one), outcome_of(one)
            step = 0 if header.branch is None else header.branch.step
            scores = " : ".join(map(str, (outcome and outcome.scores) or ()))
            ended = "" if outcome is None else f", {outcome.result} {scores}".rstrip()
            line = f"other course from step {step}: {one.match_id}, {' v '.join(sides(header))}"
            results().print(f"{line}{ended}", soft_wrap=True)
    if withdrawn:
        numbers = ", ".join(map(str, withdrawn))
        messages().print(f"the arena went back: the moves {numbers} were lost and played anew")


def why(
    match: Match,
    turn: OneTurn,
    /,
    *,
    store: Store = None,
    as_json: Json = False,
    game: AnyGame = None,
) -> None:
    """Print what we saw, weighed and chose at each decision of a turn."""
    record, moves, _ = opened(match, store, game)
    drawing_of(game_of(record)).why(record, moves, turn, as_json=as_json)


_SWING = ("sequence", "turn", "seat", "happened", "change", "luck")


def analyse(
    match: Match = LAST, /, *, store: Store = None, as_json: Json = False, game: AnyGame = None
) -> None:
    """Print who decided how well, what the cards brought, and the worst decisions."""
    record, moves, _ = opened(match, store, game)
    found = analysis_of(game_of(record), record, moves, each)
    shown = Analysed.of(found, header_of(record))
    if as_json:  # worth is the first seat's side's, `players` are in that order
        swings = [{name: getattr(one, name) for name in _SWING} for one in found.swings()]
        analysis = found.model_dump(mode="json", by_alias=True)
        told = {"names": shown.names, "analysis": analysis, "swings": swings}
        print_json({**match_document(record), **told})
        return
    console = results()
    print_title(console, record, f"{shown.hero} v {shown.names[shown.order[1]]}")
    print_analysis(console, shown)
