"""Matches of hosted games in the lab, as the log holds those that the bot attended."""

from collections.abc import Callable, Iterator
from functools import partial

from cardsharp.cloud.ports import Body, MatchRecord, MoveRecord, Status
from cardsharp.deciding import intent_body
from cardsharp.host.bot import outcome_of
from cardsharp.host.house import House, house
from cardsharp.host.wire import GameBody, MoveBody
from cardsharp.strategy import Decision, Option
from workbench.lab.extras import Extras, LabMatch
from workbench.program import Translation


def extras_for(folder: str) -> Callable[[], Extras]:
    """What the lab does for the game in a folder."""
    return partial(Hosted, house(folder))


def translation_of(folder: str) -> Translation:
    """How programs are told the game in a folder: as its JSON tells positions and actions."""
    codec, rules = house(folder).codec, house(folder).rules()
    return Translation(
        position=codec.positions.dump,
        actions=rules.options,
        action=codec.actions.dump,
        decision=Decision,
        option=Option,
    )


class Hosted(Extras):
    """Keeps matches; all else is as for any game."""

    def __init__(self, game: House) -> None:
        self._house, self._rules = game, game.rules()

    def kept(self, told: LabMatch) -> Iterator[tuple[MatchRecord, list[MoveRecord]]]:
        """The whole match; an outcome where it has ended."""
        codec, rules = self._house.codec, self._rules
        dump = codec.positions.dump
        ends = [one.state for one in told.taken[1:]] + [told.end]
        bodies, moves = [], []
        for number, (one, end) in enumerate(zip(told.taken, ends, strict=False)):
            seat = rules.to_act(one.state) or 0
            body = MoveBody(
                seat=seat,
                player=told.names[seat],
                action=codec.actions.dump(one.action),
                words=str(one.action),
                seen=dump(rules.view(one.state, seat)),
                left=dump(rules.view(end, told.seats[0])),
            )
            intent: Body | None = None
            if one.decided is not None:
                intent = dict(intent_body(one.decided, told.at, "lab", told.names[seat]))
                intent |= {"seat": seat, "turn": number + 1, "position": body.seen}
            bodies.append(body)
            moves.append(MoveRecord(number, intent, body.model_dump()))
        ended = rules.to_act(told.end) is None
        final = GameBody(
            seats=len(told.names),
            names=list(told.names),
            count=len(moves),
            moves=bodies,
            turn=None,
            position=None,
            options=[],
            gains=list(rules.gains(told.end)) if ended else None,
            shown=[body.seen for body in bodies],
        )
        status = Status.FINISHED if ended else Status.RUNNING
        header, outcome = told.header(self._house.game.name), outcome_of(final, told.names[0])
        yield MatchRecord(told.match_id, status, told.at, header, outcome=outcome), moves
