"""Lab adapter of Euchre: remote players, and `pimc` with any number of worlds."""

from collections.abc import Iterator, Sequence
from itertools import groupby

from cardsharp.errors import ConfigError
from cardsharp.games.euchre.actions import Action, Bid, DecisionType, Defend, Discard
from cardsharp.games.euchre.cards import Card
from cardsharp.games.euchre.game import GAME
from cardsharp.games.euchre.history.replay import header_body
from cardsharp.games.euchre.judge import deal_luck, match_win_probability
from cardsharp.games.euchre.position import EuchrePosition, current_position
from cardsharp.games.euchre.public_state import SEATS, required_pending_decision
from cardsharp.games.euchre.rules import score
from cardsharp.games.euchre.service import deal_store
from cardsharp.games.euchre.service.service import decision_log_entry
from cardsharp.games.euchre.simulation import SeatedDeal, SimulatedEuchreMatch
from cardsharp.games.euchre.strategies import Strategy
from cardsharp.games.euchre.strategies.pimc import Pimc, SearchBudget
from cardsharp.store.match_log import Body, MatchRecord, MatchStatus, MoveRecord
from cardsharp_tools.games.euchre.remote_player import RemotePlayerClient
from cardsharp_tools.lab.game_adapter import LAB_WORKER, LabAdapter, LabMatch, PlayedAction
from cardsharp_tools.lab.native_engines import find_native_function


def _build_match_record(
    lab_match: LabMatch,
    key: deal_store.DealKey,
    seated_deal: SeatedDeal,
    previous_points: Sequence[int],
) -> MatchRecord:
    """Return a deal's header and outcome for the first player.

    `previous_points` is the score before the deal.
    """
    first_player_seats = [seat for seat in SEATS if seated_deal.player_at(seat) in lab_match.seats]
    header = {
        **lab_match.header(GAME.name),
        **header_body(deal_store.DealRecord(key, seated_deal.deal.cards), is_over=True),
        # The seats of a deal count from the dealer's left, those of a match do not.
        "players": [lab_match.names[seated_deal.player_at(seat)] for seat in SEATS],
        "seats": {
            str(seat): lab_match.names[seated_deal.player_at(seat)] for seat in first_player_seats
        },
        "score": list(previous_points),
    }
    points = score(seated_deal.deal.public_state).points
    our_points, their_points = (
        points[first_player_seats[0] % 2],
        points[1 - first_player_seats[0] % 2],
    )
    result = "won" if our_points else "lost" if their_points else "passed out"
    outcome = {
        "result": result,
        "scores": list(points),
        "turns": len(seated_deal.deal.public_state.bids),
    }
    name = f"{lab_match.match_id}-{key.deal}"
    return MatchRecord(name, MatchStatus.FINISHED, lab_match.started_at, header, outcome=outcome)


def _build_move_records(
    lab_match: LabMatch,
    key: deal_store.DealKey,
    played_actions: Sequence[PlayedAction],
    dealer_discard: Card | None,
) -> Iterator[MoveRecord]:
    """Yield the moves.

    In a branch the actual discard `dealer_discard` differs from the original one.
    """
    for move_index, played in enumerate(played_actions):
        seated_deal: SeatedDeal = played.state.current
        pending, position = (
            required_pending_decision(seated_deal.deal.public_state),
            current_position(seated_deal.deal),
        )
        intent: Body | None = None
        if played.decision is not None:
            name = lab_match.names[seated_deal.player_at(pending.seat)]
            log_entry = decision_log_entry(key, pending, position, played.decision)
            intent = {**log_entry, "strategy": name, "worker": LAB_WORKER}
        action = played.action
        if dealer_discard is not None and isinstance(action, Discard):
            action = Discard(dealer_discard)
        event = deal_store.encode_event(_to_stored_event(position, action))
        yield MoveRecord(move_index, intent, {"event": event})


def _to_stored_event(position: EuchrePosition, action: Action) -> deal_store.Event:
    table, seat = position.public_state, position.seat
    match action:
        case Bid(suit, alone):
            suit_number, turn_of = -1 if suit is None else suit, 1 + len(table.bids) // len(SEATS)
            return deal_store.BidEvent(
                is_answer=True, round=turn_of, bid_index=seat, suit=suit_number, alone=alone
            )
        case Discard(card):
            return deal_store.DiscardEvent(table.require_trump_call.caller_seat, card)
        case Defend(alone):
            return deal_store.DefenseEvent(seat, alone)
    return deal_store.PlayEvent(
        len(table.complete_tricks), len(table.current_trick), seat, action.card
    )


ENGINE = "pimc"


class EuchreLabAdapter(LabAdapter):
    """Lab adapter of Euchre: a URL names a service's player, `pimc@N` one with N worlds."""

    default_opponent = "rules"  # the opponent of the engine's measurements

    def find_external_player(self, url: str) -> RemotePlayerClient:
        """Return the player of the service at that address."""
        return RemotePlayerClient(url)

    def find_lab_strategy(self, name: str, *, pure_python: bool) -> Strategy | None:
        """Return the `pimc` engine with N worlds, compiled if possible, or None."""
        name, _, worlds = name.partition("@")
        if name != ENGINE:
            return None
        twin = None if pure_python else find_native_function("euchre_player")
        compiled: Strategy | None = None if twin is None else twin(parse_search_budget(worlds))
        return compiled or Pimc(budget=parse_search_budget(worlds))

    def luck(
        self, previous_state: SimulatedEuchreMatch, next_state: SimulatedEuchreMatch
    ) -> tuple[float, float]:
        """Return the luck of a new deal.

        The first deal is played from either side and favours no player.
        """
        if len(next_state.finished) == len(previous_state.finished):
            return 0.0, 0.0
        sign = 1 if next_state.current.first_player % 2 == 0 else -1
        our_points, their_points = next_state.points

        def worth(more: int) -> float:
            return match_win_probability(
                our_points + max(0, sign * more), their_points + max(0, -sign * more)
            )

        luck = deal_luck(next_state.current.deal.cards, worth)
        return luck, -luck

    def match_records(self, match: LabMatch) -> Iterator[tuple[MatchRecord, list[MoveRecord]]]:
        """Yield a match record with its moves for each finished deal.

        They are as the service stores deals.
        """
        by_deal = groupby(
            match.actions, key=lambda played_action: len(played_action.state.finished)
        )
        for seated_deal, (deal_index, group) in zip(
            match.final_state.all_deals, by_deal, strict=False
        ):
            key, played_actions = deal_store.DealKey(match.match_id, 0, deal_index + 1), list(group)
            previous_points = played_actions[0].state.points[
                :: 1 if seated_deal.first_player % 2 == 0 else -1
            ]
            record = _build_match_record(match, key, seated_deal, previous_points)
            yield (
                record,
                list(_build_move_records(match, key, played_actions, seated_deal.deal.discard)),
            )

    def decision_kind(self, position: EuchrePosition) -> str:
        """Return the kind of a decision; for a card also its trick."""
        if position.decision_type is not DecisionType.PLAY:
            return position.decision_type.value
        return f"play, trick {len(position.public_state.complete_tricks) + 1}"


def parse_search_budget(worlds: str) -> SearchBudget:
    """Return the search budget of a number of worlds; raise `ConfigError` for another text."""
    if not worlds:
        return SearchBudget()
    if not worlds.isdecimal() or not int(worlds):
        raise ConfigError(f"'{worlds}' is no number of worlds; write e.g. {ENGINE}@40.")
    return SearchBudget(
        max_worlds=int(worlds), batch_size=min(SearchBudget().batch_size, int(worlds))
    )
