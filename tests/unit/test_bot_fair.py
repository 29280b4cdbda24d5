"""Fair play (R09): nothing that a player may not know reaches a decision, a log or a message.

How calmly the arena is asked is tested in test_bot_scout.py.
"""

import json
from collections.abc import Mapping
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

from world.arena import SEED, TABLE, BenchArena
from world.bench import Bench
from world.bench import played as finished

from cardsharp.deadmansdraw.reading import rebuild
from cardsharp.deadmansdraw.wire import parse_view


def played(folder: Path, table: Mapping[str, Any], strategy: str) -> Bench:
    return finished(Bench(partial(BenchArena, table=table, strategy=strategy), folder))


def test_the_seed_is_shown_to_us_and_goes_no_further(tmp_path: Path) -> None:
    """We created the match, so every view has its seed; no model, position or stored item has."""
    with closing(Bench(BenchArena, tmp_path)) as bench:
        bench.play()
        assert isinstance(bench.place, BenchArena)
        shown = bench.place.look(admin=False)
        stored = bench.everything()
    assert json.dumps(shown).count(SEED) == 2, "the arena has stopped to show the seed"
    view = parse_view(shown)
    assert SEED not in view.model_dump_json()
    assert SEED not in repr(rebuild(view, 0)) + repr(rebuild(view, 0).history)
    assert SEED not in stored


def test_an_intent_names_unseen_cards_in_the_order_of_the_deck_alone(tmp_path: Path) -> None:
    """The order in which they are stored tells nothing about the order of the pile."""
    bench = played(tmp_path, TABLE, "champion")
    other = played(tmp_path, {**TABLE, "drawPile": TABLE["drawPile"][::-1]}, "champion")
    intents = [next(m.intent for m in b.moves if m.intent) for b in (bench, other)]
    one, two = (json.loads(json.dumps(intent))["position"]["unseen"] for intent in intents)
    assert one == two
    assert len(one.split()) == len(TABLE["drawPile"])
