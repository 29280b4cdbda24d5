"""Train like train.py, but with Stable-Baselines3's MaskablePPO (docs/environments.md).

    pip install sb3-contrib
    python maskable_ppo.py [STEPS] [OPPONENT]

This writes `network.json`, which `network.py` in the same folder plays. It also needs `train.py`
in this folder.
"""

import sys
from pathlib import Path
from typing import Any

import numpy as np
from sb3_contrib import MaskablePPO
from stable_baselines3.common.vec_env import VecEnv, VecMonitor
from torch import nn
from train import write_layers

from cardsharp_tools.environments.vector_env import CardVectorEnv


class LanesForSB3(VecEnv):
    """Adapter from `CardVectorEnv` with one learner to Stable-Baselines3's `VecEnv`."""

    def __init__(self, lanes: CardVectorEnv) -> None:
        self.lanes, space = lanes, lanes.single_observation_space["observation"]
        super().__init__(lanes.num_envs, space, lanes.single_action_space)

    def reset(self) -> Any:
        """Return the first observation of each lane."""
        return self._observed(self.lanes.reset(seed=self._seeds[0])[0])

    def step_async(self, actions: Any) -> None:
        """Store the actions for `step_wait`."""
        self._actions = actions

    def step_wait(self) -> Any:
        """Return the results; when a match ends, `terminal_observation` is its last one."""
        seen, rewards, ended, _, infos = self.lanes.step(self._actions)
        told: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        for lane in np.flatnonzero(ended):
            told[lane]["terminal_observation"] = infos["final_obs"][lane]["observation"]
        return self._observed(seen), rewards.astype(np.float32), ended, told

    def _observed(self, seen: Any) -> Any:
        self._masks = seen["action_mask"].astype(bool)
        return seen["observation"]

    def env_method(self, method_name: str, *args: Any, indices: Any = None, **kwargs: Any) -> Any:
        """Return the `action_masks` of all lanes; MaskablePPO calls no other method."""
        del args, kwargs, indices
        return list(self._masks) if method_name == "action_masks" else [None] * self.num_envs

    def has_attr(self, attr_name: str) -> bool:
        """Return True for `action_masks`, which MaskablePPO looks for."""
        return attr_name == "action_masks"

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """Return None for each lane, because a lane is not an environment object."""
        del attr_name, indices
        return [None] * self.num_envs

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Do nothing, because a lane is not an environment object."""

    def env_is_wrapped(self, wrapper_class: Any, indices: Any = None) -> list[bool]:
        """Return False for each lane."""
        del wrapper_class, indices
        return [False] * self.num_envs

    def close(self) -> None:
        """Close the lanes."""
        self.lanes.close()


def train(steps: int, opponent: str, seed: int = 1) -> MaskablePPO:
    """Train for `steps` steps, print the progress and return the model."""
    lanes = VecMonitor(LanesForSB3(CardVectorEnv(128, opponents={1: opponent})))
    layers = {"net_arch": [64], "activation_fn": nn.Tanh}
    model = MaskablePPO(
        *("MlpPolicy", lanes),
        n_steps=64,
        batch_size=1024,
        n_epochs=3,
        learning_rate=1e-3,
        gamma=1.0,
        ent_coef=0.005,
        policy_kwargs=layers,
        seed=seed,
        verbose=1,
    )
    return model.learn(steps, log_interval=20)


def export(model: MaskablePPO, file: Path) -> None:
    """Write the two layers of the policy for `network.py`."""
    policy = model.policy
    layers = (policy.mlp_extractor.policy_net[0], policy.action_net)
    write_layers(
        file,
        *((one.weight.detach().numpy().T, one.bias.detach().numpy()) for one in layers),
    )


if __name__ == "__main__":
    steps, opponent = (*sys.argv[1:3], *("1000000", "draw-3")[len(sys.argv) - 1 :])
    export(train(int(steps), opponent), Path("network.json"))
