"""What Euchre brings to the lab: services as players, the engine's worlds, compiled or not."""

from collections.abc import Iterator, Sequence
from itertools import groupby

from cardsharp.cloud.ports import Body, MatchRecord, MoveRecord, Status
from cardsharp.errors import ConfigError
from cardsharp.euchre import store
from cardsharp.euchre.actions import Action, Bid, Defend, Discard, Question
from cardsharp.euchre.cards import Card
from cardsharp.euchre.game import GAME
from cardsharp.euchre.judge import luck_of, winning
from cardsharp.euchre.position import Position, project
from cardsharp.euchre.replay import header_body
from cardsharp.euchre.rules import score
from cardsharp.euchre.service import decision_entry
from cardsharp.euchre.simulation import Dealt, Match
from cardsharp.euchre.strategies import Strategy
from cardsharp.euchre.strategies.pimc import Effort, Pimc
from cardsharp.euchre.table import SEATS, asked
from workbench.euchre.remote import RemotePlayer
from workbench.lab.extras import Extras, LabMatch, Taken
from workbench.twins import twin_function


def _record(told: LabMatch, key: store.DealKey, dealt: Dealt, before: Sequence[int]) -> MatchRecord:
    """A deal's header and outcome for the first player's seats; `before` are the points then."""
    ours = [seat for seat in SEATS if dealt.chair(seat) in told.seats]
    header = {
        **told.header(GAME.name),
        **header_body(store.Record(key, dealt.deal.cards), over=True),
        "seats": {str(seat): told.names[dealt.chair(seat)] for seat in ours},
        "score": list(before),
    }
    points = score(dealt.deal.table).points
    mine, theirs = points[ours[0] % 2], points[1 - ours[0] % 2]
    result = "won" if mine else "lost" if theirs else "passed out"
    outcome = {"result": result, "scores": list(points), "turns": len(dealt.deal.table.bids)}
    name = f"{told.match_id}-{key.deal}"
    return MatchRecord(name, Status.FINISHED, told.at, header, outcome=outcome)


def _moves(
    told: LabMatch, key: store.DealKey, taken: Sequence[Taken], laid: Card | None
) -> Iterator[MoveRecord]:
    """The moves; in a branch the dealer has `laid` another card aside than there."""
    for number, one in enumerate(taken):
        dealt: Dealt = one.state.now
        now, position = asked(dealt.deal.table), project(dealt.deal)
        intent: Body | None = None
        if one.decided is not None:
            name = told.names[dealt.chair(now.seat)]
            entry = decision_entry(key, now, position, one.decided)
            intent = {**entry, "strategy": name, "worker": "lab"}
        action = one.action
        if laid is not None and isinstance(action, Discard):
            action = Discard(laid)
        event = store.encode_event(_event(position, action))
        yield MoveRecord(number, intent, {"event": event})


def _event(position: Position, action: Action) -> store.Event:
    table, seat = position.table, position.seat
    match action:
        case Bid(suit, alone):
            named, turn_of = -1 if suit is None else suit, 1 + len(table.bids) // len(SEATS)
            return store.BidEvent(ours=True, round=turn_of, pos=seat, suit=named, alone=alone)
        case Discard(card):
            return store.SwapEvent(table.called.seat, card)
        case Defend(alone):
            return store.DefenseEvent(seat, alone)
    return store.PlayEvent(len(table.complete_tricks), len(table.trick), seat, action.card)


ENGINE = "pimc"


class EuchreExtras(Extras):
    """An address plays as the service there, `pimc@N` with N worlds."""

    opponent = "rules"  # whom the engine is measured against

    def guest(self, name: str) -> RemotePlayer | None:
        """The service of that address."""
        return RemotePlayer(name) if "://" in name else None

    def strategy(self, name: str, *, plain: bool) -> Strategy | None:
        """The engine with so many worlds, compiled where it can be."""
        name, _, worlds = name.partition("@")
        if name != ENGINE:
            return None
        twin = None if plain else twin_function("euchre_player")
        compiled: Strategy | None = None if twin is None else twin(effort(worlds))
        return compiled or Pimc(effort=effort(worlds))

    def luck(self, before: Match, after: Match) -> tuple[float, float]:
        """What a new deal brought; the first is played from either side and favours nobody."""
        if len(after.past) == len(before.past):
            return 0.0, 0.0
        order = 1 if after.now.first % 2 == 0 else -1
        ours, theirs = after.points

        def worth(more: int) -> float:
            return winning(ours + max(0, order * more), theirs + max(0, -order * more))

        luck = luck_of(after.now.deal.cards, worth)
        return luck, -luck

    def kept(self, told: LabMatch) -> Iterator[tuple[MatchRecord, list[MoveRecord]]]:
        """Each deal of the match that is over, as the service keeps deals."""
        by_deal = groupby(told.taken, key=lambda taken: len(taken.state.past))
        for dealt, (number, group) in zip(told.end.deals, by_deal, strict=False):
            key, taken = store.DealKey(told.match_id, 0, number + 1), list(group)
            before = taken[0].state.points[:: 1 if dealt.first % 2 == 0 else -1]
            record = _record(told, key, dealt, before)
            yield record, list(_moves(told, key, taken, dealt.deal.discard))

    def kind(self, position: Position) -> str:
        """What is asked; of a card, in which trick."""
        if position.question is not Question.PLAY:
            return position.question.value
        return f"play, trick {len(position.table.complete_tricks) + 1}"


def effort(worlds: str) -> Effort:
    """How much the engine thinks with so many worlds, else as always; or a `ConfigError`."""
    if not worlds:
        return Effort()
    if not worlds.isdecimal() or not int(worlds):
        raise ConfigError(f"'{worlds}' is no number of worlds; write e.g. {ENGINE}@40.")
    return Effort(worlds=int(worlds), batch=min(Effort().batch, int(worlds)))
