"""Train a player that learns when to stop, with REINFORCE (docs/environments.md)."""

import numpy as np
from numpy.typing import NDArray

from cardsharp.games.deadmansdraw.encoding import ENCODING
from cardsharp.games.deadmansdraw.strategies import build
from cardsharp_tools.environments.aec_env import CardEnv
from cardsharp_tools.environments.vector_env import CardVectorEnv

MATCHES, SIDE_BY_SIDE, RATE = 2000, 64, 0.3
DRAW, END_TURN = 0, 1
Numbers = NDArray[np.float64]
chance = np.random.default_rng(1)


def features_of(observation: Numbers) -> Numbers:
    """Return the features: 1, the bust probability, the cards in the play area, their values."""
    area, unseen = (
        observation[1:][ENCODING.block(name)].reshape(10, 6) for name in ("play area", "unseen")
    )
    risk = unseen[area.any(axis=1)].sum() / max(1, unseen.sum())
    return np.array([1, risk, area.sum() / 5, (area * np.arange(2, 8)).sum() / 20])


def chosen(weights: Numbers, observation: Numbers, mask: Numbers) -> tuple[int, Numbers]:
    """Return an action, and the gradient of its log-probability by the weights."""
    legal = np.flatnonzero(mask)
    if not mask[DRAW] or not mask[END_TURN]:
        return chance.choice(legal), np.zeros(len(weights))
    features = features_of(observation)
    draws = 1 / (1 + np.exp(-weights @ features))
    if chance.random() < draws:
        return DRAW, (1 - draws) * features
    return END_TURN, -draws * features


def learn(weights: Numbers) -> Numbers:
    """Return the weights after MATCHES matches against itself."""
    lanes, ended = CardVectorEnv(SIDE_BY_SIDE), 0
    seen, told = lanes.reset(seed=1)
    ways = np.zeros((SIDE_BY_SIDE, 2, len(weights)))
    while ended < MATCHES:
        actions = np.zeros(SIDE_BY_SIDE, int)
        for lane in range(SIDE_BY_SIDE):
            found = chosen(weights, seen["observation"][lane], seen["action_mask"][lane])
            actions[lane], way = found
            ways[lane, told["to_act"][lane]] += way
        seen, rewards, over, _, told = lanes.step(actions)
        for lane in np.flatnonzero(over):
            weights = weights + RATE * rewards[lane] @ ways[lane] / 10
            ways[lane] = 0
        ended += over.sum()
    return weights


def share(weights: Numbers, opponent: str, matches: int) -> float:
    """Return the share of the points against a strategy, with alternating seats."""
    match, other, won = CardEnv("deadmansdraw"), build(opponent, None), 0.0
    for number in range(matches):
        match.reset(seed=number)
        us = f"player_{number % 2}"
        for agent in match.agent_iter():
            observation, reward, over, _, _ = match.last()
            if over:
                won += (1 + reward) / 2 if agent == us else 0
                match.step(None)
            elif agent == us:
                numbers, mask = observation["observation"], observation["action_mask"]
                match.step(chosen(weights, numbers, mask)[0])
            else:
                match.step(match.action_number(other.decide(match.position).action))
    return won / matches


before = np.zeros(4)
after = learn(before)
print("weights", after.round(2))
for opponent in ("draw-2", "draw-3"):
    played = MATCHES // 10
    then = share(before, opponent, played)
    now = share(after, opponent, played)
    print(f"{opponent}: {then:.0%}, then {now:.0%}")
