"""Small answers recorded on the real server (ids and names as recorded)."""

import json
from typing import Any

MATCH = "6b006509d06c4dfa5a8e02ca"

RUNNING = (
    b'{"playerids":["636438380ee778617e6e5be8","636438380ee778617e6e5be9"],'
    b'"createdByPlayerId":null,"creationParams":{"tags":["GAMETAG"],'
    b'"randomSeed":"23732852397412452"},"_id":"6b006509d06c4dfa5a8e02ca",'
    b'"startedAt":"2026-11-20T15:19:37.977Z","lastMoveAt":"2026-11-20T15:19:46.517Z",'
    b'"moveCount":2,"turnCount":1,"moveCountInTurn":2,"state":{"banks":[{},{}],'
    b'"playArea":[{"suit":"Hook","value":5}],"currentPlayerIndex":0},"activePlayerIndex":0,'
    b'"drawPileSize":49,"discardPileSize":10,"playernames":["Alice","Bob"],"moves":['
    b'{"sequenceId":0,"sequenceInTurnId":1,"turnId":1,"at":"2026-11-20T15:19:37.977Z","events":['
    b'{"eventType":"MatchStarted","matchStartedSeed":"23732852397412452"},'
    b'{"eventType":"TurnStarted","turnStartedDelta":{},"playerIndex":0}]},'
    b'{"sequenceId":1,"sequenceInTurnId":2,"turnId":1,"at":"2026-11-20T15:19:46.517Z","events":['
    b'{"eventType":"Draw","drawCard":{"suit":"Hook","value":5},"playerIndex":0},'
    b'{"eventType":"CardPlacedToPlayArea","cardPlacedToPlayAreaCard":{"suit":"Hook","value":5},'
    b'"playerIndex":0}]}]}'
)
"""A match in its first turn, GET with showevents."""

FINISHED = (
    b'{"playerids":["636438380ee778617e6e5be8","636438380ee778617e6e5be9"],'
    b'"createdByPlayerId":null,"creationParams":{"tags":["GAMETAG"],'
    b'"randomSeed":"23732852397412452"},"_id":"6b006509d06c4dfa5a8e02ca",'
    b'"startedAt":"2026-11-20T15:19:37.977Z","lastMoveAt":"2026-11-20T15:19:46.564Z",'
    b'"moveCount":3,"turnCount":1,"moveCountInTurn":3,"state":{"banks":[{},{}],'
    b'"playArea":[{"suit":"Hook","value":5}],"currentPlayerIndex":null,"winnerIdx":1},'
    b'"activePlayerIndex":null,"drawPileSize":49,"discardPileSize":10,'
    b'"playernames":["Alice","Bob"],"moves":[{"sequenceId":2,"sequenceInTurnId":3,"turnId":1,'
    b'"at":"2026-11-20T15:19:46.564Z","events":[{"eventType":"Comment","comment":"late"},'
    b'{"eventType":"MatchEnded","matchEndedScores":[0,0],"matchEndedWinnerIdx":1,'
    b'"matchEndedTerminated":true}]}]}'
)
"""The 410 of GET with waitactive."""

DRAWN = (
    b'[{"eventType":"Draw","drawCard":{"suit":"Hook","value":5}},'
    b'{"eventType":"CardPlacedToPlayArea","cardPlacedToPlayAreaCard":{"suit":"Hook","value":5}}]'
)
"""The answer to a Draw."""

CLOSING = (
    b'{"events":[{"eventType":"TurnEnded","turnEndedIsSuccessful":true,"turnEndedDelta":'
    b'{"drawPile":{"removed":[{"suit":"Mermaid","value":5},{"suit":"Key","value":3}]},'
    b'"discardPile":{},"banks":[{"added":[{"suit":"Mermaid","value":5},'
    b'{"suit":"Key","value":3}]},{}]}},{"eventType":"MatchEnded","matchEndedScores":[8,0],'
    b'"matchEndedWinnerIdx":0}]}'
)
"""The 410 of an action."""

WHO = b'{"username":"636438380ee778617e6e5be8","name":"Alice","role":"player"}'
CREATED = b'{"id":"6b006509d06c4dfa5a8e02c2","randomSeed":"8428713664031866"}'
NOT_YOUR_TURN = b'{"error":"Authenticated user is not the current player."}'
NO_MATCH = b'{"error":"Match does not exist."}'
NOT_VISIBLE = b'{"error":"Match is visible only to participating players."}'


def running() -> dict[str, Any]:
    """`RUNNING` loaded, for tests that change it."""
    return dict(json.loads(RUNNING))
