"""Tests of the games as environments and as training rows (docs/environments.md).

PettingZoo's tests run, and tests of what they do not cover. The rows are decisions of new
and of stored matches, which `cardsharp export` writes.
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

GAMES_AND_SEATS = [("deadmansdraw", None), ("blef", None), ("blef", 5), ("euchre", None)]
ROOT = Path(__file__).parents[2]
DOCS_PAGE = ROOT / "docs" / "environments.md"
LEARNER_STARTER = ROOT / "starters" / "environments" / "learn.py"

# Theirs say so of every environment whose observation is a dictionary with a mask.
EXPECTED_WARNINGS = (
    "Observation is not a NumPy array",
    "Observation space for each agent probably should be",
)


@pytest.mark.parametrize(("game", "seats"), GAMES_AND_SEATS)
def test_a_game_is_an_environment(game: str, seats: int | None) -> None:
    """PettingZoo's tests pass, and every legal action has a unique number.

    Cards that the player cannot see do not change the observation.
    """
    with warnings.catch_warnings(record=True) as warning_messages:
        warnings.simplefilter("always")
        api_test(make_env(game, seats), num_cycles=case_count(30, full=100))
        seed_test(lambda: make_env(game, seats), num_cycles=case_count(20, full=60))
    assert [
        str(warning.message)
        for warning in warning_messages
        if not str(warning.message).startswith(EXPECTED_WARNINGS)
    ] == []
    simulation, encoding = load_simulation_and_encoding(game, seats)
    states = chain.from_iterable(match_states(simulation, seed) for seed in count())
    decision_states = (state for state in states if simulation.current_seat(state) is not None)
    rng = Random(5)
    for state in islice(decision_states, case_count(60, full=120)):
        position, resampled_position = map(
            simulation.current_position, (state, simulation.resample_hidden(state, rng))
        )
        choices = encoding.choices(position)
        assert (
            encoding.observed(position).tolist() == encoding.observed(resampled_position).tolist()
        )
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


@pytest.mark.parametrize(("game", "seats"), GAMES_AND_SEATS)
def test_a_vector_environment_is_reproducible_by_its_seed(game: str, seats: int | None) -> None:
    runs = []
    for _ in range(2):
        env, finished_count, reward_sum = CardVectorEnv(3, game, seats), 0, 0.0
        observation, infos = env.reset(seed=4)
        for _ in range(case_count(120, full=300)):
            assert env.observation_space.contains(observation)
            assert set(infos["to_act"]) <= set(range(env.seats))
            actions = (
                observation["action_mask"].shape[1]
                - 1
                - observation["action_mask"][:, ::-1].argmax(axis=1)
            )
            observation, rewards, terminations, truncations, infos = env.step(actions)
            assert not rewards[~terminations].any()
            assert not truncations.any()
            finished_count, reward_sum = (
                finished_count + int(terminations.sum()),
                reward_sum + rewards.sum(),
            )
        runs.append((finished_count, observation["observation"].tolist()))
        assert reward_sum == pytest.approx(0)
    assert runs[0] == runs[1]
    assert runs[0][0] > 0


def test_a_missing_compiler_is_reported_once(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    native_engines = pytest.importorskip("cardsharp_tools.research.native_engines")
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr(
        native_engines, "_load_library", cache(native_engines._load_library.__wrapped__)
    )
    for _ in range(2):
        CardVectorEnv(2).reset(seed=1)
    assert capfd.readouterr().err.count("There is no C compiler (cc); plain Python") == 1


@pytest.mark.parametrize("plain", [True, False])
def test_a_vector_environment_rejects_an_invalid_action_and_continues(*, plain: bool) -> None:
    env = CardVectorEnv(2, pure_python=plain)
    with pytest.raises(ResetNeeded, match="reset before step"):
        env.step(np.array([0, 0]))
    env.reset(seed=1)
    for number in (-1, 1, 9999):
        with pytest.raises(
            ValueError, match=f"Lane 1 may not take action {number}; see its action_mask"
        ):
            env.step(np.array([0, number]))
    for invalid_actions in (np.array([0]), np.array([0.0, 0.0])):
        with pytest.raises(ValueError, match="2 whole numbers, one for each lane"):
            env.step(invalid_actions)
    assert not env.step(np.array([0, 0]))[2].any()


def test_the_pages_examples_run(capsys: pytest.CaptureFixture[str]) -> None:
    text = DOCS_PAGE.read_text("utf-8")
    examples = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    assert len(examples) == 5
    for example in (*examples, LEARNER_STARTER.read_text("utf-8")):
        short_example = re.sub(r"(\nMATCHES, SIDE_BY_SIDE, RATE =) \d+, \d+", r"\1 10, 2", example)
        exec(short_example.replace("pairs=500", "pairs=5"), {})  # noqa: S102 - our own page
    output = capsys.readouterr().out
    assert "(5, 2, 2)" in output
    assert "430 63 [(0, 'Draw')]" in output
    assert "draw-3: " in output
    for game, _ in GAMES_AND_SEATS:
        _, encoding = load_simulation_and_encoding(game, None)
        assert f"| {1 + encoding.size} | {encoding.actions} |" in text


# --- rows for a learner -----------------------------------------------------------------------


PLAYERS = {
    "deadmansdraw": ("third", "draw-3"),
    "blef": ("greedy", "random"),
    "euchre": ("rules", "random"),
}


def export_rows(cli: Cli, file: Path, *arguments: str) -> list[DecisionRow]:
    """Export matches with the command, and return the rows of its file."""
    result = cli("export", str(file), *arguments, "--json")
    assert result.code == 0, result.err
    decision_rows = list(read_rows(file))
    assert result.json() == {"file": str(file), "rows": len(decision_rows)}
    return decision_rows


@pytest.mark.parametrize("game", PLAYERS)
def test_stored_matches_are_exported_like_fresh_ones(cli: Cli, tmp_path: Path, game: str) -> None:
    """Rows of stored matches equal those of new matches, in observations and rewards."""
    arguments = (*PLAYERS[game], "--game", game, "-n", "1", "--seed", "3")
    new_match_rows = export_rows(cli, tmp_path / "fresh.jsonl", *arguments)
    space = make_env(game).observation_space("player_0")
    for row in new_match_rows:
        assert (len(row["observation"]), len(row["mask"])) == (
            space["observation"].shape[0],
            space["action_mask"].shape[0],
        )
        assert row["mask"][row["action"]] == 1
        assert (row["seed"], row["value"]) == (3, None)
    assert sum({(row["match"], row["seat"]): row["result"] for row in new_match_rows}.values()) == 0
    match_ids = cli(
        "lab", "duel", *arguments, "--save-matches", "2", "--workers", "1", "--json"
    ).json()["kept"]
    match_options = [argument for match_id in match_ids for argument in ("--match", match_id)]
    stored_match_rows = export_rows(cli, tmp_path / "stored.jsonl", *match_options)
    compared_fields = ["observation", "mask", "action"]
    compared_fields += (
        [] if game == "euchre" else ["seat", "result"]
    )  # its log has deals, with own seats
    stored_rows, fresh_rows = (
        sorted(json.dumps([row[name] for name in compared_fields]) for row in source_rows)
        for source_rows in (stored_match_rows, new_match_rows)
    )
    assert stored_rows == fresh_rows


@pytest.mark.parametrize("game", PLAYERS)
def test_json_lines_omit_zeros_and_are_read_as_complete_rows(
    cli: Cli, tmp_path: Path, game: str
) -> None:
    """Rows with every 0, which `--dense` and older versions write, are read as well."""
    arguments = (*PLAYERS[game], "--game", game, "-n", "2", "--seed", "3")
    sparse_file, dense_file = tmp_path / "small.jsonl", tmp_path / "dense.jsonl"
    full_rows = export_rows(cli, dense_file, *arguments, "--dense")
    assert export_rows(cli, sparse_file, *arguments) == full_rows
    assert [json.loads(line) for line in dense_file.read_text("utf-8").splitlines()] == full_rows
    for line, row in zip(sparse_file.read_text("utf-8").splitlines(), full_rows, strict=True):
        fields, observation = json.loads(line), row["observation"]
        assert fields["ones"] == [
            feature_index for feature_index, number in enumerate(observation) if number == 1
        ]
        assert [feature_index for feature_index, _ in fields["fractions"]] == [
            feature_index for feature_index, number in enumerate(observation) if 0 < number < 1
        ]
        assert fields["legal"] == [number for number, legal in enumerate(row["mask"]) if legal]
    assert sparse_file.stat().st_size < 0.3 * dense_file.stat().st_size


def test_an_invalid_row_is_reported_with_its_line(cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    valid_row, *_ = export_rows(cli, file, "third", "-n", "1")
    for invalid_line in (
        "[]",
        "no JSON",
        '{"game": "deadmansdraw"}',
        '{"game": "whist", "ones": []}',
    ):
        file.write_text(f"{json.dumps(valid_row)}\n{invalid_line}\n", "utf-8")
        with pytest.raises(
            ConfigError, match=r"rows\.jsonl, line 2 is not a row that `cardsharp export`"
        ):
            list(read_rows(file))


def test_pandas_and_polars_read_the_same_rows_of_both_files(cli: Cli, tmp_path: Path) -> None:
    # Here, for every worker would else take seconds to import them.
    import pandas as pd  # noqa: PLC0415
    import polars as pl  # noqa: PLC0415

    arguments = ("third", "draw-3", "-n", "1")
    parquet, lines = tmp_path / "rows.parquet", tmp_path / "rows.jsonl"
    assert cli("export", str(parquet), *arguments).code == 0
    full_rows = export_rows(cli, lines, *arguments)
    compact_rows = [json.loads(line) for line in lines.read_text("utf-8").splitlines()]
    assert pl.read_parquet(parquet).to_dicts() == full_rows
    assert pl.read_ndjson(lines, infer_schema_length=None).to_dicts() == compact_rows
    # pandas tells lists as arrays, and nothing as NaN.
    frame, sparse_frame = pd.read_parquet(parquet), pd.read_json(lines, lines=True)
    assert [list(mask) for mask in frame["mask"]] == [row["mask"] for row in full_rows]
    assert np.allclose(np.stack(frame["observation"]), [row["observation"] for row in full_rows])
    assert sparse_frame["ones"].tolist() == [row["ones"] for row in compact_rows]
    assert sparse_frame["legal"].tolist() == [row["legal"] for row in compact_rows]
    for data_frame in (frame, sparse_frame):
        assert data_frame["value"].isna().all()
        assert data_frame["result"].tolist() == [row["result"] for row in full_rows]


def test_the_page_lists_every_column_and_the_judge_values_decisions(
    cli: Cli, tmp_path: Path
) -> None:
    page = DOCS_PAGE.read_text("utf-8")
    full_rows = export_rows(cli, tmp_path / "rows.jsonl", "third", "-n", "1", "--include-value")
    for row in (full_rows[0], to_sparse_row(full_rows[0])):
        assert [name for name in row if f"\n| `{name}` |" not in page] == []
    values = [row["value"] for row in full_rows if row["value"] is not None]
    assert len(values) > len(full_rows) / 2
    assert all(0 <= value <= 1 for value in values)
    result = cli("export", str(tmp_path / "rows.jsonl"), "random")
    assert result.code == 2
    assert "exists already. Choose another name" in result.err
    assert "must end in .jsonl or .parquet" in cli("export", "rows.csv", "random").err
