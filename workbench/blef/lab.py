"""What Blef brings to the lab: how its games are kept."""

from collections.abc import Iterator, Sequence

from cardsharp.blef.game import GAME
from cardsharp.blef.logbook import SPAN, intent_body, said_in
from cardsharp.blef.position import position_of
from cardsharp.blef.rules import Round
from cardsharp.cloud.ports import Body, MatchRecord, MoveRecord, Status
from workbench.lab.extras import Extras, LabMatch, Taken


def _intent(told: LabMatch, taken: Taken) -> tuple[int, Body | None]:
    """A decision under the number that its move has in the log."""
    position, live = position_of(taken.state.live, taken.state.live.turn), taken.state.live
    number = SPAN * live.number + len(live.history)
    if taken.decided is None:
        return number, None
    name = told.names[live.turn]
    return number, intent_body(position, taken.decided, told.at, "lab", name)


def _facts(played: Round, names: Sequence[str]) -> dict[int, Body]:
    shown = {names[seat]: [str(card) for card in played.hands[seat]] for seat in played.active}
    said = [(names[move.seat], move.action) for move in played.history]
    return said_in(played.number, said, shown)


class BlefExtras(Extras):
    """Matches are kept as our bot keeps them."""

    keeps = True

    def kept(self, told: LabMatch) -> Iterator[tuple[MatchRecord, list[MoveRecord]]]:
        """The game move by move, the hands with the end of each round."""
        names = [
            name if told.names.count(name) == 1 else f"{name} {seat}"
            for seat, name in enumerate(told.names, 1)
        ]
        intents = dict(_intent(told, taken) for taken in told.taken)
        facts = {key: body for one in told.end.closed for key, body in _facts(one, names).items()}
        moves = [MoveRecord(at, intents.get(at), facts[at]) for at in sorted(facts)]
        won = told.end.live.winner in told.seats
        outcome = {
            "result": "won" if won else "lost",
            "winner": told.end.live.winner,
            "winnerName": names[told.end.live.winner],
            "turns": len(told.end.closed),
        }
        header = {**told.header(GAME.name), "names": names}
        record = MatchRecord(told.match_id, Status.FINISHED, told.at, header, outcome=outcome)
        yield record, moves
