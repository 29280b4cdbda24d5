"""What Blef brings to the lab: how its games are kept."""

from collections.abc import Iterator

from cardsharp.blef.game import GAME
from cardsharp.blef.logbook import SPAN, intent_body, said_in
from cardsharp.blef.position import position_of
from cardsharp.cloud.ports import Body, MatchRecord, MoveRecord, Status
from workbench.lab.extras import Extras, LabMatch


class BlefExtras(Extras):
    """Matches are kept as our bot keeps them."""

    def kept(self, told: LabMatch) -> Iterator[tuple[MatchRecord, list[MoveRecord]]]:
        """The game move by move, the hands with the end of each round."""
        twice = {name for name in told.names if told.names.count(name) > 1}
        names = [f"{n} {seat}" if n in twice else n for seat, n in enumerate(told.names, 1)]
        intents, facts = dict[int, Body | None](), dict[int, Body]()
        for one in told.taken:  # under the number that its move has in the log
            live, decided = one.state.live, one.decided
            position, name = position_of(live, live.turn), told.names[live.turn]
            intents[SPAN * live.number + len(live.history)] = decided and intent_body(
                position, decided, told.at, "lab", name
            )
        for over in told.end.closed:
            shown = {names[seat]: [str(card) for card in over.hands[seat]] for seat in over.active}
            said = [(names[move.seat], move.action) for move in over.history]
            facts |= said_in(over.number, said, shown)
        moves = [MoveRecord(at, intents.get(at), facts[at]) for at in sorted(facts)]
        won = told.end.live.winner in told.seats
        outcome = {
            "result": "won" if won else "lost",
            "winner": told.end.live.winner,
            "winnerName": names[told.end.live.winner],
            "turns": len(told.end.closed),
        }
        header = {**told.header(GAME.name), "names": names}
        yield MatchRecord(told.match_id, Status.FINISHED, told.at, header, outcome=outcome), moves
