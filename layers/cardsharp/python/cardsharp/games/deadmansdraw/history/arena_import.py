"""Import of a match from an arena's response (`GET /api/matches/ID?showevents=true`)."""

import json
from itertools import pairwise

from pydantic import ValidationError

from cardsharp.errors import InvalidInput
from cardsharp.games.deadmansdraw.arena_bot.wire_views import (
    CreationParamsView,
    MatchView,
    parse_timestamp,
)
from cardsharp.games.deadmansdraw.cards import (
    SERVER_DECK,
    cards_without,
    lowest_of_each_suit,
)
from cardsharp.games.deadmansdraw.history.log_records import (
    facts_body,
    header_body,
    outcome_body,
)
from cardsharp.store.match_log import MatchRecord, MatchStatus, MoveRecord
from cardsharp.store.match_snapshots import MatchSnapshot

DEFAULT_DISCARD_PILE = lowest_of_each_suit(SERVER_DECK)  # the discard pile of the usual start
_FULL_REQUEST = "GET /api/matches/ID?showevents=true"


def parse_arena_match(data: bytes) -> MatchSnapshot:
    """Return the match of an arena's response with its moves; raise `InvalidInput`."""
    try:
        body = json.loads(data)
    except ValueError:
        raise InvalidInput("It is not JSON.") from None
    if isinstance(body, list):
        raise InvalidInput(f"It is a list of matches; request one of them with {_FULL_REQUEST}.")
    if isinstance(body, dict) and "playerdata" in body:
        raise InvalidInput(
            f"It is the condensed response; request the full one with {_FULL_REQUEST}."
        )
    try:
        view = MatchView.model_validate(_merge_views(body))
    except ValidationError:
        raise InvalidInput("It is not an arena's response about a match.") from None
    if not view.moves or view.moves[0].sequence_id:
        raise InvalidInput(f"It does not have all moves; request them with {_FULL_REQUEST}.")
    return match_from_view(view)


def match_from_view(view: MatchView) -> MatchSnapshot:
    """Return the match of a view with all events; raise `InvalidInput` for a bad start time."""
    began = parse_timestamp(view.started_at)
    if began is None:
        raise InvalidInput("It does not say when the match began.")
    moves = [MoveRecord(move.sequence_id, None, facts_body(move)) for move in view.moves]
    return MatchRecord(
        view.id,
        MatchStatus.FINISHED if view.finished else MatchStatus.RUNNING,
        began,
        header_body(view, {}) | _build_opening_entry(view.creation_params),
        lease_version=view.move_count,
        outcome=outcome_body(view, set()) if view.finished else None,
    ), moves


def _build_opening_entry(params: CreationParamsView) -> dict[str, object]:
    """Return the header entry with the initial cards, empty if they were the default ones."""
    if (params.play_area, params.draw_pile, params.discard_pile, params.banks) == (None,) * 4:
        return {}
    banks = params.banks or ((), ())
    discard = params.discard_pile
    open_cards = {
        "playArea": params.play_area or (),
        "discardPile": DEFAULT_DISCARD_PILE if discard is None else discard,
        "drawPile": cards_without(SERVER_DECK, DEFAULT_DISCARD_PILE)
        if params.draw_pile is None
        else params.draw_pile,
    }
    pile_texts = {name: " ".join(map(str, cards)) for name, cards in open_cards.items()}
    return {"opening": {"banks": [" ".join(map(str, bank)) for bank in banks], **pile_texts}}


def _merge_views(body: object) -> object:
    """Return the match view of a response.

    For a recorded match (tests/samples) it is the last view, with the moves of all views.
    """
    if not isinstance(body, dict) or "steps" not in body:
        return body
    if "final" not in body:  # the arena refused to create the match
        return {}
    looks = [*body["steps"], body["final"]["last_look"]]
    complete_looks = [look for look in looks if "new_moves" in look]
    views = [look["view"] for look in complete_looks if look["view"] != "same"]
    moves = [move for look in complete_looks for move in look["new_moves"]]
    actions = {}  # the moves of a view are the results of the previous step's action
    for previous_look, look in pairwise(looks):
        for move in look.get("new_moves", ()):
            actions[move["sequenceId"]] = previous_look.get("action")
    moves = [{**move, "userAction": actions.get(move["sequenceId"])} for move in moves]
    began = "1970-01-01T00:00:00.000Z"
    return {**views[-1], "_id": body["name"], "startedAt": began, "moves": moves} if views else {}
