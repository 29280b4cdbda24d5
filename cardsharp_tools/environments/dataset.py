"""Decisions as rows of a data set, encoded as in the environment (docs/environments.md)."""

import json
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Any, TypedDict

import numpy as np

from cardsharp.analysis.judge import Judge
from cardsharp.analysis.replay import DecisionPoint, header_of, outcome_of
from cardsharp.errors import ConfigError
from cardsharp.play.catalog import get_game as game_named
from cardsharp.play.encoding import Encoding
from cardsharp.play.game import Game
from cardsharp.store.match_log import MatchRecord, MoveRecord
from cardsharp_tools.cli.console import write_file
from cardsharp_tools.environments.encoding import action_number, final_rewards
from cardsharp_tools.lab.match_runner import replay_matches
from cardsharp_tools.lab.plan import DuelPlan
from cardsharp_tools.project_files import missing_extra_error

PARQUET, LINES = ".parquet", ".jsonl"

_PARQUET_BATCH_ROWS = 1_000  # rows that Parquet takes at once


class DecisionRow(TypedDict):
    """Row for a decision: the observation, the legal actions, the action and its result."""

    game: str
    match: str
    number: int
    seat: int
    seed: int | None
    observation: list[float]
    mask: list[int]
    action: int
    value: float | None
    result: float | None


class DatasetBuilder:
    """Builder of a data set of a game's decisions.

    With `include_value`, the game's judge values the action. Raises `ConfigError` if the game has
    no encoding, or no judge although one is needed.
    """

    def __init__(self, game: Game, *, include_value: bool) -> None:
        if game.rl_encoding is None:
            raise ConfigError(f"{game.title} cannot be exported: it has no encoding as numbers.")
        if include_value and game.judge is None:
            raise ConfigError(f"{game.title} has no judge. Remove --include-value.")
        self._game = game
        self._encoding: Encoding[Any, Any] = game.rl_encoding.load()
        self._judge: Judge | None = (
            game.judge.load() if include_value and game.judge is not None else None
        )

    def rows_of_plan(self, plan: DuelPlan) -> Iterator[DecisionRow]:
        """Play the matches of a plan one by one, and yield a row for each decision."""
        simulation = plan.simulation
        every = [(n, side) for n in range(plan.pairs) for side in range(plan.matches_per_pair)]
        for match in replay_matches(plan, every, f"seed-{plan.seed}", datetime.now(UTC)):
            rewards = final_rewards(simulation, match.final_state)
            for decision_index, step in enumerate(match.actions):
                seat = simulation.current_seat(step.state) or 0
                position = simulation.current_position(step.state)
                row = self._build_row(match.match_id, decision_index, seat, position, step.action)
                yield {**row, "seed": plan.seed, "result": rewards[seat]}

    def rows_of_match(
        self, record: MatchRecord, moves: Sequence[MoveRecord]
    ) -> Iterator[DecisionRow]:
        """Yield a row for each decision of a stored match that can be reproduced."""
        if self._game.list_decisions is None:
            raise ConfigError(f"{self._game.title} does not support decisions on stored positions.")
        decision_points: list[DecisionPoint] = list(self._game.list_decisions.load()(record, moves))
        for decision_index, point in enumerate(decision_points):
            done, seat = point.step.decision, point.step.seat or 0
            actions_by_name = {name: action for action, name in point.option_names.items()}
            if done is not None and done.action in actions_by_name:
                action = actions_by_name[done.action]
                row = self._build_row(record.match_id, decision_index, seat, point.position, action)
                yield {**row, "result": _compute_reward(record, seat)}

    def _build_row(
        self, match: str, decision_index: int, seat: int, position: object, action: object
    ) -> DecisionRow:
        choices = self._encoding.choices(position)
        weighed = None if self._judge is None else self._judge.evaluate(position, (action,))
        options = () if weighed is None else weighed.options
        return DecisionRow(
            game=self._game.name,
            match=match,
            number=decision_index,
            seat=seat,
            seed=None,
            observation=[0.0, *self._encoding.observed(position).tolist()],
            mask=[int(index in choices) for index in range(self._encoding.actions)],
            action=action_number(choices, action),
            value=next((option.value for option in options if option.action == action), None),
            result=None,
        )


def _compute_reward(record: MatchRecord, seat: int) -> float | None:
    """Return a seat's reward in a stored match, or None if the outcome is unknown."""
    header, outcome = header_of(record), outcome_of(record)
    if outcome is None:
        return None
    loss_score = -1 / max(1, len(header.names or header.players or outcome.names) - 1)
    if seat in header.seats:
        return {"won": 1.0, "tied": 0.0, "lost": loss_score}.get(outcome.result)
    return None if outcome.winner is None else 1.0 if outcome.winner == seat else loss_score


