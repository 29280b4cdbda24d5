"""The arena answers requests that were recorded with the original's answers as that did."""

from pathlib import Path
from typing import Any

import pytest
from support.arena_cloud import Opened
from support.pairs import recorded_arena, replayed
from support.recorded import PAIRS, WHOLE_PAIRS, lines

OTHER_BODY = {
    "create: draw pile text": "the text is the JavaScript engine's",
    "create: banks of one": "the text names another fault of the same request",
    "list ?tags=t1&tags=t2": "the text is the JavaScript engine's",
    "list ?at=quux": "an earlier recording has an empty list here",
    "a seed that is an object": "the original deals from its JSON and plays on from its text",
}
"""Pairs whose body differs, each with its reason; their status and headers are the same."""


def titled(pair: dict[str, Any]) -> str:
    """The title of a pair, by which it is excepted."""
    by_sequence = {"create-admin-seed-object": "a seed that is an object"}
    return (
        by_sequence.get(pair["seq"], pair["title"]) if pair["title"] == "view it" else pair["title"]
    )


@pytest.mark.parametrize(
    ("recording", "least"),
    [
        pytest.param(PAIRS, 550, id="sample"),
        pytest.param(
            WHOLE_PAIRS,
            780,
            id="whole",
            marks=[
                pytest.mark.slow,
                pytest.mark.skipif(
                    not WHOLE_PAIRS.exists(), reason="the whole recording is not here"
                ),
            ],
        ),
    ],
)
def test_every_pair_is_answered_as_recorded(
    opened: Opened, tmp_path: Path, recording: Path, least: int
) -> None:
    """Equal status, headers and body, but for what is hidden here and the named bodies."""
    pairs = [line for line in lines(recording) if "seq" in line]
    differences, answered = [], 0
    with recorded_arena(opened, tmp_path) as (arena, clock):
        for pair, theirs, ours in replayed(pairs, arena, clock):
            answered += 1
            if titled(pair) in OTHER_BODY:
                ours["body"] = theirs["body"]
            if ours != theirs:
                differences.append(f"{pair['seq']} {pair['title']}:\n {ours}\n {theirs}")
    assert answered == len(pairs) >= least
    assert not differences, f"{len(differences)}\n" + "\n".join(differences)[:4000]
