"""The games in numbers (docs/environments.md): environments of PettingZoo, and rows for a learner.

Of the environments there are PettingZoo's own tests, and what they do not ask; the rows are
decisions of fresh and of stored matches, which `cardsharp export` writes.
"""

import json
import re
import warnings
from functools import cache
from itertools import chain, count, islice
from pathlib import Path
from random import Random

import numpy as np
import pytest
from gymnasium.error import ResetNeeded
from pettingzoo.test import api_test, seed_test
from support.case_counts import case_count
from support.cli import Cli
from support.games import match_states

from cardsharp.errors import ConfigError
from cardsharp_tools.environments.aec_env import make_env
from cardsharp_tools.environments.dataset import DecisionRow, read_rows, to_sparse_row
from cardsharp_tools.environments.encoding import load_simulation_and_encoding
from cardsharp_tools.environments.vector_env import CardVectorEnv

ALL = [("deadmansdraw", None), ("blef", None), ("blef", 5), ("euchre", None)]
ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "environments.md"
LEARNER = ROOT / "starters" / "environments" / "learn.py"

# Theirs say so of every environment whose observation is a dictionary with a mask.
EXPECTED_WARNINGS = (
    "Observation is not a NumPy array",
    "Observation space for each agent probably should be",
)


@pytest.mark.parametrize(("game", "seats"), ALL)
def test_a_game_is_an_environment(game: str, seats: int | None) -> None:
    """PettingZoo's own tests pass, and every legal action has a number of its own.

    Cards that the player cannot see change none of the numbers that it is told.
    """
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        api_test(make_env(game, seats), num_cycles=case_count(30, full=100))
        seed_test(lambda: make_env(game, seats), num_cycles=case_count(20, full=60))
    assert [
        str(warning.message)
        for warning in caught
        if not str(warning.message).startswith(EXPECTED_WARNINGS)
    ] == []
    simulation, encoding = load_simulation_and_encoding(game, seats)
    played = chain.from_iterable(match_states(simulation, seed) for seed in count())
    acting = (state for state in played if simulation.current_seat(state) is not None)
    dice = Random(5)
    for state in islice(acting, case_count(60, full=120)):
        position, other = map(
            simulation.current_position, (state, simulation.resample_hidden(state, dice))
        )
        choices = encoding.choices(position)
        assert encoding.observed(position).tolist() == encoding.observed(other).tolist()
        assert list(choices.values()) == list(simulation.legal_actions(state))
        assert set(choices) <= set(range(encoding.actions))


def test_an_invalid_action_ends_the_match_with_a_loss() -> None:
    for action in (9999, -1):
        match = make_env()
        match.reset(seed=1)
        loser = match.agent_selection
        assert "Position(turn=1" in match.render()
        match.step(action)
        assert match.rewards[loser] == -1
        assert all(match.terminations.values())
    with pytest.raises(ConfigError, match="Blef is played by two to eight"):
        make_env("blef", 9)


@pytest.mark.parametrize(("game", "seats"), ALL)
def test_lanes_are_a_vector_environment_that_the_seed_repeats(game: str, seats: int | None) -> None:
    runs = []
    for _ in range(2):
        lanes, finished_count, rewarded = CardVectorEnv(3, game, seats), 0, 0.0
        seen, infos = lanes.reset(seed=4)
        for _ in range(case_count(120, full=300)):
            assert lanes.observation_space.contains(seen)
            assert set(infos["to_act"]) <= set(range(lanes.seats))
            highest = seen["action_mask"].shape[1] - 1 - seen["action_mask"][:, ::-1].argmax(axis=1)
            seen, rewards, over, cut, infos = lanes.step(highest)
            assert not rewards[~over].any()
            assert not cut.any()
            finished_count, rewarded = finished_count + int(over.sum()), rewarded + rewards.sum()
        runs.append((finished_count, seen["observation"].tolist()))
        assert rewarded == pytest.approx(0)
    assert runs[0] == runs[1]
    assert runs[0][0] > 0


