"""Every cache of the deployed code has a bound, and says what it is."""

import ast
import re
from pathlib import Path
from random import Random

import pytest

from cardsharp.games.blef.actions import BETS
from cardsharp.games.blef.cards import DECK
from cardsharp.games.blef.strategies.bet_probabilities import card_bits
from cardsharp.games.blef.strategies.betting_model import (
    MAX_WEIGHTED_HANDS,
    BettingModel,
    PreparedBettingModel,
    bet_features,
)
from cardsharp.games.blef.strategies.opponent_model import (
    MAX_OPPONENT_MODELS,
    MAX_PREPARED_MODELS,
    OpponentModel,
    opponent_model_of,
    prepare_betting_models,
)
from cardsharp.games.blef.strategies.opponent_types import NO_BET
from cardsharp.games.euchre.cards import DECK as EUCHRE_DECK
from cardsharp.games.euchre.cards import SUITS
from cardsharp.games.euchre.strategies.trump_layout import MAX_CACHED_RESULTS, TrumpLayout

ROOT = Path(__file__).parents[2]
FILES = sorted(path for folder in ("layers", "functions") for path in (ROOT / folder).rglob("*.py"))
_STATED_BOUND = re.compile(r".*\bcache.*  # (an entry for each|at most) ")
_UNBOUNDED = re.compile(r"(functools\.)?(cache|lru_cache\(maxsize=None\))(\(.*\))?$")


def find_caches_without_bound(text: str) -> list[str]:
    """Return the functions with arguments whose cache has no bound in a number or a comment."""
    tree, lines = ast.parse(text), text.splitlines()
    caches = [
        (node.name, decorator)
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef) and node.args.args
        for decorator in node.decorator_list
    ]
    caches += [
        (ast.unparse(node.targets[0]), node.value)
        for node in tree.body
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call)
    ]
    return [
        name
        for name, expression in caches
        if _UNBOUNDED.match(ast.unparse(expression))
        and not _STATED_BOUND.match(lines[expression.lineno - 1])
    ]


@pytest.mark.parametrize("path", [ROOT / "layers", ROOT / "functions"], ids=lambda path: path.name)
def test_every_cache_of_the_deployed_code_states_its_bound(path: Path) -> None:
    """A cache without a maximum size says in a comment which entries it can have."""
    unbounded = {
        str(file.relative_to(ROOT)): names
        for file in FILES
        if file.is_relative_to(path)
        and (names := find_caches_without_bound(file.read_text("utf-8")))
    }
    assert unbounded == {}


def test_a_cache_without_a_stated_bound_is_found() -> None:
    function = "def f(hand):\n    return hand\n"
    assert find_caches_without_bound(f"@cache\n{function}") == ["f"]
    assert find_caches_without_bound(f"@cache  # fast\n{function}") == ["f"]
    assert find_caches_without_bound(f"@cache  # an entry for each hand\n{function}") == []
    assert find_caches_without_bound(f"@lru_cache(maxsize=8)\n{function}") == []
    assert find_caches_without_bound("g = cache(f)") == ["g"]
    assert find_caches_without_bound("g = cache(f)  # at most 9 entries") == []


def test_a_layout_of_trumps_keeps_a_bounded_number_of_results() -> None:
    """Two caches of 200,000 results a suit took 370 MB after 20 games of Euchre."""
    layout, rng = TrumpLayout(SUITS[0]), Random(1)
    for _ in range(2 * MAX_CACHED_RESULTS):
        hand = layout.to_mask(rng.sample(EUCHRE_DECK, 6))
        layout.spare(hand)
        layout.moves(hand, hand)
    sizes = [cached.cache_info().currsize for cached in (layout.spare, layout.moves)]  # type: ignore[union-attr]
    assert max(sizes) <= MAX_CACHED_RESULTS <= 10_000


def test_a_prepared_model_keeps_a_bounded_number_of_hands() -> None:
    """It kept the weights of every hand that it had ever evaluated: 700 bytes each."""
    rng, prepared = Random(4), PreparedBettingModel(BettingModel())
    for _ in range(3 * MAX_WEIGHTED_HANDS):
        features = bet_features(card_bits(rng.sample(DECK, 6)), 6)
        assert len(prepared.bet_weights(features, NO_BET)) == len(BETS)
        assert max(map(len, prepared.weights_by_features)) <= MAX_WEIGHTED_HANDS


def test_few_opponent_models_are_kept_and_fewer_are_prepared() -> None:
    for _ in range(3 * MAX_PREPARED_MODELS):
        model = OpponentModel((BettingModel(), BettingModel()))
        assert model.prepared_betting_models[0] is model.prepared_betting_models[0]
    assert prepare_betting_models.cache_info().currsize == MAX_PREPARED_MODELS
    assert opponent_model_of.cache_info().maxsize == MAX_OPPONENT_MODELS
