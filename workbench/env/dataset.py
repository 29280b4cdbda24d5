"""Decisions as rows of a data set, in the numbers of the environment (docs/environments.md)."""

import json
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Any, TypedDict

import numpy as np

from cardsharp.cloud.ports import MatchRecord, MoveRecord
from cardsharp.encoding import Encoding
from cardsharp.errors import ConfigError
from cardsharp.game import Game
from cardsharp.games import game as game_named
from cardsharp.judge import Judge
from cardsharp.replay import Asked, header_of, outcome_of
from workbench.env.encoding import number_of, rewards
from workbench.files import lacking
from workbench.lab.matches import replayed
from workbench.lab.plan import Plan
from workbench.show.output import write_file

PARQUET, LINES = ".parquet", ".jsonl"

_BATCH = 1_000  # rows that Parquet takes at once


class DecisionRow(TypedDict):
    """A decision: what the player saw and might do, what it did, and what came of it."""

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


class Teller:
    """A game's decisions as rows, `valued` by its judge; raises `ConfigError` where none is."""

    def __init__(self, of: Game, *, valued: bool) -> None:
        if of.encoding is None:
            raise ConfigError(f"{of.title} cannot be exported: nothing tells it in numbers.")
        if valued and of.judge is None:
            raise ConfigError(f"{of.title} has no judge; leave out --value.")
        self._game = of
        self._encoding: Encoding[Any, Any] = of.encoding.load()
        self._judge: Judge | None = of.judge.load() if valued and of.judge is not None else None

    def played(self, plan: Plan) -> Iterator[DecisionRow]:
        """The decisions of a plan's matches, which are played now, one after the other."""
        simulation = plan.simulation
        every = [(n, side) for n in range(plan.pairs) for side in range(plan.matches_a_pair)]
        for told in replayed(plan, every, f"seed-{plan.seed}", datetime.now(UTC)):
            made = rewards(simulation, told.end)
            for number, one in enumerate(told.taken):
                seat = simulation.to_act(one.state) or 0
                position = simulation.position(one.state)
                row = self._row(told.match_id, number, seat, position, one.action)
                yield {**row, "seed": plan.seed, "result": made[seat]}

    def stored(self, record: MatchRecord, moves: Sequence[MoveRecord]) -> Iterator[DecisionRow]:
        """The decisions of a stored match that can be made again."""
        if self._game.decisions is None:
            raise ConfigError(f"Decisions in {self._game.title} cannot be made again.")
        found: list[Asked] = list(self._game.decisions.load()(record, moves))
        for number, asked in enumerate(found):
            done, seat = asked.step.ours, asked.step.seat or 0
            named = {name: action for action, name in asked.options.items()}
            if done is not None and done.action in named:
                action = named[done.action]
                row = self._row(record.match_id, number, seat, asked.position, action)
                yield {**row, "result": _result(record, seat)}

    def _row(
        self, match: str, number: int, seat: int, position: object, action: object
    ) -> DecisionRow:
        choices = self._encoding.choices(position)
        weighed = None if self._judge is None else self._judge.weigh(position, (action,))
        options = () if weighed is None else weighed.options
        return DecisionRow(
            game=self._game.name,
            match=match,
            number=number,
            seat=seat,
            seed=None,
            observation=[0.0, *self._encoding.observed(position).tolist()],
            mask=[int(one in choices) for one in range(self._encoding.actions)],
            action=number_of(choices, action),
            value=next((one.value for one in options if one.action == action), None),
            result=None,
        )


def _result(record: MatchRecord, seat: int) -> float | None:
    """What a seat has of a stored match, as the environment rewards it; None if nobody knows."""
    header, outcome = header_of(record), outcome_of(record)
    if outcome is None:
        return None
    lost = -1 / max(1, len(header.names or header.players or outcome.names) - 1)
    if seat in header.seats:
        return {"won": 1.0, "tied": 0.0, "lost": lost}.get(outcome.result)
    return None if outcome.winner is None else 1.0 if outcome.winner == seat else lost


class CompactRow(TypedDict):
    """A decision as JSON Lines have it: of what it saw and might do only what is not 0.

    `ones` are the places in the observation that are 1, `fractions` those between 0 and 1 with
    their numbers, and `legal` the numbers of the actions in the mask.
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


def compact(row: DecisionRow) -> CompactRow:
    """The row without zeros, which are nine tenths of it."""
    seen = [(place, number) for place, number in enumerate(row["observation"]) if number]
    return CompactRow(
        game=row["game"],
        match=row["match"],
        number=row["number"],
        seat=row["seat"],
        seed=row["seed"],
        ones=[place for place, number in seen if number == 1],
        # As short as tells a 32-bit float: 0.35, not 0.3499999940395355.
        fractions=[(place, float(str(np.float32(n)))) for place, n in seen if n != 1],
        legal=[number for number, is_legal in enumerate(row["mask"]) if is_legal],
        action=row["action"],
        value=row["value"],
        result=row["result"],
    )


def read_rows(file: Path) -> Iterator[DecisionRow]:
    """The whole rows of JSON Lines, written with `--dense` or without; raises `ConfigError`."""
    with file.open(encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            try:
                row = json.loads(line)
                yield row if "observation" in row else _expanded(row)
            except (ValueError, LookupError, TypeError):
                raise ConfigError(
                    f"{file}, line {number} is no row that `cardsharp export` writes."
                ) from None


def _expanded(row: CompactRow) -> DecisionRow:
    encoding = game_named(row["game"]).encoding
    if encoding is None:
        raise ValueError
    numbers: Encoding[Any, Any] = encoding.load()
    observation, mask = np.zeros(1 + numbers.size, np.float32), [0] * numbers.actions
    observation[row["ones"]] = 1
    for place, part in row["fractions"]:
        observation[place] = part
    for number in row["legal"]:
        mask[number] = 1
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


def write(rows: Iterable[DecisionRow], file: Path, *, dense: bool = False) -> int:
    """Write rows as JSON Lines or Parquet by the file's name, how many; raises `ConfigError`.

    Parquet, which packs zeros itself, has whole rows; so do JSON Lines that are to be `dense`.
    """
    if file.suffix not in {PARQUET, LINES}:
        raise ConfigError(f"{file} must end in {LINES} or {PARQUET}.")
    write_file(file, "", "x")
    if file.suffix == PARQUET:
        return _write_parquet(iter(rows), file)
    number = 0
    with file.open("w", encoding="utf-8") as target:
        for number, row in enumerate(rows, 1):  # noqa: B007 - it is the answer
            told = row if dense else compact(row)
            target.write(json.dumps(told, separators=(",", ":")) + "\n")
    return number


def _write_parquet(rows: Iterator[DecisionRow], file: Path) -> int:
    try:
        import pyarrow as pa  # noqa: PLC0415 - an optional group
        from pyarrow import parquet  # noqa: PLC0415
    except ImportError:
        file.unlink()
        raise lacking(PARQUET, "pyarrow", "env,parquet") from None
    numbers = {"number": pa.int32(), "seat": pa.int8(), "seed": pa.int64()}
    lists = {"observation": pa.list_(pa.float32()), "mask": pa.list_(pa.int8())}
    ends = {"action": pa.int32(), "value": pa.float64(), "result": pa.float64()}
    texts = {"game": pa.string(), "match": pa.string()}
    schema, number = pa.schema({**texts, **numbers, **lists, **ends}), 0
    with parquet.ParquetWriter(file, schema) as target:
        while batch := list(islice(rows, _BATCH)):
            target.write_table(pa.Table.from_pylist(batch, schema))
            number += len(batch)
    return number
