"""What either player did in a match of Dead Man's Draw, counted from its moves."""

from collections.abc import Iterable, Mapping

from cardsharp.deadmansdraw.events import TurnEnded
from cardsharp.deadmansdraw.reading import played
from cardsharp.deadmansdraw.wire_views import MoveView

Counts = Mapping[str, tuple[int, int]]
"""By what is counted, for either seat."""


def tally(moves: Iterable[MoveView]) -> Counts:
    """Turns that lost their cards, ran out of time or were banked, and moves that were made.

    Also moves in which the server was to pick, where the arena tells what was asked of it: it
    does that for whoever created the match, and for the organiser.
    """
    busts, late, banked, own, picked = [], [], [], [], []
    asks = False
    for view in moves:
        move = played(view)
        ends = [event.successful for event in move.events if isinstance(event, TurnEnded)]
        if move.timed_out is not None:
            late.append(move.player)
        elif view.sequence_id:
            own.append(move.player)
            banked += [move.player] * (True in ends)
            picked += [move.player] * bool(view.user_action and view.user_action.get("autopick"))
        busts += [move.player] * (False in ends)
        asks |= view.user_action is not None
    found = {"busts": busts, "time-outs": late, "banked": banked, "moves": own}
    if asks:
        found["autopicks"] = picked
    return {name: (seats.count(0), seats.count(1)) for name, seats in found.items()}
