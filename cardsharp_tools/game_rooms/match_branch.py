"""Branches: matches that continue a stored match in another way, from one of its decisions on."""

import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from random import Random
from typing import TYPE_CHECKING, Any

from cardsharp.analysis.replay import (
    BranchOrigin,
    ReplayStep,
    RestoredState,
    header_of,
    outcome_of,
    read_error_of,
)
from cardsharp.errors import ConfigError, StoreError
from cardsharp.play.game import Game
from cardsharp.play.strategy_registry import registry_for
from cardsharp.store.match_log import MatchRecord, MatchStatus, MoveRecord
from cardsharp_tools.executors.strategy_reference import BuiltIn
from cardsharp_tools.lab.game_adapter import PlayedAction
from cardsharp_tools.lab.plan import AnySimulation, game_simulation
from cardsharp_tools.match_sources.match_logs import (
    game_of_match,
    open_existing_log,
    resolve_match_log_location,
)
from cardsharp_tools.match_sources.sources import find_source, load_match_with_moves

if TYPE_CHECKING:
    from cardsharp.server.match_site import PagesConfig  # slow to import, for pages alone

_log = logging.getLogger(__name__)

StoredMatch = tuple[MatchRecord, list[MoveRecord]]


@dataclass(frozen=True)
class BranchPoint:
    """A decision of a stored match: `seat` decides again what was done in `step`.

    With `same_cards` the cards come in the same order as in the stored match. Otherwise the cards
    that the deciding player did not know are dealt again.
    """

    record: MatchRecord
    moves: Sequence[MoveRecord]
    game: Game
    simulation: AnySimulation
    steps: Sequence[ReplayStep]  # those before, and at last that of the decision
    seat: int
    same_cards: bool

    @property
    def step(self) -> ReplayStep:
        """Step of the decision."""
        return self.steps[-1]

    @property
    def step_number(self) -> int:
        """The number of that step, counted from 1."""
        return len(self.steps)

    def restore_actions_and_state(self, rng: Random) -> tuple[list[PlayedAction], Any]:
        """Return the earlier actions and the state of the branch point, as far as it is visible."""
        earlier_actions: list[PlayedAction] = []
        for step in _restore_states(self.game, self.record, self.moves, rng):
            if step.sequence == self.step.sequence:
                state = (
                    step.state
                    if self.same_cards
                    else self.simulation.resample_hidden(step.state, rng)
                )
                return earlier_actions, state
            earlier_actions.append(PlayedAction(step.state, step.action, None))
        raise ConfigError(f"Match {self.record.match_id} has no step {self.step_number}.")

    def original_builtin_strategy(self, seat: int) -> BuiltIn | None:
        """Return the strategy of a seat if it is a built-in strategy."""
        header = header_of(self.record)
        seat_strategy = header.seats.get(seat)
        registered_names = registry_for(self.game.strategy_package).names()
        candidates = (
            seat_strategy,
            header.player_name(seat),
            None if seat_strategy else header.opponent,
        )
        names = (name for name in candidates if name in registered_names)
        return next(map(BuiltIn, names), None)

    @property
    def start_message(self) -> str:
        """Message for the person who plays on from here."""
        cards = (
            "The cards come in the same order"
            if self.same_cards
            else "The cards that you did not know are dealt again"
        )
        return (
            f"You continue match {self.record.match_id} at step {self.step_number}. In the match "
            f"it was: {self.step.description}. {cards}."
        )

    def tagged_parts(self, parts: Sequence[StoredMatch]) -> list[StoredMatch]:
        """Return the tagged parts of a match that began here; the first names the branch."""
        (record, moves), *other_parts = parts
        branch = BranchOrigin(of=self.record.match_id, step=self.step_number, same=self.same_cards)
        opening = {n: value for n, value in self.record.header.items() if n == "opening"}
        tags = [
            "branch",
            f"{branch.of}@{branch.step}",
            *(["same-cards"] if self.same_cards else []),
        ]
        more = {"branch": branch.model_dump(), "tags": tags, **opening}
        # Reasons of other players may mention cards that were dealt again, so they are left out.
        reason_sequences = {
            s.sequence for s in self.steps[:-1] if self.same_cards or s.seat == self.step.seat
        }
        reasons = {m.sequence: m.intent for m in self.moves if m.sequence in reason_sequences}
        marked = [replace(m, intent=reasons.get(m.sequence, m.intent)) for m in moves]
        rest = [
            (replace(r, header={**r.header, "tags": tags}), part_moves)
            for r, part_moves in other_parts
        ]
        return [(replace(record, header={**record.header, **more}), marked), *rest]


