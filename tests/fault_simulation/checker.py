"""Checker of a match: it compares the arena's history, our log and the network's record.

Violations are: an action that was missing, doubled or unintended, that met another state
than it was decided on, or that was refused; a log that differs; and a turn ended by force
without enough incidents to excuse it. The checker reads the arena's raw JSON instead of
our models, so that it also finds errors of the models.
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
FAULT_EFFECT_DURATION = timedelta(
    seconds=15
)  # so long a fault is felt: a freeze of 12 s, a lease that runs out


class Incident(NamedTuple):
    """Incident, such as a fault: when it began, and when it finished if that is known."""

    began_at: datetime
    name: str
    finished_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Turn:
    """Turn of ours: its last move's number, its begin and its duration.

    A turn that was ended by force counts from the previous move; `incidents` happened in it.
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
        reasons = ", ".join(self.incidents) or "nothing"
        return (
            f"move {self.move_number} was lost ({self.duration.total_seconds():.1f} s): {reasons}"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchCheck:
    """Check of a match: its turns, refused actions, and a sentence for each broken promise."""

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
        """All broken promises of the match."""
        unexcused_turns = [str(turn) for turn in self.forced_turns if not turn.is_excused]
        return [*self.violations, *map(str, self.refused), *unexcused_turns]


@dataclass(frozen=True, slots=True)
class Evidence:
    """Evidence about a match: the admin's view, our log, the network's record, and incidents."""

    admin_view: Json
    player_id: str
    log: MatchLog
    accepted: Sequence[AcceptedAction]
    refused: Sequence[RefusedAction] = ()
    incidents: Sequence[Incident] = ()


def check_match(match: int, evidence: Evidence) -> MatchCheck:
    """Return the check of the match with that number, which must have finished."""
    admin_view, bot_player, log = evidence.admin_view, evidence.player_id, evidence.log
    turns = tuple(player_turns(admin_view, bot_player, evidence.incidents))
    return MatchCheck(
        match=match,
        action_count=len(evidence.accepted),
        violations=(
            *log_differences(admin_view, log),
            *intent_differences(admin_view, log, [bot_player]),
            *(fault for action in evidence.accepted for fault in action.violations),
            *_network_differences(evidence),
        ),
        refused=tuple(
            action
            for action in evidence.refused
            if not (
                _is_late_end_turn(action, turns, evidence.accepted)
                or _is_expired_turn_probe(action, evidence)
            )
        ),
        turns=turns,
    )


def _is_late_end_turn(
    refused: RefusedAction, turns: Sequence[Turn], accepted: Sequence[AcceptedAction]
) -> bool:
    """Return True if the arena's watchdog ended a turn before the worker's own EndTurn arrived.

    The opponent may have moved since, while the arena was cut off, but no player of ours.
    """
    if refused.action.get("etype") != "EndTurn":
        return False
    our_sequences = [action.sequence for action in accepted if action.sequence < refused.sequence]
    forced_moves = [turn.move_number for turn in turns if turn.was_forced]
    return any(
        max(our_sequences, default=-1) < number < refused.sequence for number in forced_moves
    )


def _is_expired_turn_probe(refused: RefusedAction, evidence: Evidence) -> bool:
    """Return True if an EndTurn only probed whether a turn past its limit was still open.

    After an outage or a freeze the arena may have restarted such a turn. Only an EndTurn finds
    that out, and one EndTurn is enough for each restart.
    """
    limit, moves = (
        evidence.admin_view["creationParams"].get("timeout"),
        evidence.admin_view["moves"],
    )
    if limit is None or refused.action.get("etype") != "EndTurn":
        return False
    refusals = [refusal for refusal in evidence.refused if refusal.sequence == refused.sequence]
    earlier = [refusal.refused_at for refusal in refusals[: refusals.index(refused)]]
    last_event_at = max([_entry_time(moves[refused.sequence - 1]), *earlier])
    return refused.refused_at - last_event_at > timedelta(seconds=limit)


def _network_differences(evidence: Evidence) -> Iterable[str]:
    """Yield an error unless the moves on the network are our moves in the arena's history."""
    accepted_sequences = [action.sequence for action in evidence.accepted]
    recorded_sequences = [
        entry["sequenceId"] for entry in accepted_actions(evidence.admin_view, [evidence.player_id])
    ]
    if accepted_sequences != recorded_sequences:
        yield f"played were {accepted_sequences}, and {recorded_sequences} count as ours"


def player_turns(
    admin_view: Json, player_id: str, incidents: Sequence[Incident] = ()
) -> Iterator[Turn]:
    seat, began = admin_view["playerids"].index(player_id), _entry_time(admin_view["moves"][0])
    for previous_entry, entry in pairwise(admin_view["moves"]):
        kinds = {event["eventType"] for event in entry["events"]}
        if {"TurnEnded", "MatchStarted"} & {
            event["eventType"] for event in previous_entry["events"]
        }:
            began = _entry_time(previous_entry)
        is_player_move = any(event.get("playerIndex") == seat for event in entry["events"])
        forced = is_forced(entry)
        if is_player_move and (forced or kinds & {"TurnEnded", "MatchEnded"}):
            turn_began, end = _entry_time(previous_entry) if forced else began, _entry_time(entry)
            reasons = incidents_during(incidents, turn_began, end) if forced else ()
            yield Turn(entry["sequenceId"], turn_began, end - turn_began, forced, reasons)


def _entry_time(entry: Json) -> datetime:
    return datetime.fromisoformat(entry["at"])


def incidents_during(
    incidents: Iterable[Incident], began: datetime, end: datetime
) -> tuple[str, ...]:
    """Return the names of the incidents in a period, and of those whose effect lasts into it."""
    incident_durations = (
        (incident, LONG_POLL if incident.name in SWALLOWED_WAITS else FAULT_EFFECT_DURATION)
        for incident in incidents
    )
    return tuple(
        incident.name
        for incident, duration in incident_durations
        if began - duration <= incident.began_at <= end
    )


def log_differences(admin_view: Json, log: MatchLog) -> list[str]:
    """Return the differences between the log of a finished match and the arena's record of it.

    `admin_view` is the admin's view with all moves, as `ArenaServer.admin_view` returns it.
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


def intent_differences(admin_view: Json, log: MatchLog, player_ids: Collection[str]) -> list[str]:
    """Return errors for the actions of `player_ids` without a matching intent in the log."""
    intents = {move.sequence: move.intent for move in log.moves(admin_view["_id"])}
    faults = []
    for entry in accepted_actions(admin_view, player_ids):
        intent = intents.get(entry["sequenceId"])
        if intent is None:
            faults.append(f"move {entry['sequenceId']} was played and nobody meant it")
        elif not is_same_action(intent.get("action"), entry["userAction"]):
            intended, executed = intent.get("action"), entry["userAction"]
            faults.append(f"move {entry['sequenceId']}: meant {intended}, played {executed}")
    return faults


def accepted_actions(admin_view: Json, players: Collection[str]) -> Iterable[Json]:
    """Yield the moves that actions of these players made.

    The entry's `userAction` is the action as the arena understood it.
    """
    seats = {index for index, player in enumerate(admin_view["playerids"]) if player in players}
    for entry in admin_view["moves"][1:]:
        if not is_forced(entry) and seats & {e.get("playerIndex") for e in entry["events"]}:
            yield entry


def is_forced(entry: Json) -> bool:
    """Return True if a move was the arena's own: it ended a turn or a match."""
    return any(event["eventType"] == "Comment" for event in entry["events"])


def is_same_action(intended: object, actual: Mapping[str, Any]) -> bool:
    """Return True if two actions on the wire are equal; a missing card equals null."""
    return isinstance(intended, Mapping) and _comparable_action(intended) == _comparable_action(
        actual
    )


def player_view(entry: Json) -> Json:
    """Return a move of the admin's view as a player sees it."""
    plain = {key: value for key, value in entry.items() if key not in ADMIN_ONLY_FIELDS}
    events = [
        {k: v for k, v in event.items() if k not in ADMIN_ONLY_FIELDS} for event in entry["events"]
    ]
    return {**plain, "events": events}


def _comparable_action(action: Mapping[str, Any]) -> tuple[object, ...]:
    effect = action.get("effect") or {}
    autopick = bool(action.get("autopick"))
    return action["etype"], autopick, effect.get("effectType"), effect.get("card")


def _outcome_faults(admin_view: Json, outcome: Body) -> Iterable[str]:
    events = admin_view["moves"][-1]["events"]
    end_event = next(event for event in events if event["eventType"] == "MatchEnded")
    expected = {
        "scores": end_event["matchEndedScores"],
        "winner": admin_view["state"]["winnerIdx"],
        "moves": admin_view["moveCount"],
        "turns": admin_view["turnCount"],
        "timeouts": admin_view["state"].get("timeoutCount", 0),
        "terminated": end_event.get("matchEndedTerminated", False),
    }
    for name, value in expected.items():
        if outcome.get(name) != value:
            yield f"the outcome's {name} is {outcome.get(name)}, not {value}"


def history_differences(history: Mapping[int, Body], moves: Sequence[MoveRecord]) -> Iterable[str]:
    """Yield the differences between the moves of a log and those of the server."""
    logged = {move.sequence: move.facts for move in moves}
    if logged.keys() != history.keys():
        yield f"the log has the moves {sorted(logged)} of {sorted(history)}"
        return
    for number, fact in history.items():
        if logged[number] != fact:
            yield f"move {number} is logged as {logged[number]}, and was {fact}"
