"""A match as its arena tells it (`GET /api/matches/ID?showevents=true`), as the log has matches."""

import json
from itertools import pairwise

from pydantic import ValidationError

from cardsharp.cloud.ports import MatchRecord, MoveRecord, Status
from cardsharp.cloud.told import Whole
from cardsharp.deadmansdraw.cards import SERVER_DECK, lowest_of_each_suit, without
from cardsharp.deadmansdraw.logbook import facts_body, header_body, outcome_body
from cardsharp.deadmansdraw.wire import instant
from cardsharp.deadmansdraw.wire_views import CreationView, MatchView
from cardsharp.errors import Malformed

LOWEST = lowest_of_each_suit(SERVER_DECK)  # the discard pile of a match that begins as all do
_ASK = "GET /api/matches/ID?showevents=true"


def recorded(text: bytes) -> Whole:
    """The match that an arena's answer tells with its moves; raises `Malformed`."""
    try:
        body = json.loads(text)
    except ValueError:
        raise Malformed("It is no JSON.") from None
    if isinstance(body, list):
        raise Malformed(f"It is a list of matches; ask for one of them: {_ASK}.")
    if isinstance(body, dict) and "playerdata" in body:
        raise Malformed(f"It is the condensed answer about a match; ask without: {_ASK}.")
    try:
        view = MatchView.model_validate(_whole(body))
    except ValidationError:
        raise Malformed("It is no arena's answer about a match.") from None
    if not view.moves or view.moves[0].sequence_id:
        raise Malformed(f"It does not tell all moves; ask for them: {_ASK}.")
    return told(view)


def told(view: MatchView) -> Whole:
    """The match of a view with all its events; raises `Malformed` if its beginning is no moment."""
    began = instant(view.started_at)
    if began is None:
        raise Malformed("It does not tell when the match began.")
    moves = [MoveRecord(move.sequence_id, None, facts_body(move)) for move in view.moves]
    return MatchRecord(
        view.id,
        Status.FINISHED if view.finished else Status.RUNNING,
        began,
        header_body(view, {}) | _opening(view.creation_params),
        beat=view.move_count,
        outcome=outcome_body(view, set()) if view.finished else None,
    ), moves


def _opening(given: CreationView) -> dict[str, object]:
    """The cards with which it began, where these were not the usual ones."""
    if (given.play_area, given.draw_pile, given.discard_pile, given.banks) == (None,) * 4:
        return {}
    banks = given.banks or ((), ())
    discard = given.discard_pile
    open_cards = {
        "playArea": given.play_area or (),
        "discardPile": LOWEST if discard is None else discard,
        "drawPile": without(SERVER_DECK, LOWEST) if given.draw_pile is None else given.draw_pile,
    }
    named = {name: " ".join(map(str, cards)) for name, cards in open_cards.items()}
    return {"opening": {"banks": [" ".join(map(str, bank)) for bank in banks], **named}}


def _whole(body: object) -> object:
    """The view; of a match recorded look by look (tests/samples) the last look with all moves."""
    if not isinstance(body, dict) or "steps" not in body:
        return body
    if "final" not in body:  # its creation was refused
        return {}
    looks = [*body["steps"], body["final"]["last_look"]]
    seen = [look for look in looks if "new_moves" in look]
    views = [look["view"] for look in seen if look["view"] != "same"]
    moves = [move for look in seen for move in look["new_moves"]]
    asked = {}  # the moves of a look are what the step before it asked for
    for step, look in pairwise(looks):
        for move in look.get("new_moves", ()):
            asked[move["sequenceId"]] = step.get("action")
    moves = [{**move, "userAction": asked.get(move["sequenceId"])} for move in moves]
    began = "1970-01-01T00:00:00.000Z"
    return {**views[-1], "_id": body["name"], "startedAt": began, "moves": moves} if views else {}