def find_branch_point(
    record: MatchRecord,
    moves: Sequence[MoveRecord],
    step_number: int = 1,
    *,
    same_cards: bool = False,
) -> BranchPoint:
    """Return the first decision at or after a step, counted from 1, whose state is known.

    Raises `ConfigError` if there is none, and `StoreError` if the match cannot be read.
    """
    game = game_of_match(record)
    if same_cards and record.status is not MatchStatus.FINISHED:
        raise ConfigError(
            f"Match {record.match_id} is not over, so its later cards must stay unknown. Continue "
            "it with new cards."
        )
    if game.replay is None:
        raise ConfigError(f"Matches of {game.title} are not stored, so none can be continued.")
    steps = list(game.replay.load()(record, moves))
    ordinals = {step.sequence: ordinal for ordinal, step in enumerate(steps, 1)}
    for step in _restore_states(game, record, moves, Random(0)):
        ordinal = ordinals[step.sequence]
        if step.action is not None and ordinal >= step_number:
            outcome, player_names = outcome_of(record), header_of(record).names
            seats = max(len(player_names), 0 if outcome is None else len(outcome.names))
            simulation = game_simulation(game, seats or None)
            seat = simulation.current_seat(step.state)
            if seat is not None:
                return BranchPoint(
                    record, moves, game, simulation, steps[:ordinal], seat, same_cards
                )
    raise ConfigError(
        f"Match {record.match_id} cannot be continued from step {step_number} on, because no later "
        f"decision has a known position. It has {len(steps)} steps; give an earlier one."
    )


def parse_branch_point(
    match_ref: str, game: Game | None, *, same_cards: bool = False
) -> BranchPoint:
    """Return the decision that `MATCH@STEP` names, or the first one of `MATCH`.

    Raises `ConfigError` if there is none, and `StoreError` if the match cannot be read.
    """
    match, at, step_text = match_ref.rpartition("@")
    match_id, step_number = (
        (match, int(step_text)) if at and step_text.isdecimal() else (match_ref, 1)
    )
    opened_match = load_match_with_moves(match_id, None, game)
    return find_branch_point(
        opened_match.record, opened_match.moves, step_number, same_cards=same_cards
    )


def _restore_states(
    game: Game, record: MatchRecord, moves: Sequence[MoveRecord], dice: Random
) -> Iterable[RestoredState]:
    if game.restore_states is None:
        raise ConfigError(
            f"Stored matches of {game.title} cannot be continued: the game restores no positions."
        )
    return game.restore_states.load()(record, moves, dice)


_MAX_SEARCHED_MATCHES = 5000  # newest matches of the log that are searched for branches
_CACHE_KEY_MATCHES = 50  # newest matches whose versions show that the log has changed


def branches_in_log(match_id: str) -> Sequence[MatchRecord]:
    """Return the branches of a match, the oldest first."""
    try:
        with open_existing_log(None) as log:
            fresh = tuple(
                (record.match_id, record.lease_version)
                for record in log.matches(limit=_CACHE_KEY_MATCHES)
            )
        return _load_branches_by_parent(resolve_match_log_location(), fresh).get(match_id, [])
    except ConfigError:  # no match was stored yet
        return []
    except StoreError as error:  # the match itself may be stored elsewhere and can be shown
        _log.warning("Branches of match %s cannot be listed: %s", match_id, error)
        return []


@lru_cache(maxsize=1)
def _load_branches_by_parent(
    _store: str, _cache_key: tuple[object, ...]
) -> Mapping[str, list[MatchRecord]]:
    """Return all branches of the log by the id of their parent match.

    The result is cached until there is a new match.
    """
    branches: dict[str, list[MatchRecord]] = {}
    with open_existing_log(None) as log:
        for record in reversed(log.matches(limit=_MAX_SEARCHED_MATCHES)):
            if "branch" in record.header and read_error_of(record) is None:
                branch = header_of(record).branch
                branches.setdefault(branch.of if branch else "", []).append(record)
    return branches


def config_listing_branches(pages_config: "PagesConfig") -> "PagesConfig":
    """Return the configuration with branches listed under their matches."""

    def ids(match_id: str) -> list[str]:
        return [record.match_id for record in branches_in_log(match_id)]

    return replace(pages_config, unlisted_source=find_source(None), branches=ids)