def test_without_a_compiler_lanes_say_so_once(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    twins = pytest.importorskip("cardsharp_tools.research.native_engines")
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr(twins, "_load_library", cache(twins._load_library.__wrapped__))
    for _ in range(2):
        CardVectorEnv(2).reset(seed=1)
    assert capfd.readouterr().err.count("There is no C compiler (cc); plain Python") == 1


@pytest.mark.parametrize("plain", [True, False])
def test_lanes_reject_an_invalid_action_and_continue(*, plain: bool) -> None:
    lanes = CardVectorEnv(2, pure_python=plain)
    with pytest.raises(ResetNeeded, match="reset before step"):
        lanes.step(np.array([0, 0]))
    lanes.reset(seed=1)
    for number in (-1, 1, 9999):
        with pytest.raises(
            ValueError, match=f"Lane 1 may not take action {number}; see its action_mask"
        ):
            lanes.step(np.array([0, number]))
    for wrong in (np.array([0]), np.array([0.0, 0.0])):
        with pytest.raises(ValueError, match="2 whole numbers, one for each lane"):
            lanes.step(wrong)
    assert not lanes.step(np.array([0, 0]))[2].any()


def test_the_pages_examples_run(capsys: pytest.CaptureFixture[str]) -> None:
    text = PAGE.read_text("utf-8")
    examples = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    assert len(examples) == 5
    for example in (*examples, LEARNER.read_text("utf-8")):
        small = re.sub(r"(\nMATCHES, SIDE_BY_SIDE, RATE =) \d+, \d+", r"\1 10, 2", example)
        exec(small.replace("pairs=500", "pairs=5"), {})  # noqa: S102 - our own page
    output = capsys.readouterr().out
    assert "(5, 2, 2)" in output
    assert "430 63 [(0, 'Draw')]" in output
    assert "draw-3: " in output
    for game, _ in ALL:
        _, encoding = load_simulation_and_encoding(game, None)
        assert f"| {1 + encoding.size} | {encoding.actions} |" in text


# --- rows for a learner -----------------------------------------------------------------------


PLAYERS = {
    "deadmansdraw": ("third", "draw-3"),
    "blef": ("greedy", "random"),
    "euchre": ("rules", "random"),
}


def rows(cli: Cli, file: Path, *words: str) -> list[DecisionRow]:
    """Export matches with the command, and return the rows of its file."""
    result = cli("export", str(file), *words, "--json")
    assert result.code == 0, result.err
    decision_rows = list(read_rows(file))
    assert result.json() == {"file": str(file), "rows": len(decision_rows)}
    return decision_rows


@pytest.mark.parametrize("game", PLAYERS)
def test_stored_matches_are_exported_like_fresh_ones(cli: Cli, tmp_path: Path, game: str) -> None:
    """In the numbers of the environment, and with its rewards."""
    words = (*PLAYERS[game], "--game", game, "-n", "1", "--seed", "3")
    fresh = rows(cli, tmp_path / "fresh.jsonl", *words)
    space = make_env(game).observation_space("player_0")
    for row in fresh:
        assert (len(row["observation"]), len(row["mask"])) == (
            space["observation"].shape[0],
            space["action_mask"].shape[0],
        )
        assert row["mask"][row["action"]] == 1
        assert (row["seed"], row["value"]) == (3, None)
    assert sum({(row["match"], row["seat"]): row["result"] for row in fresh}.values()) == 0
    match_ids = cli(
        "lab", "duel", *words, "--save-matches", "2", "--workers", "1", "--json"
    ).json()["kept"]
    named = [argument for match_id in match_ids for argument in ("--match", match_id)]
    stored = rows(cli, tmp_path / "stored.jsonl", *named)
    same = ["observation", "mask", "action"]
    same += [] if game == "euchre" else ["seat", "result"]  # its log has deals, with own seats
    stored_rows, fresh_rows = (
        sorted(json.dumps([row[name] for name in same]) for row in source_rows)
        for source_rows in (stored, fresh)
    )
    assert stored_rows == fresh_rows


@pytest.mark.parametrize("game", PLAYERS)
def test_json_lines_omit_zeros_and_are_read_as_complete_rows(
    cli: Cli, tmp_path: Path, game: str
) -> None:
    """Also those with every 0, as `--dense` writes them and older versions did."""
    words = (*PLAYERS[game], "--game", game, "-n", "2", "--seed", "3")
    small, dense = tmp_path / "small.jsonl", tmp_path / "dense.jsonl"
    full_rows = rows(cli, dense, *words, "--dense")
    assert rows(cli, small, *words) == full_rows
    assert [json.loads(line) for line in dense.read_text("utf-8").splitlines()] == full_rows
    for line, row in zip(small.read_text("utf-8").splitlines(), full_rows, strict=True):
        fields, seen = json.loads(line), row["observation"]
        assert fields["ones"] == [place for place, number in enumerate(seen) if number == 1]
        assert [place for place, _ in fields["fractions"]] == [
            place for place, number in enumerate(seen) if 0 < number < 1
        ]
        assert fields["legal"] == [number for number, legal in enumerate(row["mask"]) if legal]
    assert small.stat().st_size < 0.3 * dense.stat().st_size


def test_an_invalid_row_is_reported_with_its_line(cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    first, *_ = rows(cli, file, "third", "-n", "1")
    for wrong in ("[]", "no JSON", '{"game": "deadmansdraw"}', '{"game": "whist", "ones": []}'):
        file.write_text(f"{json.dumps(first)}\n{wrong}\n", "utf-8")
        with pytest.raises(
            ConfigError, match=r"rows\.jsonl, line 2 is not a row that `cardsharp export`"
        ):
            list(read_rows(file))


def test_pandas_and_polars_read_the_same_rows_of_both_files(cli: Cli, tmp_path: Path) -> None:
    # Here, for every worker would else take seconds to import them.
    import pandas as pd  # noqa: PLC0415
    import polars as pl  # noqa: PLC0415

    words = ("third", "draw-3", "-n", "1")
    parquet, lines = tmp_path / "rows.parquet", tmp_path / "rows.jsonl"
    assert cli("export", str(parquet), *words).code == 0
    full_rows = rows(cli, lines, *words)
    compact_rows = [json.loads(line) for line in lines.read_text("utf-8").splitlines()]
    assert pl.read_parquet(parquet).to_dicts() == full_rows
    assert pl.read_ndjson(lines, infer_schema_length=None).to_dicts() == compact_rows
    # pandas tells lists as arrays, and nothing as NaN.
    frame, small = pd.read_parquet(parquet), pd.read_json(lines, lines=True)
    assert [list(mask) for mask in frame["mask"]] == [row["mask"] for row in full_rows]
    assert np.allclose(np.stack(frame["observation"]), [row["observation"] for row in full_rows])
    assert small["ones"].tolist() == [row["ones"] for row in compact_rows]
    assert small["legal"].tolist() == [row["legal"] for row in compact_rows]
    for read in (frame, small):
        assert read["value"].isna().all()
        assert read["result"].tolist() == [row["result"] for row in full_rows]


def test_the_page_lists_every_column_and_the_judge_values_decisions(
    cli: Cli, tmp_path: Path
) -> None:
    page = PAGE.read_text("utf-8")
    full_rows = rows(cli, tmp_path / "rows.jsonl", "third", "-n", "1", "--include-value")
    for row in (full_rows[0], to_sparse_row(full_rows[0])):
        assert [name for name in row if f"\n| `{name}` |" not in page] == []
    values = [row["value"] for row in full_rows if row["value"] is not None]
    assert len(values) > len(full_rows) / 2
    assert all(0 <= value <= 1 for value in values)
    result = cli("export", str(tmp_path / "rows.jsonl"), "random")
    assert result.code == 2
    assert "exists already. Choose another name" in result.err
    assert "must end in .jsonl or .parquet" in cli("export", "rows.csv", "random").err