class SparseRow(TypedDict):
    """Row of a JSON Lines file that leaves out the zeros of observation and mask.

    `ones` are the indexes of the observation that are 1. `fractions` are those between 0 and 1,
    with their values. `legal` are the indexes of the legal actions.
    """

    game: str
    match: str
    number: int
    seat: int
    seed: int | None
    ones: list[int]
    fractions: list[tuple[int, float]]
    legal: list[int]
    action: int
    value: float | None
    result: float | None


def to_sparse_row(row: DecisionRow) -> SparseRow:
    """Return a row without its zeros, which are nine tenths of it."""
    nonzero_values = [(index, value) for index, value in enumerate(row["observation"]) if value]
    return SparseRow(
        game=row["game"],
        match=row["match"],
        number=row["number"],
        seat=row["seat"],
        seed=row["seed"],
        ones=[index for index, value in nonzero_values if value == 1],
        # The shortest text of a 32-bit float: 0.35, not 0.3499999940395355.
        fractions=[(index, float(str(np.float32(n)))) for index, n in nonzero_values if n != 1],
        legal=[action_index for action_index, is_legal in enumerate(row["mask"]) if is_legal],
        action=row["action"],
        value=row["value"],
        result=row["result"],
    )


def read_rows(file: Path) -> Iterator[DecisionRow]:
    """Yield the complete rows of a JSON Lines file; raise `ConfigError` for an invalid line."""
    with file.open(encoding="utf-8") as lines:
        for line_number, line in enumerate(lines, 1):
            try:
                row = json.loads(line)
                yield row if "observation" in row else _expand_row(row)
            except (ValueError, LookupError, TypeError):
                raise ConfigError(
                    f"{file}, line {line_number} is not a row that `cardsharp export` writes."
                ) from None


def _expand_row(row: SparseRow) -> DecisionRow:
    """Return a row with a dense observation and mask.

    The given row lists only the entries that are not zero.
    """
    encoding = game_named(row["game"]).rl_encoding
    if encoding is None:
        raise ValueError
    game_encoding: Encoding[Any, Any] = encoding.load()
    observation, mask = np.zeros(1 + game_encoding.size, np.float32), [0] * game_encoding.actions
    observation[row["ones"]] = 1
    for index, value in row["fractions"]:
        observation[index] = value
    for action_index in row["legal"]:
        mask[action_index] = 1
    return DecisionRow(
        game=row["game"],
        match=row["match"],
        number=row["number"],
        seat=row["seat"],
        seed=row["seed"],
        observation=observation.tolist(),
        mask=mask,
        action=row["action"],
        value=row["value"],
        result=row["result"],
    )


def write_rows(rows: Iterable[DecisionRow], file: Path, *, dense: bool = False) -> int:
    """Write rows as JSON Lines or Parquet, by the file's suffix; return their number.

    Parquet compresses zeros itself, so it has complete rows, as JSON Lines have if `dense`. Raises
    `ConfigError` for another suffix.
    """
    if file.suffix not in {PARQUET, LINES}:
        raise ConfigError(f"{file} must end in {LINES} or {PARQUET}.")
    write_file(file, "", "x")
    if file.suffix == PARQUET:
        return _write_parquet(iter(rows), file)
    row_count = 0
    with file.open("w", encoding="utf-8") as target:
        for row_count, row in enumerate(rows, 1):  # noqa: B007 - the last number is the result
            output_row = row if dense else to_sparse_row(row)
            target.write(json.dumps(output_row, separators=(",", ":")) + "\n")
    return row_count


def _write_parquet(rows: Iterator[DecisionRow], file: Path) -> int:
    try:
        import pyarrow as pa  # noqa: PLC0415 - an optional group
        from pyarrow import parquet  # noqa: PLC0415
    except ImportError:
        file.unlink()
        raise missing_extra_error(PARQUET, "pyarrow", "env,parquet") from None
    integer_columns = {"number": pa.int32(), "seat": pa.int8(), "seed": pa.int64()}
    lists = {"observation": pa.list_(pa.float32()), "mask": pa.list_(pa.int8())}
    ends = {"action": pa.int32(), "value": pa.float64(), "result": pa.float64()}
    texts = {"game": pa.string(), "match": pa.string()}
    schema, row_count = pa.schema({**texts, **integer_columns, **lists, **ends}), 0
    with parquet.ParquetWriter(file, schema) as target:
        while batch := list(islice(rows, _PARQUET_BATCH_ROWS)):
            target.write_table(pa.Table.from_pylist(batch, schema))
            row_count += len(batch)
    return row_count
