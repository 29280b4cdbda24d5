"""Environment of a game for PettingZoo, in which the players act one after the other (AEC)."""

from random import Random
from typing import Any, SupportsIndex

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray
from pettingzoo import AECEnv
from pettingzoo.utils import wrappers

from cardsharp_tools.environments.encoding import (
    action_number,
    final_rewards,
    load_simulation_and_encoding,
)
from cardsharp_tools.environments.integers import as_integer, as_seat_count, as_seed
from cardsharp_tools.lab.plan import DEFAULT_GAME

Observation = dict[str, NDArray[Any]]
"""`observation`: 1 if the player waits, then its position; `action_mask`: its legal actions."""


def make_env(
    name: str = DEFAULT_GAME, seats: SupportsIndex | None = None
) -> "AECEnv[str, Observation, int]":
    """Return a game's environment, with 2 to 8 `seats` in Blef; an illegal action costs 1.

    `seats` is the number of players, 2 to 8 in Blef. A player that takes an illegal action gets the
    reward -1, and the match ends. Raises `ConfigError` if there is no such game, or if it is not
    played by that many.
    """
    return wrappers.OrderEnforcingWrapper(
        _IllegalActionWrapper(CardEnv(name, seats), illegal_reward=-1)
    )


class _IllegalActionWrapper(wrappers.TerminateIllegalWrapper[str, Observation, int]):  # type: ignore[misc]
    """Wrapper that ends the match if an action is illegal or not an action at all."""

    def step(self, action: int | None) -> None:
        """Take the action of the player to act."""
        over = self.terminations[self.agent_selection] or self.truncations[self.agent_selection]
        if not over and not self.action_space(self.agent_selection).contains(action):
            mask = self.observe(self.agent_selection)["action_mask"]
            # the wrapped class expects an existing action: this one is illegal, too
            action = int(mask.argmin())
        super().step(action)


class CardEnv(AECEnv[str, Observation, int]):  # type: ignore[misc]  # PettingZoo has no types
    """Environment of a game without the checks of PettingZoo's wrappers.

    A match is an episode. At its end the winning side gets the reward 1, and the others an equal
    share of -1, so that the rewards of the sides add up to 0; a tie is 0. A player that waits
    observes what it saw when it last was to act.
    """

    def __init__(self, name: str, seats: SupportsIndex | None = None) -> None:
        super().__init__()
        self.game_name = name
        self.metadata = {"name": f"{name}_v1", "render_modes": ["ansi"], "is_parallelizable": False}
        self.simulation, self.encoding = load_simulation_and_encoding(name, as_seat_count(seats))
        self.possible_agents = [f"player_{seat}" for seat in range(self.simulation.seats)]
        self.agents: list[str] = []
        self.render_mode = "ansi"
        observation_size, actions = 1 + self.encoding.size, self.encoding.actions
        self.observation_spaces = {
            agent: spaces.Dict(
                {
                    "observation": spaces.Box(0.0, 1.0, (observation_size,), np.float32),
                    "action_mask": spaces.Box(0, 1, (actions,), np.int8),
                }
            )
            for agent in self.possible_agents
        }
        self.action_spaces = {agent: spaces.Discrete(actions) for agent in self.possible_agents}
        self._chance_rng = Random()  # until `reset` is called with a seed

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        """Return the observation space of a player."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Space[Any]:
        """Return the action space of a player."""
        return self.action_spaces[agent]

    def reset(
        self, seed: SupportsIndex | None = None, options: dict[str, Any] | None = None
    ) -> None:
        """Deal a new match. The same seed and actions give the same match.

        The seed is an integer of any type, at least 0. Raises `TypeError` or `ValueError` for
        others.
        """
        del options
        chosen = as_seed(seed)
        if chosen is not None:
            self._chance_rng = Random(chosen)
        self.agents = self.possible_agents[:]
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in self.agents}
        waits = np.zeros(1 + self.encoding.size, np.float32)
        waits[0] = 1.0
        self._last_observations = {agent: waits.copy() for agent in self.agents}
        self._enter_state(self.simulation.initial_state(self._chance_rng))

    def step(self, action: int | None) -> None:
        """Take an action for the player to act.

        A player of an ended match must pass None, and then leaves it. Raises `ValueError` for an
        illegal action.
        """
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        action_index = None if action is None else as_integer(action, "An action")
        if action_index not in self.choices:
            raise ValueError(f"{agent} may not take action {action}; see its action_mask.")
        self._cumulative_rewards[agent] = 0.0
        self._clear_rewards()
        self._last_observations[agent][0] = 1.0
        self._enter_state(
            self.simulation.apply_action(self._state, self.choices[action_index], self._chance_rng)
        )
        self._accumulate_rewards()

    def observe(self, agent: str) -> Observation:
        """Return what a player observes, with the mask of its legal actions."""
        mask = np.zeros(self.encoding.actions, np.int8)
        if agent == self.agent_selection and self.choices:
            mask[list(self.choices)] = 1
        return {"observation": self._last_observations[agent].copy(), "action_mask": mask}

    def render(self) -> str:
        """Return the position of the player to act as text."""
        return str(self.position)

    def action_number(self, action: object) -> int:
        """Return the number of a legal action, such as a strategy's decision."""
        return action_number(self.choices, action)

    def _enter_state(self, state: Any) -> None:  # noqa: ANN401 - any game's
        """Continue from `state`: prepare the choices of the player to act, or the final rewards."""
        self._state = state
        seat = self.simulation.current_seat(state)
        if seat is None:
            self.choices: dict[int, Any] = {}
            rewards = final_rewards(self.simulation, state)
            self.rewards = dict(zip(self.possible_agents, rewards, strict=True))
            self.terminations = dict.fromkeys(self.agents, True)
            self._deads_step_first()
            return
        self.agent_selection = self.possible_agents[seat]
        self.position = self.simulation.current_position(state)
        self.choices = dict(self.encoding.choices(self.position))
        self._last_observations[self.agent_selection][0] = 0.0
        self._last_observations[self.agent_selection][1:] = self.encoding.observed(self.position)
