"""Organiser's actions in a contest: each is recorded, and the last one can be undone."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Any

from pydantic import TypeAdapter

from cardsharp.contest.freeze import (
    FREEZE_KIND,
    ScoreboardFreeze,
    active_or_scheduled_freeze,
    build_freeze_write,
    next_unrevealed_round,
    spectator_records,
)
from cardsharp.contest.models import ContestStage, Ruling, TeamEntry, align_results_with_pairings
from cardsharp.contest.results import ContestRecords
from cardsharp.contest.teams import PLAYERS
from cardsharp.core.clock import TimeSource
from cardsharp.errors import ConfigError, WriteConflict
from cardsharp.store.documents import Delete, Key, Put, Write


@dataclass(frozen=True, slots=True)
class AdminChange:
    """A document changed by an action: its body in the earlier and in the new state.

    Either body is None where the document did not exist.
    """

    partition: str
    sort: str
    before: dict[str, Any] | None
    after: dict[str, Any] | None

    def is_in_effect(self, document_body: Mapping[str, Any]) -> bool:
        """Return True if the document still contains everything that the action changed in it."""
        return all(document_body.get(name) == value for name, value in self._changed_values.items())

    def body_without_change(self, body: Mapping[str, Any]) -> dict[str, Any] | None:
        """Return the body without this change but with later ones; None if it did not exist."""
        if self.before is None:
            return None
        return {**body, **{name: self.before[name] for name in self._changed_values}}

    @property
    def _changed_values(self) -> dict[str, Any]:
        previous, current = self.before or {}, self.after or {}
        return {name: value for name, value in current.items() if previous.get(name) != value}


@dataclass(frozen=True, slots=True)
class AdminAction:
    """An organiser's action: its time, description and changes; a plain note has no changes."""

    number: int
    at: datetime
    what: str
    changes: tuple[AdminChange, ...]
    undone: bool = False


_ACTION_ADAPTER = TypeAdapter(AdminAction)

_MAX_ATTEMPTS = 20  # attempts to write a note while other organisers write as well


