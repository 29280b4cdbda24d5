"""The one judge: the arena's history, our log, and what the network saw, held together.

A fault of ours is an action that was missing, doubled or not meant, that met another state than it
was decided on or was refused, a log that differs, and a turn that was ended by force unless so much
happened in it that it may be lost. The arena's raw JSON is read, not our own models of it, so a
fault of those is found as well.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any, NamedTuple

from cardsharp.store.match_log import Body, MatchLog, MatchStatus, MoveRecord
from fault_simulation.faults import FaultKind
from fault_simulation.transport import AcceptedAction, RefusedAction

Json = dict[str, Any]

ADMIN_ONLY_FIELDS = frozenset({"matchStartedSeed", "userAction", "clientIP"})
"""What the admin's view of a move has and a player's has not."""

MIN_INCIDENTS_TO_EXCUSE = 2  # so many things must have happened in a turn that it may be lost

SWALLOWED_WAITS = {f"{kind} (wait)" for kind in (FaultKind.TIMED_OUT, FaultKind.SWALLOWED)}
"""Nobody notices a long poll whose answer is swallowed, but by its limit (docs/reliability.md)."""

LONG_POLL = timedelta(seconds=40)  # for so long a wait whose answer was swallowed is waited for
AFTER_EFFECT = timedelta(
    seconds=15
)  # so long a fault is felt: a freeze of 12 s, a lease that runs out


class Incident(NamedTuple):
    """A fault or a trouble, and when it began; when it ended, where that is known."""

    began_at: datetime
    name: str
    ended_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Turn:
    """A turn of ours: its last move's number, and since when and for how long it was ours.

    Of one that was ended by force, since the move before, and `why`: what happened in it.
    """

    move_number: int
    began_at: datetime
    duration: timedelta
    was_forced: bool
    incidents: tuple[str, ...] = ()

    @property
    def is_excused(self) -> bool:
        return len(self.incidents) >= MIN_INCIDENTS_TO_EXCUSE or not SWALLOWED_WAITS.isdisjoint(
            self.incidents
        )

    def __str__(self) -> str:
        why = ", ".join(self.incidents) or "nothing"
        return f"move {self.move_number} was lost ({self.duration.total_seconds():.1f} s): {why}"


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchCheck:
    """What is to be said of one match; sentences for what may never happen."""

    match: int
    action_count: int
    violations: tuple[str, ...]
    refused: tuple[RefusedAction, ...]
    turns: tuple[Turn, ...]

    @property
    def forced_turns(self) -> list[Turn]:
        """The turns that were ended by force."""
        return [turn for turn in self.turns if turn.was_forced]

    @property
    def all_violations(self) -> list[str]:
        """Every promise that was broken."""
        lost = [str(one) for one in self.forced_turns if not one.is_excused]
        return [*self.violations, *map(str, self.refused), *lost]


@dataclass(frozen=True, slots=True)
class Evidence:
    """The admin's view of a match that has ended, our log, what the network saw, and its faults."""

    admin_view: Json
    own_player: str
    log: MatchLog
    accepted: Sequence[AcceptedAction]
    refused: Sequence[RefusedAction] = ()
    incidents: Sequence[Incident] = ()


def check_match(match: int, evidence: Evidence) -> MatchCheck:
    """The verdict on the match of that number, which has ended, or should have."""
    whole, us, log = evidence.admin_view, evidence.own_player, evidence.log
    turns = tuple(own_turns(whole, us, evidence.incidents))
    return MatchCheck(
        match=match,
        action_count=len(evidence.accepted),
        violations=(
            *log_differences(whole, log),
            *intent_differences(whole, log, [us]),
            *(fault for one in evidence.accepted for fault in one.violations),
            *_strangers(evidence),
        ),
        refused=tuple(
            one
            for one in evidence.refused
            if not (_was_late(one, turns, evidence.accepted) or _only_asked(one, evidence))
        ),
        turns=turns,
    )


def _was_late(
    refused: RefusedAction, turns: Sequence[Turn], accepted: Sequence[AcceptedAction]
) -> bool:
    """Whether a turn that was over was to be ended, and the arena's watchdog was first.

    The opponent may have moved since, while the arena was cut off, and nobody of ours.
    """
    if refused.action.get("etype") != "EndTurn":
        return False
    ours = [one.sequence for one in accepted if one.sequence < refused.sequence]
    lost = [turn.move_number for turn in turns if turn.was_forced]
    return any(max(ours, default=-1) < number < refused.sequence for number in lost)


def _only_asked(refused: RefusedAction, evidence: Evidence) -> bool:
    """Whether a turn was to be ended whose time was over, and the arena had given it again.

    It has where it was down or frozen; only an EndTurn tells, and one is enough each time.
    """
    limit, moves = (
        evidence.admin_view["creationParams"].get("timeout"),
        evidence.admin_view["moves"],
    )
    if limit is None or refused.action.get("etype") != "EndTurn":
        return False
    asked = [one for one in evidence.refused if one.sequence == refused.sequence]
    earlier = [one.refused_at for one in asked[: asked.index(refused)]]
    since = max([_at(moves[refused.sequence - 1]), *earlier])
    return refused.refused_at - since > timedelta(seconds=limit)


