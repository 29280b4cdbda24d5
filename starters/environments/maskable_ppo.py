"""The same as train.py by a library, Stable-Baselines3's MaskablePPO: docs/environments.md.

    pip install sb3-contrib
    python maskable_ppo.py [STEPS] [OPPONENT]

writes `network.json`, which `network.py` beside it plays. The folder needs `train.py`, too.
"""

import sys
from pathlib import Path
from typing import Any

import numpy as np
from sb3_contrib import MaskablePPO
from stable_baselines3.common.vec_env import VecEnv, VecMonitor
from torch import nn
from train import write_layers

from workbench.env.batch import Lanes


class LanesForSB3(VecEnv):
    """`Lanes` with one learner in the interface of Stable-Baselines3, which has one of its own."""

    def __init__(self, lanes: Lanes) -> None:
        self.lanes, space = lanes, lanes.single_observation_space["observation"]
        super().__init__(lanes.num_envs, space, lanes.single_action_space)

    def reset(self) -> Any:
        """The first observation of each lane."""
        return self._observed(self.lanes.reset(seed=self._seeds[0])[0])

    def step_async(self, actions: Any) -> None:
        """Keep the actions for `step_wait`."""
        self._actions = actions

    def step_wait(self) -> Any:
        """What the actions bring; at an end `terminal_observation` is the last of the match."""
        seen, rewards, ended, _, infos = self.lanes.step(self._actions)
        told: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        for lane in np.flatnonzero(ended):
            told[lane]["terminal_observation"] = infos["final_obs"][lane]["observation"]
        return self._observed(seen), rewards.astype(np.float32), ended, told

    def _observed(self, seen: Any) -> Any:
        self._masks = seen["action_mask"].astype(bool)
        return seen["observation"]

    def env_method(self, method_name: str, *args: Any, indices: Any = None, **kwargs: Any) -> Any:
        """MaskablePPO asks for the `action_masks` of all lanes, and for nothing else."""
        del args, kwargs, indices
        return list(self._masks) if method_name == "action_masks" else [None] * self.num_envs

    def has_attr(self, attr_name: str) -> bool:
        """Whether lanes have it: MaskablePPO asks for `action_masks`."""
        return attr_name == "action_masks"

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """Nothing: lanes are no environments of their own."""
        del attr_name, indices
        return [None] * self.num_envs

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Do nothing, for the same reason."""

    def env_is_wrapped(self, wrapper_class: Any, indices: Any = None) -> list[bool]:
        """No lane is."""
        del wrapper_class, indices
        return [False] * self.num_envs

    def close(self) -> None:
        """Close the lanes."""
        self.lanes.close()


def train(steps: int, opponent: str, seed: int = 1) -> MaskablePPO:
    """The model after so many steps; prints how it goes."""
    lanes = VecMonitor(LanesForSB3(Lanes(128, opponents={1: opponent})))
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
    """Write the policy's two layers for `network.py`."""
    policy = model.policy
    layers = (policy.mlp_extractor.policy_net[0], policy.action_net)
    write_layers(
        file,
        *((one.weight.detach().numpy().T, one.bias.detach().numpy()) for one in layers),
    )


if __name__ == "__main__":
    steps, opponent = (*sys.argv[1:3], *("1000000", "draw-3")[len(sys.argv) - 1 :])
    export(train(int(steps), opponent), Path("network.json"))
