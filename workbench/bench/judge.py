"""The judge of a played match: what the arena recorded against what our match log says.

It reads the arena's raw JSON, not our own models of it, so a fault of those is found as well.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from cardsharp.cloud.ports import Body, MatchLog, MoveRecord, Status
from cardsharp.deadmansdraw.arena.dto import Json

SECRETS = frozenset({"matchStartedSeed", "userAction", "clientIP"})
"""What the admin's view of a move has and a player's has not."""


def log_faults(whole: Json, log: MatchLog) -> list[str]:
    """How the log of a finished match differs from the arena's own account of it.

    `whole` is the admin's view with all moves, as `ArenaServer.look` returns it.
    """
    match_id = whole["_id"]
    record = log.match(match_id)
    if whole["activePlayerIndex"] is not None:
        return ["the match has not ended"]
    if record is None or record.status is not Status.FINISHED or record.outcome is None:
        return ["the log does not know that the match has ended"]
    faults = [*_outcome_faults(whole, record.outcome), *_fact_faults(whole, log.moves(match_id))]
    if record.lease is not None:
        faults.append("the lease is still held")
    if record.header.get("players") != whole["playerids"]:
        faults.append("the header names other players")
    return faults


def intent_faults(whole: Json, log: MatchLog, ours: Collection[str]) -> list[str]:
    """Actions of the players `ours` that the log gives no reason for, or tells otherwise."""
    intents = {move.sequence: move.intent for move in log.moves(whole["_id"])}
    faults = []
    for entry in actions_of(whole, ours):
        intent = intents.get(entry["sequenceId"])
        if intent is None:
            faults.append(f"move {entry['sequenceId']} was played and nobody meant it")
        elif not is_same_action(intent.get("action"), entry["userAction"]):
            meant, played = intent.get("action"), entry["userAction"]
            faults.append(f"move {entry['sequenceId']}: meant {meant}, played {played}")
    return faults


def actions_of(whole: Json, players: Collection[str]) -> Iterable[Json]:
    """The moves that actions of these players made; `userAction` is what the arena understood."""
    seats = {index for index, player in enumerate(whole["playerids"]) if player in players}
    for entry in whole["moves"][1:]:
        if not is_forced(entry) and seats & {e.get("playerIndex") for e in entry["events"]}:
            yield entry


def is_forced(entry: Json) -> bool:
    """Whether a move was the arena's own: a turn or a match that it ended."""
    return any(event["eventType"] == "Comment" for event in entry["events"])


def is_same_action(meant: object, played: Mapping[str, Any]) -> bool:
    """Whether two actions of the wire are the same; an answer without a card may say null."""
    return isinstance(meant, Mapping) and _essence(meant) == _essence(played)


def shown(entry: Json) -> Json:
    """A move of the admin's view as a player is shown it."""
    plain = {key: value for key, value in entry.items() if key not in SECRETS}
    events = [{k: v for k, v in event.items() if k not in SECRETS} for event in entry["events"]]
    return {**plain, "events": events}


def _essence(action: Mapping[str, Any]) -> tuple[object, ...]:
    effect = action.get("effect") or {}
    autopick = bool(action.get("autopick"))
    return action["etype"], autopick, effect.get("effectType"), effect.get("card")


def _outcome_faults(whole: Json, outcome: Body) -> Iterable[str]:
    events = whole["moves"][-1]["events"]
    ended = next(event for event in events if event["eventType"] == "MatchEnded")
    expected = {
        "scores": ended["matchEndedScores"],
        "winner": whole["state"]["winnerIdx"],
        "moves": whole["moveCount"],
        "turns": whole["turnCount"],
        "timeouts": whole["state"].get("timeoutCount", 0),
        "terminated": ended.get("matchEndedTerminated", False),
    }
    for name, value in expected.items():
        if outcome.get(name) != value:
            yield f"the outcome's {name} is {outcome.get(name)}, not {value}"


def _fact_faults(whole: Json, moves: Sequence[MoveRecord]) -> Iterable[str]:
    history = whole["moves"]
    if [move.sequence for move in moves] != list(range(len(history))):
        yield f"the log has the moves {[m.sequence for m in moves]} of {len(history)}"
        return
    for entry, move in zip(history, moves, strict=True):
        if move.facts != shown(entry):
            yield f"move {move.sequence} is logged as {move.facts}, and was {shown(entry)}"
