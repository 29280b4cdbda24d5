"""Train a network against a fixed opponent and export it as a bot (docs/environments.md).

    python train.py [STEPS] [OPPONENT]

This writes `network.json`, which `network.py` in the same folder plays:

    cardsharp lab duel network.py draw-3 -n 200

The method is PPO (Schulman et al., 2017), written with numpy only. With a library such as
Stable-Baselines3 or PyTorch, you can replace everything between `CardVectorEnv` and `export`.
"""

import json
import sys
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cardsharp_tools.environments.vector_env import CardVectorEnv

LANES, STEPS_A_BATCH, HIDDEN = 128, 64, 64
EPOCHS, MINIBATCHES, RATE = 3, 8, 1e-3
CLIP, TRACE, ENTROPY = 0.2, 0.95, 0.005
"""Parameters of PPO: clip range of the policy ratio, lambda of GAE, and entropy bonus.

Rewards are not discounted, because a late win is worth as much as an early one.
"""

Array = NDArray[Any]


class Batch(NamedTuple):
    """Transitions: one row per decision, or first with axes (step, lane)."""

    observations: Array
    legal: Array
    actions: Array
    chances: Array  # probabilities of the actions when they were taken
    advantages: Array
    returns: Array

    def rows(self, chosen: Array) -> "Batch":
        """Return the chosen rows."""
        return Batch(*(part[chosen] for part in self))


class Network:
    """Network with one tanh layer; it outputs a preference for each action and a value."""

    def __init__(self, observed: int, actions: int, seed: int) -> None:
        dice = np.random.default_rng(seed)
        self.weights: list[Array] = [
            dice.normal(0, 0.1, (observed, HIDDEN)).astype(np.float32),
            np.zeros(HIDDEN, np.float32),
            dice.normal(0, 0.01, (HIDDEN, actions + 1)).astype(np.float32),
            np.zeros(actions + 1, np.float32),
        ]
        self._means = [np.zeros_like(weights) for weights in self.weights]
        self._squares = [np.zeros_like(weights) for weights in self.weights]
        self._updates = 0

    def forward(self, observations: Array, legal: Array) -> tuple[Array, Array, Array]:
        """Return the hidden layer, the action probabilities (0 if illegal) and the values."""
        first, first_bias, second, second_bias = self.weights
        hidden = np.tanh(observations @ first + first_bias)
        outputs = hidden @ second + second_bias
        preferences = np.where(legal > 0, outputs[:, :-1], -np.inf)
        odds = np.exp(preferences - preferences.max(axis=1, keepdims=True))
        return hidden, odds / odds.sum(axis=1, keepdims=True), outputs[:, -1]

    def update(self, observations: Array, hidden: Array, slopes: Array) -> None:
        """Take an Adam step; `slopes` are the gradients of the loss by the outputs."""
        back = (slopes @ self.weights[2].T) * (1 - hidden**2)
        found = [observations.T @ back, back.sum(axis=0), hidden.T @ slopes, slopes.sum(axis=0)]
        norm = np.sqrt(sum(float((slope**2).sum()) for slope in found))
        self._updates += 1
        for weights, mean, square, slope in zip(
            self.weights, self._means, self._squares, found, strict=True
        ):
            slope *= min(1, 0.5 / (norm + 1e-8))  # noqa: PLW2901 - clipped in place
            mean += 0.1 * (slope - mean)  # noqa: PLW2901 - a running mean
            square += 0.001 * (slope**2 - square)  # noqa: PLW2901
            rate = RATE * np.sqrt(1 - 0.999**self._updates) / (1 - 0.9**self._updates)
            weights -= rate * mean / (np.sqrt(square) + 1e-8)  # noqa: PLW2901

    def export(self, file: Path) -> None:
        """Write the weights of the policy, without those of the value, for `network.py`."""
        first, first_bias, second, second_bias = self.weights
        write_layers(file, (first, first_bias), (second[:, :-1], second_bias[:-1]))


def write_layers(file: Path, *layers: tuple[Array, Array]) -> None:
    """Write layers of a network: weights (inputs, outputs) and a bias each, to 5 decimals."""
    rows = [
        {
            "weights": weights.astype(float).round(5).tolist(),
            "bias": bias.astype(float).round(5).tolist(),
        }
        for weights, bias in layers
    ]
    file.write_text(json.dumps(rows), "utf-8")


