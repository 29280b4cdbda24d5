"""What the stored bodies of its matches have in common: each is packed against this text.

What stands near the end costs least to refer to. A changed text cannot read what was packed with
this one, so it is never changed: another would be another `Part`, beside this one.
"""

_SUITS = ("Anchor", "Hook", "Cannon", "Key", "Chest", "Map", "Oracle", "Sword", "Kraken", "Mermaid")

WORDS = (
    '"player":"","action":"","actionId":1,"hands":{"round":1,"hand":["],"cards":[1,1],"history":[["'
    '"fault":"","decidedAt":"2026-01-01T00:00:00.000000+00:00","decisionMs":0.1,'
    '"worker":"00000000-0000-4000-8000-000000000000","arrivesBefore":"2026-01-01T00:00:00.'
    '{"eventType":"Comment","comment":""},{"eventType":"MatchEnded","matchEndedScores":[50,50],'
    '"matchEndedWinnerIdx":0},{"eventType":"CardRemovedFromBank","playerIndex":1,'
    '"cardRemovedFromBankCard":{"suit":"Key","value":2},"cardRemovedFromBankIndex":0}'
    '{"eventType":"ResponseToEffect","playerIndex":0,"responseToEffectType":"Cannon",'
    '"responseToEffectCard":{"suit":"Hook","value":4}},{"eventType":"CardPlayedEffect",'
    '"playerIndex":0,"cardPlayedEffect":{"effectType":"Oracle","cards":[{"suit":"Sword","value":3}]}}'
    '{"eventType":"EndTurn","playerIndex":1},{"eventType":"TurnEnded","playerIndex":1,'
    '"turnEndedIsSuccessful":true,"turnEndedDelta":{"drawPile":{"removed":[{"suit":"Map","value":6}]},'
    '"discardPile":{"added":[{"suit":"Chest","value":5}]},"banks":[{},{"added":[{"suit":"Oracle",'
    '"value":7}],"removed":[{"suit":"Mermaid","value":8}]}]}},{"eventType":"TurnStarted",'
    '"playerIndex":0,"turnStartedDelta":{"drawPile":{"removed":[{"suit":"Anchor","value":2}'
    + "".join(f'{{"suit":"{suit}","value":3}},' for suit in _SUITS)
    + ",".join(f'"{suit}{value}"' for suit in _SUITS for value in range(2, 10))
    + '{"sequenceId":1,"sequenceInTurnId":0,"turnId":1,"at":"2026-01-01T00:00:00.000Z","events":[{'
    '"eventType":"Draw","playerIndex":0,"drawCard":{"suit":"Map","value":7}},{'
    '"eventType":"CardPlacedToPlayArea","playerIndex":0,'
    '"cardPlacedToPlayAreaCard":{"suit":"Map","value":7}}]}'
    '{"action":{"etype":"EndTurn"},"reason":"Draw: 50.0 % to win, busts 0 %.","options":[{'
    '"action":"Draw","value":0.5,"note":"busts 0 %"},{"action":"EndTurn","value":0.4,"note":""}],'
    '"strategy":"captain","fault":null,"decidedAt":"2026-01-01T00:00:00.000000+00:00",'
    '"decisionMs":1.0,"worker":"","seat":0,"turn":1,"position":{"me":0,"banks":[["Key3"],["Map4"]],'
    '"playArea":["Hook5"],"pending":null,"discardPile":["Sword2"],"unseen":["Chest6"],"knownTop":null}}'
)
"""The eventful parts of a move, of an intent and of the position that it was decided in."""