class ContestAdmin:
    """Organiser's interface to a contest, which performs actions and records them.

    `clock` gives the time of each action.
    """

    def __init__(self, records: ContestRecords, clock: TimeSource) -> None:
        self._records, self._clock = records, clock

    def add_team(self, name: str, strategy: str | None = None) -> tuple[TeamEntry, str]:
        """Add a team; return it with its new password.

        See `ContestRecords.add_team`.
        """
        team, password = self._records.add_team(name, strategy)
        self.add_history_entry(
            f"{name} entered" + (f" from round {team.since} on" if team.since > 1 else "")
        )
        return team, password

    def remove_team(self, name: str) -> None:
        """Remove a team before the contest has begun."""
        self._records.remove_team(name)
        self.add_history_entry(f"{name} was removed")

    def reset_password(self, name: str) -> tuple[TeamEntry, str]:
        """Return a team with its new password, see `ContestRecords.reset_password`."""
        team, password = self._records.reset_password(name)
        self.add_history_entry(f"{team.name} got a new password")
        return team, password

    def set_paused(self, *, paused: bool) -> None:
        """Stop new matches from beginning if `paused`, else allow them again."""
        self._records.set_paused(paused=paused)
        self.add_history_entry("paused" if paused else "resumed")

    def add_history_entry(self, text: str) -> None:
        """Add an entry without changes to the action history, which `undo` therefore skips.

        The actions that are recorded like this can be reverted only by the opposite action.
        """
        for _ in range(_MAX_ATTEMPTS):
            with suppress(ConfigError):  # somebody else is organising just now
                self._record_action(text)
                return

    def rule_pairing(
        self, pairing: str, winner: str, reason: str, *, play_again: bool = True
    ) -> AdminAction:
        """Decide a pairing regardless of its matches; a later ruling replaces an earlier one.

        Raises `ConfigError` if the pairing does not exist or the team takes no part in it.
        Without `play_again` it is also raised if the ruling would change the teams of a pairing
        that has been played already.
        """
        team = self._records.resolve_team(winner)
        results_by_pairing = {result.pairing: result for result in self._records.results()}
        if pairing not in results_by_pairing:
            raise ConfigError(
                f"There is no pairing {pairing}. `cardsharp contest results` lists all pairings."
            )
        if team.id not in results_by_pairing[pairing].teams:
            raise ConfigError(f"{winner} does not take part in pairing {pairing}.")
        ruling = Ruling(pairing, team.id, reason)
        anew = [] if play_again else self._find_overturned_pairings(ruling)
        if anew:
            raise ConfigError(
                f"This ruling changes the teams of pairings that were already played: "
                f"{', '.join(anew)}. Remove --refuse-replay to have them played again."
            )
        put = Put(self._records.document_key("ruling", pairing), asdict(ruling), None)
        return self._record_action(f"pairing {pairing} goes to {team.name}: {reason}", put)

    def _find_overturned_pairings(self, ruling: Ruling) -> list[str]:
        """Return the pairings whose matches would no longer count after the ruling."""
        results = self._records.results()
        ruled = [
            replace(result, winner=ruling.winner, decided=True)
            if result.pairing == ruling.pairing
            else result
            for result in results
        ]
        teams = self._records.teams()
        contest_format = self._records.settings.format_with_history(teams, ruled)
        ids = [team.id for team in teams]
        stands = {
            (result.pairing, result.teams)
            for result in align_results_with_pairings(ruled, contest_format, ids)
        }
        played = (result for result in results if result.matches)
        return [result.pairing for result in played if (result.pairing, result.teams) not in stands]

    def withdraw_team(self, name: str, reason: str) -> AdminAction:
        """Withdraw a team, which loses its undecided pairings; raise `ConfigError` on failure."""
        if self._records.stage is ContestStage.OPEN:
            raise ConfigError(
                f"The contest has not begun, so {name} cannot withdraw. Remove it instead: "
                "`cardsharp contest teams remove`."
            )
        team = self._records.resolve_team(name)
        if team.id in self._records.withdrawal_reasons_by_team():
            raise ConfigError(f"{team.name} has already withdrawn.")
        put = Put(self._records.document_key("withdrawn", team.id), {"reason": reason}, None)
        return self._record_action(f"{team.name} has withdrawn: {reason}", put)

    def rename_team(self, name: str, new_name: str) -> AdminAction:
        """Give a team another name; its id, password and matches stay."""
        is_frozen = spectator_records(self._records, self._clock()).frozen_at is not None
        team, puts = self._records.build_rename_writes(name, new_name, notify_arena=not is_frozen)
        return self._record_action(f"{team.name} was renamed to {new_name}", *puts)

    def freeze(self, at: datetime) -> AdminAction:
        """Freeze the scoreboard for spectators from `at` on.

        Raises `ConfigError` if the contest is frozen already, or has not begun and `at` is not
        in the future.
        """
        current = active_or_scheduled_freeze(self._records)
        if current is not None:
            raise ConfigError(
                f"The scoreboard is already frozen from {current.at:%Y-%m-%d %H:%M:%S} UTC on. "
                "`cardsharp contest reveal` or `undo` ends this freeze."
            )
        if self._records.stage is ContestStage.OPEN and at <= self._clock():
            raise ConfigError(
                "The contest has not begun. Give a time for the freeze, such as --after 40m."
            )
        description = f"frozen for spectators from {at:%Y-%m-%d %H:%M:%S} UTC on"
        act = self._record_action(
            description, build_freeze_write(self._records, ScoreboardFreeze(at))
        )
        spectator_records(self._records, self._clock())
        return act

    def reveal_round(self, *, everything: bool = False) -> AdminAction:
        """Show spectators the next round that they have not fully seen, or everything.

        Revealing the last round of a finished contest ends the freeze. Raises `ConfigError` if
        nothing is frozen, or if all that was played so far is revealed already.
        """
        freeze, current_time = active_or_scheduled_freeze(self._records), self._clock()
        if freeze is None or spectator_records(self._records, current_time).frozen_at is None:
            raise ConfigError(
                "The scoreboard is not frozen, so there is nothing to reveal. `cardsharp contest "
                "freeze` freezes it."
            )
        round_number, is_over = (
            next_unrevealed_round(self._records, current_time),
            self._records.stage is ContestStage.OVER,
        )
        last_round = max((result.round for result in self._records.results()), default=0)
        if everything or (is_over and (round_number is None or round_number == last_round)):
            put = build_freeze_write(self._records, replace(freeze, on=False))
            description = "revealed everything and ended the freeze"
            return self._record_action(
                description, put, *self._records.build_name_announcement_writes()
            )
        if round_number is None:
            raise ConfigError(
                "Everything that was played so far is already revealed. The freeze stays on for "
                "later matches; --all ends it."
            )
        put = build_freeze_write(self._records, replace(freeze, revealed=round_number))
        return self._record_action(f"revealed up to round {round_number}", put)

    def action_history(self) -> list[AdminAction]:
        """Return all actions, the oldest first."""
        return [
            _ACTION_ADAPTER.validate_python(document.body)
            for document in self._records.documents_of("act")
        ]

    def undo(self) -> AdminAction:
        """Revert the last action that is not undone; raise `ConfigError` if that is impossible."""
        acts = (act for act in reversed(self.action_history()) if act.changes and not act.undone)
        last_action = next(acts, None)
        if last_action is None:
            raise ConfigError(
                "There is no action to undo. `cardsharp contest history` lists all actions."
            )
        changes: list[Write] = []
        is_frozen = spectator_records(self._records, self._clock()).frozen_at is not None
        for change in last_action.changes:
            key = Key(change.partition, change.sort)
            if is_frozen and change.partition == PLAYERS:
                continue  # during a freeze, a changed name must not show on a match's page
            document = self._records.documents.get(key)
            if document is None or not change.is_in_effect(document.body):
                raise ConfigError(
                    "The last action cannot be undone, because its effect was changed later: "
                    f"{last_action.what}."
                )
            restored_body, deletion = (
                change.body_without_change(document.body),
                Delete(key, document.version),
            )
            changes.append(
                deletion if restored_body is None else Put(key, restored_body, document.version)
            )
            if change.before is None and change.partition.endswith(f"#{FREEZE_KIND}"):
                changes += self._records.build_name_announcement_writes()
        undone = replace(last_action, undone=True)
        self._records.commit_admin_changes(
            lambda _action_number: (self._build_action_put(undone, None), *changes),
            reopens=_can_start_matches(last_action.changes),
        )
        return undone

    def _record_action(self, description: str, *puts: Put) -> AdminAction:
        # A freeze that is due takes its snapshot before this action changes anything.
        spectator_records(self._records, self._clock())
        puts_with_documents = [(put, self._records.documents.get(put.key)) for put in puts]
        altered = tuple(
            AdminChange(
                put.key.partition_key, put.key.sort_key, then and dict(then.body), dict(put.body)
            )
            for put, then in puts_with_documents
        )
        expected = [
            put._replace(expected_version=then.version if then else 0)
            for put, then in puts_with_documents
        ]
        act = AdminAction(0, self._clock(), description, altered)

        def commit(action_number: int) -> tuple[Write, ...]:
            nonlocal act
            act = replace(act, number=action_number)
            return (self._build_action_put(act, 0), *expected)

        with suppress(WriteConflict):
            self._records.commit_admin_changes(commit, reopens=_can_start_matches(altered))
            return act
        raise ConfigError(
            "Another organiser has just changed the contest. Check its state and try again."
        )

    def _build_action_put(self, action: AdminAction, expected_version: int | None) -> Put:
        key = self._records.document_key("act", f"{action.number:05}")
        return Put(key, _ACTION_ADAPTER.dump_python(action, mode="json"), expected_version)


def _can_start_matches(changes: tuple[AdminChange, ...]) -> bool:
    """Return True if matches may follow from these changes, not only a new public view."""
    return any(change.partition.endswith(("#ruling", "#withdrawn")) for change in changes)
