"""`cardsharp analyse`: what each decision of a match cost, and what the cards brought."""

from cardsharp.analysis import analyse as analysis_of
from cardsharp.replay import header_of
from workbench.cli.games import AnyGame
from workbench.show.analysis import Analysed, print_analysis
from workbench.show.drawing import match_document, print_title
from workbench.show.lookup import LAST, game_of
from workbench.show.options import Json, Match, Store
from workbench.show.output import print_json, results
from workbench.show.progress import each
from workbench.watch.sources import opened

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
