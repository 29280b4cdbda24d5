"""Recordings of the real systems, for the tests that replay them.

`tests/samples` has the recordings (its README describes them): all of the arena's
examples, of Euchre and of Blef, and a selection of the arena's matches that contains
every feature once. The full recording of the matches is read from a folder beside the
repository.
"""

import gzip
import json
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from cardsharp.games.deadmansdraw.actions import Action
from cardsharp.games.deadmansdraw.arena.request_body import (
    js_truthy,
    parse_action_type,
    parse_effect_response,
)
from cardsharp.games.deadmansdraw.arena_bot.wire_views import MatchView, MoveView

Json = dict[str, Any]

SAMPLES = Path(__file__).parents[1] / "samples"
_FULL_RECORDINGS = Path(__file__).parents[3] / "shared" / "reference" / "arena"


@cache
def recording(name: str) -> tuple[Json, ...]:
    """Return the lines of a recording in `tests/samples`."""
    return tuple(read_gzip_lines(SAMPLES / f"{name}.jsonl.gz"))


def sample_table(name: str) -> Json:
    """Return a table of `tests/samples`, which is written by hand."""
    return tomllib.loads((SAMPLES / f"{name}.toml").read_text("utf-8"))


def sample_rows(name: str) -> list[str]:
    """Return the rows of a text file in `tests/samples`, without comments."""
    lines = (SAMPLES / f"{name}.txt").read_text("utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def read_gzip_lines(file: Path) -> Iterator[Json]:
    """Yield the JSON objects of a compressed recording."""
    with gzip.open(file, "rt", encoding="utf-8") as text:
        yield from map(json.loads, text)


@dataclass(frozen=True)
class RecordedMatches:
    """Recorded matches of the arena, each a dict (docs/spec/arena.md section 10)."""

    file: Path
    min_step_count: int
    """How many steps, at least, they have in all."""

    def all_matches(self) -> Iterator[Json]:
        return read_gzip_lines(self.file)

    def created_matches(self) -> Iterator[Json]:
        """Yield the matches whose creation succeeded."""
        return (match for match in self.all_matches() if match["create"]["status"] == 200)

    def random_matches(self, count: int) -> Iterator[Json]:
        """Yield the first `count` matches that were played at random to their end."""
        return islice((match for match in self.all_matches() if match["kind"] == "random"), count)


SAMPLE = RecordedMatches(SAMPLES / "arena_matches.jsonl.gz", 2_800)
ALL_RECORDED = RecordedMatches(_FULL_RECORDINGS / "traces_dev.jsonl.gz", 32_000)
SAMPLE_PAIRS = RecordedMatches(SAMPLES / "arena_pairs.jsonl.gz", 550)
"""Requests with their answers, a part of `ALL_RECORDED_PAIRS`; `min_step_count` counts these."""

ALL_RECORDED_PAIRS = RecordedMatches(_FULL_RECORDINGS / "paired_dev.jsonl.gz", 780)


def parametrize_sample_and_all(
    *marks: pytest.MarkDecorator,
    sample: RecordedMatches = SAMPLE,
    all_matches: RecordedMatches = ALL_RECORDED,
) -> pytest.MarkDecorator:
    """Run a test with the sample `matches` and, under these marks, with all recorded ones."""
    skip_if_absent = pytest.mark.skipif(
        not all_matches.file.exists(), reason="the whole recording is not here"
    )
    return pytest.mark.parametrize(
        "matches",
        [
            pytest.param(sample, id="sample"),
            pytest.param(all_matches, id="whole", marks=(skip_if_absent, *marks)),
        ],
    )


@contextmanager
def annotate_with_match(match: Json) -> Iterator[None]:
    """Add the name of the recorded match to exceptions in the block."""
    try:
        yield
    except Exception as error:
        error.add_note(f"In the recorded match {match['name']}.")
        raise


@dataclass(frozen=True)
class RecordedView:
    """Recorded view of a running match: its record, the raw JSON of the GET, and the model."""

    record: Json
    raw: Json
    view: MatchView


def recorded_views(match: Json) -> Iterator[RecordedView]:
    """Yield every view of a match in order, each with all moves so far."""
    raw: Json = {}
    moves: tuple[MoveView, ...] = ()
    for record in (*match["steps"], match["final"]["last_look"]):
        if "wait_s" in record:
            continue
        moves += tuple(MoveView.model_validate(move) for move in record["new_moves"])
        current_view = raw if record["view"] == "same" else record["view"]
        raw = {**current_view, "moves": [*raw.get("moves", ()), *record["new_moves"]]}
        view = MatchView.model_validate({**current_view, "moves": []})
        yield RecordedView(record, raw, view.model_copy(update={"moves": moves}))


def recorded_action(body: dict[str, Any]) -> Action:
    """Return the action of a recorded request's body."""
    return Action(
        parse_action_type(body),
        parse_effect_response(body),
        answers_pending_effects=js_truthy(body.get("autopick")),
    )