def _strangers(evidence: Evidence) -> Iterable[str]:
    """Where what the network carried is not what the arena has as our moves, each once."""
    played = [one.sequence for one in evidence.accepted]
    ours = [
        entry["sequenceId"]
        for entry in accepted_actions(evidence.admin_view, [evidence.own_player])
    ]
    if played != ours:
        yield f"played were {played}, and {ours} count as ours"


def own_turns(
    admin_view: Json, own_player: str, incidents: Sequence[Incident] = ()
) -> Iterator[Turn]:
    seat, began = admin_view["playerids"].index(own_player), _at(admin_view["moves"][0])
    for before, entry in pairwise(admin_view["moves"]):
        kinds = {event["eventType"] for event in entry["events"]}
        if {"TurnEnded", "MatchStarted"} & {event["eventType"] for event in before["events"]}:
            began = _at(before)
        mine = any(event.get("playerIndex") == seat for event in entry["events"])
        forced = is_forced(entry)
        if mine and (forced or kinds & {"TurnEnded", "MatchEnded"}):
            since, end = _at(before) if forced else began, _at(entry)
            reasons = incidents_during(incidents, since, end) if forced else ()
            yield Turn(entry["sequenceId"], since, end - since, forced, reasons)


def _at(entry: Json) -> datetime:
    return datetime.fromisoformat(entry["at"])


def incidents_during(
    incidents: Iterable[Incident], began: datetime, end: datetime
) -> tuple[str, ...]:
    """What happened in that time, or so shortly before that it was not over yet."""
    felt = ((one, LONG_POLL if one.name in SWALLOWED_WAITS else AFTER_EFFECT) for one in incidents)
    return tuple(one.name for one, lasts in felt if began - lasts <= one.began_at <= end)


def log_differences(admin_view: Json, log: MatchLog) -> list[str]:
    """How the log of a finished match differs from the arena's own account of it.

    `whole` is the admin's view with all moves, as `ArenaServer.look` returns it.
    """
    match_id = admin_view["_id"]
    record = log.match(match_id)
    if admin_view["activePlayerIndex"] is not None:
        return ["the match has not ended"]
    if record is None or record.status is not MatchStatus.FINISHED or record.outcome is None:
        return ["the log does not know that the match has ended"]
    history = dict(enumerate(map(player_view, admin_view["moves"])))
    faults = [*_outcome_faults(admin_view, record.outcome)]
    faults += history_differences(history, log.moves(match_id))
    if record.lease is not None:
        faults.append("the lease is still held")
    if record.header.get("players") != admin_view["playerids"]:
        faults.append("the header names other players")
    return faults


def intent_differences(admin_view: Json, log: MatchLog, own_players: Collection[str]) -> list[str]:
    """Actions of the players `ours` that the log gives no reason for, or tells otherwise."""
    intents = {move.sequence: move.intent for move in log.moves(admin_view["_id"])}
    faults = []
    for entry in accepted_actions(admin_view, own_players):
        intent = intents.get(entry["sequenceId"])
        if intent is None:
            faults.append(f"move {entry['sequenceId']} was played and nobody meant it")
        elif not is_same_action(intent.get("action"), entry["userAction"]):
            meant, played = intent.get("action"), entry["userAction"]
            faults.append(f"move {entry['sequenceId']}: meant {meant}, played {played}")
    return faults


def accepted_actions(admin_view: Json, players: Collection[str]) -> Iterable[Json]:
    """The moves that actions of these players made; `userAction` is what the arena understood."""
    seats = {index for index, player in enumerate(admin_view["playerids"]) if player in players}
    for entry in admin_view["moves"][1:]:
        if not is_forced(entry) and seats & {e.get("playerIndex") for e in entry["events"]}:
            yield entry


def is_forced(entry: Json) -> bool:
    """Whether a move was the arena's own: a turn or a match that it ended."""
    return any(event["eventType"] == "Comment" for event in entry["events"])


def is_same_action(intended: object, actual: Mapping[str, Any]) -> bool:
    """Whether two actions of the wire are the same; an answer without a card may say null."""
    return isinstance(intended, Mapping) and _essence(intended) == _essence(actual)


def player_view(entry: Json) -> Json:
    """A move of the admin's view as a player is shown it."""
    plain = {key: value for key, value in entry.items() if key not in ADMIN_ONLY_FIELDS}
    events = [
        {k: v for k, v in event.items() if k not in ADMIN_ONLY_FIELDS} for event in entry["events"]
    ]
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


def history_differences(history: Mapping[int, Body], moves: Sequence[MoveRecord]) -> Iterable[str]:
    """How a log's moves are not the server's."""
    logged = {move.sequence: move.facts for move in moves}
    if logged.keys() != history.keys():
        yield f"the log has the moves {sorted(logged)} of {sorted(history)}"
        return
    for number, fact in history.items():
        if logged[number] != fact:
            yield f"move {number} is logged as {logged[number]}, and was {fact}"
