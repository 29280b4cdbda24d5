"""Branches: matches that continue a stored match in another way, from one of its decisions on."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Any

from cardsharp.analysis.replay import (
    BranchOrigin,
    ReplayStep,
    RestoredState,
    header_of,
    outcome_of,
)
from cardsharp.errors import ConfigError
from cardsharp.play.game import Game
from cardsharp.play.strategy_registry import registry_for
from cardsharp.store.match_log import MatchRecord, MatchStatus, MoveRecord
from cardsharp_tools.executors.strategy_reference import BuiltIn
from cardsharp_tools.lab.game_adapter import PlayedAction
from cardsharp_tools.lab.plan import AnySimulation, game_simulation
from cardsharp_tools.match_sources.match_logs import (
    game_of_match,
)
from cardsharp_tools.match_sources.sources import load_match_with_moves

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