class Learner:
    """PPO learner in parallel lanes against an opponent; `wins` are its match results."""

    def __init__(self, opponent: str, seed: int) -> None:
        self._lanes = CardVectorEnv(LANES, opponents={1: opponent})
        seen, _ = self._lanes.reset(seed=seed)
        self._observations, self._legal = seen["observation"], seen["action_mask"]
        observed, actions = self._observations.shape[1], self._legal.shape[1]
        self.network, self._dice = Network(observed, actions, seed), np.random.default_rng(seed)
        self.wins: list[float] = []

    def learn(self) -> None:
        """Play a batch, then update the network with it."""
        batch = self._play()
        advantages = batch.advantages
        spread = advantages.std() + 1e-8
        batch = batch._replace(advantages=(advantages - advantages.mean()) / spread)
        for _ in range(EPOCHS):
            order = self._dice.permutation(len(batch.actions))
            for chosen in np.array_split(order, MINIBATCHES):
                self._move(batch.rows(chosen))

    def _play(self) -> Batch:
        """Play STEPS_A_BATCH steps in each lane and return the transitions."""
        steps: list[tuple[Array, ...]] = []
        for _ in range(STEPS_A_BATCH):
            observations, legal = self._observations, self._legal
            _, chances, values = self.network.forward(observations, legal)
            actions = picked(chances, self._dice)
            seen, rewards, ended, _, _ = self._lanes.step(actions)
            self._observations, self._legal = seen["observation"], seen["action_mask"]
            taken = chances[np.arange(LANES), actions]
            steps.append((observations, legal, actions, taken, values, rewards, ended))
            self.wins += rewards[ended].tolist()
        *done, values, rewards, ended = (np.stack(part) for part in zip(*steps, strict=True))
        values = np.vstack((values, self.network.forward(self._observations, self._legal)[2]))
        advantages = advantages_of(values, rewards, ended)
        parts = (*done, advantages, advantages + values[:-1])
        return Batch(*(part.reshape(-1, *part.shape[2:]) for part in parts))

    def _move(self, batch: Batch) -> None:
        """Update the policy within the clip range, and the value function."""
        rows = np.arange(len(batch.actions))
        hidden, chances, values = self.network.forward(batch.observations, batch.legal)
        ratio = chances[rows, batch.actions] / batch.chances
        far = np.where(batch.advantages > 0, ratio > 1 + CLIP, ratio < 1 - CLIP)
        done = np.zeros_like(chances)
        done[rows, batch.actions] = 1
        logarithms = np.log(np.maximum(chances, 1e-12))
        entropy = -(chances * logarithms).sum(axis=1, keepdims=True)
        weight = (~far * batch.advantages * ratio)[:, None]
        slopes = np.empty((len(rows), chances.shape[1] + 1), np.float32)
        slopes[:, :-1] = weight * (chances - done) + ENTROPY * chances * (logarithms + entropy)
        slopes[:, -1] = 0.5 * (values - batch.returns)
        self.network.update(batch.observations, hidden, slopes / len(rows))


def picked(chances: Array, dice: np.random.Generator) -> Array:
    """Sample one action per row from its probabilities."""
    sums = chances.cumsum(axis=1)
    return np.asarray((sums > dice.random((len(chances), 1)) * sums[:, -1:]).argmax(axis=1))


def advantages_of(values: Array, rewards: Array, ended: Array) -> Array:
    """Return the generalized advantage estimates (GAE), by step and lane."""
    advantages, later = np.zeros_like(rewards), np.zeros(rewards.shape[1])
    for step in reversed(range(len(rewards))):
        goes_on = ~ended[step]
        surprise = rewards[step] + goes_on * values[step + 1] - values[step]
        later = advantages[step] = surprise + TRACE * goes_on * later
    return advantages


def train(steps: int, opponent: str, seed: int = 1) -> Network:
    """Train for `steps` steps, print the share of the points and return the network."""
    learner, batches = Learner(opponent, seed), -(-steps // (LANES * STEPS_A_BATCH))
    for number in range(1, batches + 1):
        learner.learn()
        if number == batches or number % 20 == 0:
            share = (1 + sum(learner.wins) / len(learner.wins)) / 2
            print(f"{number * LANES * STEPS_A_BATCH:>9,} steps: {share:.0%} against {opponent}")
            learner.wins.clear()
    return learner.network


if __name__ == "__main__":
    steps, opponent = (*sys.argv[1:3], *("1000000", "draw-3")[len(sys.argv) - 1 :])
    train(int(steps), opponent).export(Path("network.json"))
