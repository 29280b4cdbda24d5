"""Contract of the rules and strategies of every mounted game."""

import json
from collections.abc import Sequence
from itertools import islice
from random import Random
from typing import Any

import pytest
from support.case_counts import case_count
from support.games import GAMES, HOSTED, game_id, game_simulation, match_states

from cardsharp.errors import MalformedResponse, RulesError
from cardsharp.play.game import Game
from cardsharp.play.simulation import Simulation
from cardsharp.play.strategy_registry import registry_for
from cardsharp.server.hosted.hosted_game import load_hosted_game

SEEDS = range(case_count(3, full=20))

GAMES_WITH_HIDDEN_CARDS = (
    "deadmansdraw",
    "blef",
    "euchre",
)  # games of which it is known that something is hidden

SEAT_COUNTS = {"blef": 4}  # where strategies are made for several others, too

every_game = pytest.mark.parametrize("game", GAMES, ids=game_id)
every_hosted_game = pytest.mark.parametrize(
    "game", [game for game in GAMES if game.name in HOSTED], ids=game_id
)
every_match = pytest.mark.parametrize("seed", SEEDS)


@every_game
@every_match
def test_legal_actions_are_all_that_is_accepted(game: Game, seed: int) -> None:
    """Each legal action is accepted; actions that are legal only at other moments are refused."""
    simulation = game_simulation(game)
    match = list(match_states(simulation, seed))
    match_actions = {action for state in match for action in simulation.legal_actions(state)}
    for state in match[:-1]:
        legal_actions = simulation.legal_actions(state)
        assert legal_actions, "whoever is to act can"
        assert len({*legal_actions}) == len(legal_actions)
        for action in legal_actions:
            simulation.apply_action(state, action, Random(seed))
        illegal_actions = sorted(match_actions - {*legal_actions}, key=str)
        for action in Random(seed).sample(illegal_actions, min(5, len(illegal_actions))):
            assert is_refused(simulation, state, action) or is_equivalent_to_legal_action(
                simulation, state, action, legal_actions
            ), (state, action)


def is_refused(simulation: Simulation[Any, Any, Any], state: object, action: object) -> bool:
    try:
        simulation.apply_action(state, action, Random(0))
    except RulesError:
        return True
    return False


def is_equivalent_to_legal_action(
    simulation: Simulation[Any, Any, Any],
    state: object,
    action: object,
    legal_actions: Sequence[object],
) -> bool:
    """Return True if an action is another spelling of a legal action.

    For example, Draw is the same as taking the card of a Kraken or an Oracle. Both actions then
    lead to the same state; only the history may differ.
    """
    result_state, *legal_states = (
        simulation.apply_action(state, candidate, Random(0))
        for candidate in (action, *legal_actions)
    )
    return getattr(result_state, "state", result_state) in [
        getattr(legal_state, "state", legal_state) for legal_state in legal_states
    ]


@every_game
@every_match
def test_a_match_ends_and_points_are_shared(game: Game, seed: int) -> None:
    """The points add up to 1, and the same random numbers give the same match."""
    simulation = game_simulation(game)
    match = list(match_states(simulation, seed))
    points = simulation.scores(match[-1])
    assert sum(points) == pytest.approx(1)
    assert all(points[seat] == points[side[0]] for side in simulation.sides for seat in side)
    assert not simulation.legal_actions(match[-1])
    assert list(match_states(simulation, seed)) == match
    assert any(
        list(match_states(simulation, seed + seed_offset)) != match for seed_offset in range(1, 20)
    )


@every_hosted_game
@every_match
def test_a_state_is_read_back_as_it_was_written(game: Game, seed: int) -> None:
    state_codec = load_hosted_game(HOSTED[game.name]).json_codecs.states
    for state in islice(match_states(game_simulation(game), seed), 0, None, case_count(7, full=1)):
        assert state_codec.load(json.loads(json.dumps(state_codec.dump(state)))) == state


@every_hosted_game
@pytest.mark.parametrize("body", [{}, {"state": 1}, {"heaps": "many"}])
def test_a_malformed_state_is_rejected(game: Game, body: dict[str, object]) -> None:
    with pytest.raises(MalformedResponse):
        load_hosted_game(HOSTED[game.name]).json_codecs.states.load(body)


@every_game
@every_match
def test_a_position_reveals_no_hidden_information(game: Game, seed: int) -> None:
    """A state with resampled hidden cards has the same position and the same legal actions."""
    simulation, has_changed = game_simulation(game), False
    for number, state in enumerate(islice(match_states(simulation, seed), 200)):
        if simulation.current_seat(state) is not None:
            resampled_state = simulation.resample_hidden(state, Random(number))
            has_changed |= resampled_state != state
            assert simulation.current_position(resampled_state) == simulation.current_position(
                state
            )
            assert simulation.legal_actions(resampled_state) == simulation.legal_actions(state)
    assert has_changed or game.name not in GAMES_WITH_HIDDEN_CARDS


# --- its strategies ------------------------------------------------------------------------------

PLAYERS = [
    pytest.param(game, name, id=f"{game.name}-{name}")
    for game in GAMES
    for name in registry_for(game.strategy_package).names()
]

every_strategy = pytest.mark.parametrize(("game", "name"), PLAYERS)


@every_strategy
def test_a_strategy_plays_legal_matches_and_describes_itself(game: Game, name: str) -> None:
    """All other players act at random; in Blef there are three, eliminated in turn."""
    registry, simulation = (
        registry_for(game.strategy_package),
        game_simulation(game, SEAT_COUNTS.get(game.name)),
    )
    assert registry.summary(name).endswith(".")
    assert game.default_strategy in registry.names()
    for seat in range(case_count(1, full=simulation.seats)):
        rng = Random(seat)
        player, state = (
            simulation.build_strategy(name, Random(seat)),
            simulation.initial_state(rng),
        )
        while (active_seat := simulation.current_seat(state)) is not None:
            legal_actions = simulation.legal_actions(state)
            action = rng.choice(legal_actions)
            if active_seat == seat:
                decision = player.decide(simulation.current_position(state))
                action = decision.action
                assert {action, *(option.action for option in decision.options)} <= {*legal_actions}  # type: ignore[attr-defined]
                assert decision.reason.endswith(".")  # type: ignore[attr-defined]
            state = simulation.apply_action(state, action, rng)


@every_strategy
def test_hidden_cards_do_not_influence_a_decision(game: Game, name: str) -> None:
    """Resampling the hidden cards changes neither decision nor reason nor values."""
    simulation = game_simulation(game)
    for seed in range(case_count(1, full=5)):
        step = case_count(3, full=1 + seed % 3)
        for number, state in enumerate(islice(match_states(simulation, seed), seed, 40, step)):
            if simulation.current_seat(state) is None:
                break
            resampled_state = simulation.resample_hidden(state, Random(number))
            decision, resampled_decision = (
                simulation.build_strategy(name, Random(seed)).decide(
                    simulation.current_position(variant)
                )
                for variant in (state, resampled_state)
            )
            assert decision == resampled_decision
