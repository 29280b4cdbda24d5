"""`cardsharp export`: decisions of fresh and of stored matches, read back."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.cli import Cli

from workbench.env.aec import env

PLAYERS = {
    "deadmansdraw": ("third", "draw-3"),
    "blef": ("greedy", "random"),
    "euchre": ("rules", "random"),
}


def rows(cli: Cli, file: Path, *words: str) -> list[dict[str, Any]]:
    """What is read of the file that the command has written."""
    told = cli("export", str(file), *words, "--json")
    assert told.code == 0, told.err
    found = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    assert told.json() == {"file": str(file), "rows": len(found)}
    return found


@pytest.mark.parametrize("game", PLAYERS)
def test_stored_matches_are_told_as_when_they_were_fresh(
    cli: Cli, tmp_path: Path, game: str
) -> None:
    """In the numbers of the environment, and with its rewards."""
    words = (*PLAYERS[game], "--game", game, "-n", "1", "--seed", "3")
    fresh = rows(cli, tmp_path / "fresh.jsonl", *words)
    space = env(game).observation_space("player_0")
    for row in fresh:
        assert (len(row["observation"]), len(row["mask"])) == (
            space["observation"].shape[0],
            space["action_mask"].shape[0],
        )
        assert row["mask"][row["action"]] == 1
        assert (row["seed"], row["value"]) == (3, None)
    assert sum({(row["match"], row["seat"]): row["result"] for row in fresh}.values()) == 0
    kept = cli("lab", "duel", *words, "--keep", "2", "--workers", "1", "--json").json()["kept"]
    named = [word for one in kept for word in ("--match", one)]
    stored = rows(cli, tmp_path / "stored.jsonl", *named)
    same = ["observation", "mask", "action"]
    same += [] if game == "euchre" else ["seat", "result"]  # its log has deals, with own seats
    assert told(stored, same) == told(fresh, same)


def test_the_judge_values_what_was_done(cli: Cli, tmp_path: Path) -> None:
    found = rows(cli, tmp_path / "valued.jsonl", "third", "-n", "1", "--value")
    values = [row["value"] for row in found if row["value"] is not None]
    assert len(values) > len(found) / 2
    assert all(0 <= value <= 1 for value in values)


def test_pandas_and_polars_read_the_same_rows_of_both_files(cli: Cli, tmp_path: Path) -> None:
    # Here, for every worker would else take seconds to import them.
    import pandas as pd  # noqa: PLC0415
    import polars as pl  # noqa: PLC0415

    words = ("third", "draw-3", "-n", "1")
    parquet, lines = tmp_path / "rows.parquet", tmp_path / "rows.jsonl"
    assert cli("export", str(parquet), *words).code == 0
    found = rows(cli, lines, *words)
    assert pl.read_parquet(parquet).to_dicts() == found
    assert pl.read_ndjson(lines, infer_schema_length=None).to_dicts() == found
    # pandas tells lists as arrays, and nothing as NaN.
    for frame in (pd.read_parquet(parquet), pd.read_json(lines, lines=True)):
        assert frame["value"].isna().all()
        assert [list(one) for one in frame["mask"]] == [row["mask"] for row in found]
        assert frame["result"].tolist() == [row["result"] for row in found]
        assert np.allclose(np.stack(frame["observation"]), [row["observation"] for row in found])


def test_the_page_has_every_column(cli: Cli, tmp_path: Path) -> None:
    page = (Path(__file__).parents[2] / "docs" / "environments.md").read_text("utf-8")
    row = rows(cli, tmp_path / "rows.jsonl", "random", "-n", "1")[0]
    assert [name for name in row if f"\n| `{name}` |" not in page] == []
    again = cli("export", str(tmp_path / "rows.jsonl"), "random")
    assert again.code == 2
    assert "is there already; choose another name" in again.err
    assert "must end in .jsonl or .parquet" in cli("export", "rows.csv", "random").err


def told(found: list[dict[str, Any]], names: list[str]) -> list[str]:
    """The rows in an order of their own, with what they have of those names."""
    return sorted(json.dumps([row[name] for name in names]) for row in found)
