"""What Blef brings to the lab: how its games are kept."""

from collections.abc import Iterator, Sequence

from cardsharp.blef.actions import LOST, name_of
from cardsharp.blef.game import GAME
from cardsharp.blef.logbook import SPAN, intent_body
from cardsharp.blef.position import position_of
from cardsharp.blef.state import Round
from cardsharp.cloud.ports import Body, MatchRecord, MoveRecord, Status
from workbench.lab.extras import Extras, LabMatch, Taken


def _nicknames(names: Sequence[str]) -> list[str]:
    """The players' names, numbered where several are called the same."""
    return [
        name if names.count(name) == 1 else f"{name} {seat + 1}" for seat, name in enumerate(names)
    ]


def _intent(told: LabMatch, taken: Taken) -> tuple[int, Body | None]:
    """A decision under the number that its move has in the log."""
    position, live = position_of(taken.state.live, taken.state.live.turn), taken.state.live
    number = SPAN * live.number + len(live.history)
    if taken.decided is None:
        return number, None
    name = told.names[live.turn]
    return number, intent_body(position, taken.decided, told.at, "lab", name)


def _facts(played: Round, names: Sequence[str]) -> Iterator[tuple[int, Body]]:
    """The moves of a round that is over, numbered as the log does it."""
    shown = {names[seat]: [str(card) for card in played.hands[seat]] for seat in played.active}
    for place, move in enumerate(played.history):
        yield (
            SPAN * played.number + place,
            {
                "round": played.number,
                "player": names[move.seat],
                "actionId": move.action,
                "action": name_of(move.action),
                **({"hands": shown} if move.action == LOST else {}),
            },
        )


class BlefExtras(Extras):
    """Matches are kept as our bot keeps them."""

    keeps = True

    def kept(self, told: LabMatch) -> Iterator[tuple[MatchRecord, list[MoveRecord]]]:
        """The game move by move, the hands with the end of each round."""
        names = _nicknames(told.names)
        intents = dict(_intent(told, taken) for taken in told.taken)
        facts = {key: body for one in told.end.closed for key, body in _facts(one, names)}
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
